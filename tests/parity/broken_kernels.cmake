# Kernels broken on purpose (parity/broken_kernels.py). One ctest for each shows that parity catches it. One for each op
# and wave size shows that the same runs pass with the kernels as they are.

# These tests are about the harness, so one build is enough. A sanitizer would report the faults first.
if(HIPOPS_SANITIZE OR NOT Python3_Interpreter_FOUND)
  message(STATUS "hipops: no tests of broken kernels: they need Python 3 and a build without sanitizers")
  return()
endif()

set(broken_driver ${CMAKE_CURRENT_SOURCE_DIR}/parity/run_broken_kernel.py)
set_property(DIRECTORY APPEND PROPERTY
  CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/parity/broken_kernels.py ${broken_driver})

function(hipops_broken_names out option)
  execute_process(COMMAND ${Python3_EXECUTABLE} ${broken_driver} ${option}
    OUTPUT_VARIABLE names OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE "\n" ";" names "${names}")
  set(${out} ${names} PARENT_SCOPE)
endfunction()

# The settings of run_broken_kernel.py, as JSON. A list holds the words of a command.
function(hipops_json_list out)
  list(JOIN ARGN "\", \"" words)
  if(words STREQUAL "")
    set(${out} "[]" PARENT_SCOPE)
  else()
    set(${out} "[\"${words}\"]" PARENT_SCOPE)
  endif()
endfunction()
hipops_json_list(broken_launcher ${CMAKE_CXX_COMPILER_LAUNCHER})
# The compiler of the build, without optimization, which would need most of the time. The clang of the AMD code objects
# replaces g++, which is half as fast.
set(broken_compiler ${CMAKE_CXX_COMPILER})
if(HIPOPS_AMD_BUILT)
  set(broken_compiler ${HIPOPS_ROCM_CLANG})
  if(NOT broken_compiler)
    set(broken_compiler ${HIPOPS_CLANG})
  endif()
endif()
# LLD links each program in a quarter of the time of GNU ld. The compiler's driver finds it as ld.lld in its folder.
set(broken_lld)
if(HIPOPS_LLD)
  file(REAL_PATH ${HIPOPS_LLD} lld)
  get_filename_component(lld ${lld} DIRECTORY)
  if(EXISTS ${lld}/ld.lld)
    set(broken_lld -B${lld} -fuse-ld=lld)
  endif()
endif()
hipops_json_list(broken_compile -x c++ -std=c++17 -O0 -fPIC -ffp-contract=off -w -MD -MF kernel.d)
hipops_json_list(broken_link ${broken_lld} -x none $<JOIN:$<TARGET_OBJECTS:hipops-parity>,\",\"> $<TARGET_FILE:parity>
  $<TARGET_FILE:hipops_static> ${HIPOPS_BOOST_CONTEXT} ${HIPOPS_ZSTD} -pthread -ldl)

set(broken_settings ${CMAKE_CURRENT_BINARY_DIR}/broken_kernels.json)
file(GENERATE OUTPUT ${broken_settings} CONTENT "{
  \"kernels\": \"${PROJECT_SOURCE_DIR}/kernels\",
  \"golden\": \"${PROJECT_SOURCE_DIR}/parity/golden\",
  \"work\": \"${CMAKE_CURRENT_BINARY_DIR}/broken_kernels\",
  \"launcher\": ${broken_launcher},
  \"compiler\": \"${broken_compiler}\",
  \"compile\": ${broken_compile},
  \"linker\": \"${CMAKE_CXX_COMPILER}\",
  \"link\": ${broken_link}
}
")

hipops_broken_names(broken_names --names)
foreach(name ${broken_names})
  add_test(NAME broken_${name} COMMAND ${Python3_EXECUTABLE} ${broken_driver} --settings ${broken_settings} ${name})
endforeach()
hipops_broken_names(broken_intact_names --intact-names)
foreach(name ${broken_intact_names})
  add_test(NAME broken_none_${name}
    COMMAND ${Python3_EXECUTABLE} ${broken_driver} --settings ${broken_settings} --intact ${name})
endforeach()
