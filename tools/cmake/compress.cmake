# Compresses offload bundles. The machine code of targets is similar, so a bundle of all targets is hardly larger than a
# bundle of one. The library unpacks an op's bundle at the first load (capi/runtime/bundle.cpp), so that every HIP
# runtime accepts it. HIP runtimes before ROCm 6 do not load clang's own compressed bundles (CCOB). With --long=25 zstd
# finds equal bytes up to 32 MiB back, without it up to 8 MiB. layer_norm's bundle has 21 MiB.
#
# Sets HIPOPS_ZSTD (libzstd.a, or empty) and, by op, HIPOPS_PACKED_<op>, the file to embed.

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
      COMMAND ${CMAKE_COMMAND} -E touch ${HIPOPS_PACKED_${op}}  # zstd copies the bundle's time
      DEPENDS ${HIPOPS_BUNDLE_${op}} COMMENT "compressed bundle of ${op}" VERBATIM)
  endif()
endforeach()
