# cmake --install, the CMake and pkg-config packages, and CPack's .deb and .tar.gz. Nothing in them names a folder: what is installed may be
# moved as a whole.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# ---- The static library, as one object that defines hipops_* and nothing else: Boost.Context and zstd are in it, and cannot clash with the
# consumer's own. The tests and tools use the library's insides, and so link hipops_static itself.
#
# CMAKE_LINKER is LLD where clang compiles, which takes --force-group-allocation since its version 19 only.
function(hipops_takes_groups result linker)
  execute_process(COMMAND ${linker} --force-group-allocation --version RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
  if(failed)
    set(${result} FALSE PARENT_SCOPE)
  endif()
endfunction()
find_program(HIPOPS_PACKING_LINKER NAMES ${CMAKE_LINKER} ld.bfd ld VALIDATOR hipops_takes_groups
  DOC "the linker that makes one object of libhipops.a: GNU ld, or an LLD that takes --force-group-allocation")
if(NOT HIPOPS_PACKING_LINKER)
  message(FATAL_ERROR "hipops: libhipops.a needs a linker that takes --force-group-allocation: CMAKE_LINKER is "
    "${CMAKE_LINKER}, which does not, expected GNU ld or LLD 19 or later, as ld.bfd or ld, or named by "
    "-DHIPOPS_PACKING_LINKER=<path>; -DHIPOPS_INSTALL=OFF does without")
endif()
set(hipops_packed ${PROJECT_BINARY_DIR}/lib/packed)
file(MAKE_DIRECTORY ${hipops_packed})
add_custom_command(OUTPUT ${hipops_packed}/hipops.o
  COMMAND ${HIPOPS_PACKING_LINKER} -r --force-group-allocation -o ${hipops_packed}/hipops.o
    --whole-archive $<TARGET_FILE:hipops_static> --no-whole-archive ${HIPOPS_BOOST_CONTEXT} ${HIPOPS_ZSTD}
  COMMAND ${CMAKE_OBJCOPY} --localize-hidden --wildcard --keep-global-symbol=hipops_* ${hipops_packed}/hipops.o
  DEPENDS hipops_static COMMENT "libhipops.a as one object" VERBATIM)
set_source_files_properties(${hipops_packed}/hipops.o PROPERTIES EXTERNAL_OBJECT ON)
add_library(hipops_packed STATIC ${hipops_packed}/hipops.o)
set_target_properties(hipops_packed PROPERTIES OUTPUT_NAME hipops ARCHIVE_OUTPUT_DIRECTORY ${hipops_packed} LINKER_LANGUAGE CXX
  EXPORT_NAME hipops_static)
target_compile_definitions(hipops_packed INTERFACE HIPOPS_STATIC)
target_link_libraries(hipops_packed INTERFACE stdc++ m Threads::Threads ${CMAKE_DL_LIBS})

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
  install(DIRECTORY parity/golden DESTINATION ${CMAKE_INSTALL_DATADIR}/hipops FILES_MATCHING PATTERN "*.json" PATTERN __pycache__ EXCLUDE)
endif()
install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} PATTERN __pycache__ EXCLUDE)

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
# With the versions that the symbols need: what is built with a newer libc6 does not install where it would not start.
find_program(HIPOPS_DPKG_SHLIBDEPS dpkg-shlibdeps)
if(HIPOPS_DPKG_SHLIBDEPS)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_PACKAGE_DEPENDS libgcc-s1)  # which only pthread_exit loads
endif()
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

# ---- cpack -G "DEB;TGZ"
set(CPACK_PACKAGE_VENDOR hipops)
set(CPACK_PACKAGE_CONTACT "the hipops project")
set(CPACK_PACKAGE_FILE_NAME hipops-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_STRIP_FILES ON)
set(CPACK_GENERATOR DEB TGZ)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6, libgcc-s1")
set(CPACK_DEBIAN_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_COMPRESSION_TYPE zstd)
include(CPack)
