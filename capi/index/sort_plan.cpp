#include "index/sort_plan.h"

#include <algorithm>

#include "policy/default_sums.h"
#include "tensor/divisor.h"

namespace hipops {
namespace {

using namespace sums_policy;

// A pass sorts by the key bits of two digits. Longer keys need two passes.
constexpr int kPassBits = 2 * kOrderDigitBits;
// Parts of the workspace begin at multiples of 256 bytes.
int64_t take_bytes(SortPlan* plan, int64_t bytes) {
  int64_t at = plan->bytes;
  plan->bytes += (bytes + 255) / 256 * 256;
  return at;
}

// The indices of a block that partitions: at least one for each digit, so that most runs are not empty.
int64_t batch_of(int64_t indices, int64_t digits) {
  constexpr int64_t kStep = kPartitioners * kOrderBlock;
  const int64_t steps = std::max((indices + kStep - 1) / kStep, digits / kOrderBlock);
  return std::min<int64_t>(steps, kOrderDepth) * kOrderBlock;
}

// The high digit has a value for each block that joins one batch of entries, up to the longest digit. It has at least
// half of the bits, so that a small sort has no low digit with many more values than entries.
SortPass pass_of(int shift, int bits, int64_t indices) {
  const int joiners = log2_up((indices + kEntriesToJoin - 1) / kEntriesToJoin);
  const int high = std::min({std::max(joiners, bits / 2), bits, kOrderDigitBits});
  return {shift, bits - high, high};
}

SortPlan laid_out(SortPlan plan, int64_t indices) {
  const int high_bits = std::max(plan.pass[0].high_bits, plan.pass[1].high_bits);
  plan.batch = batch_of(indices, int64_t{1} << high_bits);
  plan.blocks = (indices + plan.batch - 1) / plan.batch;
  const int64_t entries = indices * int64_t{sizeof(OrderEntry)};
  take_bytes(&plan, 3 * sizeof(uint32_t));
  plan.starts = take_bytes(&plan, ((int64_t{1} << high_bits) + 1) * plan.blocks * int64_t{sizeof(uint32_t)});
  plan.split = take_bytes(&plan, entries);
  if (plan.passes == 2) plan.joined = take_bytes(&plan, entries);
  plan.sources = take_bytes(&plan, indices * int64_t{sizeof(uint32_t)});
  plan.lists = take_bytes(&plan, plan.segments * int64_t{sizeof(RowList)});
  plan.longs = take_bytes(&plan, indices / kLongList * int64_t{sizeof(LongList)});
  return plan;
}

}  // namespace

SortPlan plan_sort(int64_t rows, int64_t indices) {
  SortPlan plan{};
  constexpr int64_t kMost = UINT32_MAX;  // rows and places are 32 bits wide in the entries
  constexpr int64_t kAhead = 64;         // and a loop over a segment counts by 32 bits, some sources at a time
  if (indices > kMost - kAhead || rows > kMost) return plan;

  plan.key_bits = std::max(log2_up(rows), 1);
  plan.passes = plan.key_bits > kPassBits ? 2 : 1;
  const int first = plan.passes == 1 ? plan.key_bits : plan.key_bits / 2;
  plan.pass[0] = pass_of(0, first, indices);
  if (plan.passes == 2) plan.pass[1] = pass_of(first, plan.key_bits - first, indices);
  plan.by_position = plan.passes == 2 || rows > indices;
  plan.segments = plan.by_position ? indices : rows;
  return laid_out(plan, indices);
}

SortPlan plan_joined_sort(int64_t rows, int64_t indices, int high_bits) {
  SortPlan plan{};
  const int bits = log2_up(std::min<int64_t>(rows, UINT32_MAX));
  const int low_bits = std::min(bits - high_bits, kJoinedDigitBits);
  if (bits - low_bits > kOrderDigitBits || indices >> kJoinedIndexBits != 0) return plan;
  plan.passes = 1;
  plan.key_bits = bits;
  plan.pass[0] = {0, low_bits, bits - low_bits};
  return laid_out(plan, indices);
}

void place_sort(const SortPlan& plan, int64_t rows, void* workspace, RowOrder* order) {
  char* const at = static_cast<char*>(workspace);
  order->entries = reinterpret_cast<uint32_t*>(at);
  order->long_count = order->entries + 1;
  order->longs = reinterpret_cast<LongList*>(at + plan.longs);
  order->starts = reinterpret_cast<uint32_t*>(at + plan.starts);
  order->split = reinterpret_cast<OrderEntry*>(at + plan.split);
  order->sources = reinterpret_cast<uint32_t*>(at + plan.sources);
  order->joined = plan.passes == 1 ? static_cast<void*>(order->sources) : at + plan.joined;
  order->lists = reinterpret_cast<RowList*>(at + plan.lists);
  order->rows = static_cast<uint32_t>(rows);
  order->batch = static_cast<uint32_t>(plan.batch);
  order->blocks = static_cast<uint32_t>(plan.blocks);
  if (!order->state) order->longest = UINT32_MAX;
  order->key_mask = static_cast<uint32_t>((uint64_t{1} << plan.key_bits) - 1);
  order->by_position = plan.by_position;
  order->only_round = plan.passes == 1;
}

void set_pass(const SortPlan& plan, int pass, RowOrder* order) {
  order->from = pass == 0 ? nullptr : static_cast<const OrderEntry*>(order->joined);
  order->shift = plan.pass[pass].shift;
  order->low_bits = plan.pass[pass].low_bits;
  order->high_bits = plan.pass[pass].high_bits;
}

}  // namespace hipops
