// The limits of the default rules, on every device. None was measured on an AMD card (docs/design/amd.md). Tables of
// hipops-tune replace the rules of row ops only.
#pragma once

#include <cstdint>

namespace hipops {

struct RowLimits {
  static constexpr int64_t kMostPackedRowBytes = 256;  // of a packed row, which one work-item computes alone
  static constexpr int64_t kPackedBlocksAUnit = 4;     // or more, if their rows have no room in shared memory
  static constexpr int64_t kFewRowsAUnit = 2;          // up to here units are nearly idle, so rows get more lanes
  static constexpr int64_t kLeastSplitRowBytes = 1 << 20;  // such a row leaves the caches before a block reads it again
  static constexpr int64_t kMostSpanRounds = 4;  // rounds of blocks for split rows; more rounds gain little
  static constexpr int64_t kBlocksAUnitOfRepeats = 128;  // of rows whose mask repeats; more would load it more often
  static constexpr int64_t kLeastWaves = 4;  // of a block, on AMD only. Shorter rows get fewer vectors a lane
};

// Sums over rows (capi/rows/column_sums.h): how rows are divided into chunks, on every device.
struct ColumnSumLimits {
  // Each unit of a large device gets a chunk for each block that it has room for (RowKernel::resident), and two at least.
  // Then blocks end together on a device of kUnits units, or a few more. A chunk costs a row of the workspace.
  static constexpr int64_t kUnits = 128, kLeastChunksAUnit = 2, kBlocksAUnit = 4;
  // Rows of a chunk that a lane adds: fewer cost time for the workspace, and more would round a sum too often.
  static constexpr int64_t kLeastRows = 2, kMostRows = 128;
  // A kernel counts columns in an int, up to a tile past the row's end.
  static constexpr int64_t kMostColumns = (int64_t{1} << 31) - (1 << 20);
  static constexpr int kMergeNeighbours = 1;  // log2 of the lanes with neighbouring vectors in `merge`
};

struct MoverLimits {
  static constexpr int64_t kPastInt32 = int64_t{1} << 31;        // smaller counts and offsets fit in an int32_t
  static constexpr int64_t kPastRowAccesses = int64_t{1} << 30;  // a step past the end of a shorter row fits in 32 bits
  static constexpr int64_t kLeastStagedRowBytes = 32;            // at any alignment such a row contains a whole vector
};

// strided_copy, and ops that use its plan.
struct CopyLimits : MoverLimits {
  // If a dimension is shorter than this, most work-items of a tile are idle, and single accesses are faster.
  static constexpr int64_t kLeastTileAccesses = 16;
  // Shorter rows have too few accesses for the work-items that share a row.
  static constexpr int64_t kLeastRowAccesses = 16;
  // Shorter unaligned rows have too few vectors compared with the single elements at their ends.
  static constexpr int64_t kLeastShiftedRowBytes = 256;
  // Shorter dimensions leave most of a staged tile idle: along y's lines, and along x's lines.
  static constexpr int64_t kLeastStagedYElements = 48, kLeastStagedXBytes = 64;
  // Up to kFewAccesses the time to the first load decides, and `few` reaches it first. If the lanes of a wave write to
  // different lines, `few` is best only up to kFewScatteredAccesses. From there up to kFewAccesses `any` is best, with
  // two accesses for each work-item.
  static constexpr int64_t kFewAccesses = 1 << 16, kFewScatteredAccesses = 1 << 15;
};

struct MapLimits : MoverLimits {
  // Shorter unaligned rows have too few vectors compared with the single elements at their ends.
  static constexpr int64_t kLeastShiftedRowBytes = 256;
  // A work-item computes several vectors, or elements, if enough work-items remain: of one input, or of more.
  static constexpr int64_t kMostRounds = 4, kMostRoundsOfMore = 8, kWorkItemsARound = 1 << 17;
};

// gather and index_select. x is copied to shared memory if y needs most of x, which would then be read anyway.
struct TakeLimits : MoverLimits {
  // Up to this many blocks of `few`, the time to the first load decides.
  static constexpr int64_t kFewBlocks = 512, kFewBlocksOfRows = 1024;
  // The most bytes of x for each element of y. Without the copy, each element costs a part of a cache line, 32 bytes or
  // more. Short rows stay in caches, so there the copy pays only if y needs more of x.
  static constexpr int64_t kMostBytesAnElement = 16, kMostShortRowBytesAnElement = 4;
  // For short rows the copy pays only if the index and y are read and written by vectors, elements are small, and y is
  // large. A block must write kLeastShortRowBlockElements or more, and half of kBlockElements (kSmallBlock*) or more.
  static constexpr int64_t kPastShortRowBytes = 512, kMostShortRowElementBytes = 4;
  static constexpr int64_t kLeastShortRowYElements = 1 << 20, kLeastShortRowBlockElements = 2048;
  static constexpr int64_t kLeastBlockElements = 1024, kLeastChunks = 64;
  static constexpr int64_t kChunksAUnit = 4;              // keep a compute unit busy
  static constexpr int64_t kMostBlockElements = 1 << 29;  // offsets in a block's chunk fit in 32 bits
  static constexpr int64_t kPanelRowBytes = 64;           // of a row of x in a panel, if shared memory has room.
  // A panel of 16 bytes is half of a sector of x, and another block reads the other half. It pays only if it has many
  // elements, or if x along dim is larger than a cache.
  static constexpr int64_t kMostNarrowElementBytes = 2, kLeastNarrowXBytes = 32 << 20;
  // Bytes of rows for a block. If each row has its own index, blocks are small, so that more of them run. If one index
  // holds for all rows, blocks are large, so that the index is read less often.
  static constexpr int64_t kOwnIndexBlockBytes = 32 << 10, kOneIndexBlockBytes = 64 << 10;
  // Elements of y that a block should write in a round: on AMD; with dynamic shared memory; there, for wide elements.
  static constexpr int64_t kBlockElements = 8192, kSmallBlockElements = 4096;
  static constexpr int64_t kLeastWideElementBytes = 4, kSmallBlockWideElements = 2048;
};

struct UpsampleLimits : MoverLimits {
  // If elements have more bytes than this, a vector has few of them, and stores limit the speed.
  static constexpr int64_t kMostSmallElementBytes = 2;
  // All rounds of a work-item reuse the positions of its elements. But enough work-items must remain.
  static constexpr int64_t kMostRounds = 2, kWorkItemsARound = 1 << 18;
  static constexpr int64_t kVectorsAPeriod = 1 << 17;  // the fewest, if a work-item has several periods
  // Up to kFewAccesses the time to the first load decides, and `few` reaches it first. kFewRepeatedAccesses is the
  // limit for repeated 16-bit elements: `row` has one load for a vector of them.
  static constexpr int64_t kFewAccesses = 3 << 17, kFewRepeatedAccesses = 1 << 18;
  static constexpr int kMostRepeatBits = 2;         // the largest shift that `row` supports with a part of a vector
  static constexpr int kMostShiftBits = 4;          // the largest shift of the ratios 1, 1/2, 1/4, ...
  static constexpr double kLeastApartRatio = 1.75;  // of x to y. From here on short vectors are faster
  static constexpr double kMostReadRatio = 1.25;    // of the bytes that tiles read to those that single elements read
  // For larger elements, tiles are used only up to this ratio of y to x. Beyond it the row kernels are as fast.
  static constexpr int64_t kMostEnlargedRatio = 6;
  static constexpr int64_t kLeastTiles = 256, kLeastTilePeriods = 4;
  static constexpr int64_t kExactF32Positions = 1 << 24;   // up to here f32 is exact for the ratios 1, 1/2, 1/4, ...
  static constexpr int64_t kMostVectorColumns = 1 << 22;   // up to here f32 represents every half column
  static constexpr int64_t kPastPeriodElements = 1 << 30;  // a period and the plane after it fit in 32 bits
};

// How sums by an index are computed. sums_policy (default_sums.h) has the limits of their launches.
struct SumLimits {
  // A scan: the most indices, bytes of x, and pairs of indices for each row of y. Up to kLittleBytes of x: choose_sums.
  static constexpr int64_t kMostScanned = 1 << 14, kMostScannedBytes = 1 << 24, kMostPairsARow = 1 << 17;
  static constexpr int64_t kLittleBytes = 1 << 20;
  // For fewer elements, or shorter rows, atomics are faster than a sort.
  static constexpr int64_t kManyElements = 1 << 20, kRowBytes = 128, kRowBytesOf16Bits = 32, kManyIndices = 1 << 13;
  static constexpr int64_t kElementsOfIndex = 1 << 15;  // of y. With more, f32 sums of all of y cost more than a sort.
  // A source costs up to three trips to y and three to its sum, each a sector of memory, which vectors share. A copy
  // costs 14 bytes for each element. Few copies cost less than two more launches.
  static constexpr int64_t kElementsOfSource = 12, kElementsOfSourceInVectors = 4, kFewCopies = 1 << 21;
  static constexpr int64_t kLeastForVectors = 1 << 16;  // below this, many sources add to one element, and vectors wait longer
  // Each block adds each element to y once. With fewer sources, these atomics would be a large part of all. They add
  // whole sectors of memory, so they are cheap compared with atomics on single elements.
  static constexpr int64_t kSourcesOfFew = 768, kScatteredSourcesOfFew = 64, kLeastScattered = 1 << 20, kElementsOfSector = 8;
  // With fewer sources for each element, the element with the most sources is not much later than others.
  static constexpr int64_t kSourcesOfKept = 8, kLeastOfKept = 1 << 22, kBlocksOfKept = 3;
};

struct ReduceLimits {
  // Rows of fewer bytes that are not whole vectors, and innermost dimensions of fewer bytes if outer dimensions are
  // reduced, too, have too few vectors for a row's lanes.
  static constexpr int64_t kLeastRowBytes = 64, kLeastInnerBytes = 4096;
  // Rows in parts: with fewer rows than this for each unit, blocks share the parts of a row.
  static constexpr int64_t kRowBlocksAUnit = 8;
  static constexpr int64_t kMostSplitRows = 8192;   // from here on no device has too few rows
  // Fewer parts leave most units idle, so they are made smaller. With many rows, kinds that have rounds need no parts.
  static constexpr int64_t kFewParts = 64, kManyRows = 512;
  static constexpr int64_t kMostPartElements = int64_t{1} << 30;  // places in a part fit in 32 bits
  // From here on units are busy although lanes have several short rows.
  static constexpr int64_t kLeastShortRowBlocksAUnit = 4;
  // Lanes with neighbouring results: whole lines of a cache, or more if results are many.
  static constexpr int64_t kLeastNeighbours = 32, kManyNeighbours = 64;
  static constexpr int64_t kColumnBlocks = 512;     // of a reduction of columns: enough for every device
};

struct SelectLimits {
  static constexpr int64_t kMostK = 1 << 16, kMostColumns = int64_t{UINT32_MAX} - 1;  // hipops.h names both
  static constexpr int64_t kBlocks = 384;  // of parts of rows: a large device has room for them together
  // Sorted runs of a row: up to kRuns, or the root of columns / kRunColumns if that is more. Each result is searched for in all
  // runs of its row, so more runs cost time.
  static constexpr int64_t kRuns = 64, kRunColumns = 128;
};

struct AlignLimits {
  static constexpr int64_t kMostBlockSize = 1 << 16;  // hipops.h names it
  static constexpr int64_t kMostBlocks = 128;  // each block loads all counts
  static constexpr int64_t kMostUncounted = 16;  // batches of ids. One launch counts these faster than three
};

struct SortLimits {
  // Blocks of a pass, unless a tile for each is too much. More would load and store more counts.
  static constexpr int64_t kMostBlocks = 2048;
  // Fewer blocks of a pass leave units of a large device idle, so a block has a part of a tile, but not less than this.
  static constexpr int64_t kFewBlocks = 128, kLeastBatch = 1024;
  static constexpr int64_t kBlocksAUnit = 2;  // of short rows: fewer blocks leave units idle, so a block has fewer rows
};

struct CumsumLimits {
  // Contiguous lines that are not whole vectors and have fewer elements than this many vectors are mostly edges.
  static constexpr int64_t kLeastVectors = 4;
  // The most chunks of a line, and the shortest chunk where lines are not contiguous. They fix the order of sums.
  static constexpr int64_t kMostChunks = 1000, kMostColumnChunks = 128, kLeastChunkRows = 256;
  // With fewer lines than units, blocks share a line. From kMostSplit* lines on no device has too few.
  static constexpr int64_t kMostSplitLines = 1024, kMostSplitColumns = 8192;
  // `columns`: the fewest lanes with neighbouring lines, of whole vectors or of elements. `lines`: blocks that fill a unit.
  static constexpr int64_t kLeastWideLanes = 4, kLeastLanes = 32, kBlocksAUnit = 3;
};

}  // namespace hipops
