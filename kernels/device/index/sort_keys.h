// The keys by which indices are sorted, and the work of the first launch of each sort.
#pragma once

#include "device/core/scan.h"
#include "device/index/indices.h"
#include "device/index/sum_contract.h"

namespace hipops {
namespace {

// A key is a row's number, whose bits above the lowest plain_bits are spread (kSpread). Frequent rows are often
// neighbours, or a power of two apart. Their keys differ in the high digit, so different blocks join them.
HIPOPS_FN uint32_t permuted(const SortArgs& s, uint32_t v, uint32_t factor) {
  const uint32_t plain = (1u << s.plain_bits) - 1;
  return (((v >> s.plain_bits) * factor << s.plain_bits) | (v & plain)) & s.key_mask;
}
HIPOPS_FN uint32_t key_of(const SortArgs& s, uint32_t row) { return permuted(s, row, kSpread); }
HIPOPS_FN uint32_t row_of(const SortArgs& s, uint32_t key) { return permuted(s, key, kUnspread); }

// True if scatter_add has found a row with different indices.
HIPOPS_FN bool is_stopped(const SortArgs& s) { return s.rows_differ != nullptr && *s.rows_differ != 0; }

// For the first launch: false if scatter_add has found a row with different indices. Each block finds that out for
// itself, so that no block waits for another. One block stores the result for the next launches.
HIPOPS_FN bool may_sort(const SortArgs& s) {
  if (s.rows_differ == nullptr) return true;
  uint32_t differ = 0;
  for (int64_t i = thread_index(); i < s.differ_count; i += kSortBlock) differ |= s.differ[i];
  differ = block_scan<kSortBlock>(uint32_t(differ != 0)).total;
  barrier();
  if (block_index() == 0 && thread_index() == 0) *s.rows_differ = differ != 0;
  return differ == 0;
}

// Stores 0 to the block's part of the counters of `sum`, for a batch that begins at index `first`.
template <class Args>
HIPOPS_FN void clear_counters(const Args& a, uint32_t first) {
  const uint32_t parts = a.segments.row_parts, counters = a.sort.batch / kChunk * parts;
#pragma unroll 1
  for (uint32_t i = thread_index(); i < counters; i += kSortBlock)
    a.segments.arrived[int64_t(first / kChunk) * parts + i] = 0;
}

}  // namespace
}  // namespace hipops
