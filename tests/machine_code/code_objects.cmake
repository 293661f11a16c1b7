# Tests of every AMD code object, and of every kernel file for AMD.

hipops_test(test_code_objects machine_code/test_code_objects.cpp)
target_link_libraries(test_code_objects PRIVATE inspect)
target_compile_definitions(test_code_objects PRIVATE HIPOPS_CODE_OBJECTS="${hipops_code_folder}")
add_dependencies(test_code_objects hipops_code_objects)

# ---- The machine code
if(HIPOPS_OBJDUMP)
  target_compile_definitions(test_code_objects PRIVATE HIPOPS_OBJDUMP)
  foreach(op ${HIPOPS_OPS})
    add_test(NAME test_machine_code_${op} COMMAND test_code_objects "[disassembly]" -c ${op} -w NoAssertions)
    set_tests_properties(test_machine_code_${op} PROPERTIES ENVIRONMENT "${objdump_once}")
  endforeach()

  hipops_test(test_atomic_instructions runtime/test_atomic_instructions.cpp)
  target_link_libraries(test_atomic_instructions PRIVATE inspect)
  target_compile_definitions(test_atomic_instructions PRIVATE HIPOPS_CODE_OBJECTS="${hipops_code_folder}")
  add_dependencies(test_atomic_instructions hipops_code_objects)

  target_compile_definitions(test_inspect PRIVATE
    HIPOPS_INSPECT="$<TARGET_FILE:hipops-inspect>" HIPOPS_CODE_OBJECTS="${hipops_code_folder}")
  add_dependencies(test_inspect hipops-inspect hipops_code_objects)
  add_test(NAME inspect_budgets COMMAND hipops-inspect --check ${PROJECT_SOURCE_DIR}/tools/inspect/budgets.json)
  set_tests_properties(test_atomic_instructions inspect_budgets PROPERTIES ENVIRONMENT "${objdump_once}")
else()
  message(STATUS "hipops: no tests of the machine code: the compiler's llvm-objdump not found")
endif()

# ---- Code objects from another target's assembly equal the target's own
set(hipops_same_op strided_copy)  # quick to compile
if(hipops_same_op IN_LIST HIPOPS_OPS)
  foreach(target ${HIPOPS_AMD_BUILT})
    set(generic ${HIPOPS_ASSEMBLED_${target}})
    if(generic AND NOT generic STREQUAL target)
      hipops_compile_for(${target} compile)
      hipops_assemble_for(${target} ${target} assemble)
      add_test(NAME same_code_${target} WORKING_DIRECTORY ${PROJECT_BINARY_DIR}
        COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/machine_code/same_code.sh ${hipops_code_folder}/${target}/${hipops_same_op}.co
          ${compile} ${hipops_source}/kernels/${hipops_same_op}.hip -- ${assemble})
    endif()
  endforeach()
endif()

# ---- Each kernel file builds alone
if(Python3_Interpreter_FOUND)
  add_test(NAME test_kernel_includes COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/machine_code/kernel_includes.py
    ${PROJECT_SOURCE_DIR}/kernels ${hipops_code_folder})
endif()
find_program(HIPOPS_HIPCC hipcc PATHS $ENV{ROCM_PATH}/bin /opt/rocm/bin)
if(HIPOPS_HIPCC)
  add_executable(test_single_file_build machine_code/test_single_file_build.cpp)
  target_link_libraries(test_single_file_build PRIVATE test_main inspect)
  target_compile_definitions(test_single_file_build PRIVATE
    HIPOPS_HIPCC="${HIPOPS_HIPCC}" HIPOPS_SOURCE="${PROJECT_SOURCE_DIR}")
  foreach(op ${HIPOPS_OPS})
    add_test(NAME test_single_file_build_${op} COMMAND test_single_file_build -c ${op} -w NoAssertions)
  endforeach()
else()
  message(STATUS "hipops: no tests of building kernel files alone: hipcc not found")
endif()
