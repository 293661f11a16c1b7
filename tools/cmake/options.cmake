# Expands and checks the lists of ops, waves and targets.

# The cache keeps words such as "all" instead of their lists. So an old build folder gets the additions of later
# versions.
if(HIPOPS_OPS STREQUAL "all")
  set(HIPOPS_OPS ${HIPOPS_ALL_OPS})
endif()
set(hipops_named_targets ${HIPOPS_AMD_TARGETS})
set(hipops_named_architectures ${HIPOPS_CUDA_ARCHITECTURES})
if(HIPOPS_AMD_TARGETS STREQUAL "default")
  set(hipops_named_targets)
  set(HIPOPS_AMD_TARGETS ${HIPOPS_DEFAULT_AMD_TARGETS})
endif()
foreach(set EVERY TESTED)
  string(TOLOWER ${set} name)
  if(HIPOPS_AMD_TARGETS STREQUAL "${name}")
    set(hipops_named_targets)
    set(HIPOPS_AMD_TARGETS ${HIPOPS_${set}_AMD_TARGETS})
  endif()
endforeach()
if(HIPOPS_CUDA_ARCHITECTURES STREQUAL "default")
  set(hipops_named_architectures)
  set(HIPOPS_CUDA_ARCHITECTURES ${HIPOPS_DEFAULT_CUDA_ARCHITECTURES})
endif()

# hipops_check(variable form expected): stops unless the variable is a list of at least one item, and each item matches
# `form`.
function(hipops_check variable form expected)
  if("${${variable}}" STREQUAL "")
    message(FATAL_ERROR "hipops: ${variable} is empty, expected ${expected}")
  endif()
  foreach(item IN LISTS ${variable})
    if(NOT item MATCHES "^(${form})$")
      message(FATAL_ERROR "hipops: ${variable} has '${item}', expected ${expected}")
    endif()
  endforeach()
endfunction()

# hipops_leave_out(option named built missing why): prints the targets that are left out. Stops if the option is ON and
# the user named such a target, or if no target is left. A target that the user did not name may be newer than the
# compiler.
function(hipops_leave_out option named built missing why)
  if(NOT missing)
    return()
  endif()
  if(NOT ${option} STREQUAL "AUTO" AND (named OR NOT built))
    message(FATAL_ERROR "hipops: ${option} is ${${option}}, but ${why} ${missing}")
  elseif(NOT built)
    message(WARNING "hipops: none is left, as ${why} ${missing}")
  else()
    message(STATUS "hipops: left out, as ${why} ${missing}")
  endif()
endfunction()

list(JOIN HIPOPS_ALL_OPS "|" hipops_any_op)
hipops_check(HIPOPS_OPS "${hipops_any_op}" "all or some of ${HIPOPS_ALL_OPS}")
if(HIPOPS_AMD)
  hipops_check(HIPOPS_AMD_TARGETS "gfx[0-9]+[0-9a-f]|gfx[0-9]+(-[0-9]+)?-generic"
    "default, tested, every, or names as gfx942 and gfx11-generic, without features as :xnack-")
endif()
if(HIPOPS_CUDA)
  hipops_check(HIPOPS_CUDA_ARCHITECTURES "(sm|compute)_[0-9]+[a-z]?" "default or names as sm_90 and compute_90")
endif()
if(HIPOPS_CPU)
  hipops_check(HIPOPS_CPU_WAVES "32|64" "32, 64 or both")
endif()

if("scatter_add" IN_LIST HIPOPS_OPS AND NOT "index_add" IN_LIST HIPOPS_OPS)
  list(APPEND HIPOPS_OPS index_add)  # scatter_add launches its kernels for whole rows
  message(STATUS "hipops: index_add, too, whose kernels scatter_add launches")
endif()
set(hipops_left_out ${HIPOPS_ALL_OPS})
list(REMOVE_ITEM hipops_left_out ${HIPOPS_OPS})
if(hipops_left_out)
  message(STATUS "hipops: built without the kernels of ${hipops_left_out}")
  if(HIPOPS_TESTS)
    message(STATUS "hipops: no tests but those of these ops; the others need all")
  endif()
endif()
