// The contract between the kernels of upsample_nearest1d and upsample_nearest2d and their launchers.
#pragma once

#include "device/core/strided_contract.h"

namespace hipops {

constexpr int kUpsampleBlock = 256;  // of all modes except few
constexpr int kUpsampleMaxRank = 4;

// row: rows of y that a work-item has in flight, one vector of each. A vector of bytes needs a register for each byte.
// A vector of `repeated` elements of x needs the fewest registers. If each row is stored several times (`again`), two
// rows are faster, except for bytes: too few would be in flight.
constexpr int upsample_rows_of(int64_t access_bytes, bool repeated, bool again) {
  if (repeated) return again && access_bytes > 1 ? 2 : 4;
  return access_bytes == 16 ? 4 : access_bytes == 1 ? 2 : 3;
}

// any: rows in flight for a work-item, one element of each.
constexpr int kUpsampleRowsOfElements = 8;

// run, apart: bytes of a vector of y.
constexpr int kRunBytes = 16, kApartBytes = 8;
// run: the most periods of a work-item.
constexpr int kRunPeriods = 2;

// few: work-items of a block, and accesses of each, one block's width apart.
constexpr int kUpsampleFewBlock = 128, kUpsampleFewDepth = 4;

// Blocks that an NVIDIA multiprocessor has room for, by mode: more work-items are worth more than more registers.
constexpr int kUpsampleResident_any = 5, kUpsampleResident_row = 5, kUpsampleResident_run = 8,
              kUpsampleResident_apart = 8, kUpsampleResident_tile = 6, kUpsampleResident_few = 1;

// tile: the largest number of bytes of x in shared memory, and of rows of y that are computed from them.
constexpr int kTileBytes = 8192, kTileRows = 128;

// Blocks on a multiprocessor for elements of `bits` bits. 8-bit elements of two periods need more registers.
constexpr int upsample_resident(int resident, int bits) {
  return bits == 8 && resident == kUpsampleResident_run ? 5 : resident;
}

// The source of position i of a dimension of y. It is never past the last position of x.
enum SourceRule : int32_t {
  kSourceSame,      // i
  kSourceShift,     // i >> shift
  kSourceFloor32,   // floor(i * ratio), in f32
  kSourceFloor64,   // the same in f64
  kSourceCentre32,  // floor((i + 0.5) * ratio), in f32
};

struct UpsampleDimension {
  int64_t size;     // of y: dimension 0 in vectors, dimension 1 in groups of rows; tile: elements, and rows
  Divisor divisor;  // of size
  int64_t y_stride, x_stride;
  int64_t last;     // of x: its size less one
  double ratio64;
  float ratio32;
  SourceRule rule;
  int32_t shift;
  WideDivisor wide_divisor;  // of size, too
};

// tile: rows of y are numbered through all planes. A period of rows is the fewest that are whole vectors.
struct UpsampleTiles {
  int32_t total, rows;  // rows of y, and rows of a tile; a tile has whole periods, except the last one
  int32_t period_bits;  // a period has 1 << period_bits rows
  int32_t vectors;      // vectors of a period
  int32_t together;     // periods that a block handles at a time
  Divisor vectors_divisor;
};

// A dimension of a period: the source of position i is floor((i + offset) * ratio) in f32, or floor(i * ratio64).
struct UpsampleSources {
  int32_t size, x_stride, last;  // of y; of x; of x: its size less one
  float offset, ratio;
  Divisor divisor;  // of size
  double ratio64;
};

// run, apart, few: y is one period, or several without gaps. A period has planes of rows of columns. Each column has
// `channels` elements: 1, or an innermost dimension that keeps its size. Hot fields are neighbours.
struct UpsamplePeriods {
  int32_t elements, last_elements;  // of a period, and of the last one
  int32_t count, together;          // periods, and periods of a work-item
  int32_t blocks;                   // of the periods of a work-item
  Divisor blocks_divisor;
  int32_t in_f64;
  int32_t plane_stride;  // in x
  UpsampleSources column, row;
  int64_t x_step, y_step;  // from one period to the next
  int32_t channels, channel_stride;
  Divisor channels_divisor;
};

struct UpsampleArgs {
  const void* x;
  void* y;
  int64_t count;  // row, any: work-items, each for all rows of a group; tile: tiles; others: accesses of y
  int64_t step;   // work-items of the grid; tile: rows of y for the grid at a time
  UpsamplePeriods periods;
  int32_t fits_int32;  // all 32-bit numbers of the kernel fit; otherwise `any` moves elements, not groups of rows
  int32_t rank;   // at least 1
  UpsampleDimension dimension[kUpsampleMaxRank];  // in the order of y, the innermost first
  int64_t rows;    // that are divided into groups of neighbours
  int32_t rounds;  // iterations of a work-item over its group, each over the rows that are in flight together
  // row, for dimensions 1 and 2: if neighbours are equal in pairs, `dimension` has one position for each pair, and the
  // result is stored a second time, again[i] elements further. Otherwise 0.
  int64_t again[2];
  int32_t repeats;     // row: 1 << repeats neighbours of a vector of y are one element of x; 0: see Scattered
  UpsampleTiles tiles;
};

}  // namespace hipops

// X(kernel, bits, mode, block): the bits of an access.
#define HIPOPS_UPSAMPLE_KERNELS(X, op)             \
  HIPOPS_UNITS_TO_64(X, op, any, kUpsampleBlock)   \
  HIPOPS_UNITS_TO_128(X, op, row, kUpsampleBlock)  \
  HIPOPS_UNITS_TO_64(X, op, run, kUpsampleBlock)   \
  HIPOPS_UNITS_TO_64(X, op, apart, kUpsampleBlock) \
  HIPOPS_UNITS_TO_64(X, op, tile, kUpsampleBlock)  \
  HIPOPS_UNITS_TO_128(X, op, few, kUpsampleFewBlock)
