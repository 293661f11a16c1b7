# The header and the shared library in other programs: in C99, in C++11, linked, and through dlopen.

hipops_test(test_api test_api.cpp)

set(hipops_header ${PROJECT_SOURCE_DIR}/include/hipops/hipops.h)
set(hipops_strict -pedantic -Wall -Wextra -Werror)
set(hipops_abi ${CMAKE_CURRENT_SOURCE_DIR}/abi)

# The header alone.
add_test(NAME abi_header_c99 COMMAND ${CMAKE_C_COMPILER} -x c -std=c99 ${hipops_strict} -fsyntax-only ${hipops_header})
add_test(NAME abi_header_c++11
  COMMAND ${CMAKE_CXX_COMPILER} -x c++ -std=c++11 ${hipops_strict} -fsyntax-only ${hipops_header})

# The C++ header: code that must not compile, with the compiler's message. __int128 is an integer only with extensions.
set(cpp_compiler ${CMAKE_CXX_COMPILER} -std=gnu++17 -I${PROJECT_SOURCE_DIR}/include -fsyntax-only)
add_test(NAME cpp_types COMMAND ${cpp_compiler} ${hipops_strict} ${CMAKE_CURRENT_SOURCE_DIR}/cpp/types.cpp)
set(no_dtype "dtype_of knows no dtype of this type")
set(refusals "" ${no_dtype} ${no_dtype} ${no_dtype} deleted deleted deleted deleted)
foreach(case RANGE 7)
  list(GET refusals ${case} words)
  add_test(NAME cpp_refused_${case} COMMAND ${cpp_compiler} -DCASE=${case} ${CMAKE_CURRENT_SOURCE_DIR}/cpp/refused.cpp)
  if(words)
    set_tests_properties(cpp_refused_${case} PROPERTIES PASS_REGULAR_EXPRESSION "${words}")
  endif()
endforeach()

# The C++ header, in a file with exceptions and one without, of one program; and its page's example.
if(HIPOPS_CPU AND NOT HIPOPS_SANITIZE)
  add_executable(cpp_header cpp/throws.cpp cpp/returns_status.cpp cpp/types.cpp)
  target_include_directories(cpp_header PRIVATE ${PROJECT_SOURCE_DIR}/include)
  target_compile_options(cpp_header PRIVATE ${hipops_strict} -Wconversion -Wshadow -std=c++17)
  set_source_files_properties(cpp/returns_status.cpp PROPERTIES COMPILE_OPTIONS -fno-exceptions)
  target_link_libraries(cpp_header PRIVATE hipops)
  add_test(NAME cpp_header COMMAND cpp_header)
  add_test(NAME cpp_example COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/page_example.sh ${PROJECT_SOURCE_DIR} $<TARGET_FILE_DIR:hipops>
    docs/guide/cpp.md cpp "0.365148 1.212957" ${CMAKE_CXX_COMPILER} -std=c++17 -O2)
  add_test(NAME c_example COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/page_example.sh ${PROJECT_SOURCE_DIR} $<TARGET_FILE_DIR:hipops>
    docs/guide/c.md c "0.365148 1.212957" ${CMAKE_C_COMPILER} -std=c99)
endif()

# hipops_consumer(name SOURCE standard): a program that includes only the public header of the project.
function(hipops_consumer name source standard)
  add_executable(${name} ${source})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/include)
  target_compile_options(${name} PRIVATE ${hipops_strict} -std=${standard})
endfunction()
hipops_consumer(abi_consumer_c99 abi/consumer.c c99)
hipops_consumer(abi_consumer_c++11 abi/consumer.cpp c++11)
hipops_consumer(abi_plugin_host abi/plugin_host.c gnu99)
target_link_libraries(abi_consumer_c99 PRIVATE hipops m)
target_link_libraries(abi_consumer_c++11 PRIVATE hipops)
target_link_libraries(abi_plugin_host PRIVATE ${CMAKE_DL_LIBS})
add_dependencies(abi_plugin_host hipops)
if(HIPOPS_CPU)
  add_test(NAME abi_consumer_c99 COMMAND abi_consumer_c99)
  add_test(NAME abi_consumer_c++11 COMMAND abi_consumer_c++11)
  add_test(NAME abi_plugin_host COMMAND abi_plugin_host $<TARGET_FILE:hipops>)
  set_tests_properties(abi_consumer_c99 abi_consumer_c++11 PROPERTIES ENVIRONMENT "HIPOPS_BACKEND=cpu")
  # The runtime lives as long as the process. The sanitizer reports it as a leak if its library is unloaded.
  set_tests_properties(abi_plugin_host PROPERTIES ENVIRONMENT "HIPOPS_BACKEND=cpu;ASAN_OPTIONS=detect_leaks=0")
endif()

# The header has the types and functions of the last release, described for x86-64.
find_program(HIPOPS_ABIDIFF abidiff)
if(HIPOPS_ABIDIFF AND CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  add_test(NAME abi_release COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/abi.py check)
  add_test(NAME test_abi_description COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/test_abi_description.py)
  set_tests_properties(abi_release test_abi_description PROPERTIES ENVIRONMENT "CC=${CMAKE_C_COMPILER}")
else()
  message(STATUS "hipops: no comparison with the last release's interface: abidiff not found (Debian: abigail-tools), or no x86-64")
endif()

# The contents of the library file. Sanitizers add to it.
if(NOT HIPOPS_SANITIZE)
  add_test(NAME abi_exports COMMAND ${hipops_abi}/check_exports.sh $<TARGET_FILE:hipops> ${hipops_header})
  add_test(NAME abi_elf COMMAND ${hipops_abi}/check_elf.sh $<TARGET_FILE:hipops> $<TARGET_FILE:hipops_static>
    $<IF:$<CONFIG:Debug>,plain,hardened>)
endif()
