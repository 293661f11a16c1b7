# A toolchain file for code that runs on any Linux with glibc 2.28 or later (manylinux_2_28). It uses zig's C++
# compiler, the PyPI package `ziglang`. The libraries' headers are copied, because the distribution's folder also has
# its own libc's headers.

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
find_program(HIPOPS_ZIG zig REQUIRED)
foreach(language C ASM)
  set(CMAKE_${language}_COMPILER ${HIPOPS_ZIG};cc;-target;x86_64-linux-gnu.2.28)
endforeach()
set(CMAKE_CXX_COMPILER ${HIPOPS_ZIG};c++;-target;x86_64-linux-gnu.2.28)
set(CMAKE_C_COMPILER_LAUNCHER "")  # zig has its own cache
set(CMAKE_CXX_COMPILER_LAUNCHER "")

get_property(is_trial GLOBAL PROPERTY IN_TRY_COMPILE)
set(prefix ${CMAKE_BINARY_DIR}/libraries)
if(NOT is_trial)
  file(GLOB packages /usr/share/cmake/CLI11 /usr/share/cmake/nlohmann_json /usr/lib/*/cmake/CLI11 /usr/lib/*/cmake/nlohmann_json)
  file(COPY ${packages} DESTINATION ${prefix}/share/cmake)
  file(GLOB headers /usr/include/CLI /usr/include/nlohmann /usr/include/boost /usr/include/zstd*.h /usr/include/zdict.h)
  file(COPY ${headers} DESTINATION ${prefix}/include)
  file(GLOB archives /usr/lib/x86_64-linux-gnu/libboost_context.a /usr/lib/x86_64-linux-gnu/libzstd.a)
  file(COPY ${archives} DESTINATION ${prefix}/lib)
endif()
set(CMAKE_FIND_ROOT_PATH ${prefix})
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
