# The shared library in a framework that loads it late, twice, or more often. These programs need only a C++ compiler,
# so that they also run on a machine with a GPU: g++ -std=c++17 -Iinclude tests/loading/X.cpp -ldl

set(hipops_loading modes reopen copies quiet fork)
foreach(name ${hipops_loading})
  add_executable(loading_${name} loading/${name}.cpp)
  target_include_directories(loading_${name} PRIVATE ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(loading_${name} PRIVATE ${CMAKE_DL_LIBS} Threads::Threads)
  add_dependencies(loading_${name} hipops)
endforeach()
set_target_properties(loading_quiet PROPERTIES ENABLE_EXPORTS ON)

# loading_test(name PROGRAM ARGUMENT...): on the CPU.
function(loading_test name)
  add_test(NAME ${name} COMMAND ${ARGN} $<TARGET_FILE:hipops>)
  set_tests_properties(${name} PROPERTIES ENVIRONMENT "HIPOPS_BACKEND=cpu;HIPOPS_CPU_THREADS=2")
endfunction()
# A program without the sanitizer cannot load a library with it, nor replace a function that the sanitizer replaces.
if(HIPOPS_CPU AND NOT HIPOPS_SANITIZE)
  foreach(mode local deepbind global)
    loading_test(loading_${mode} loading_modes ${mode})
  endforeach()
  foreach(name reopen copies quiet fork)
    loading_test(loading_${name} loading_${name})
  endforeach()
  # On the stand-in for a GPU.
  if(gfx942 IN_LIST HIPOPS_AMD_BUILT)
    foreach(name reopen fork)
      loading_test(loading_${name}_hip loading_${name})
      set_tests_properties(loading_${name}_hip PROPERTIES ENVIRONMENT
        "HIPOPS_BACKEND=hip;HIPOPS_HIP_LIBRARY=$<TARGET_FILE:standin_amdhip>")
    endforeach()
  endif()
endif()
