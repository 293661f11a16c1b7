# libhipops.so and libhipops.a, from the same objects. packed.cmake makes the library that other projects link
# statically.

set(hipops_sources
  capi/api.cpp
  capi/move/copy_layout.cpp
  capi/move/copy_plan.cpp
  capi/tensor/divisor.cpp
  capi/tensor/error.cpp
  capi/map/activation.cpp
  capi/map/quantize.cpp
  capi/index/indices.cpp
  capi/index/plan.cpp
  capi/index/problem.cpp
  capi/index/sort_plan.cpp
  capi/tensor/overlap.cpp
  capi/move/rope_common.cpp
  capi/rows/checks.cpp
  capi/rows/problem.cpp
  capi/rows/plan.cpp
  capi/rows/column_sums.cpp
  capi/policy/default_rows.cpp
  capi/policy/default_sums.cpp
  capi/policy/policy.cpp
  capi/move/scatter_plan.cpp
  capi/move/take.cpp
  capi/move/take_staged.cpp
  capi/reduce/plan.cpp
  capi/tensor/tensor.cpp
  capi/move/upsample.cpp
  capi/move/upsample_periods.cpp
  capi/move/upsample_plan.cpp
  capi/move/upsample_tiles.cpp
  ${hipops_generated}/registry.cpp
  ${hipops_generated}/images.S)
foreach(op ${HIPOPS_ALL_OPS})
  list(APPEND hipops_sources capi/${op}.cpp)
endforeach()
file(GLOB hipops_runtime_sources CONFIGURE_DEPENDS capi/runtime/*.cpp)
file(GLOB hipops_cpu_sources CONFIGURE_DEPENDS capi/runtime/cpu/*.cpp)
if(HIPOPS_CPU)
  list(FILTER hipops_runtime_sources EXCLUDE REGEX "/no_cpu\\.cpp$")
  list(APPEND hipops_runtime_sources ${hipops_cpu_sources})
endif()
list(APPEND hipops_sources ${hipops_runtime_sources})

find_package(Threads REQUIRED)
find_package(nlohmann_json REQUIRED)  # capi/policy reads tables
add_library(hipops_objects OBJECT ${hipops_sources})
target_include_directories(hipops_objects PUBLIC include capi kernels PRIVATE ${hipops_generated})
target_link_libraries(hipops_objects PRIVATE nlohmann_json::nlohmann_json)
# The host code is compiled with run-time checks. Kernels are not, because the checks would slow their loops.
if(NOT HIPOPS_SANITIZE)
  target_compile_options(hipops_objects PRIVATE
    $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<NOT:$<CONFIG:Debug>>>:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=2> -fstack-protector-strong)
endif()
# No unique symbols: they cannot be local, and two copies of the library would share them.
target_compile_options(hipops_objects PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-gnu-unique>)
if(HIPOPS_ZSTD)
  set_source_files_properties(capi/runtime/bundle.cpp PROPERTIES COMPILE_DEFINITIONS HIPOPS_ZSTD)
  target_include_directories(hipops_objects SYSTEM PRIVATE ${HIPOPS_ZSTD_INCLUDE})
endif()

add_library(hipops SHARED $<TARGET_OBJECTS:hipops_objects> ${HIPOPS_CPU_OBJECTS})
add_library(hipops_static STATIC $<TARGET_OBJECTS:hipops_objects> ${HIPOPS_CPU_OBJECTS})
set_target_properties(hipops_static PROPERTIES OUTPUT_NAME hipops)
target_compile_definitions(hipops_static INTERFACE HIPOPS_STATIC)
add_library(hipops::hipops ALIAS hipops)  # the name that find_package defines
foreach(library hipops hipops_static)
  target_include_directories(${library} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>)
endforeach()

target_link_libraries(hipops PRIVATE ${HIPOPS_BOOST_CONTEXT} ${HIPOPS_ZSTD} Threads::Threads ${CMAKE_DL_LIBS})
target_link_libraries(hipops_static PUBLIC ${HIPOPS_BOOST_CONTEXT} ${HIPOPS_ZSTD} Threads::Threads ${CMAKE_DL_LIBS})

# Exports only the public symbols, contains the C++ runtime, and keeps data read-only if possible.
set_target_properties(hipops PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION 0 LINK_DEPENDS ${PROJECT_SOURCE_DIR}/capi/exports.map)
target_link_options(hipops PRIVATE -Wl,--version-script=${PROJECT_SOURCE_DIR}/capi/exports.map -static-libstdc++ -static-libgcc
  -Wl,-z,relro,-z,now,-z,noexecstack
  # The library stays loaded after dlclose, because a GPU runtime reads code objects from its memory. It calls its own
  # functions, even if the process has another copy.
  -Wl,-z,nodelete -Wl,-Bsymbolic
  # For the list of the libraries inside (tools/cmake/spdx.cmake).
  -Wl,-Map=${PROJECT_BINARY_DIR}/lib/libhipops.map)
if(NOT HIPOPS_SANITIZE)
  target_link_options(hipops PRIVATE -Wl,-z,defs)
endif()
