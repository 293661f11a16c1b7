# Writes the list of ops for the runtimes: generated/registry.cpp (all_ops, all_images), and generated/images.S, which
# embeds the bundles and fatbins. And generated/build_info.h.

set(hipops_generated ${PROJECT_BINARY_DIR}/generated)

set(hipops_declarations)
set(hipops_ops)
set(hipops_images)
set(hipops_assembly "  .section .rodata\n")
set(hipops_embedded)

# One embedded file: its bytes between two symbols, aligned so that a loader can map it. Sets `begin` and `begin`_end to
# the symbols, or to nullptr without a file.
macro(hipops_embed symbol file begin)
  if(NOT "${file}" STREQUAL "")
    string(APPEND hipops_assembly "  .balign 4096\n  .globl ${symbol}\n  .hidden ${symbol}\n${symbol}:\n  .incbin \"${file}\"\n"
      "  .globl ${symbol}_end\n  .hidden ${symbol}_end\n${symbol}_end:\n")
    string(APPEND hipops_declarations "extern \"C\" const unsigned char ${symbol}[], ${symbol}_end[];\n")
    set(${begin} ${symbol})
    set(${begin}_end ${symbol}_end)
    list(APPEND hipops_embedded ${file})
  else()
    set(${begin} nullptr)
    set(${begin}_end nullptr)
  endif()
endmacro()

foreach(op ${HIPOPS_OPS})
  hipops_embed(hipops_bundle_${op} "${HIPOPS_PACKED_${op}}" bundle)
  hipops_embed(hipops_fatbin_${op} "${HIPOPS_FATBIN_${op}}" fatbin)
  set(cpu)
  foreach(wave 32 64)
    if(HIPOPS_CPU AND wave IN_LIST HIPOPS_CPU_WAVES)
      list(APPEND cpu "cpu_${op}_wave${wave}")
      string(APPEND hipops_declarations "namespace hipops { extern const CpuKernel cpu_${op}_wave${wave}[]; }\n")
    else()
      list(APPEND cpu nullptr)
    endif()
  endforeach()
  list(JOIN cpu ", " cpu)
  string(APPEND hipops_images "    {\"${op}\",\n     ${bundle}, ${bundle_end},\n     ${fatbin},\n     ${cpu}},\n")
endforeach()
foreach(op ${HIPOPS_ALL_OPS})
  string(APPEND hipops_declarations "namespace hipops { extern Op op_${op}; }\n")
  string(APPEND hipops_ops "    &op_${op},\n")
endforeach()
string(APPEND hipops_assembly "  .section .note.GNU-stack,\"\",@progbits\n")

list(JOIN HIPOPS_AMD_BUILT " " hipops_amd_targets)
list(JOIN HIPOPS_CUDA_BUILT " " hipops_cuda_architectures)
list(LENGTH HIPOPS_ALL_OPS hipops_op_count)
list(LENGTH HIPOPS_OPS hipops_image_count)

file(CONFIGURE OUTPUT ${hipops_generated}/registry.cpp CONTENT [[
// Written by tools/cmake/registry.cmake.
#include "device/core/cpu.h"
#include "ops.h"

@hipops_declarations@
namespace hipops {

Op* const all_ops[] = {
@hipops_ops@};
const int op_count = @hipops_op_count@;

const Image all_images[] = {
@hipops_images@};
const int image_count = @hipops_image_count@;

const char* const hip_targets = "@hipops_amd_targets@";
const char* const cuda_architectures = "@hipops_cuda_architectures@";

}  // namespace hipops
]] @ONLY)
file(CONFIGURE OUTPUT ${hipops_generated}/images.S CONTENT "@hipops_assembly@" @ONLY)
set_source_files_properties(${hipops_generated}/images.S PROPERTIES OBJECT_DEPENDS "${hipops_embedded}")

function(hipops_or_none text out)
  if(text)
    set(${out} "${text}" PARENT_SCOPE)
  else()
    set(${out} "none" PARENT_SCOPE)
  endif()
endfunction()
hipops_or_none("${hipops_amd_targets}" hipops_amd_line)
hipops_or_none("${hipops_cuda_architectures}" hipops_cuda_line)
if(HIPOPS_CPU)
  list(JOIN HIPOPS_CPU_WAVES " and " hipops_cpu_line)
  string(PREPEND hipops_cpu_line "wave ")
else()
  set(hipops_cpu_line "none")
endif()
file(CONFIGURE OUTPUT ${hipops_generated}/build_info.h CONTENT [[
// Written by tools/cmake/registry.cmake.
#pragma once

#define HIPOPS_BUILD_INFO                                                         \
  "compiler: @CMAKE_CXX_COMPILER_ID@ @CMAKE_CXX_COMPILER_VERSION@, @hipops_build_type@\n" \
  "AMD targets: @hipops_amd_line@\n"                                              \
  "CUDA architectures: @hipops_cuda_line@\n"                                      \
  "CPU runtime: @hipops_cpu_line@\n"
]] @ONLY)
