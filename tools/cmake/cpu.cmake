# The kernels for the CPU runtime. The host compiler compiles each .hip once for each wave size.
#
# Sets HIPOPS_CPU_OBJECTS and HIPOPS_BOOST_CONTEXT.

set(HIPOPS_CPU_OBJECTS)
if(HIPOPS_CPU)
  find_library(HIPOPS_BOOST_CONTEXT libboost_context.a)
  if(NOT HIPOPS_BOOST_CONTEXT)
    message(FATAL_ERROR "hipops: the CPU runtime needs Boost.Context as a static library (Debian: libboost-context-dev); "
      "-DHIPOPS_CPU=OFF leaves the CPU runtime out")
  endif()
  set(hipops_kernels)
  foreach(op ${HIPOPS_OPS})
    list(APPEND hipops_kernels ${PROJECT_SOURCE_DIR}/kernels/${op}.hip)
  endforeach()
  set_source_files_properties(${hipops_kernels} PROPERTIES LANGUAGE CXX)
  foreach(wave ${HIPOPS_CPU_WAVES})
    add_library(hipops_kernels_wave${wave} OBJECT ${hipops_kernels})
    target_include_directories(hipops_kernels_wave${wave} PRIVATE ${PROJECT_SOURCE_DIR}/kernels)
    target_compile_definitions(hipops_kernels_wave${wave} PRIVATE HIPOPS_CPU_WAVE=${wave})
    # With -O3 they would be two to three times as large. With -O2 they would be half as large again, and 15 % faster.
    # -Os compiles them in a third less time than -O2. Tables for exceptions would be 0.4 MB, and no exception passes
    # them.
    target_compile_options(hipops_kernels_wave${wave} PRIVATE -x c++ -Wno-unknown-pragmas
      $<$<OR:$<CONFIG:Release>,$<STREQUAL:$<CONFIG>,>>:-Os;-fno-exceptions;-fno-asynchronous-unwind-tables>)
    if(HIPOPS_FUZZ)  # these make the compilation of a kernel many times as long, so only builds with HIPOPS_SANITIZE have them
      target_compile_options(hipops_kernels_wave${wave} PRIVATE -fno-sanitize=undefined,fuzzer-no-link -O0)
    endif()
    list(APPEND HIPOPS_CPU_OBJECTS $<TARGET_OBJECTS:hipops_kernels_wave${wave}>)
  endforeach()
endif()
