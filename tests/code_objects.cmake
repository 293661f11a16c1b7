# What must hold of every AMD code object, and of every kernel file that one is made of.

find_package(nlohmann_json REQUIRED)

hipops_test(test_code_objects test_code_objects.cpp ${PROJECT_SOURCE_DIR}/tools/inspect/code_object.cpp)
target_include_directories(test_code_objects PRIVATE ${PROJECT_SOURCE_DIR}/tools)
target_link_libraries(test_code_objects PRIVATE nlohmann_json::nlohmann_json)
target_compile_definitions(test_code_objects PRIVATE HIPOPS_CODE_OBJECTS="${hipops_objects}")
add_dependencies(test_code_objects code_objects)

# ---- The machine code, by the disassembler that belongs to the compiler
if(HIPOPS_ROCM_CLANG)
  get_filename_component(objdump_folder ${HIPOPS_ROCM_CLANG} DIRECTORY)
  find_program(HIPOPS_OBJDUMP llvm-objdump PATHS ${objdump_folder} ${objdump_folder}/../llvm/bin NO_DEFAULT_PATH)
else()
  string(REGEX REPLACE "^.*clang" "llvm-objdump" objdump_name ${HIPOPS_CLANG})
  find_program(HIPOPS_OBJDUMP ${objdump_name})
endif()
if(HIPOPS_OBJDUMP)
  target_compile_definitions(test_code_objects PRIVATE HIPOPS_OBJDUMP="${HIPOPS_OBJDUMP}")
  foreach(op ${HIPOPS_OPS})
    add_test(NAME test_machine_code_${op} COMMAND test_code_objects "[disassembly]" -c ${op} -w NoAssertions)
  endforeach()
else()
  message(STATUS "hipops: no tests of the machine code: the compiler's llvm-objdump not found")
endif()

# ---- Each kernel file builds alone
if(Python3_Interpreter_FOUND)
  add_test(NAME test_kernel_includes COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/kernel_includes.py
    ${PROJECT_SOURCE_DIR}/kernels ${hipops_objects})
endif()
find_program(HIPOPS_HIPCC hipcc PATHS $ENV{ROCM_PATH}/bin /opt/rocm/bin)
if(HIPOPS_HIPCC)
  add_executable(test_single_file_build test_single_file_build.cpp ${PROJECT_SOURCE_DIR}/tools/inspect/code_object.cpp)
  target_include_directories(test_single_file_build PRIVATE ${PROJECT_SOURCE_DIR}/tools)
  target_link_libraries(test_single_file_build PRIVATE test_main hipops_static nlohmann_json::nlohmann_json)
  target_compile_definitions(test_single_file_build PRIVATE
    HIPOPS_HIPCC="${HIPOPS_HIPCC}" HIPOPS_SOURCE="${PROJECT_SOURCE_DIR}")
  foreach(op ${HIPOPS_OPS})
    add_test(NAME test_single_file_build_${op} COMMAND test_single_file_build -c ${op} -w NoAssertions)
  endforeach()
else()
  message(STATUS "hipops: no tests of building kernel files alone: hipcc not found")
endif()
