# relink.cmake: writes SOURCE's PAGES ("|" between them) to TO, with links that hold where they are installed, in DOCS: to
# the headers in INCLUDE and to the page about the golden files in GOLDEN. What is not installed is named, but not linked.
cmake_minimum_required(VERSION 3.25)

foreach(variable DOCS INCLUDE GOLDEN)
  if(${variable})
    cmake_path(ABSOLUTE_PATH ${variable} BASE_DIRECTORY /)  # most are below the prefix, whichever that will be
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
