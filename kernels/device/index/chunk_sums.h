// The order of a sum, which hipops.h promises: sources in chunks, the sums of chunks in groups, and the sums of groups
// in groups until one sum is left.
#pragma once

#include "device/core/types.h"
#include "device/index/sum_contract.h"

namespace hipops {
namespace {

constexpr int kChunkLevels = 4;  // of sums. Below them are the chunks, so that 128^5 sources have room

// True if level k has sums. `received`: the number of sums that the level has received. A full group has moved to the
// next level, except on the last one.
HIPOPS_FN bool level_has_sums(int k, uint64_t received) {
  return k + 1 < kChunkLevels ? received % kChunk != 0 : received != 0;
}

// Adds the sum of a full chunk, or of a full group. `levels` has a sum for each level, and has received `before` sums.
template <class Levels, class Sum>
HIPOPS_FN void push_sum(Levels levels, Sum sum, uint64_t before) {
#pragma unroll 1
  for (int k = 0; k < kChunkLevels; ++k, before /= kChunk) {
    if (level_has_sums(k, before)) sum = Sum(levels[k]) + sum;
    levels[k] = sum;
    if (before % kChunk != kChunk - 1) return;
  }
}

// The sum of all: of `chunks` full chunks, and of the last chunk, whose sum is `sum`.
template <class Levels, class Sum>
HIPOPS_FN Sum sum_with_chunks(Levels levels, Sum sum, uint64_t chunks) {
#pragma unroll 1
  for (int k = 0; k < kChunkLevels; ++k, chunks /= kChunk)
    if (level_has_sums(k, chunks)) sum = Sum(levels[k]) + sum;
  return sum;
}

}  // namespace
}  // namespace hipops
