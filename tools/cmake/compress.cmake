# Offload bundles compressed: a bundle of all targets is hardly bigger than that of one, as their machine code is alike. The library unpacks
# an op's bundle when it is first loaded (capi/runtime/bundle.cpp), so that every HIP runtime takes it: compressed bundles of clang's own
# (CCOB) are not for those before ROCm 6. --long=25: what is alike is found up to 32 MiB back, from target to target; without it up to 8, and
# layer_norm's bundle has 21.
#
# Sets HIPOPS_ZSTD (libzstd.a, or empty) and, by op, HIPOPS_PACKED_<op>: what is embedded.

set(HIPOPS_COMPRESS AUTO CACHE STRING "compress the AMD code objects in the library: AUTO, ON, OFF")
set(HIPOPS_ZSTD)
if(HIPOPS_COMPRESS AND HIPOPS_AMD_BUILT)
  find_program(HIPOPS_ZSTD_PROGRAM zstd)
  find_library(HIPOPS_ZSTD_LIBRARY libzstd.a)
  find_path(HIPOPS_ZSTD_INCLUDE zstd.h)
  if(HIPOPS_ZSTD_PROGRAM AND HIPOPS_ZSTD_LIBRARY AND HIPOPS_ZSTD_INCLUDE)
    set(HIPOPS_ZSTD ${HIPOPS_ZSTD_LIBRARY})
  elseif(HIPOPS_COMPRESS STREQUAL "AUTO")
    message(STATUS "hipops: the AMD code objects are not compressed: zstd and libzstd.a (Debian: zstd, libzstd-dev) not found")
  else()
    message(FATAL_ERROR "hipops: HIPOPS_COMPRESS is ON, but zstd and libzstd.a (Debian: zstd, libzstd-dev) were not found")
  endif()
endif()

foreach(op ${HIPOPS_OPS})
  set(HIPOPS_PACKED_${op} ${HIPOPS_BUNDLE_${op}})
  if(HIPOPS_ZSTD)
    set(HIPOPS_PACKED_${op} ${HIPOPS_BUNDLE_${op}}.zst)
    add_custom_command(OUTPUT ${HIPOPS_PACKED_${op}}
      COMMAND ${HIPOPS_ZSTD_PROGRAM} --quiet --force -19 --long=25 ${HIPOPS_BUNDLE_${op}} -o ${HIPOPS_PACKED_${op}}
      COMMAND ${CMAKE_COMMAND} -E touch ${HIPOPS_PACKED_${op}}  # zstd gives it the bundle's time
      DEPENDS ${HIPOPS_BUNDLE_${op}} COMMENT "compressed bundle of ${op}" VERBATIM)
  endif()
endforeach()
