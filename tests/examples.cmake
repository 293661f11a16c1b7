# Builds and runs docs/examples.

set(hipops_examples ${PROJECT_SOURCE_DIR}/docs/examples)

hipops_consumer(example_dlopen ${hipops_examples}/dlopen.c gnu99)
target_link_libraries(example_dlopen PRIVATE ${CMAKE_DL_LIBS})
add_dependencies(example_dlopen hipops)
add_test(NAME example_dlopen COMMAND example_dlopen $<TARGET_FILE:hipops>)
set_tests_properties(example_dlopen PROPERTIES PASS_REGULAR_EXPRESSION "^0.333333 0.333333 0.333333\n0.5 0.5 0\n$")

hipops_consumer(example_llama_block ${hipops_examples}/llama_block.cpp c++17)
target_link_libraries(example_llama_block PRIVATE hipops_packed)
add_test(NAME example_llama_block COMMAND example_llama_block)

hipops_consumer(example_sampler ${hipops_examples}/sampler.cpp c++17)
target_link_libraries(example_sampler PRIVATE hipops_packed)

# hipops_example(name PROGRAM ARGUMENT...): the program's exit code 77 skips the test.
function(hipops_example name)
  add_test(NAME example_${name} COMMAND ${ARGN})
  set_tests_properties(example_${name} PROPERTIES ENVIRONMENT PYTHONDONTWRITEBYTECODE=1 SKIP_RETURN_CODE 77)
endfunction()
# The package for Python, from the source tree, with the wheel's library, which contains the tools.
function(hipops_python name library)
  add_test(NAME python_${name} COMMAND ${Python3_EXECUTABLE} ${ARGN})
  set_tests_properties(python_${name} PROPERTIES SKIP_RETURN_CODE 77 ENVIRONMENT
    "PYTHONDONTWRITEBYTECODE=1;PYTHONPATH=${PROJECT_SOURCE_DIR}/capi/python;HIPOPS_LIBRARY=$<TARGET_FILE:${library}>")
endfunction()
hipops_python(package hipops ${CMAKE_CURRENT_SOURCE_DIR}/bindings/python_package.py ${PROJECT_SOURCE_DIR}/docs/guide/python.md
  ${PROJECT_SOURCE_DIR}/README.md)
hipops_python(streams hipops ${CMAKE_CURRENT_SOURCE_DIR}/bindings/python_streams.py)
set_property(TEST python_streams APPEND PROPERTY ENVIRONMENT HIPOPS_BACKEND=cuda HIPOPS_CUDA_LIBRARY=$<TARGET_FILE:standin_cuda>)
hipops_python(parity hipops_wheel -m hipops parity --golden ${PROJECT_SOURCE_DIR}/parity/golden --backend cpu --topic smoke)
hipops_python(torch hipops_wheel ${CMAKE_CURRENT_SOURCE_DIR}/bindings/python_torch.py ${PROJECT_SOURCE_DIR}/docs/guide/pytorch.md
  ${PROJECT_SOURCE_DIR}/docs/guide/training.md)
hipops_python(gradients hipops_wheel ${CMAKE_CURRENT_SOURCE_DIR}/bindings/python_gradients.py)
hipops_python(patch hipops_wheel ${CMAKE_CURRENT_SOURCE_DIR}/bindings/python_patch.py)
hipops_python(patch_sweep hipops_wheel ${CMAKE_CURRENT_SOURCE_DIR}/bindings/patch_sweep.py)
set_tests_properties(python_patch_sweep PROPERTIES LABELS nightly TIMEOUT 3600)
execute_process(COMMAND ${Python3_EXECUTABLE} -m mypy --version RESULT_VARIABLE hipops_has_no_mypy OUTPUT_QUIET ERROR_QUIET)
if(hipops_has_no_mypy)
  message(STATUS "hipops: the types of the package for Python are not checked: mypy (Debian: mypy) not found")
else()
  hipops_python(types hipops -m mypy --strict --cache-dir ${CMAKE_CURRENT_BINARY_DIR}/mypy --config-file
    ${PROJECT_SOURCE_DIR}/capi/python/pyproject.toml ${PROJECT_SOURCE_DIR}/capi/python/hipops)
endif()
hipops_python(sampler hipops ${CMAKE_CURRENT_SOURCE_DIR}/examples/same_tokens.py $<TARGET_FILE:example_sampler>
  ${hipops_examples}/sampler.py)
hipops_python(refusals hipops ${CMAKE_CURRENT_SOURCE_DIR}/examples/refusals.py ${CMAKE_CURRENT_SOURCE_DIR})
# The crates. Their declarations agree with the header.
add_test(NAME ffi COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/ffi.py --check)
add_test(NAME rust_crates COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/bindings/rust.sh ${PROJECT_SOURCE_DIR}/capi/rust
  ${PROJECT_SOURCE_DIR}/docs/guide/rust.md $<TARGET_FILE:hipops> ${CMAKE_CURRENT_BINARY_DIR}/rust)
set_tests_properties(rust_crates PROPERTIES SKIP_RETURN_CODE 77)

hipops_example(rust ${CMAKE_CURRENT_SOURCE_DIR}/examples/rust.sh ${Python3_EXECUTABLE} ${hipops_examples}/hipops.rs $<TARGET_FILE:hipops>)
