# lib/libhipops.spdx.json: what is inside libhipops.so, in SPDX 2.3.

find_package(Python3 COMPONENTS Interpreter)
if(NOT Python3_Interpreter_FOUND)
  message(STATUS "hipops: no SPDX list: Python 3 not found")
  return()
endif()

set(hipops_spdx ${PROJECT_BINARY_DIR}/lib/libhipops.spdx.json)
set(parts --version ${PROJECT_VERSION} --compiler "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")
if(HIPOPS_CPU)
  find_file(HIPOPS_BOOST_VERSION_HEADER boost/version.hpp)
  if(HIPOPS_BOOST_VERSION_HEADER)
    list(APPEND parts --boost ${HIPOPS_BOOST_VERSION_HEADER})
  endif()
endif()
if(HIPOPS_AMD_BUILT)
  set(version)
  if(HIPOPS_ROCM_CLANG AND EXISTS $ENV{ROCM_PATH}/.info/version)
    file(STRINGS $ENV{ROCM_PATH}/.info/version version LIMIT_COUNT 1)
  elseif(HIPOPS_ROCM_CLANG AND EXISTS /opt/rocm/.info/version)
    file(STRINGS /opt/rocm/.info/version version LIMIT_COUNT 1)
  else()
    execute_process(COMMAND dpkg-query -W -f "\${Version} " rocm-device-libs rocm-device-libs-17 OUTPUT_VARIABLE version ERROR_QUIET)
  endif()
  string(STRIP "${version}" version)
  list(APPEND parts --device-libs "$<IF:$<BOOL:${version}>,${version},NOASSERTION>")
endif()
if(HIPOPS_CUDA_BUILT)
  execute_process(COMMAND ${HIPOPS_NVCC} --version OUTPUT_VARIABLE version ERROR_QUIET)
  string(REGEX MATCH "release ([0-9.]+)" version "${version}")
  list(APPEND parts --cuda "$<IF:$<BOOL:${CMAKE_MATCH_1}>,${CMAKE_MATCH_1},NOASSERTION>")
endif()

add_custom_command(OUTPUT ${hipops_spdx}
  COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/supply/spdx.py
    --output ${hipops_spdx} --library $<TARGET_FILE:hipops> ${parts}
  DEPENDS hipops ${PROJECT_SOURCE_DIR}/tools/supply/spdx.py COMMENT "SPDX list" VERBATIM)
add_custom_target(hipops_spdx ALL DEPENDS ${hipops_spdx})
