# relink.cmake: writes SOURCE's PAGES ("|" between them) to TO, with links for their place in the installation, DOCS.
# Headers are in INCLUDE, and the page about the golden files is in GOLDEN. A link to a file that is not installed
# becomes its name.
cmake_minimum_required(VERSION 3.25)

foreach(variable DOCS INCLUDE GOLDEN)
  if(${variable})
    cmake_path(ABSOLUTE_PATH ${variable} BASE_DIRECTORY /)  # most are below the prefix, which may be any folder
  endif()
endforeach()
set(not_installed "capi/|kernels/|parity/|tests/|tools/|CONTRIBUTING.md")
string(REPLACE "|" ";" PAGES "${PAGES}")
foreach(page ${PAGES})
  file(READ ${SOURCE}/${page} text)
  cmake_path(GET page PARENT_PATH folder)
  file(RELATIVE_PATH include ${DOCS}/${folder} ${INCLUDE})
  string(REGEX REPLACE "\\]\\((\\.\\./)*include/hipops/" "](${include}/hipops/" text "${text}")
  if(GOLDEN)
    file(RELATIVE_PATH golden ${DOCS}/${folder} ${GOLDEN})
    string(REGEX REPLACE "\\]\\((\\.\\./)*parity/golden/README" "](${golden}/README" text "${text}")
  endif()
  string(REGEX REPLACE "\\[([^]]*)\\]\\((\\.\\./)*(${not_installed})[^)]*\\)" "\\1" text "${text}")
  file(WRITE ${TO}/${page} "${text}")
endforeach()
