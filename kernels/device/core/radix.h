// Sorts entries by a digit of their keys, within a block. The sort is stable.
#pragma once

#include "device/core/radix_contract.h"
#include "device/core/scan.h"

namespace hipops {
namespace {

// Bits: of a digit, at most. Streams: blocks sort batch after batch, and keep the tally and the sorted entries in the
// same shared memory. AllKeys: a batch's first places have entries with any keys. Otherwise kNoKey marks other places.
template <int Block, int Depth, int Bits, bool Streams = false, bool AllKeys = false>
struct RadixShape {
  static constexpr int kBlock = Block, kDepth = Depth, kBatch = Block * Depth, kWaves = Block / wave_size;
  static constexpr int kBits = Bits, kDigits = 1 << Bits, kTally = kWaves << Bits;  // counts of all waves
  static constexpr bool kStreams = Streams, kAllKeys = AllKeys;
  static constexpr int kTogether = Streams ? 4 : 1;  // entries of a lane that are ranked without a branch
};

// Up to kBatch entries, in registers: each wave has the same number of neighbouring entries. Most kernels that sort run
// for microseconds, in which fetching code costs time. So only loops that number registers are unrolled.
template <class Shape>
struct Batch {
  static constexpr int kDepth = Shape::kDepth;
  static constexpr uint32_t kNoKey = UINT32_MAX;  // marks a place without an entry
  SortEntry entry[kDepth];
  // The number of earlier entries of its wave with the same digit. sort_batch turns it into the place in `sorted`.
  uint32_t rank[kDepth];
  uint32_t of_wave;       // places of a wave, a multiple of wave_size

  HIPOPS_METHOD void begin(uint32_t entries) {
    entries_ = entries;
    const uint32_t steps = (entries + Shape::kBlock - 1) / Shape::kBlock;
    of_wave = (steps < kDepth ? steps : kDepth) * wave_size;
  }

  HIPOPS_METHOD uint32_t place(int n) const { return wave_index() * of_wave + uint32_t(n) * wave_size + lane_index(); }
  // True if n is a multiple of kTogether, and the wave has no entries from the lanes' n-th places on.
  HIPOPS_METHOD bool ends_before(int n) const { return n % Shape::kTogether == 0 && !in_use(n); }
  HIPOPS_METHOD bool in_use(int n) const { return uint32_t(n) * wave_size < of_wave; }  // the same for all work-items

  HIPOPS_METHOD uint32_t digit(int n) const { return entry[n].key >> shift_ & digit_mask_; }
  HIPOPS_METHOD bool has_entry(int n) const {
    if constexpr (Shape::kAllKeys) return in_use(n) && place(n) < entries_;
    else return entry[n].key != kNoKey;
  }

  // Loads the first `entries` entries of shared memory, by place.
  HIPOPS_METHOD void load(Shared<SortEntry> from, uint32_t entries) {
#pragma unroll
    for (int n = 0; n < kDepth; ++n) {
      entry[n] = {kNoKey, 0};
      if (in_use(n) && place(n) < entries) entry[n] = from[place(n)];
    }
  }

  // Sets the ranks. `tally` has a row for each wave: the row becomes the wave's number of entries of each digit.
  HIPOPS_METHOD void rank_by_digit(Shared<uint16_t> tally, int shift, int bits) {
    const uint32_t own = wave_index() << bits;
    shift_ = shift;
    digit_mask_ = (1u << bits) - 1;
#pragma unroll 1
    for (uint32_t d = hide_origin(lane_index()); d < 1u << bits; d += wave_size) tally[own + d] = 0;
    LaneMask differs[kDepth];  // lanes that have another digit
#pragma unroll
    for (int n = 0; n < kDepth; ++n) differs[n] = 0;
    if constexpr (Shape::kStreams) {  // constant bits cost fewer instructions
#pragma unroll
      for (int bit = 0; bit < Shape::kBits; bit += 4) {
        if (bit >= bits) continue;
        compare<0, kDepth / 2, 4>(bit, differs);
        if (in_use(kDepth / 2)) compare<kDepth / 2, kDepth, 4>(bit, differs);
      }
    } else {
#pragma unroll 1
      for (int bit = 0; bit < bits; bit += 2) {  // bits above the digit are 0
        compare<0, kUsualDepth, 2>(bit, differs);
        if (in_use(kUsualDepth)) compare<kUsualDepth, kDepth, 2>(bit, differs);
      }
    }
    wave_barrier();
#pragma unroll
    for (int n = 0; n < kDepth; ++n) {
      if (ends_before(n)) break;
      const LaneMask peers = ballot(has_entry(n)) & ~differs[n], earlier = peers & lanes_below();
      const uint32_t before = tally[own + digit(n)];
      rank[n] = before + uint32_t(count_bits(earlier));
      wave_barrier();
      if (has_entry(n) && earlier == 0) tally[own + digit(n)] = uint16_t(before + uint32_t(count_bits(peers)));
      wave_barrier();
    }
  }

 private:
  int shift_;
  uint32_t digit_mask_, entries_;
  static constexpr int kUsualDepth = kDepth / 2 + 1;  // blocks that join mostly have about half of a batch

  // Adds to `differs` the lanes whose digits differ in one of the `Bits` bits from `bit` on, for digits From to To.
  template <int From, int To, int Bits>
  HIPOPS_METHOD void compare(int bit, LaneMask (&differs)[kDepth]) const {
#pragma unroll
    for (int n = From; n < To; ++n) {
#pragma unroll
      for (int next = 0; next < Bits; ++next) differs[n] |= lanes_with_other_bit(digit(n), bit + next);
    }
  }
};

// Stores the batch to `sorted`, ordered by the digit of `bits` bits from `shift` on. start_of becomes the place of each
// digit's first entry. Returns the number of entries. tally has Shape::kTally counts, and is free afterwards. One
// work-item calls counted(digit, its place, its entries) for each digit.
template <class Shape, class F>
HIPOPS_FN uint32_t sort_batch(Batch<Shape>* batch, int shift, int bits, Shared<uint16_t> tally,
                              Shared<uint16_t> start_of, Shared<SortEntry> sorted, F counted) {
  batch->rank_by_digit(tally, shift, bits);
  barrier();
  uint32_t entries = 0;
#pragma unroll 1
  for (uint32_t first = 0; first < 1u << bits; first += Shape::kBlock) {
    const uint32_t digit = first + hide_origin(thread_index());
    uint32_t total = 0;
    if (digit < 1u << bits) {
      uint32_t count[Shape::kWaves];  // all loads precede the stores: one latency of shared memory
#pragma unroll
      for (int w = 0; w < Shape::kWaves; ++w) count[w] = tally[(uint32_t(w) << bits) + digit];
#pragma unroll
      for (int w = 0; w < Shape::kWaves; ++w) {  // the tally becomes the number in earlier waves
        tally[(uint32_t(w) << bits) + digit] = uint16_t(total);
        total += count[w];
      }
    }
    const Scanned<uint32_t> scan = block_scan<Shape::kBlock>(total);
    if (digit < 1u << bits) {
      start_of[digit] = uint16_t(entries + scan.before);
      counted(digit, entries + scan.before, total);
    }
    entries += uniform(scan.total);
    barrier();
  }
  const uint32_t own = wave_index() << bits;
#pragma unroll
  for (int n = 0; n < Shape::kDepth; ++n) {
    if (batch->ends_before(n)) break;
    batch->rank[n] += uint32_t(start_of[batch->digit(n)]) + tally[own + batch->digit(n)];
  }
  if constexpr (Shape::kStreams) barrier();  // the tally has been read
#pragma unroll
  for (int n = 0; n < Shape::kDepth; ++n)
    if (batch->has_entry(n)) sorted[batch->rank[n]] = batch->entry[n];
  barrier();
  return entries;
}

template <class Shape>
HIPOPS_FN uint32_t sort_batch(Batch<Shape>* batch, int shift, int bits, Shared<uint16_t> tally,
                              Shared<uint16_t> start_of, Shared<SortEntry> sorted) {
  return sort_batch(batch, shift, bits, tally, start_of, sorted, [](uint32_t, uint32_t, uint32_t) {});
}

}  // namespace
}  // namespace hipops
