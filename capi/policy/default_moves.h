// The numbers that plans of copies, takes and upsampling compare with, on every device: no table has them.
#pragma once

#include <cstdint>

namespace hipops {

// strided_copy, and ops that copy by it.
namespace copy_policy {
// A tile of a dimension that is shorter than this has more idle work-items than it spares accesses.
constexpr int64_t kLeastTiled = 16;
// Rows shorter than this in units have too few to share among work-items.
constexpr int64_t kLeastRow = 16;
// Unaligned rows shorter than this, in bytes, have too few vectors beside the elements at their ends.
constexpr int64_t kLeastShifted = 256;
// Dimensions shorter than this, in elements along y's lines and in bytes along x's, leave most of a staged tile idle.
constexpr int64_t kLeastStagedLine = 48, kLeastStagedBytes = 64;
// Units so few that what counts is the way to the first load, which is the shortest in `few`: no more than these. Where
// lanes scatter over lines, half of that, and in `any`, with two units a work-item, as many.
constexpr int64_t kFew = 1 << 16, kFewScattered = 1 << 15;
}  // namespace copy_policy

// gather and index_select.
namespace take_policy {
// x is copied to shared memory where y takes so much of it that it would be read anyway. Elsewhere each element costs a part
// of a cache line, 32 bytes or more. Caches serve short rows as well: those gain only where the index and y go by vectors,
// and more is taken.
constexpr int64_t kShare = 16, kShortShare = 4;  // bytes of x for which there is an element of y at least
constexpr int64_t kShortRow = 512;               // bytes of x's row, that it has less of
constexpr int64_t kLeastElements = 1024, kLeastParts = 64;
constexpr int64_t kLeastOfShortRows = 2048;       // of a block, which is to have half of what it is after, too
constexpr int64_t kLeastShortElements = 1 << 20;  // of y
constexpr int kMostShortBytes = 4;                // of an element
constexpr int64_t kPanelBytes = 64;               // of a row of x, where they find room
// Panels of 16 bytes leave half of each of x's sectors to another block: elements are to be many in them, or all of x
// along dim more than a cache has.
constexpr int64_t kMostNarrowBytes = 2, kLeastNarrowBytes = 32 << 20;
// Bytes of rows that a block has: those that have an index each are taken by small blocks, of which the more are there;
// one index for all is read the less often.
constexpr int64_t kOwnIndexBytes = 32 << 10, kOneIndexBytes = 64 << 10;
// Elements of y that a block is after: what it has in flight. Small blocks where a launch brings the shared memory.
constexpr int64_t kOfBlock = 8192, kOfSmallBlock = 4096, kOfSmallBlockIfWide = 2048;
}  // namespace take_policy

namespace upsample_policy {
// Elements of more bytes are few in a vector: there writing takes the time.
constexpr int64_t kFewBytes = 2;
// Rounds of rows share what is found of their elements' places, which is much where units are many in a vector; but
// there are to be work-items enough.
constexpr int32_t kMostRounds = 2;
constexpr int64_t kWorkItems = 1 << 18;
// Whether units are so few that the way to the first load counts, which is the shortest there; or fewer of 16 bits, where
// `row` has one load for a vector of them (a few more of 8 or 32 bits take `row` as long or longer).
constexpr int64_t kFewUnits = 3 << 17, kFewRepeated = 1 << 18;
constexpr int64_t kLeastTiles = 256, kLeastPeriods = 4;
// Of elements of more bytes y has no more than so many times those of x: there rows do as well.
constexpr int64_t kMostEnlarged = 6;
}  // namespace upsample_policy

}  // namespace hipops
