// Sums the sources of sorted entries, in chunks of up to kChunk sources of a row.
//   joined  A block joins a digit. If the digit's entries stay in shared memory (sort_join), it sums them.
//   sum     For all other entries: A block sums the chunks that begin in its portion of the sorted entries. All
//           portions have one size, so the work is balanced for any indices. The sums of a row with several chunks are
//           stored in the workspace. The block whose count completes a group of kChunk sums adds the group. The block
//           whose count completes a row adds the row's groups.
#pragma once

#include "device/index/running_sum.h"
#include "device/index/sorted_sources.h"
#include "device/core/atomic.h"
#include "device/core/divide.h"
#include "device/core/strided.h"

namespace hipops {
namespace {

// Returns the place of the first entry with entry[end]'s key. Entries with one key are neighbours. All lanes of a wave
// call it.
HIPOPS_FN uint32_t first_of_key(const SortEntry* entry, uint32_t end) {
  const uint32_t key = entry[end].key;
  int64_t below = -1, within = end;  // no entry up to `below` has the key; entry `within` has it
#pragma unroll 1
  while (within - below > 1) {
    const int64_t step = (within - below + wave_size - 1) / wave_size, probe = below + step * (1 + lane_index());
    // The last lane's probe is not below `within`, so one bit is set.
    const int64_t lanes = first_bit(ballot(probe >= within || entry[probe].key == key));
    below += step * lanes;
    if (below + step < within) within = below + step;
  }
  return uint32_t(within);
}

// The place of a chunk's sums in the workspace. `place`: of the chunk's first entry, in s.sorted or in the portion. No two chunks of
// rows with several chunks have one slot: two full chunks, and two last chunks, begin at least kChunk entries apart.
HIPOPS_FN uint32_t slot_of(uint32_t place, bool is_last) { return place / kChunk * 2 + uint32_t(is_last); }

// Sums the chunks of entries in shared memory, in one part of each row. A wave claims vectors, sums them, and claims
// the next vectors, because chunks differ in their numbers of sources. Flight: vectors in flight of a work-item.
template <class T, int Length, uint32_t Block, int Flight>
class SegmentSums {
 public:
  HIPOPS_METHOD SegmentSums(const IndexAddArgs& args, Shared<SortEntry> entry, Shared<uint32_t> chunk, uint32_t part)
      : a(args), entry_(entry), listed_(chunk), first_vector_(part * args.segments.part_vectors) {}

  // The caller needs a barrier between begin() and add_rows() or add().
  HIPOPS_METHOD void begin() const {
    if (thread_index() < kCounts) counts_[thread_index()] = 0;
    if (thread_index() < kSlots) chunks_[thread_index()] = 0;
  }

  // Adds rows of one chunk each: row i, of `rows`, has the entries from start_of[i] on, among `entries` entries. Rows
  // with more sources than the average are first, so that waves finish closer together.
  HIPOPS_METHOD void add_rows(Shared<uint16_t> start_of, uint32_t rows, uint32_t entries) {
    lead_ = 0;
    loaded_ = entries;
#pragma unroll 1
    for (int longer = 1; longer >= 0; --longer) {
#pragma unroll 1
      for (uint32_t wave = wave_index() * wave_size; wave < rows; wave += Block) {
        const uint32_t i = wave + lane_index(), begin = start_of[i < rows ? i : 0];
        const uint32_t sources = (i + 1 < rows ? uint32_t(start_of[i + 1]) : entries) - begin;
        const bool is_listed = i < rows && sources != 0 && (sources * rows > entries) == (longer != 0);
        const uint32_t to = reserve_place(is_listed);
        if (is_listed) listed_[to] = Chunk::of(begin, sources, true, true).packed;
      }
      barrier();
    }
    add_chunks();
  }

  // Sums the chunks that begin in a portion: entries `lead` (0 or kChunk) to lead + portion - 1 of shared memory, which has
  // `loaded` entries. kChunk entries, or all that exist, follow the portion, so that the entry after a chunk is there. The
  // portion's first entry is number `first` of all, and `sources_before` sources of its row precede it.
  HIPOPS_METHOD void add(uint32_t lead, uint32_t portion, uint32_t loaded, uint32_t first, uint32_t sources_before) {
    lead_ = lead;
    loaded_ = loaded;
    first_ = first;
    list_chunks(portion, sources_before);
    add_chunks();
  }

  // Adds the chunk sums of rows with several chunks: first in groups of kChunk, and then the sums of groups. The block
  // whose count completes a group, or a row, adds its sums, so no block waits for another. `stride`: chunks from one
  // sum to the next.
  HIPOPS_METHOD void add_chunk_sums(uint32_t part) const {
    const uint32_t own = lane_index() % kSlots;
#pragma unroll 1
    for (uint32_t stride = 1; stride <= kChunk; stride *= kChunk) {
      if (ballot(chunks_[own] > kChunk) == 0) return;
      release_to_device();
      barrier();
      if (thread_index() < kSlots) {
        if (chunks_[own] <= kChunk) chunks_[own] = 0;
        else chunks_[own] = stride == 1 ? count_chunk(own, part) : count_group(own, part);
        acquire_from_device();
      }
      barrier();
      acquire_from_block();
      const SegmentArgs& g = a.segments;
#pragma unroll 1
      for (uint32_t i = thread_index(); i < kSlots * Length * g.part_vectors; i += Block) {
        const uint32_t slot = divide(i / Length, g.by_part_vectors);
        const uint32_t vector = first_vector_ + i / Length - slot * g.part_vectors;
        if (chunks_[slot] != 0 && vector < a.walk.count) add_sums(slot, vector, i % Length, stride);
      }
    }
  }

 private:
  enum { kChunks, kClaimed, kCounts };  // of counts_: listed chunks, claimed vectors
  static constexpr uint32_t kSlots = 2 * kMostPortion / kChunk;
  static constexpr int kSumsInFlight = 8;
  using Sum = typename Summed<T>::Sum;
  static constexpr uint32_t kFewSources = 2;
  static constexpr bool kRowsMayBeValues = Length == 1 && sizeof(T) <= sizeof(uint32_t);  // of entries

  // A chunk in one word.
  struct Chunk {
    uint32_t packed;
    static HIPOPS_METHOD Chunk of(uint32_t place, uint32_t sources, bool is_first, bool is_last) {
      return {place | sources << 16 | uint32_t(is_first) << 24 | uint32_t(is_last) << 25};
    }
    HIPOPS_METHOD uint32_t place() const { return packed & 0xffff; }  // in the portion
    HIPOPS_METHOD uint32_t sources() const { return packed >> 16 & 0xff; }
    HIPOPS_METHOD bool is_first() const { return (packed >> 24 & 1) != 0; }
    HIPOPS_METHOD bool is_last() const { return (packed >> 25 & 1) != 0; }
  };
  static_assert(kMostChunks <= 0x10000 && kChunk <= 0xff, "both have room");

  struct Sources {
    Shared<SortEntry> all;
    uint32_t begin;
    HIPOPS_METHOD uint32_t operator[](uint32_t i) const { return SortEntry(all[begin + i]).value; }
  };
  HIPOPS_METHOD uint32_t key(uint32_t i) const { return SortEntry(entry_[i]).key; }

  // The place in the list for a lane's chunk, if it has one.
  HIPOPS_METHOD uint32_t reserve_place(bool has_chunk) const {
    const LaneMask all = ballot(has_chunk);
    const uint32_t count = uint32_t(count_bits(all));
    const uint32_t first = first_lane_value(lane_index() == 0 ? counts_.fetch_add(kChunks, count) : 0u);
    return first + uint32_t(count_bits(all & lanes_below()));
  }

  HIPOPS_METHOD bool begins_row(uint32_t i) const { return lead_ + i == 0 || key(lead_ + i - 1) != key(lead_ + i); }

  // The portion's first entry from `i` on that begins a row, or the number of entries that follow the lead.
  HIPOPS_METHOD uint32_t next_row(uint32_t i) const {
    const uint32_t past = loaded_ - lead_;
#pragma unroll 1
    for (; i < past; i += wave_size) {
      const uint32_t own = i + lane_index();
      const LaneMask all = ballot(own < past && begins_row(own));
      if (all != 0) return i + uint32_t(first_bit(all));
    }
    return past;
  }

  // Lists the chunks that begin in the portion, in any order. A wave has neighbouring entries, and lists the last of
  // them first, so that it knows where the next row begins.
  HIPOPS_METHOD void list_chunks(uint32_t portion, uint32_t sources_before) const {
    const uint32_t steps = (portion + Block - 1) / Block, begin = wave_index() * steps * wave_size;
    uint32_t next_begin = begin < portion ? next_row(begin + steps * wave_size) : 0;
#pragma unroll 1
    for (uint32_t step = steps; step-- != 0;) {
      const uint32_t first = begin + step * wave_size, i = first + lane_index();
      uint32_t place = i, number = 0;  // of a chunk: in the portion, and in its row
      bool has_chunk = i < portion && begins_row(i);
      const LaneMask all = ballot(has_chunk), later = all & ~(2 * lanes_below() + 1);
      // The row's end. If the row continues: the end of the loaded entries, past place + kChunk, so is_last is false.
      const uint32_t end = later != 0 ? first + uint32_t(first_bit(later)) : next_begin;
      if (all != 0) next_begin = first + uint32_t(first_bit(all));
      if (i == 0 && sources_before != 0) {
        // The portion begins within a row, whose next chunk begins at the next multiple of kChunk of its sources.
        number = (sources_before + kChunk - 1) / kChunk;
        place = number * kChunk - sources_before;
        has_chunk = place < portion && place < end;
      }
      uint32_t to = reserve_place(has_chunk);
      while (has_chunk) {
        const bool is_last = place + kChunk >= end;
        listed_[to] = Chunk::of(place, is_last ? end - place : kChunk, number == 0, is_last).packed;
        if (number != 0 || !is_last) {
          number_and_row_[slot_of(place, is_last)] = uint64_t(number) << 32 | row_of(a.sort, key(lead_ + place));
          chunks_[slot_of(place, is_last)] = UINT32_MAX;  // not known
        }
        ++number;
        place += kChunk;
        has_chunk = !is_last && place < portion;
        if (has_chunk) to = counts_.fetch_add(kChunks, 1);
      }
    }
    barrier();
  }

  HIPOPS_METHOD void add_chunks() const {
    const SegmentArgs& g = a.segments;
    const uint32_t chunks = uniform(uint32_t(counts_[kChunks])), vectors = uint32_t(a.walk.count) - first_vector_;
    const uint32_t lanes = (chunks + wave_size - 1) / wave_size * wave_size;  // by row: for the same vector of all rows
    const bool by_row = Length == 1 && g.lanes_by_row != 0;
    const uint32_t count = (by_row ? lanes : chunks) * g.part_vectors;
    auto claim = [&] { return first_lane_value(lane_index() == 0 ? counts_.fetch_add(kClaimed, wave_size) : 0u); };
    for (uint32_t claimed = claim(); claimed < count; claimed = claim()) {
      uint32_t number, vector;
      if (by_row) {
        vector = claimed / lanes;
        number = claimed - vector * lanes + lane_index();
      } else {
        number = divide(claimed + lane_index(), g.by_part_vectors);
        vector = claimed + lane_index() - number * g.part_vectors;
      }
      const bool is_live = number < chunks && vector < vectors;
      const Chunk chunk{listed_[number < chunks ? number : chunks - 1]};
      const bool few_sources = ballot(chunk.sources() > kFewSources) == 0;
      if (is_live) sum_vector(chunk, first_vector_ + vector, few_sources);
    }
  }

  HIPOPS_METHOD void sum_vector(const Chunk& chunk, uint32_t vector, bool few_sources) const {
    const Offsets<kIndexAddOperands> at = locate(a.walk, vector);
    const uint32_t place = lead_ + chunk.place();
    T* y = static_cast<T*>(a.y) + at.of[kIndexAddY] + int64_t(row_of(a.sort, key(place))) * a.y_step;
    const T* x = static_cast<const T*>(a.x) + at.of[kIndexAddX];
    RunningSum<T, Length> sum;
    const Sources sources{entry_, place};
    if constexpr (kRowsMayBeValues) {
      if (a.sort.element_bytes != 0) {
        const auto value = [&](uint32_t i) { return from_low_bits<T>(sources[i] >> (8 * sizeof(T) * vector)); };
        sum.sum_values(y, chunk.is_first(), chunk.sources(), value);
        return store_sum(sum, y, chunk, vector);
      }
    }
    // For few sources, more loads in flight would load the last source again.
    if (few_sources)
      sum.template sum_chunk<1 + kFewSources>(y, chunk.is_first(), x, a.x_step, sources, chunk.sources());
    else sum.template sum_chunk<Flight>(y, chunk.is_first(), x, a.x_step, sources, chunk.sources());
    store_sum(sum, y, chunk, vector);
  }

  HIPOPS_METHOD void store_sum(const RunningSum<T, Length>& sum, T* y, const Chunk& chunk, uint32_t vector) const {
    if (chunk.is_first() && chunk.is_last()) return sum.store(y);
    const int64_t slot = slot_of(first_ + chunk.place(), chunk.is_last());
    sum.store_sums(static_cast<Sum*>(a.segments.sums) + (slot * a.walk.count + vector) * Length);
  }

  HIPOPS_METHOD uint32_t number_of(uint32_t slot) const { return uint32_t(number_and_row_[slot] >> 32); }
  // The slice of the row's first chunk.
  HIPOPS_METHOD uint32_t first_slice(uint32_t slot) const { return first_ / kChunk + slot / 2 - number_of(slot); }

  // chunks: counted up to now. known: 0 until the last chunk of the group, or the last group, is counted. Then it is a
  // lower bound for the chunks of the row, which is exact if that chunk was the row's last.
  struct Counter {
    uint32_t chunks, known;
  };
  HIPOPS_METHOD Counter count(uint32_t slice, uint32_t part, const Counter& more) const {
    const uint64_t own = uint64_t(more.known) << 32 | more.chunks;
    uint64_t* const counter = a.segments.counters + int64_t(slice) * a.segments.row_parts + part;
    const uint64_t now = atomic_fetch_add(counter, own) + own;
    return {uint32_t(now), uint32_t(now >> 32)};
  }

  // Counts the slot's chunk in its group. If all of the group's chunks are counted, it returns the number of chunks
  // that the row has at least, otherwise 0.
  HIPOPS_METHOD uint32_t count_chunk(uint32_t slot, uint32_t part) const {
    const uint32_t number = number_of(slot), group_begin = number - number % kChunk;
    const bool is_last = slot % 2 != 0;
    // The chunk is its group: no counter. Its slice may have the counter of the next row's first group.
    if (is_last && number == group_begin) return number + 1;
    uint32_t known = 0;  // at least one more chunk follows a full chunk that is not the row's last
    if (is_last || number % kChunk == kChunk - 1) known = number + 1 + uint32_t(!is_last);
    const Counter now = count(first_slice(slot) + group_begin, part, {1, known});
    // While `known` is 0, the difference wraps, and 0 is returned for any `all`.
    const uint32_t all = now.known - group_begin < kChunk ? now.known - group_begin : kChunk;
    return now.chunks == all ? now.known : 0;
  }

  // Counts the slot's group, whose sum is stored, in its row. If all groups are counted, it returns the number of the
  // row's chunks, otherwise 0. A row of several groups has a second chunk, whose slice has the counter.
  HIPOPS_METHOD uint32_t count_group(uint32_t slot, uint32_t part) const {
    const uint32_t number = number_of(slot), chunks = chunks_[slot], left = chunks - (number - number % kChunk);
    const bool is_last = left <= kChunk;
    const Counter now = count(first_slice(slot) + 1, part, {is_last ? left : kChunk, is_last ? chunks : 0});
    return now.chunks == now.known ? now.known : 0;
  }

  // Adds the chunk sums of the slot's group or, if stride is kChunk, the sums of all groups of its row, level by level.
  // Stores the sum of a group in place of the group's first sum, and the sum of a row to y.
  HIPOPS_METHOD void add_sums(uint32_t slot, uint32_t vector, uint32_t element, uint32_t stride) const {
    const uint32_t number = number_of(slot), chunks = chunks_[slot], slice = first_slice(slot);
    const uint32_t begin = stride == 1 ? number - number % kChunk : 0;
    const uint32_t end = stride == 1 && chunks - begin > kChunk ? begin + kChunk : chunks;
    Sum* const sums = static_cast<Sum*>(a.segments.sums) + int64_t(vector) * Length + element;
    // If the row has more than `chunks` chunks, number chunks - 1 is in a later group. So no chunk here is the last.
    const auto sum_of = [&](uint32_t chunk) -> Sum& {
      return sums[slot_of((slice + chunk) * kChunk, chunk + 1 == chunks) * a.walk.count * Length];
    };
    Sum sum = 0;
    for (uint32_t step = stride; step == stride || step < end - begin; step *= kChunk) {
#pragma unroll 1
      for (uint32_t group = begin; group < end; group += step * kChunk) {
        const uint32_t left = (end - group + step - 1) / step, count = left < kChunk ? left : kChunk;
#pragma unroll 1
        for (uint32_t first = 0; first < count; first += kSumsInFlight) {
          Sum v[kSumsInFlight];
#pragma unroll
          for (int n = 0; n < kSumsInFlight; ++n)
            v[n] = sum_of(group + (first + n < count ? first + n : count - 1) * step);
#pragma unroll
          for (int n = 0; n < kSumsInFlight; ++n) {
            const Sum with = first + n == 0 ? v[n] : sum + v[n];
            sum = first + n < count ? with : sum;
          }
        }
        sum_of(group) = sum;
      }
    }
    if (stride == 1 && chunks > kChunk) return;
    const Offsets<kIndexAddOperands> at = locate_in_loop(a.walk, vector);
    T* const y = static_cast<T*>(a.y) + at.of[kIndexAddY] + element;
    y[int64_t(uint32_t(number_and_row_[slot])) * a.y_step] = Summed<T>::rounded(sum);
  }

  const IndexAddArgs& a;
  const Shared<SortEntry> entry_;
  const Shared<uint32_t> listed_;
  const uint32_t first_vector_;  // of the part
  uint32_t lead_, loaded_, first_;
  // For each slot of the portion with a chunk sum: the chunk's number in its row << 32 | the row.
  Shared<uint64_t> number_and_row_ = shared_member<SegmentSums, uint64_t, kSlots>();
  // For each slot: UINT32_MAX if it has a chunk sum. After a count: the number of chunks that its row has at least, or
  // 0 if the block adds no sums for the slot.
  Shared<uint32_t> chunks_ = shared_member<SegmentSums, uint32_t, kSlots>();
  Shared<uint32_t> counts_ = shared_member<SegmentSums, uint32_t, kCounts>();
};

template <class T, int Length>
class JoinedSums {
 public:
  explicit HIPOPS_METHOD JoinedSums(const IndexAddArgs& args) : a(args) {
    prefetch_l2_by_blocks(a.prefetched, a.prefetched_pieces, uint32_t(a.grid));
  }

  HIPOPS_METHOD void add() const {
    HIPOPS_SHARED(SortEntry, sorted, kSortBatch);
    HIPOPS_SHARED(uint32_t, words, kJoinWords);
    HIPOPS_SHARED(uint16_t, start_of, JoinedShape::kDigits);
    const SortArgs& s = a.sort;
    load_walk_arguments(a.walk, s.partly_sorted, s.starts, s.rows_differ, s.blocks, s.batch, a.y, a.x, a.x_step,
                        a.y_step, a.segments.row_parts);
    if (rows_do_differ(s.rows_differ)) return;
    const uint32_t digit = block_index() / a.segments.row_parts, part = block_index() - digit * a.segments.row_parts;
    SegmentSums<T, Length, kJoinedBlock, kFlight> sums(reload_arguments(a), sorted, words, part);
    sums.begin();
    // sort_join has the barrier between begin() and add_rows().
    const uint32_t entries = sort_join(s, digit, part == 0, words, start_of, sorted);
    if (entries != 0) sums.add_rows(start_of, 1u << reload_arguments(a).sort.low_bits, entries);
  }

 private:
  static constexpr int kFlight = 8;  // more than NVIDIA's enough_loads, because some blocks of `joined` still sort

  const IndexAddArgs& a;
};

template <class T, int Length>
class PortionSums {
 public:
  explicit HIPOPS_METHOD PortionSums(const IndexAddArgs& args) : a(args) {
    prefetch_l2_by_blocks(a.prefetched, a.prefetched_pieces, uint32_t(a.grid));
  }

  // Shared memory has the portion's entries, and a chunk's before and after them.
  HIPOPS_METHOD void add() const {
    HIPOPS_SHARED(SortEntry, entry, kMostPortion + 2 * kChunk);
    HIPOPS_SHARED(uint32_t, chunk, kMostPortion);
    const SortArgs& s = a.sort;
    load_walk_arguments(a.walk, s.sorted, s.entries, s.rows_differ, a.segments.portion, a.segments.row_parts, a.y, a.x,
                        a.x_step, a.y_step);
    if (rows_do_differ(s.rows_differ)) return;
    const uint32_t number = block_index() / a.segments.row_parts, part = block_index() - number * a.segments.row_parts;
    const uint32_t entries = *s.entries, first = number * a.segments.portion;
    if (first >= entries) return;
    const uint32_t lead = first < kChunk ? first : kChunk, left = entries - first;
    const uint32_t portion = left < a.segments.portion ? left : a.segments.portion;
    const uint32_t loaded = lead + (left < portion + kChunk ? left : portion + kChunk);
    const SortEntry* const sorted = s.sorted + (first - lead);
#pragma unroll 1
    for (uint32_t from = thread_index(); from < loaded; from += kLoads * kSumBlock) {
      SortEntry own[kLoads];
#pragma unroll
      for (uint32_t n = 0; n < kLoads; ++n) {
        const uint32_t i = from + n * kSumBlock;
        own[n] = sorted[i < loaded ? i : from];
      }
#pragma unroll
      for (uint32_t n = 0; n < kLoads; ++n)
        if (from + n * kSumBlock < loaded) entry[from + n * kSumBlock] = own[n];
    }
    SegmentSums<T, Length, kSumBlock, enough_loads> sums(a, entry, chunk, part);
    sums.begin();
    barrier();
    sums.add(lead, portion, loaded, first, sources_before(entry, lead, first));
    sums.add_chunk_sums(part);
  }

 private:
  static constexpr uint32_t kLoads = 5;  // entries of a work-item, in flight together

  // How many sources of the row of the portion's first entry precede the portion. All lanes of a wave call it.
  HIPOPS_METHOD uint32_t sources_before(Shared<SortEntry> entry, uint32_t lead, uint32_t first) const {
    const auto key = [&](uint32_t i) { return SortEntry(entry[i]).key; };
    uint32_t sources = 0;
#pragma unroll 1
    for (uint32_t i = lane_index(); i - lane_index() < lead; i += wave_size)
      sources += uint32_t(count_bits(ballot(i < lead && key(i) == key(lead))));
    return sources == kChunk && first > kChunk ? first - first_of_key(a.sort.sorted, first) : sources;
  }

  const IndexAddArgs& a;
};

}  // namespace
}  // namespace hipops
