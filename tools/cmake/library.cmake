# libhipops.so and libhipops.a, of the same objects.

set(hipops_sources
  capi/api.cpp
  capi/error.cpp
  capi/indices.cpp
  capi/overlap.cpp
  capi/rope_common.cpp
  capi/row_plan.cpp
  capi/rows.cpp
  capi/scatter_plan.cpp
  capi/strided.cpp
  capi/take.cpp
  capi/tensor.cpp
  capi/upsample.cpp
  ${hipops_generated}/registry.cpp
  ${hipops_generated}/images.S)
foreach(op ${HIPOPS_OPS})
  list(APPEND hipops_sources capi/${op}.cpp)
endforeach()
file(GLOB hipops_runtime_sources CONFIGURE_DEPENDS capi/runtime/*.cpp)
if(HIPOPS_CPU)
  list(FILTER hipops_runtime_sources EXCLUDE REGEX "/no_cpu\\.cpp$")
else()
  list(FILTER hipops_runtime_sources EXCLUDE REGEX "/cpu[^/]*\\.cpp$")
endif()
list(APPEND hipops_sources ${hipops_runtime_sources})

find_package(Threads REQUIRED)
add_library(hipops_objects OBJECT ${hipops_sources})
target_include_directories(hipops_objects PUBLIC include capi kernels PRIVATE ${hipops_generated})

add_library(hipops SHARED $<TARGET_OBJECTS:hipops_objects> ${HIPOPS_CPU_OBJECTS})
add_library(hipops_static STATIC $<TARGET_OBJECTS:hipops_objects> ${HIPOPS_CPU_OBJECTS})
set_target_properties(hipops_static PROPERTIES OUTPUT_NAME hipops)
foreach(library hipops hipops_static)
  target_include_directories(${library} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>)
endforeach()

target_link_libraries(hipops PRIVATE ${HIPOPS_BOOST_CONTEXT} Threads::Threads ${CMAKE_DL_LIBS})
target_link_libraries(hipops_static PUBLIC ${HIPOPS_BOOST_CONTEXT} Threads::Threads ${CMAKE_DL_LIBS})

# The public symbols and no other, the C++ runtime inside, nothing writable that need not be.
set_target_properties(hipops PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION 0 LINK_DEPENDS ${PROJECT_SOURCE_DIR}/capi/exports.map)
target_link_options(hipops PRIVATE -Wl,--version-script=${PROJECT_SOURCE_DIR}/capi/exports.map -static-libstdc++ -static-libgcc
  -Wl,--exclude-libs,ALL -Wl,-z,relro,-z,now,-z,noexecstack)
if(NOT HIPOPS_SANITIZE)
  target_link_options(hipops PRIVATE -Wl,-z,defs)
endif()
