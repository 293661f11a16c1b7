#include "index/sort_plan.h"

#include <algorithm>

#include "policy/default_sums.h"
#include "tensor/divisor.h"

namespace hipops {
namespace {

using namespace sums_policy;

// A pass sorts by the key bits of two digits. Longer keys need two passes.
constexpr int kPassBits = 2 * kRadixBits;

// Parts of the workspace begin at multiples of 256 bytes. Returns where the new part begins.
int64_t reserve_bytes(SortPlan* plan, int64_t bytes) {
  int64_t at = plan->bytes;
  plan->bytes += (bytes + 255) / 256 * 256;
  return at;
}

// The indices of a block that splits: at least one for each digit, so that most digits have entries.
int64_t batch_of(int64_t indices, int64_t digits) {
  constexpr int64_t kStep = kPartitioners * kSortBlock;
  const int64_t steps = std::max((indices + kStep - 1) / kStep, digits / kSortBlock);
  return std::min<int64_t>(steps, kSortDepth) * kSortBlock;
}

// The high digit has a value for each block that joins. They are enough to fill a device, if each block has enough
// entries, and to leave the low digit no more bits than it can have. For blocks that also sum, most digits' entries fit
// in shared memory. More values only make runs shorter.
SortPass pass_of(int shift, int bits, int64_t indices, bool may_sum) {
  const int for_units = std::min(log2_up(kJoiningBlocks), log2_up((indices + kFewestToJoin - 1) / kFewestToJoin));
  const int for_room = may_sum ? log2_up((indices + kEntriesToJoin - 1) / kEntriesToJoin) : 0;
  const int for_low = bits - (may_sum ? kJoinedBits : kRadixBits);
  const int high = std::min({std::max({for_units, for_room, for_low}), bits, kRadixBits});
  return {shift, bits - high, high, 1};
}

// Close rows stay neighbours, so that a sector of y, or a line for the lanes of a wave, is loaded and stored once.
int plain_bits_of(const SumsProblem& p, bool by_row) {
  const int64_t bytes = by_row ? kNeighbourBytesOfLanes : kNeighbourBytes;
  int bits = 0;
  while (p.rows > 1 && p.row_step_bytes << bits < bytes) ++bits;
  return bits;
}

}  // namespace

SortPlan plan_sort(const SumsProblem& p) {
  SortPlan plan{};
  constexpr int64_t kMost = UINT32_MAX;      // rows and places have 32 bits in the entries
  constexpr int64_t kPast = 2 * kSortBatch;  // and places of a batch may be past the last index
  if (p.x_elements == 0 || p.y_elements == 0 || p.indices <= kMostUnsorted) return plan;
  if (p.indices > kMost - kPast || p.rows > kMost || p.row_elements >= int64_t{1} << 31) return plan;

  plan.key_bits = std::max(log2_up(p.rows), 1);
  plan.lanes_by_row = p.rows_are_close && p.indices / p.rows < kSourcesByElement;
  plan.plain_bits = std::min(plain_bits_of(p, plan.lanes_by_row), plan.key_bits - 1);
  plan.passes = plan.key_bits > kPassBits ? 2 : 1;
  const int first = plan.passes == 1 ? plan.key_bits : plan.key_bits / 2;
  plan.may_sum = plan.passes == 1 && p.indices >> kRadixBits <= kMostEntriesToSum;
  plan.pass[0] = pass_of(0, first, p.indices, plan.may_sum);
  if (plan.passes == 2) plan.pass[1] = pass_of(first, plan.key_bits - first, p.indices, false);

  const int high_bits = std::max(plan.pass[0].high_bits, plan.pass[1].high_bits);
  plan.batch = batch_of(p.indices, int64_t{1} << high_bits);
  plan.blocks = (p.indices + plan.batch - 1) / plan.batch;
  SortPass& last = plan.pass[plan.passes - 1];
  const int64_t digits = int64_t{1} << last.high_bits;
  // Without a low digit, several blocks copy the entries of a digit that has too many for one.
  if (last.low_bits == 0)
    last.joiners = std::clamp<int64_t>(std::min(p.indices / kSortBatch, kMostJoiners) / digits, 1, plan.blocks);
  plan.may_sum = plan.may_sum && last.low_bits <= kJoinedBits && last.joiners == 1 &&
                 p.indices >> last.high_bits <= kMostEntriesToSum && p.indices / p.rows <= kMostSourcesToSum;
  plan.slices = (p.indices + kChunk - 1) / kChunk;
  const int64_t entries = plan.blocks * plan.batch, sum_bytes = std::max<int64_t>(dtype_bytes(p.dtype), 4);
  reserve_bytes(&plan, sizeof(uint32_t));  // SortArgs::entries
  plan.starts = reserve_bytes(&plan, ((int64_t{1} << high_bits) + 1) * plan.blocks * int64_t{sizeof(uint32_t)});
  plan.split = reserve_bytes(&plan, entries * int64_t{sizeof(SortEntry)});
  plan.heads = reserve_bytes(&plan, entries * int64_t{sizeof(uint32_t)});
  plan.sorted = reserve_bytes(&plan, p.indices * int64_t{sizeof(SortEntry)});
  const int64_t most_parts = (p.row_elements + kLeastPartVectors - 1) / kLeastPartVectors;
  plan.arrived = reserve_bytes(&plan, entries / kChunk * most_parts * int64_t{sizeof(uint64_t)});
  plan.sums = reserve_bytes(&plan, 2 * plan.slices * p.row_elements * sum_bytes);
  return plan;
}

void place_sort(const SortPlan& plan, void* workspace, IndexAddArgs* args) {
  char* const at = static_cast<char*>(workspace);
  SortArgs& sort = args->sort;
  sort.entries = reinterpret_cast<uint32_t*>(at);
  sort.starts = reinterpret_cast<uint32_t*>(at + plan.starts);
  sort.split = reinterpret_cast<SortEntry*>(at + plan.split);
  sort.heads = reinterpret_cast<uint32_t*>(at + plan.heads);
  sort.sorted = reinterpret_cast<SortEntry*>(at + plan.sorted);
  args->segments.arrived = reinterpret_cast<uint64_t*>(at + plan.arrived);
  args->segments.sums = at + plan.sums;
  args->segments.lanes_by_row = plan.lanes_by_row;
  sort.batch = static_cast<uint32_t>(plan.batch);
  sort.blocks = static_cast<uint32_t>(plan.blocks);
  sort.key_mask = static_cast<uint32_t>((uint64_t{1} << plan.key_bits) - 1);
  sort.plain_bits = plan.plain_bits;
}

void set_pass(const SortPlan& plan, int pass, SortArgs* args) {
  args->from = pass == 0 ? nullptr : args->sorted;
  args->shift = plan.pass[pass].shift;
  args->low_bits = plan.pass[pass].low_bits;
  args->high_bits = plan.pass[pass].high_bits;
  args->joiners = static_cast<uint32_t>(plan.pass[pass].joiners);
  args->joiner_blocks = static_cast<uint32_t>((plan.blocks + plan.pass[pass].joiners - 1) / plan.pass[pass].joiners);
}

}  // namespace hipops
