# The shipped files: the same bytes from any folder, and a list of their contents.

# Sizes of the source that have a goal do not grow.
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  add_test(NAME supply_goals COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/goals.py ${PROJECT_BINARY_DIR})
endif()
add_test(NAME supply_versions COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/supply/versions.py ${PROJECT_SOURCE_DIR})
add_test(NAME supply_gpus_here COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/supply/gpus_here.sh ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_BINARY_DIR}/gpus_here)

if(NOT HIPOPS_SANITIZE)
  # One op is enough, because all builds have the same steps. It is built in folders of its own, twice.
  set(arguments -DHIPOPS_OPS=rope_thd -DHIPOPS_CUDA=OFF -DHIPOPS_AMD=OFF)
  if(HIPOPS_AMD_BUILT)
    list(GET HIPOPS_AMD_BUILT 0 target)
    set(arguments -DHIPOPS_OPS=rope_thd -DHIPOPS_CUDA=OFF -DHIPOPS_AMD_TARGETS=${target})
  endif()
  add_test(NAME supply_reproducible COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/supply/reproducible.sh ${PROJECT_SOURCE_DIR}
    ${PROJECT_BINARY_DIR}/reproducible -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER} -DCMAKE_C_COMPILER=${CMAKE_C_COMPILER} ${arguments})
  set_tests_properties(supply_reproducible PROPERTIES TIMEOUT 600)

  # A build of one op includes the ops whose kernels it launches.
  add_test(NAME supply_ops COMMAND ${CMAKE_COMMAND} -G Ninja -S ${PROJECT_SOURCE_DIR} -B ${PROJECT_BINARY_DIR}/ops
    -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER} -DCMAKE_C_COMPILER=${CMAKE_C_COMPILER}
    -DHIPOPS_OPS=scatter_add -DHIPOPS_CUDA=OFF -DHIPOPS_AMD=OFF -DHIPOPS_TESTS=OFF)
  set_tests_properties(supply_ops PROPERTIES PASS_REGULAR_EXPRESSION
    "built without the kernels of [a-z0-9_;]*gather;index_select;scatter;upsample_nearest1d")

  # The configuration with right and wrong options.
  add_test(NAME supply_configure COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/supply/configure.sh ${PROJECT_SOURCE_DIR}
    ${PROJECT_BINARY_DIR}/configure ${CMAKE_C_COMPILER} ${CMAKE_CXX_COMPILER}
    "${HIPOPS_AMD_BUILT}" "${HIPOPS_CUDA_BUILT}")

  if(TARGET hipops_spdx)
    add_test(NAME supply_spdx COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/supply/test_spdx.py
      ${PROJECT_BINARY_DIR}/lib/libhipops.spdx.json $<TARGET_FILE:hipops> ${PROJECT_BINARY_DIR}/lib/libhipops.map)
    add_test(NAME supply_licenses COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/supply/licenses.py ${PROJECT_SOURCE_DIR}
      ${PROJECT_BINARY_DIR}/lib/libhipops.spdx.json)
  endif()
endif()
