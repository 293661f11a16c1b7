# cmake --install, the CMake and pkg-config packages, and CPack's .deb and .tar.gz. No file names a folder, so that the
# installation can be moved.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# ---- Files
install(TARGETS hipops hipops_packed EXPORT hipopsTargets INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY include/hipops DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(HIPOPS_BUNDLES)
  install(FILES ${HIPOPS_BUNDLES} DESTINATION ${CMAKE_INSTALL_LIBDIR}/hipops/code-objects)
endif()
if(HIPOPS_TOOLS)
  install(TARGETS hipops-tools)
  install(FILES ${hipops_tool_links} DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(DIRECTORY ${PROJECT_BINARY_DIR}/share/man DESTINATION ${CMAKE_INSTALL_DATADIR})
  install(DIRECTORY parity/golden DESTINATION ${CMAKE_INSTALL_DATADIR}/hipops FILES_MATCHING PATTERN "*.json"
    PATTERN golden/README.md PATTERN __pycache__ EXCLUDE)
endif()
set(hipops_docs ${CMAKE_INSTALL_DATAROOTDIR}/doc/hipops)
if(PROJECT_IS_TOP_LEVEL)
  set(hipops_docs ${CMAKE_INSTALL_DOCDIR})  # otherwise it is the parent project's
endif()
install(FILES LICENSE DESTINATION ${hipops_docs})
install(DIRECTORY licenses DESTINATION ${hipops_docs})  # of the linked libraries
install(DIRECTORY docs DESTINATION ${hipops_docs} PATTERN __pycache__ EXCLUDE PATTERN "*.md" EXCLUDE)

# ---- Pages. Their links must be right in the installation
file(GLOB_RECURSE hipops_installed_pages RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS docs/*.md)
list(APPEND hipops_installed_pages README.md CHANGELOG.md)
set(hipops_relinked)
foreach(page ${hipops_installed_pages})
  list(APPEND hipops_relinked ${PROJECT_BINARY_DIR}/pages/${page})
  cmake_path(GET page PARENT_PATH folder)
  install(FILES ${PROJECT_BINARY_DIR}/pages/${page} DESTINATION ${hipops_docs}/${folder})
endforeach()
list(JOIN hipops_installed_pages "|" pages)
set(hipops_golden)
if(HIPOPS_TOOLS)
  set(hipops_golden ${CMAKE_INSTALL_DATADIR}/hipops/golden)
endif()
add_custom_command(OUTPUT ${hipops_relinked}
  COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DTO=${PROJECT_BINARY_DIR}/pages -DPAGES=${pages}
    -DDOCS=${hipops_docs} -DINCLUDE=${CMAKE_INSTALL_INCLUDEDIR} -DGOLDEN=${hipops_golden}
    -P ${PROJECT_SOURCE_DIR}/tools/cmake/relink.cmake
  DEPENDS ${hipops_installed_pages} tools/cmake/relink.cmake COMMENT "pages" VERBATIM)
add_custom_target(hipops_pages ALL DEPENDS ${hipops_relinked})

# ---- find_package(hipops)
set(hipops_package ${CMAKE_INSTALL_LIBDIR}/cmake/hipops)
install(EXPORT hipopsTargets NAMESPACE hipops:: DESTINATION ${hipops_package})
file(WRITE ${PROJECT_BINARY_DIR}/package/hipopsConfig.cmake [[
# hipops::hipops is the shared library, hipops::hipops_static the static one.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
include(${CMAKE_CURRENT_LIST_DIR}/hipopsTargets.cmake)
]])
# Before 1.0 a minor version may change the ABI.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/hipopsConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(DIRECTORY ${PROJECT_BINARY_DIR}/package/ DESTINATION ${hipops_package})

# ---- pkg-config hipops, hipops-static
function(hipops_pkgconfig name libs cflags)
  file(RELATIVE_PATH up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  file(WRITE ${PROJECT_BINARY_DIR}/pkgconfig/${name}.pc "prefix=\${pcfiledir}/${up}
libdir=\${prefix}/${CMAKE_INSTALL_LIBDIR}
includedir=\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}

Name: ${name}
Description: ${PROJECT_DESCRIPTION}
Version: ${PROJECT_VERSION}
Libs: -L\${libdir} ${libs}
Cflags: -I\${includedir} ${cflags}
")
endfunction()
hipops_pkgconfig(hipops -lhipops "")
hipops_pkgconfig(hipops-static "-l:libhipops.a -lstdc++ -lm -lpthread -ldl" -DHIPOPS_STATIC)
install(DIRECTORY ${PROJECT_BINARY_DIR}/pkgconfig DESTINATION ${CMAKE_INSTALL_LIBDIR})

# ---- cpack -G "DEB;TGZ". If hipops is a part of another project, it makes no packages.
if(NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()
set(CPACK_PACKAGE_VENDOR hipops)
set(CPACK_PACKAGE_CONTACT "the hipops project")
set(CPACK_PACKAGE_FILE_NAME hipops-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_STRIP_FILES ON)
set(CPACK_GENERATOR DEB TGZ)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6, libgcc-s1")
# With the versions that the symbols need. A package that was built with a newer libc6 refuses to install on a system
# with an older one.
find_program(HIPOPS_DPKG_SHLIBDEPS dpkg-shlibdeps)
if(HIPOPS_DPKG_SHLIBDEPS)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_PACKAGE_DEPENDS libgcc-s1)  # pthread_exit loads it
endif()
set(CPACK_DEBIAN_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_COMPRESSION_TYPE zstd)
include(CPack)
