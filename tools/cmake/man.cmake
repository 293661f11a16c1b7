# share/man/man1: a page for each tool, made of its --help.

set(hipops_pages)
foreach(tool hipops-parity hipops-bench hipops-inspect hipops-info)
  set(page ${PROJECT_BINARY_DIR}/share/man/man1/${tool}.1)
  add_custom_command(OUTPUT ${page}
    COMMAND ${PROJECT_SOURCE_DIR}/tools/man.sh $<TARGET_FILE:${tool}> ${PROJECT_VERSION} > ${page}
    DEPENDS ${tool} ${PROJECT_SOURCE_DIR}/tools/man.sh COMMENT "man page of ${tool}" VERBATIM)
  list(APPEND hipops_pages ${page})
endforeach()
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/share/man/man1)
add_custom_target(hipops_man ALL DEPENDS ${hipops_pages})
