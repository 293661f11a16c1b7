# Installs hipops, and uses it in programs outside of the source tree: see install/check.sh.

function(hipops_install_test what)
  add_test(NAME install_${what} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/install/check.sh ${what})
  set_tests_properties(install_${what} PROPERTIES ENVIRONMENT
    "SOURCE=${PROJECT_SOURCE_DIR};BINARY=${PROJECT_BINARY_DIR};LIBDIR=${CMAKE_INSTALL_LIBDIR};CC=${CMAKE_C_COMPILER};AMD=${hipops_amd_targets};VERSION=${PROJECT_VERSION};PYTHON=${Python3_EXECUTABLE}")
endfunction()

find_program(HIPOPS_PKG_CONFIG pkg-config)
find_program(HIPOPS_DPKG_DEB dpkg-deb)
set(hipops_install_checks files cmake plain subdirectory)
if(HIPOPS_PKG_CONFIG)
  list(APPEND hipops_install_checks pkgconfig)
  if(HIPOPS_DPKG_DEB)
    list(APPEND hipops_install_checks package)
  endif()
else()
  message(STATUS "hipops: no tests of pkg-config and of the packages: pkg-config not found")
endif()
hipops_install_test(prefix)
set_tests_properties(install_prefix PROPERTIES FIXTURES_SETUP hipops_prefix)
foreach(what ${hipops_install_checks})
  hipops_install_test(${what})
  if(NOT what MATCHES "package|subdirectory")
    set_tests_properties(install_${what} PROPERTIES FIXTURES_REQUIRED hipops_prefix)
  endif()
endforeach()

# help2man makes no man page of a program that fails. The --help of this program fails.
add_test(NAME install_man_of_failure COMMAND ${PROJECT_SOURCE_DIR}/tools/man.sh false 1)
set_tests_properties(install_man_of_failure PROPERTIES WILL_FAIL TRUE)
