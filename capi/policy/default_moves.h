// The limits of copies, of gather and index_select, and of upsampling on every device. Tables do not set them.
#pragma once

#include <cstdint>

namespace hipops {

// strided_copy, and ops that use its plan.
namespace copy_policy {
// If a dimension is shorter than this, most work-items of a tile are idle, and single accesses are faster.
constexpr int64_t kLeastTiled = 16;
// Rows of fewer units than this have too few units for the work-items that share a row.
constexpr int64_t kLeastRow = 16;
// Unaligned rows of fewer bytes than this have too few vectors compared with the single elements at their ends.
constexpr int64_t kLeastShifted = 256;
// Dimensions shorter than this leave most of a staged tile idle: in elements along y's lines, in bytes along x's lines.
constexpr int64_t kLeastStagedLine = 48, kLeastStagedBytes = 64;
// Up to kFew units the time to the first load decides, and `few` reaches it first. If the lanes of a wave write to
// different lines, `few` is best only up to kFewScattered units. From there up to kFew units `any` is best, with two
// units for each work-item.
constexpr int64_t kFew = 1 << 16, kFewScattered = 1 << 15;
}  // namespace copy_policy

// gather and index_select.
namespace take_policy {
// x is copied to shared memory if y needs most of x, which would then be read anyway. Otherwise each element costs a
// part of a cache line, 32 bytes or more. Short rows stay in caches. For them the copy pays only if the index and y are
// read and written by vectors, and y needs more of x.
constexpr int64_t kShare = 16, kShortShare = 4;  // the most bytes of x for each element of y
constexpr int64_t kShortRow = 512;               // rows of x with fewer bytes are short
constexpr int64_t kLeastElements = 1024, kLeastParts = 64;
constexpr int64_t kLeastOfShortRows = 2048;       // the fewest for a block, and at least half of its kOfBlock
constexpr int64_t kLeastShortElements = 1 << 20;  // of y
constexpr int kMostShortBytes = 4;                // of an element
constexpr int64_t kPanelBytes = 64;               // of a row of x, if shared memory has room
// A panel of 16 bytes is half of a sector of x, and another block reads the other half. It pays only if it has many
// elements, or if x along dim is larger than a cache.
constexpr int64_t kMostNarrowBytes = 2, kLeastNarrowBytes = 32 << 20;
// Bytes of rows for a block. If each row has its own index, blocks are small, so that more of them run. If one index
// holds for all rows, blocks are large, so that the index is read less often.
constexpr int64_t kOwnIndexBytes = 32 << 10, kOneIndexBytes = 64 << 10;
// The number of y's elements that a block should write: its loads in flight. Small blocks have dynamic shared memory.
constexpr int64_t kOfBlock = 8192, kOfSmallBlock = 4096, kOfSmallBlockIfWide = 2048;
}  // namespace take_policy

namespace upsample_policy {
// If elements have more bytes than this, a vector has few of them, and stores limit the speed.
constexpr int64_t kFewBytes = 2;
// All rounds of a work-item reuse the positions of its elements. But enough work-items must remain.
constexpr int32_t kMostRounds = 2;
constexpr int64_t kWorkItems = 1 << 18;
// Up to kFewUnits units the time to the first load decides, and `few` reaches it first. kFewRepeated is the limit for
// repeated 16-bit elements: `row` has one load for a vector of them.
constexpr int64_t kFewUnits = 3 << 17, kFewRepeated = 1 << 18;
constexpr int64_t kLeastTiles = 256, kLeastPeriods = 4;
// For elements of more than kFewBytes, tiles are used only if y has at most this number of elements for each element of
// x. Beyond that the row kernels are as fast.
constexpr int64_t kMostEnlarged = 6;
}  // namespace upsample_policy

}  // namespace hipops
