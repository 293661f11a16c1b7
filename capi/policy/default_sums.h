// The limits that launches of sums by an index use on every device. Tables do not set them. default_sums.cpp has the
// limits that choose the way.
#pragma once

#include <cstdint>

#include "device/index/sum_contract.h"

namespace hipops {
namespace sums_policy {

constexpr int64_t kMostUnsorted = 256;  // indices: a call with more requests a workspace
// Bytes of x for each unit that a launch prefetches to the L2 cache while it waits for the sort.
constexpr int64_t kAheadOfSums = int64_t{240} << 10;
// The number of blocks that split, unless a block would have more than kSortBatch indices. Smaller batches are sorted
// sooner, but they leave more and shorter runs.
constexpr int64_t kPartitioners = 128;
// Blocks that join: kJoiningBlocks if each has kFewestToJoin entries, and more if each has more than kEntriesToJoin.
// These mostly leave room for all entries of a digit. If several blocks join a digit, there are up to kMostJoiners.
constexpr int64_t kJoiningBlocks = 256, kFewestToJoin = 64, kEntriesToJoin = kSortBatch / 2, kMostJoiners = 512;
// Blocks that join also sum, if they and their rows have up to these numbers of entries, on average.
constexpr int64_t kMostEntriesToSum = kSortBatch / 4 * 3, kMostSourcesToSum = kChunk / 2;
constexpr int64_t kNeighbourBytes = 32;   // of neighbouring rows that stay together
constexpr int64_t kNeighbourBytesOfLanes = 128;  // if the lanes of a wave have neighbouring rows
constexpr int64_t kSourcesByElement = 32;  // of a row: from here on lanes have neighbouring elements of one row
constexpr int64_t kPortionsAUnit = 8;     // of entries, if there are enough; otherwise parts of portions
constexpr int64_t kJoinedBlocksAUnit = 2;  // that join and sum, if rows are long enough to be divided
constexpr int64_t kMergeBlocksAUnit = 4;  // that merge, unless slices need more
constexpr int64_t kFewestOfShare = 128;              // indices in the rows of a block that scans, at least
constexpr int kResidentBlocks = 4;                   // of scatter_add, on a unit

}  // namespace sums_policy
}  // namespace hipops
