# The kernels for the CPU runtime: each .hip compiled by the host compiler, once for each wave size.
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
    # A release's -O3 would make them two to three times as large; -O2 half as large again, and 15 % faster to run.
    # Built by -Os, they take a third less time than by -O2. Tables to unwind their frames by would be 0.4 MB: no
    # exception passes them.
    target_compile_options(hipops_kernels_wave${wave} PRIVATE -x c++ -Wno-unknown-pragmas
      $<$<OR:$<CONFIG:Release>,$<STREQUAL:$<CONFIG>,>>:-Os;-fno-exceptions;-fno-asynchronous-unwind-tables>)
    if(HIPOPS_FUZZ)  # these make a kernel's compilation many times as long; HIPOPS_SANITIZE alone has them
      target_compile_options(hipops_kernels_wave${wave} PRIVATE -fno-sanitize=undefined,fuzzer-no-link -O0)
    endif()
    list(APPEND HIPOPS_CPU_OBJECTS $<TARGET_OBJECTS:hipops_kernels_wave${wave}>)
  endforeach()
endif()
