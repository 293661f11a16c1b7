# hipops-tools, the installed program (tools/tools.cpp), from the main.cpp files of the tools in bin/. And the tools'
# man pages in share/man/man1, from their --help.

add_library(tool_mains INTERFACE)
target_sources(tool_mains INTERFACE ${PROJECT_SOURCE_DIR}/tools/tools.cpp)
add_executable(hipops-tools)
target_link_libraries(hipops-tools PRIVATE tool_mains)
target_link_options(hipops-tools PRIVATE -static-libstdc++ -static-libgcc)
set(hipops_tool_links)
set(hipops_pages)
foreach(tool parity bench tune inspect info fuzz)
  target_compile_options(hipops-${tool} PRIVATE -fPIC)  # the wheel's library contains it, too
  # The tool's own object with another name for main, which saves a second compilation of main.cpp.
  set(main ${PROJECT_BINARY_DIR}/tool-links/${tool}_main.o)
  add_custom_command(OUTPUT ${main}
    COMMAND ${CMAKE_OBJCOPY} --redefine-sym main=${tool}_main $<TARGET_OBJECTS:hipops-${tool}> ${main}
    DEPENDS $<TARGET_OBJECTS:hipops-${tool}> COMMENT "main of hipops-${tool}" VERBATIM)
  set_source_files_properties(${main} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
  target_sources(tool_mains INTERFACE ${main})
  target_link_libraries(tool_mains INTERFACE ${tool})

  set(link ${PROJECT_BINARY_DIR}/tool-links/hipops-${tool})
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/tool-links)
  file(CREATE_LINK hipops-tools ${link} SYMBOLIC)
  list(APPEND hipops_tool_links ${link})

  if(NOT CMAKE_CROSSCOMPILING)  # otherwise they do not run on this machine
    set(page ${PROJECT_BINARY_DIR}/share/man/man1/hipops-${tool}.1)
    add_custom_command(OUTPUT ${page}
      COMMAND ${PROJECT_SOURCE_DIR}/tools/man.sh $<TARGET_FILE:hipops-${tool}> ${PROJECT_VERSION} > ${page}
      DEPENDS hipops-${tool} ${PROJECT_SOURCE_DIR}/tools/man.sh COMMENT "man page of hipops-${tool}" VERBATIM)
    list(APPEND hipops_pages ${page})
  endif()
endforeach()
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/share/man/man1)
add_custom_target(hipops_man ALL DEPENDS ${hipops_pages})
