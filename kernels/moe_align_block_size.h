// The contract between moe_align_block_size.hip and its launcher.
#pragma once

#include "device/core/strided_contract.h"

namespace hipops {

constexpr int kAlignBlock = 256;
constexpr int kAlignDepth = 4;  // ids of a work-item in a batch
constexpr int kAlignBits = 10;
constexpr int kMostAlignedExperts = 1 << kAlignBits;

struct AlignArgs {
  Walk<1> x;  // ids, in the order of tokens
  const void* ids;
  const int32_t* expert_map;  // may be null
  int32_t *sorted_ids, *expert_ids, *count;
  int64_t map_step, sorted_step, expert_step;
  uint32_t total, of_block, blocks;  // ids; ids that a block places
  uint32_t places, expert_places;  // elements of sorted_ids and expert_ids
  uint32_t block_size;
  int32_t experts, bits, id_bytes;
};

}  // namespace hipops

// X(kernel)
#define HIPOPS_MOE_ALIGN_BLOCK_SIZE_KERNELS(X) X(moe_align_block_size_ids)
