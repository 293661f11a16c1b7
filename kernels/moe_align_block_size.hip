// moe_align_block_size: tokens in the order of their experts, each expert padded to a multiple of block_size.
//
//   x           ids of experts, [tokens, k]; i32, u32, i64; any strides
//   sorted_ids  positions in x, i32; padded with the number of ids. expert_ids: the expert of each block, i32
//
//   ids         each block counts all ids by expert in shared memory, and places a part of them
//   count, ids, experts   many ids: `count` stores the counts of chunks of ids to expert_ids. A block of `ids` adds them, and
//               counts only the ids of its chunk that are before its own. `experts` overwrites the counts
//
// No workspace. A place depends on counts alone, so on no order of blocks or additions.
//
// Alone: hipcc --genco --offload-arch=gfx942 -O3 -std=c++17 -I kernels kernels/moe_align_block_size.hip -o moe_align_block_size.co
#include "moe_align_block_size.h"

#include "device/core/divide.h"
#include "device/core/radix.h"

namespace hipops {
namespace {

using Shape = RadixShape<kAlignBlock, kAlignDepth, kAlignBits>;
constexpr uint32_t kNoExpert = Batch<Shape>::kNoKey;

template <class Id, int n>
HIPOPS_FN void load_ids(const AlignArgs& a, const uint32_t (&place)[n], uint32_t (&expert)[n]) {
  const Id* const ids = static_cast<const Id*>(a.ids);
  Id id[n];
#pragma unroll
  for (int k = 0; k < n; ++k) id[k] = ids[int64_t(place[k]) * a.step + int64_t(divide(place[k], a.of_token)) * a.token_step];
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

HIPOPS_FN void store_sorted(const AlignArgs& a, uint32_t place, uint32_t id) {
  a.sorted_ids[int64_t(place) * a.sorted_step] = int32_t(id);
}

HIPOPS_FN void store_expert(const AlignArgs& a, uint32_t block, int32_t expert) {
  a.expert_ids[int64_t(block) * a.expert_step] = expert;
}

HIPOPS_FN int32_t number_of(const AlignArgs& a, uint32_t expert) {
  return a.expert_map != nullptr ? a.expert_map[int64_t(expert) * a.map_step] : int32_t(expert);
}

HIPOPS_FN uint32_t id_at(const AlignArgs& a, uint64_t place) { return place < a.total ? uint32_t(place) : a.total; }

// The ids of each expert: those before a place, and all others. With chunks: before it, and all.
struct Counts {
  Shared<uint32_t> before, others;

  HIPOPS_METHOD void clear(const AlignArgs& a) const {
    for (uint32_t e = hide_origin(thread_index()); e < uint32_t(a.experts); e += kAlignBlock) before[e] = 0, others[e] = 0;
    barrier();
  }

  HIPOPS_METHOD void add(const AlignArgs& a, uint32_t from, uint32_t first, uint32_t end) const {
    constexpr uint32_t kTogether = 8;
    for (; from < end; from += kTogether * kAlignBlock) {
      uint32_t place[kTogether], expert[kTogether];
#pragma unroll
      for (uint32_t n = 0; n < kTogether; ++n) {
        const uint32_t i = from + n * kAlignBlock + thread_index();
        place[n] = i < end ? i : from;
      }
      load_experts(a, place, expert);
#pragma unroll
      for (uint32_t n = 0; n < kTogether; ++n) {
        const uint32_t i = from + n * kAlignBlock + thread_index();
        if (expert[n] == kNoExpert || i >= end) continue;
        if (i < first) before.fetch_add(expert[n], 1u);
        else others.fetch_add(expert[n], 1u);
      }
    }
  }

  // Adds the counts of chunks: those before chunk `own`, and all. A word has the counts of two experts.
  HIPOPS_METHOD void add_chunks(const AlignArgs& a, uint32_t own) const {
    const uint32_t words = (uint32_t(a.experts) + 1) / 2, each = kAlignBlock / words;
    const uint32_t first = thread_index() / words, word = thread_index() - first * words;
    if (first >= each || first >= a.chunks) return;
    uint32_t sum[2] = {0, 0}, all[2] = {0, 0};
#pragma unroll 8
    for (uint32_t chunk = first; chunk < a.chunks; chunk += each) {
      const uint32_t count = uint32_t(a.expert_ids[int64_t(chunk * words + word) * a.expert_step]);
      const uint32_t of_expert[2] = {count & 0xffff, count >> 16};
#pragma unroll
      for (int n = 0; n < 2; ++n) sum[n] += chunk < own ? of_expert[n] : 0, all[n] += of_expert[n];
    }
#pragma unroll
    for (uint32_t n = 0; n < 2; ++n) {
      if (2 * word + n >= uint32_t(a.experts)) continue;
      before.fetch_add(2 * word + n, sum[n]);
      others.fetch_add(2 * word + n, all[n]);
    }
  }
};

HIPOPS_FN void count_chunk(const AlignArgs& args) {
  HIPOPS_SHARED(uint32_t, count, kMostAlignedExperts);
  const AlignArgs& a = reload_arguments(args);
  const Counts counts{count, count};
  const uint32_t chunk = block_index(), first = chunk * a.of_chunk, experts = uint32_t(a.experts);
  counts.clear(a);
  counts.add(a, first, first, id_at(a, uint64_t(first) + a.of_chunk));
  barrier();
  for (uint32_t e = 2 * thread_index(); e < experts; e += 2 * kAlignBlock) {
    const uint32_t next = e + 1 < experts ? uint32_t(count[e + 1]) : 0;
    store_expert(a, chunk * ((experts + 1) / 2) + e / 2, int32_t(count[e] | next << 16));
  }
}

// Stores the experts of blocks: a block begins with an id of its expert.
HIPOPS_FN void store_experts(const AlignArgs& args) {
  const AlignArgs& a = reload_arguments(args);
  const uint64_t end = uint64_t(*a.count);
  for (uint64_t i = block_index() * kAlignBlock + thread_index(); i < a.expert_places; i += a.blocks * kAlignBlock) {
    uint32_t expert[1] = {kNoExpert};
    if (i * a.block_size < end) load_experts(a, {uint32_t(a.sorted_ids[int64_t(i * a.block_size) * a.sorted_step])}, expert);
    store_expert(a, uint32_t(i), expert[0] == kNoExpert ? -1 : number_of(a, expert[0]));
  }
}

// Counts become places: a cursor is the place of the block's first id of an expert, and `ends` has the end of its ids.
// `starts` has one more element: the end of the last expert.
HIPOPS_FN void find_places(const AlignArgs& a, Shared<uint32_t> starts, Shared<uint32_t> ends, Shared<uint32_t> cursor) {
  const uint32_t experts = uint32_t(a.experts), size = a.block_size;
  uint32_t end = 0;
#pragma unroll 1
  for (uint32_t first = 0; first <= experts; first += kAlignBlock) {
    const uint32_t e = first + hide_origin(thread_index()), before = e < experts ? uint32_t(cursor[e]) : 0;
    const uint32_t own = e < experts ? ends[e] + (a.chunks == 0 ? before : 0) : 0;
    const Scanned<uint32_t> s = block_scan<kAlignBlock>((own + size - 1) / size * size);
    const uint32_t begin = end + s.before;
    if (e <= experts) starts[e] = begin;
    if (e < experts) ends[e] = begin + own, cursor[e] = begin + before;
    end += uniform(s.total);
    barrier();
  }
}

// Stores all but places of ids: the padding and, unless counts are there, the experts of blocks.
HIPOPS_FN void store_rest(const AlignArgs& a, Shared<uint32_t> starts, Shared<uint32_t> ends) {
  const uint32_t experts = uint32_t(a.experts), size = a.block_size, end = starts[experts];
  const uint32_t first = block_index() * kAlignBlock + thread_index(), step = a.blocks * kAlignBlock;
  if (first == 0) *a.count = int32_t(end);
  for (uint32_t e = first / wave_size; e < experts; e += step / wave_size)
    for (uint32_t i = ends[e] + lane_index(); i < starts[e + 1]; i += wave_size) store_sorted(a, i, a.total);
  for (uint64_t i = uint64_t(end) + first; i < a.places; i += step) store_sorted(a, uint32_t(i), a.total);
  if (a.chunks != 0) return;
  for (uint64_t i = first; i < a.expert_places; i += step) {
    uint32_t low = 0, high = experts;  // starts[low] <= i * size < starts[high]
    while (i * size < end && high - low > 1) {
      const uint32_t middle = (low + high) / 2;
      (uint32_t(starts[middle]) <= i * size ? low : high) = middle;
    }
    store_expert(a, uint32_t(i), i * size < end ? number_of(a, low) : -1);
  }
}

HIPOPS_FN void place_ids(const AlignArgs& args) {
  HIPOPS_SHARED(uint32_t, starts, kMostAlignedExperts + 1);
  HIPOPS_SHARED(uint32_t, ends, kMostAlignedExperts);
  HIPOPS_SHARED(uint32_t, cursor, kMostAlignedExperts);
  HIPOPS_SHARED(uint16_t, tally, Shape::kTally);
  const AlignArgs& a = reload_arguments(args);
  const Counts counts{cursor, ends};
  const uint32_t first = id_at(a, uint64_t(block_index()) * a.of_block), end = id_at(a, uint64_t(first) + a.of_block);
  counts.clear(a);
  const uint32_t chunk = a.chunks == 0 ? 0 : first / a.of_chunk;
  if (a.chunks != 0) counts.add_chunks(a, chunk);
  counts.add(a, chunk * a.of_chunk, first, a.chunks == 0 ? a.total : first);
  barrier();
  find_places(a, starts, ends, cursor);
  store_rest(a, starts, ends);
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
    for (int n = 0; n < Shape::kDepth; ++n)
      batch.entry[n] = {batch.in_use(n) && batch.place(n) < count ? expert[n] : kNoExpert, place[n]};
    batch.rank_by_digit(tally, 0, a.bits);
    barrier();
    // A cursor moves to the end of the batch's ids, and a tally becomes the number of ids from there back to a wave's first.
    for (uint32_t e = hide_origin(thread_index()); e < uint32_t(a.experts); e += kAlignBlock) {
      uint32_t of_wave[Shape::kWaves], left = 0;
#pragma unroll
      for (int w = 0; w < Shape::kWaves; ++w) of_wave[w] = tally[(uint32_t(w) << a.bits) + e];
#pragma unroll
      for (int w = Shape::kWaves - 1; w >= 0; --w) tally[(uint32_t(w) << a.bits) + e] = uint16_t(left += of_wave[w]);
      cursor[e] = cursor[e] + left;
    }
    barrier();
#pragma unroll
    for (int n = 0; n < Shape::kDepth; ++n) {
      if (!batch.has_entry(n)) continue;
      const uint32_t e = batch.entry[n].key;
      store_sorted(a, cursor[e] - tally[(wave_index() << a.bits) + e] + batch.rank[n], batch.entry[n].value);
    }
    wave_barrier();  // the next batch clears the wave's tally
  }
}

}  // namespace

#define KERNEL(name, function)                                \
  HIPOPS_KERNEL(kAlignBlock) name(HIPOPS_ARGS(AlignArgs) a) { \
    follow_launch_before();                                   \
    function(arguments_in_place(a));                          \
  }
HIPOPS_MOE_ALIGN_BLOCK_SIZE_KERNELS(KERNEL)
#undef KERNEL

HIPOPS_KERNEL_TABLE(moe_align_block_size, AlignArgs, HIPOPS_MOE_ALIGN_BLOCK_SIZE_KERNELS)

}  // namespace hipops
