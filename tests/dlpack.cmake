# hipops_dlpack.h, which needs DLPack's own header.

find_path(HIPOPS_DLPACK dlpack/dlpack.h)
if(NOT HIPOPS_DLPACK)
  message(STATUS "hipops: no tests of hipops_dlpack.h: dlpack/dlpack.h (Debian: libdlpack-dev) not found")
  return()
endif()
hipops_test(test_dlpack test_dlpack.cpp)
target_include_directories(test_dlpack SYSTEM PRIVATE ${HIPOPS_DLPACK})

add_library(dlpack_bridge SHARED dlpack/bridge.c)
target_include_directories(dlpack_bridge PRIVATE ${PROJECT_SOURCE_DIR}/include)
target_include_directories(dlpack_bridge SYSTEM PRIVATE ${HIPOPS_DLPACK})
target_compile_options(dlpack_bridge PRIVATE ${hipops_strict} -std=c99)
if(HIPOPS_CPU AND NOT HIPOPS_SANITIZE)
  add_test(NAME dlpack_python COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/dlpack/dlpack.py
    $<TARGET_FILE:dlpack_bridge>)
  set_tests_properties(dlpack_python PROPERTIES SKIP_RETURN_CODE 77 ENVIRONMENT
    "PYTHONDONTWRITEBYTECODE=1;PYTHONPATH=${PROJECT_SOURCE_DIR}/capi/python;HIPOPS_LIBRARY=$<TARGET_FILE:hipops>")
endif()
