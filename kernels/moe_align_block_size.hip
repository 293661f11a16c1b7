// moe_align_block_size: tokens in the order of their experts, each expert padded to a multiple of block_size.
//
//   x           ids of experts, [tokens, k]; i32, u32, i64; any strides
//   sorted_ids  positions in x, i32; padded with the number of ids. expert_ids: the expert of each block, i32
//
// One launch, and no workspace: every block counts all ids in shared memory, and places a part of them. A block
// sorts a batch of ids by expert, stably. So the result depends on no order of blocks.
//
// Alone: hipcc --genco --offload-arch=gfx942 -O3 -std=c++17 -I kernels kernels/moe_align_block_size.hip -o moe_align_block_size.co
#include "moe_align_block_size.h"

#include "device/core/radix.h"
#include "device/core/strided.h"

namespace hipops {
namespace {

using Shape = RadixShape<kAlignBlock, kAlignDepth, kAlignBits>;
constexpr uint32_t kNoExpert = Batch<Shape>::kNoKey;

// The expert of id i. Ids out of range, and experts that the map leaves out, have none.
HIPOPS_FN uint32_t expert_of(const AlignArgs& a, uint32_t i) {
  const int64_t at = locate_compact(a.x, i).of[0];
  const uint64_t id =
      a.id_bytes == 8 ? static_cast<const uint64_t*>(a.ids)[at] : static_cast<const uint32_t*>(a.ids)[at];
  if (id >= uint64_t(a.experts)) return kNoExpert;
  return a.expert_map != nullptr && a.expert_map[int64_t(id) * a.map_step] < 0 ? kNoExpert : uint32_t(id);
}

// The places of the experts. `starts` has one more: the end of the last expert.
struct Places {
  Shared<uint32_t> starts, cursor;  // a cursor is the place of the block's next id of an expert

  // Counts all ids, and the ids before `first`.
  HIPOPS_METHOD void count(const AlignArgs& a, uint32_t first) const {
    const uint32_t thread = hide_origin(thread_index()), experts = uint32_t(a.experts);
    for (uint32_t e = thread; e <= experts; e += kAlignBlock) starts[e] = 0;
    for (uint32_t e = thread; e < experts; e += kAlignBlock) cursor[e] = 0;
    barrier();
    constexpr uint32_t kTogether = 8;
    for (uint32_t from = 0; from < a.total; from += kTogether * kAlignBlock) {
      uint32_t expert[kTogether];
#pragma unroll
      for (uint32_t n = 0; n < kTogether; ++n) {
        const uint32_t i = from + n * kAlignBlock + thread;
        expert[n] = expert_of(a, i < a.total ? i : 0);
        if (i >= a.total) expert[n] = kNoExpert;
      }
#pragma unroll
      for (uint32_t n = 0; n < kTogether; ++n) {
        if (expert[n] == kNoExpert) continue;
        starts.fetch_add(expert[n], 1u);
        if (from + n * kAlignBlock + thread < first) cursor.fetch_add(expert[n], 1u);
      }
    }
    barrier();
  }

  // Counts become places. Each block pads some experts.
  HIPOPS_METHOD void scan(const AlignArgs& a) const {
    const uint32_t thread = hide_origin(thread_index()), experts = uint32_t(a.experts), size = a.block_size;
    uint32_t end = 0;
#pragma unroll 1
    for (uint32_t first = 0; first <= experts; first += kAlignBlock) {
      const uint32_t e = first + thread, own = e < experts ? uint32_t(starts[e]) : 0;
      const uint32_t padded = (own + size - 1) / size * size;
      const Scanned<uint32_t> s = block_scan<kAlignBlock>(padded);
      const uint32_t begin = end + s.before;
      if (e <= experts) starts[e] = begin;
      if (e < experts) cursor[e] = cursor[e] + begin;
      if (e < experts && e % a.blocks == block_index())
        for (uint32_t i = own; i < padded; ++i) store_sorted(a, begin + i, a.total);
      end += uniform(s.total);
      barrier();
    }
  }

  static HIPOPS_METHOD void store_sorted(const AlignArgs& a, uint32_t place, uint32_t id) {
    a.sorted_ids[int64_t(place) * a.sorted_step] = int32_t(id);
  }

  // The expert of a place before the end: the last expert that begins there or before.
  HIPOPS_METHOD uint32_t expert_at(uint32_t place, uint32_t experts) const {
    uint32_t low = 0, high = experts;  // starts[low] <= place < starts[high]
    while (high - low > 1) {
      const uint32_t middle = (low + high) / 2;
      if (uint32_t(starts[middle]) <= place) low = middle;
      else high = middle;
    }
    return low;
  }
};

// Stores the elements behind the last expert, and the expert of each block.
HIPOPS_FN void store_rest(const AlignArgs& a, const Places& places) {
  const uint32_t experts = uint32_t(a.experts), end = places.starts[experts];
  const uint32_t first = block_index() * kAlignBlock + thread_index(), step = a.blocks * kAlignBlock;
  if (first == 0) *a.count = int32_t(end);
  for (uint64_t i = uint64_t(end) + first; i < a.places; i += step) Places::store_sorted(a, uint32_t(i), a.total);
  for (uint64_t i = first; i < a.expert_places; i += step) {
    int32_t expert = -1;
    if (i * a.block_size < end) {
      expert = int32_t(places.expert_at(uint32_t(i) * a.block_size, experts));
      if (a.expert_map != nullptr) expert = a.expert_map[expert * a.map_step];
    }
    a.expert_ids[int64_t(i) * a.expert_step] = expert;
  }
}

HIPOPS_FN void align(const AlignArgs& args) {
  HIPOPS_SHARED(uint32_t, starts, kMostAlignedExperts + 1);
  HIPOPS_SHARED(uint32_t, cursor, kMostAlignedExperts);
  HIPOPS_SHARED(uint32_t, run, kMostAlignedExperts);  // an id's place, less its place in the batch
  HIPOPS_SHARED(uint16_t, tally, Shape::kTally);
  HIPOPS_SHARED(uint16_t, start_of, Shape::kDigits);
  HIPOPS_SHARED(SortEntry, sorted, Shape::kBatch);
  const AlignArgs& a = reload_arguments(args);
  const Places places{starts, cursor};
  const uint32_t first = block_index() * a.of_block < a.total ? block_index() * a.of_block : a.total;
  const uint32_t end = a.total - first < a.of_block ? a.total : first + a.of_block;
  places.count(a, first);
  places.scan(a);
  store_rest(a, places);
  Batch<Shape> batch;
#pragma unroll 1
  for (uint32_t from = first; from < end; from += Shape::kBatch) {
    const uint32_t count = end - from < Shape::kBatch ? end - from : Shape::kBatch;
    batch.begin(count);
#pragma unroll
    for (int n = 0; n < Shape::kDepth; ++n) {
      const uint32_t place = batch.place(n);
      batch.entry[n] = {expert_of(a, from + (place < count ? place : 0)), from + place};
      if (!batch.in_use(n) || place >= count) batch.entry[n].key = kNoExpert;
    }
    const uint32_t entries = sort_batch(&batch, 0, a.bits, tally, start_of, sorted,
                                        [&](uint32_t expert, uint32_t place, uint32_t of_expert) {
                                          if (expert >= uint32_t(a.experts)) return;
                                          run[expert] = cursor[expert] - place;
                                          cursor[expert] = cursor[expert] + of_expert;
                                        });
    for (uint32_t i = thread_index(); i < entries; i += kAlignBlock) {
      const SortEntry entry = sorted[i];
      Places::store_sorted(a, run[entry.key] + i, entry.value);
    }
    barrier();
  }
}

}  // namespace

#define KERNEL(name)                                        \
  HIPOPS_KERNEL(kAlignBlock) name(HIPOPS_ARGS(AlignArgs) a) { \
    follow_launch_before();                                 \
    align(arguments_in_place(a));                           \
  }
HIPOPS_MOE_ALIGN_BLOCK_SIZE_KERNELS(KERNEL)
#undef KERNEL

HIPOPS_KERNEL_TABLE(moe_align_block_size, AlignArgs, HIPOPS_MOE_ALIGN_BLOCK_SIZE_KERNELS)

}  // namespace hipops
