#include "index/index_order.h"

#include <algorithm>

#include "tensor/divisor.h"

namespace hipops {
namespace {

// Up to here no workspace is asked for: the indices are looked through. (So are some that are more: pays_to_scan.)
constexpr int64_t kMostUnordered = 256;

// A round orders by as many bits of the keys as two digits have. Keys with more of them take two rounds.
constexpr int kRoundBits = 2 * kOrderDigitBits;
// As many blocks split, as long as each has no more indices than kOrderBatch: smaller shares are ordered sooner (5 to
// 10 % of a launch of up to 131072 indices on an H200), but more of them leave more and shorter runs to find (262144
// indices in 256 blocks: as fast; 1000000 in twice as many as now: half as fast).
constexpr int64_t kSplitters = 128;

constexpr int64_t kEntriesToJoin = kOrderBatch / 2;  // for a block that joins: mostly, there is room for all

// Parts of the workspace begin at multiples of 256 bytes.
int64_t take_bytes(OrderPlan* plan, int64_t bytes) {
  int64_t at = plan->bytes;
  plan->bytes += (bytes + 255) / 256 * 256;
  return at;
}

// Of indices, for a block that splits: no fewer than there are digits, so that runs are not mostly empty.
int64_t batch_of(int64_t indices, int64_t digits) {
  constexpr int64_t kStep = kSplitters * kOrderBlock;
  const int64_t steps = std::max((indices + kStep - 1) / kStep, digits / kOrderBlock);
  return std::min<int64_t>(steps, kOrderDepth) * kOrderBlock;
}

// The high digit (but plan_spread's) makes as many blocks that join as have work for one batch, if digits can be so
// long; and takes half of the bits at least, so that few entries don't meet many digits.
OrderRound round_of(int shift, int bits, int64_t indices) {
  const int joiners = log2_up((indices + kEntriesToJoin - 1) / kEntriesToJoin);
  const int high = std::min({std::max(joiners, bits / 2), bits, kOrderDigitBits});
  return {shift, bits - high, high};
}

// Where the parts are in the workspace, with room for so many lists.
OrderPlan with_parts(OrderPlan plan, int64_t indices, int64_t lists) {
  const int high_bits = std::max(plan.round[0].high_bits, plan.round[1].high_bits);
  plan.batch = batch_of(indices, int64_t{1} << high_bits);
  plan.blocks = (indices + plan.batch - 1) / plan.batch;
  const int64_t entries = indices * int64_t{sizeof(OrderEntry)};
  take_bytes(&plan, 3 * sizeof(uint32_t));
  plan.starts = take_bytes(&plan, ((int64_t{1} << high_bits) + 1) * plan.blocks * int64_t{sizeof(uint32_t)});
  plan.split = take_bytes(&plan, entries);
  if (plan.rounds == 2) plan.joined = take_bytes(&plan, entries);
  plan.sources = take_bytes(&plan, indices * int64_t{sizeof(uint32_t)});
  plan.lists = take_bytes(&plan, lists * int64_t{sizeof(RowList)});
  plan.longs = take_bytes(&plan, indices / kLongList * int64_t{sizeof(LongList)});
  return plan;
}

}  // namespace

OrderPlan plan_order(int64_t rows, int64_t indices) {
  OrderPlan plan{};
  constexpr int64_t kMost = UINT32_MAX;  // rows and places are 32 bits wide in the entries
  constexpr int64_t kAhead = 64;         // and a loop over a list counts by 32 bits, some sources at a time
  if (indices <= kMostUnordered || indices > kMost - kAhead || rows > kMost) return plan;

  plan.key_bits = std::max(log2_up(rows), 1);
  plan.rounds = plan.key_bits > kRoundBits ? 2 : 1;
  const int first = plan.rounds == 1 ? plan.key_bits : plan.key_bits / 2;
  plan.round[0] = round_of(0, first, indices);
  if (plan.rounds == 2) plan.round[1] = round_of(first, plan.key_bits - first, indices);
  plan.by_position = plan.rounds == 2 || rows > indices;
  return with_parts(plan, indices, plan.by_position ? indices : rows);
}

OrderPlan plan_spread(int64_t rows, int64_t indices, int spread_bits) {
  // Rows enough that no block has many more than another, and indices enough.
  constexpr int kLeastLowBits = 2;
  constexpr int64_t kLeast = 1 << 13, kMost = (1 << kJoinedIndexBits) - 1;  // they can be counted
  OrderPlan plan{};
  const int bits = log2_up(std::min<int64_t>(rows, UINT32_MAX));
  const int low_bits = std::min(bits - spread_bits, kJoinedDigitBits), high_bits = bits - low_bits;
  if (low_bits < kLeastLowBits || high_bits > kOrderDigitBits || indices < kLeast || indices > kMost) return plan;
  plan.rounds = 1;
  plan.key_bits = bits;
  plan.round[0] = {0, low_bits, high_bits};
  return with_parts(plan, indices, 0);
}

void place_order(const OrderPlan& plan, int64_t rows, char* workspace, RowOrder* order) {
  order->entries = reinterpret_cast<uint32_t*>(workspace);
  order->long_count = order->entries + 1;
  order->longs = reinterpret_cast<LongList*>(workspace + plan.longs);
  order->starts = reinterpret_cast<uint32_t*>(workspace + plan.starts);
  order->split = reinterpret_cast<OrderEntry*>(workspace + plan.split);
  order->sources = reinterpret_cast<uint32_t*>(workspace + plan.sources);
  order->joined = plan.rounds == 1 ? static_cast<void*>(order->sources) : workspace + plan.joined;
  order->lists = reinterpret_cast<RowList*>(workspace + plan.lists);
  order->rows = static_cast<uint32_t>(rows);
  order->batch = static_cast<uint32_t>(plan.batch);
  order->blocks = static_cast<uint32_t>(plan.blocks);
  if (!order->state) order->longest = UINT32_MAX;
  order->key_mask = static_cast<uint32_t>((uint64_t{1} << plan.key_bits) - 1);
  order->by_position = plan.by_position;
  order->only_round = plan.rounds == 1;
}

void set_round(const OrderPlan& plan, int round, RowOrder* order) {
  order->from = round == 0 ? nullptr : static_cast<const OrderEntry*>(order->joined);
  order->shift = plan.round[round].shift;
  order->low_bits = plan.round[round].low_bits;
  order->high_bits = plan.round[round].high_bits;
}

}  // namespace hipops
