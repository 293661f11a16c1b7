// The contract between moe_align_block_size.hip and its launcher.
#pragma once

#include "device/core/divisor_contract.h"

namespace hipops {

constexpr int kAlignBlock = 512;
constexpr int kAlignDepth = 2;  // ids of a work-item in a batch
constexpr int kAlignBits = 10;
constexpr int kMostAlignedExperts = 1 << kAlignBits;  // two for each work-item

struct AlignArgs {
  const void* ids;
  int64_t step, token_step;  // of ids: from one to the next, and from a token to the next in addition
  Divisor of_token;          // the ids of a token
  const int32_t* expert_map;  // may be null
  int32_t *sorted_ids, *expert_ids, *count;
  int64_t map_step, sorted_step, expert_step;
  uint32_t total, of_block, blocks;  // ids; ids that a block places
  uint32_t chunks, of_chunk;  // chunks whose counts are in expert_ids, if any; ids of a chunk: whole blocks
  uint32_t places, expert_places;  // elements of sorted_ids and expert_ids
  uint32_t block_size;
  int32_t experts, bits, id_bytes;
};

}  // namespace hipops

// X(kernel, function)
#define HIPOPS_MOE_ALIGN_BLOCK_SIZE_KERNELS(X)   \
  X(moe_align_block_size_count, count_chunk)     \
  X(moe_align_block_size_ids, place_ids)         \
  X(moe_align_block_size_experts, store_experts)
