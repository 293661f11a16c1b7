// The limits that launches of sums by an index use on every device. Tables do not set them. default_sums.cpp has the
// limits that choose the way, except kMostUnsorted and kFewIndices (kernels/index_add.h).
#pragma once

#include <cstdint>

#include "device/index/sum_contract.h"

namespace hipops {
namespace sums_policy {

constexpr int64_t kMostUnsorted = 256;  // indices: a call with more reports a workspace
// Bytes of x a unit that a launch prefetches to the L2 cache while it waits for the sort.
constexpr int64_t kAheadOfSums = int64_t{240} << 10;
// The number of blocks that split or partition: smaller batches are sorted sooner, but have more and shorter runs. A
// batch has at least kSortBlock indices, and one for each digit. It has at most kSortBatch indices (in a radix sort:
// kLargestTile), or more if there would be more than kMostPartitioners blocks.
constexpr int64_t kWantedPartitioners = 128;
// Blocks that join: kJoiningBlocks, or fewer if a block would have less than kFewestToJoin entries. There are more, up
// to 2^kSplitBits, if a block would have more than kEntriesToJoin, or its low digit more than kJoinedBits.
// kEntriesToJoin is half of the room in shared memory, because digits differ in their numbers of entries.
constexpr int64_t kJoiningBlocks = 256, kFewestToJoin = 64, kEntriesToJoin = kSortBatch / 2;
// Blocks join if, on average, a block has up to kMostEntriesToSum entries, and a row up to kMostSourcesToSum. With
// more, too many blocks lack room, or have a row of several chunks.
constexpr int64_t kMostEntriesToSum = kSortBatch / 4 * 3, kMostSourcesToSum = kChunk / 2;
constexpr int64_t kNeighbourBytes = 32;          // of close rows whose keys stay neighbours: a sector of memory
constexpr int64_t kSourcesByElement = 32;   // of a row, on average: from here on lanes have neighbouring elements of it
constexpr int64_t kPortionsAUnit = 8;       // of entries, if there are enough
constexpr int64_t kJoinedBlocksAUnit = 2, kSumBlocksAUnit = 16;  // up to these, blocks divide long rows
constexpr int64_t kFewestOfBucket = 128;    // indices in the rows of a bucket, at least
constexpr int kBlocksAfterRows = 16;        // a unit, of scatter_add's launches after whole rows may have been added

}  // namespace sums_policy
}  // namespace hipops
