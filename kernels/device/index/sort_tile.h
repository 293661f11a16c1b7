// For both sorts: the keys, the steps of the first launch, and the tiles of entries that a block loads.
#pragma once

#include "device/core/radix.h"
#include "device/index/indices.h"
#include "device/index/sum_contract.h"

namespace hipops {
namespace {

// A key is a row's number. For `split` its bits above the lowest plain_bits are spread (kSpread): frequent rows are
// often neighbours, or a power of two apart, and different blocks then join them. A radix sort has 31 plain bits, so
// that row_of returns the key.
HIPOPS_FN uint32_t permuted(const SortArgs& s, uint32_t v, uint32_t factor) {
  const uint32_t plain = (1u << s.plain_bits) - 1;
  return (((v >> s.plain_bits) * factor << s.plain_bits) | (v & plain)) & s.key_mask;
}
HIPOPS_FN uint32_t key_of(const SortArgs& s, uint32_t row) { return permuted(s, row, kSpread); }
HIPOPS_FN uint32_t row_of(const SortArgs& s, uint32_t key) { return permuted(s, key, kUnspread); }

// For the first launch: false if scatter_add has found a row with different indices. Each block reads `differ` itself,
// so that no block waits for another. One block stores the result for later launches (rows_do_differ).
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
    a.segments.counters[int64_t(first / kChunk) * parts + i] = 0;
}

// A tile of a block's batch of entries: the whole batch if blocks join. First: loads the index tensor. Otherwise: loads
// the result of the pass before.
template <class Shape, class Args, bool First>
class SortTile {
 public:
  explicit HIPOPS_METHOD SortTile(const Args& args) : a(args), first_(int64_t(block_index()) * args.sort.batch) {
    const int64_t all = First ? a.indices : int64_t(*a.sort.entries);
    past_ = first_ + a.sort.batch < all ? first_ + a.sort.batch : all;
  }

  HIPOPS_METHOD bool is_there() const { return first_ < past_; }
  HIPOPS_METHOD void next() { first_ += Shape::kBatch; }

  // Loads the entries. Reports: it also reports indices out of range, and leaves rows of x (element_bytes) to the
  // launch that partitions.
  template <bool Reports>
  HIPOPS_METHOD void load(Batch<Shape>* batch) const {
    const uint32_t left = past_ - first_ < Shape::kBatch ? uint32_t(past_ - first_) : uint32_t(Shape::kBatch);
    batch->begin(left);
    const uint32_t place = batch->place(0), lane_places = batch->of_wave / wave_size;
    const uint32_t rest = place < left ? (left - place + wave_size - 1) / wave_size : 0;
    const uint32_t own = rest < lane_places ? rest : lane_places;  // entries of this lane
    const int64_t at = own != 0 ? first_ + place : first_;
    if constexpr (First) return load_sources<Reports>(at, own, batch);
    SortEntry entry[Shape::kDepth];
    load_spaced<SortEntry>(a.pass.from + at, wave_size, own, entry);
#pragma unroll
    for (uint32_t n = 0; n < Shape::kDepth; ++n)
      batch->entry[n] = {n < own ? entry[n].key : Batch<Shape>::kNoKey, entry[n].value};
  }

 private:
  template <bool Reports>
  HIPOPS_METHOD void load_sources(int64_t at, uint32_t own, Batch<Shape>* batch) const {
    int64_t value[Shape::kDepth];
    const int64_t mark = load_spaced_indices(a.index, at * a.index_step, wave_size * a.index_step, own > 1 ? own : 1,
                                             value);
#pragma unroll
    for (uint32_t n = 0; n < Shape::kDepth; ++n) {
      const int64_t i = at + n * wave_size;
      int64_t row = kNothing;
      if (n < own) row = checked_index(a.index, value[n], mark, i * a.report_step, Reports ? a.reported : 0);
      batch->entry[n] = {row != kNothing ? uint32_t(row) : Batch<Shape>::kNoKey, uint32_t(i)};
    }
    if (Reports) return;
    switch (a.sort.element_bytes) {  // a row of one element is still in flight while keys are ranked
      case 4: return load_rows<uint32_t>(at, own, batch);
      case 2: return load_rows<uint16_t>(at, own, batch);
      case 1: return load_rows<uint8_t>(at, own, batch);
    }
  }

  // Loads the rows of x, whose elements have one step, into one word each.
  template <class Word>
  HIPOPS_METHOD void load_rows(int64_t at, uint32_t own, Batch<Shape>* batch) const {
    const Word* x = static_cast<const Word*>(a.x) + at * a.x_step;
#pragma unroll 1
    for (uint32_t shift = 0, e = 0; e < uint32_t(a.walk.count); shift += 8 * sizeof(Word), ++e) {
      Word element[Shape::kDepth];
      load_spaced<Word>(x + int64_t(e) * a.walk.dim[0].stride[Args::kSource], wave_size * a.x_step, own, element);
#pragma unroll
      for (int n = 0; n < Shape::kDepth; ++n) {
        uint32_t* const value = &batch->entry[n].value;
        *value = (e == 0 ? 0 : *value) | uint32_t(element[n]) << shift;
      }
    }
  }

  // Loads the `own` elements that a lane has.
  template <class T>
  static HIPOPS_METHOD void load_spaced(const T* at, int64_t step, uint32_t own, T (&element)[Shape::kDepth]) {
#pragma unroll
    for (uint32_t n = 0; n < Shape::kDepth; ++n) {
      if (loads_are_predicated) {
        element[n] = {};
        if (n < own) element[n] = *at;
      } else {
        element[n] = *at;
      }
      if (loads_are_predicated || n + 1 < own) at += step;
    }
  }

  const Args& a;
  int64_t first_, past_;
};

}  // namespace
}  // namespace hipops
