// The limits that launches of sums by an index use on every device. Tables do not set them. default_sums.cpp has the
// limits that choose the way.
#pragma once

#include <cstdint>

#include "device/index/index_order_contract.h"

namespace hipops {
namespace sums_policy {

// Bytes of x that a launch prefetches to the L2 cache while it waits for the sort, for each unit.
constexpr int64_t kAheadOfJoined = int64_t{120} << 10, kAheadOfSegments = int64_t{160} << 10;
// The number of blocks that partition, unless a block would have more than kOrderBatch indices. Smaller batches are
// sorted sooner, but they leave more and shorter runs.
constexpr int64_t kPartitioners = 128;
constexpr int64_t kEntriesToJoin = kOrderBatch / 2;  // for a block that joins: it then mostly has room for all
constexpr int64_t kFewestOfShare = 128;              // indices in the rows of a block that scans, at least
constexpr int kResidentBlocks = 4;                   // of scatter_add, on a unit

}  // namespace sums_policy
}  // namespace hipops
