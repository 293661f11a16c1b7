// How an index is ordered by the rows it names (device/index/index_order.h): in how many rounds, and where in a workspace.
#pragma once

#include <cstdint>

#include "device/index/index_order_contract.h"

namespace hipops {

// Keys are ordered by two digits, a high and a low one, from bit `shift` on.
struct OrderRound {
  int shift, low_bits, high_bits;
};

struct OrderPlan {
  int rounds;
  OrderRound round[2];
  int key_bits;
  int64_t batch, blocks;
  bool by_position;
  int64_t starts, split, joined, sources, lists, longs;  // where they are in the workspace; numbers of them begin it
  int64_t bytes;                                  // 0: nothing is ordered
};

// High bits for plan_spread: blocks that are two for each unit of a large GPU; or fewer, which leave room for the launch
// behind them, of which little work is done the sooner.
constexpr int kSpreadBits = 8, kSpreadBitsOfLittle = 6;

// For `indices` of which each names one of `rows`. Few are not ordered, nor are more than entries have bits for.
OrderPlan plan_order(int64_t rows, int64_t indices);

// The same, over so many blocks that join that they can add up what they joined themselves (index_join.h, ListsAtHand):
// each has about as much to do, and there are enough of them: by so many bits, or more where there are more rows than
// those tell apart. Of other rows and indices, no rounds and no bytes.
OrderPlan plan_spread(int64_t rows, int64_t indices, int spread_bits);

// What is the same in all rounds: of `order`, all but the digits and `from`.
void place_order(const OrderPlan& plan, int64_t rows, char* workspace, RowOrder* order);

// The digits of a round, and the entries that it begins with.
void set_round(const OrderPlan& plan, int round, RowOrder* order);

}  // namespace hipops
