// The numbers that launches of sums by an index compare with, on every device: no table has them. What chooses the way is
// in default_sums.cpp.
#pragma once

#include <cstdint>

#include "device/index/index_order_contract.h"

namespace hipops {
namespace sums_policy {

// Bytes of x for each unit that a launch has the L2 cache load while it waits for the sort.
constexpr int64_t kAheadOfJoined = int64_t{120} << 10, kAheadOfSegments = int64_t{160} << 10;
// As many blocks partition, as long as each has no more indices than kOrderBatch. Smaller shares are sorted sooner, but
// more of them leave more and shorter runs to find.
constexpr int64_t kPartitioners = 128;
constexpr int64_t kEntriesToJoin = kOrderBatch / 2;  // for a block that joins: mostly, there is room for all
constexpr int64_t kFewestOfShare = 128;              // indices that a scan's share of the rows has, if there are so many
constexpr int kResidentBlocks = 4;                   // of scatter_add, on a unit at a time

}  // namespace sums_policy
}  // namespace hipops
