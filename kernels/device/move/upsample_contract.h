// What upsample_nearest1d and upsample_nearest2d share between kernel and launcher.
#pragma once

#include "device/core/strided_contract.h"

namespace hipops {

constexpr int kUpsampleBlock = 256;  // of every kernel but few's
constexpr int kUpsampleMaxRank = 4;

// Rows of which a work-item of `row` has a vector each in flight, where units are of so many bytes: vectors of bytes
// take as many registers as bytes, and parts of vectors of x (`repeats`) the fewest. Where each is stored twice or more
// (`again`), fewer are better, but for bytes, which would be too few in flight.
constexpr int upsample_rows_of(int64_t access_bytes, bool repeated, bool again) {
  if (repeated) return again && access_bytes > 1 ? 2 : 4;
  return access_bytes == 16 ? 4 : access_bytes == 1 ? 2 : 3;
}

// Rows of which a work-item of `any` has an element.
constexpr int kUpsampleRowsOfElements = 8;

// run, apart: bytes of a vector of y.
constexpr int kRunBytes = 16, kApartBytes = 8;

// few: work-items of a block, and units that each has, a block's width apart.
constexpr int kUpsampleFewBlock = 128, kUpsampleFewDepth = 4;

// Blocks that a multiprocessor of NVIDIA's has room for, by mode: more work-items are worth more than registers.
constexpr int kUpsampleResident_any = 5, kUpsampleResident_row = 5, kUpsampleResident_run = 8,
              kUpsampleResident_apart = 8, kUpsampleResident_tile = 6, kUpsampleResident_few = 1;

// tile: bytes of x that a block has in shared memory, and rows of y that it takes from there, at most.
constexpr int kTileBytes = 8192, kTileRows = 128;

// Where the element at position i of a dimension of y comes from; never from past the last one of x.
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

// tile: y's rows, of all planes, are counted through; so many are one tile.
struct UpsampleTiles {
  int32_t total, rows;  // of y; a tile has whole periods, but for the last one
  int32_t period_bits;  // 1 << period_bits rows make up whole vectors,
  int32_t vectors;      // so many of them
  int32_t together;     // periods that a block takes at a time
  Divisor vectors_divisor;
};

// Of a dimension of a period: position i comes from floor((i + offset) * ratio) in f32, or floor(i * ratio64).
struct UpsampleSources {
  int32_t size, x_stride, last;  // of y; of x; as above
  float offset, ratio;
  Divisor divisor;  // of size
  double ratio64;
};

// run, apart, few: y is periods, one behind the other, mostly a single one. A period is columns of rows of planes, and
// all that at each place of an innermost dimension that stays as it is (channels), if there is one. What a launch looks
// at lies together.
struct UpsamplePeriods {
  int32_t elements, last_elements;  // of a period, and of the last one
  int32_t count;                    // periods
  int32_t blocks;                   // of a period
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
  int64_t count;  // work-items' worth of work: a vector, or element, of each row of a group; tiles; of periods: units
  int64_t step;   // work-items of the grid; tile: rows of y that it takes at a time
  UpsamplePeriods periods;
  int32_t fits_int32;  // what a kernel computes by 32 bits is below 2^31; else `any` goes by elements, not by groups
  int32_t rank;   // at least 1
  UpsampleDimension dimension[kUpsampleMaxRank];  // in the order of y, the innermost first
  int64_t rows;    // of which a group has some neighbours
  int32_t rounds;  // of them in a group
  // row: of dimensions 1 and 2, where neighbours in pairs are the same, one of a pair counts, and is stored again so
  // many elements further; else 0.
  int64_t again[2];
  int32_t repeats;     // where a vector is a part of one of x, each element of it 1 << repeats times; else 0
  UpsampleTiles tiles;
};

}  // namespace hipops

// X(kernel, bits, mode, block)
#define HIPOPS_UPSAMPLE_KERNELS(X, op)          \
  X(op##_b8_any, 8, any, kUpsampleBlock)        \
  X(op##_b16_any, 16, any, kUpsampleBlock)      \
  X(op##_b32_any, 32, any, kUpsampleBlock)      \
  X(op##_b64_any, 64, any, kUpsampleBlock)      \
  X(op##_b8_row, 8, row, kUpsampleBlock)        \
  X(op##_b16_row, 16, row, kUpsampleBlock)      \
  X(op##_b32_row, 32, row, kUpsampleBlock)      \
  X(op##_b64_row, 64, row, kUpsampleBlock)      \
  X(op##_b128_row, 128, row, kUpsampleBlock)    \
  X(op##_b8_run, 8, run, kUpsampleBlock)        \
  X(op##_b16_run, 16, run, kUpsampleBlock)      \
  X(op##_b32_run, 32, run, kUpsampleBlock)      \
  X(op##_b64_run, 64, run, kUpsampleBlock)      \
  X(op##_b8_apart, 8, apart, kUpsampleBlock)    \
  X(op##_b16_apart, 16, apart, kUpsampleBlock)  \
  X(op##_b32_apart, 32, apart, kUpsampleBlock)  \
  X(op##_b64_apart, 64, apart, kUpsampleBlock)  \
  X(op##_b8_tile, 8, tile, kUpsampleBlock)      \
  X(op##_b16_tile, 16, tile, kUpsampleBlock)    \
  X(op##_b32_tile, 32, tile, kUpsampleBlock)    \
  X(op##_b64_tile, 64, tile, kUpsampleBlock)    \
  X(op##_b8_few, 8, few, kUpsampleFewBlock)     \
  X(op##_b16_few, 16, few, kUpsampleFewBlock)   \
  X(op##_b32_few, 32, few, kUpsampleFewBlock)   \
  X(op##_b64_few, 64, few, kUpsampleFewBlock)   \
  X(op##_b128_few, 128, few, kUpsampleFewBlock)
