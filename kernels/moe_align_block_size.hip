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

template <class Id, int n>
HIPOPS_FN void load_ids(const AlignArgs& a, const uint32_t (&place)[n], uint32_t (&expert)[n]) {
  const Id* const ids = static_cast<const Id*>(a.ids);
  Id id[n];
#pragma unroll
  for (int k = 0; k < n; ++k) id[k] = ids[locate_compact(a.x, place[k]).of[0]];
#pragma unroll
  for (int k = 0; k < n; ++k) expert[k] = id[k] < Id(a.experts) ? uint32_t(id[k]) : kNoExpert;
}

// The experts of the ids at these places. Ids out of range, and experts that the map leaves out, have none. The loads of
// all ids are in flight together.
template <int n>
HIPOPS_FN void load_experts(const AlignArgs& a, const uint32_t (&place)[n], uint32_t (&expert)[n]) {
  if (a.id_bytes == 8) load_ids<uint64_t>(a, place, expert);
  else load_ids<uint32_t>(a, place, expert);
  if (a.expert_map == nullptr) return;
  int32_t mapped[n];
#pragma unroll
  for (int k = 0; k < n; ++k) mapped[k] = a.expert_map[expert[k] == kNoExpert ? 0 : int64_t(expert[k]) * a.map_step];
#pragma unroll
  for (int k = 0; k < n; ++k) expert[k] = mapped[k] < 0 ? kNoExpert : expert[k];
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
      uint32_t place[kTogether], expert[kTogether];
#pragma unroll
      for (uint32_t n = 0; n < kTogether; ++n) {
        const uint32_t i = from + n * kAlignBlock + thread;
        place[n] = i < a.total ? i : 0;
      }
      load_experts(a, place, expert);
#pragma unroll
      for (uint32_t n = 0; n < kTogether; ++n) {
        const uint32_t i = from + n * kAlignBlock + thread;
        if (expert[n] == kNoExpert || i >= a.total) continue;
        starts.fetch_add(expert[n], 1u);
        if (i < first) cursor.fetch_add(expert[n], 1u);
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
    uint32_t place[Shape::kDepth], expert[Shape::kDepth];
#pragma unroll
    for (int n = 0; n < Shape::kDepth; ++n) place[n] = from + (batch.place(n) < count ? batch.place(n) : 0);
    load_experts(a, place, expert);
#pragma unroll
    for (int n = 0; n < Shape::kDepth; ++n) {
      const bool is_absent = !batch.in_use(n) || batch.place(n) >= count;
      batch.entry[n] = {is_absent ? kNoExpert : expert[n], from + batch.place(n)};
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
