# hipops::hipops_static: the static library as one object that defines only hipops_*. It contains Boost.Context and
# zstd, which cannot clash with the consumer's copies. The tests and tools use internal functions, and so link
# hipops_static.

# With clang CMAKE_LINKER is LLD, which has --force-group-allocation only from version 19 on.
function(hipops_takes_groups result linker)
  execute_process(COMMAND ${linker} --force-group-allocation --version RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
  if(failed)
    set(${result} FALSE PARENT_SCOPE)
  endif()
endfunction()
find_program(HIPOPS_PACKING_LINKER NAMES ${CMAKE_LINKER} ld.bfd ld VALIDATOR hipops_takes_groups
  DOC "the linker that makes one object of libhipops.a: GNU ld, or an LLD that takes --force-group-allocation")
if(NOT HIPOPS_PACKING_LINKER)
  set(text "hipops: libhipops.a needs a linker that takes --force-group-allocation: CMAKE_LINKER is ${CMAKE_LINKER}, "
    "which does not, expected GNU ld or LLD 19 or later, as ld.bfd or ld, or named by -DHIPOPS_PACKING_LINKER=<path>")
  if(HIPOPS_INSTALL)
    message(FATAL_ERROR ${text} "; -DHIPOPS_INSTALL=OFF does without")
  endif()
  message(STATUS ${text} "; there is no hipops::hipops_static")
  return()
endif()

set(hipops_packed ${PROJECT_BINARY_DIR}/lib/packed)
file(MAKE_DIRECTORY ${hipops_packed})
add_custom_command(OUTPUT ${hipops_packed}/hipops.o
  COMMAND ${HIPOPS_PACKING_LINKER} -r --force-group-allocation -o ${hipops_packed}/hipops.o
    --whole-archive $<TARGET_FILE:hipops_static> --no-whole-archive ${HIPOPS_BOOST_CONTEXT} ${HIPOPS_ZSTD}
  COMMAND ${CMAKE_OBJCOPY} --localize-hidden --wildcard --keep-global-symbol=hipops_* ${hipops_packed}/hipops.o
  DEPENDS hipops_static COMMENT "libhipops.a as one object" VERBATIM)
set_source_files_properties(${hipops_packed}/hipops.o PROPERTIES EXTERNAL_OBJECT ON)
add_library(hipops_packed STATIC ${hipops_packed}/hipops.o)
set_target_properties(hipops_packed PROPERTIES OUTPUT_NAME hipops ARCHIVE_OUTPUT_DIRECTORY ${hipops_packed}
  LINKER_LANGUAGE CXX EXPORT_NAME hipops_static)
target_compile_definitions(hipops_packed INTERFACE HIPOPS_STATIC)
target_include_directories(hipops_packed INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>)
target_link_libraries(hipops_packed INTERFACE stdc++ m Threads::Threads ${CMAKE_DL_LIBS})
add_library(hipops::hipops_static ALIAS hipops_packed)
