#include "index/sort_plan.h"

#include <algorithm>

#include "policy/default_sums.h"
#include "tensor/divisor.h"

namespace hipops {
namespace {

using namespace sums_policy;

// Parts of the workspace begin at multiples of 256 bytes. Returns where the new part begins.
int64_t reserve_bytes(SortPlan* plan, int64_t bytes) {
  int64_t at = plan->bytes;
  plan->bytes += (bytes + 255) / 256 * 256;
  return at;
}

// Sets the number of indices of a block, from `least` to `most`, and the number of blocks.
void set_batch(int64_t indices, int64_t least, int64_t most, SortPlan* plan) {
  constexpr int64_t kStep = kWantedPartitioners * kSortBlock;
  plan->batch = std::clamp((indices + kStep - 1) / kStep * kSortBlock, least, most);
  plan->blocks = (indices + plan->batch - 1) / plan->batch;
}

// The bits of the high digit, which has a value for each block that joins: kJoiningBlocks, or fewer if a block would have
// less than kFewestToJoin entries, or more if its entries or its low digits would have no room.
int high_bits_of(int bits, int64_t indices) {
  const int for_units = std::min(log2_up(kJoiningBlocks), log2_up((indices + kFewestToJoin - 1) / kFewestToJoin));
  const int for_room = log2_up((indices + kEntriesToJoin - 1) / kEntriesToJoin);
  return std::min({std::max({for_units, for_room, bits - kJoinedBits}), bits, kSplitBits});
}

// Close rows stay neighbours, so that a sector of y is loaded and stored once.
int plain_bits_of(const SumsProblem& p) {
  int bits = 0;
  while (p.rows > 1 && p.row_step_bytes << bits < kNeighbourBytes) ++bits;
  return bits;
}

// u8 has no kernel `joined`.
bool pays_to_join(const SumsProblem& p, const SortPlan& plan) {
  return p.wide_row && p.dtype != HIPOPS_U8 && plan.low_bits <= kJoinedBits &&
         p.indices >> plan.high_bits <= kMostEntriesToSum && p.indices / p.rows <= kMostSourcesToSum;
}

int bits_of_pass(const SortPlan& plan) { return (plan.key_bits + plan.passes - 1) / plan.passes; }

SortPlan plan_sort(const SumsProblem& p, bool joins) {
  SortPlan plan{};
  plan.joins = joins;
  plan.key_bits = std::max(log2_up(p.rows), 1);
  plan.high_bits = high_bits_of(plan.key_bits, p.indices);
  plan.low_bits = plan.key_bits - plan.high_bits;
  plan.passes = plan.joins ? 1 : (plan.key_bits + kPassBits - 1) / kPassBits;
  plan.lanes_by_row = p.rows_are_close && p.indices / p.rows < kSourcesByElement;
  // The keys of a radix sort are row numbers. With 31 plain bits row_of returns them: an odd factor keeps the highest
  // bit.
  plan.plain_bits = plan.joins ? std::min(plain_bits_of(p), plan.key_bits - 1) : 31;
  const int64_t row_bytes = p.row_elements * dtype_bytes(p.dtype);
  if (!plan.joins && p.row_has_one_step && row_bytes <= int64_t{sizeof(uint32_t)})
    plan.element_bytes = static_cast<int>(dtype_bytes(p.dtype));

  // A batch has at least one index for each digit, so that most digits have entries.
  const int64_t digits = int64_t{1} << (plan.joins ? plan.high_bits : bits_of_pass(plan));
  const int64_t least = std::max<int64_t>(digits, kSortBlock);
  set_batch(p.indices, least, plan.joins ? kSortBatch : kLargestTile, &plan);
  if (plan.blocks > kMostPartitioners && !plan.joins) {
    const int64_t tiles = (plan.blocks + kMostPartitioners - 1) / kMostPartitioners;
    plan.batch *= tiles;
    plan.blocks = (p.indices + plan.batch - 1) / plan.batch;
  }
  plan.slices = (p.indices + kChunk - 1) / kChunk;
  const int64_t room = plan.blocks * plan.batch, sum_bytes = std::max<int64_t>(dtype_bytes(p.dtype), 4);
  reserve_bytes(&plan, sizeof(uint32_t));  // SortArgs::entries
  plan.totals = reserve_bytes(&plan, digits * int64_t{sizeof(uint32_t)});
  plan.table = reserve_bytes(&plan, (digits + 1) * plan.blocks * int64_t{sizeof(uint32_t)});
  if (plan.joins || plan.passes > 1) plan.partly_sorted = reserve_bytes(&plan, room * int64_t{sizeof(SortEntry)});
  plan.sorted = reserve_bytes(&plan, p.indices * int64_t{sizeof(SortEntry)});
  const int64_t most_parts = (p.row_elements + kLeastPartVectors - 1) / kLeastPartVectors;
  plan.counters = reserve_bytes(&plan, room / kChunk * most_parts * int64_t{sizeof(uint64_t)});
  plan.sums = reserve_bytes(&plan, 2 * plan.slices * p.row_elements * sum_bytes);
  return plan;
}

}  // namespace

SortPlan plan_sort(const SumsProblem& p) {
  constexpr int64_t kMost = UINT32_MAX;      // rows and places have 32 bits in the entries
  constexpr int64_t kPast = 2 * kSortBatch;  // and places of a batch may be past the last index
  if (p.x_elements == 0 || p.y_elements == 0 || p.indices <= kMostUnsorted) return {};
  if (p.indices > kMost - kPast || p.rows > kMost || p.row_elements >= int64_t{1} << 31) return {};
  const SortPlan radix = plan_sort(p, false);  // it has the digits of `split`, too
  if (!pays_to_join(p, radix)) return radix;
  // The size must not depend on addresses, and rows at addresses without vectors have a radix sort.
  SortPlan plan = plan_sort(p, true);
  plan.bytes = std::max(plan.bytes, radix.bytes);
  return plan;
}

void place_sort(const SortPlan& plan, void* workspace, IndexAddArgs* args) {
  char* const at = static_cast<char*>(workspace);
  SortArgs& sort = args->sort;
  sort.entries = reinterpret_cast<uint32_t*>(at);
  sort.starts = reinterpret_cast<uint32_t*>(at + plan.table);
  sort.partly_sorted = reinterpret_cast<SortEntry*>(at + plan.partly_sorted);
  sort.sorted = reinterpret_cast<SortEntry*>(at + plan.sorted);
  sort.low_bits = plan.low_bits;
  sort.high_bits = plan.high_bits;
  args->segments.counters = reinterpret_cast<uint64_t*>(at + plan.counters);
  args->segments.sums = at + plan.sums;
  args->segments.lanes_by_row = plan.lanes_by_row;
  sort.batch = static_cast<uint32_t>(plan.batch);
  sort.blocks = static_cast<uint32_t>(plan.blocks);
  sort.element_bytes = static_cast<uint32_t>(plan.element_bytes);
  sort.key_mask = static_cast<uint32_t>((uint64_t{1} << plan.key_bits) - 1);
  sort.plain_bits = plan.plain_bits;
}

void set_pass(const SortPlan& plan, void* workspace, int pass, IndexAddArgs* args) {
  char* const at = static_cast<char*>(workspace);
  const auto entries_of = [&](int number) {  // in turn, so that the last pass stores to `sorted`
    const bool to_sorted = (plan.passes - number) % 2 != 0;
    return reinterpret_cast<SortEntry*>(at + (to_sorted ? plan.sorted : plan.partly_sorted));
  };
  RadixPassArgs& p = args->pass;
  p.from = pass == 0 ? nullptr : entries_of(pass - 1);
  p.to = entries_of(pass);
  p.counts = reinterpret_cast<uint32_t*>(at + plan.table);
  p.totals = reinterpret_cast<uint32_t*>(at + plan.totals);
  p.shift = pass * bits_of_pass(plan);
  p.bits = std::min(bits_of_pass(plan), plan.key_bits - p.shift);
}

}  // namespace hipops
