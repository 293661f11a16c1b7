// What upsample_nearest1d and upsample_nearest2d share between kernel and launcher.
#pragma once

#include "device/strided_contract.h"

namespace hipops {

constexpr int kUpsampleBlock = 256;  // of every kernel
constexpr int kUpsampleMaxRank = 4;

// Rows of which a work-item has a vector each in flight, or of `any` an element; vectors of bytes take as many
// registers as bytes.
constexpr int kUpsampleRows = 4, kUpsampleRowsOfBytes = 2, kUpsampleRowsOfElements = 8;

// Where the element at position i of a dimension of y comes from; never from past the last one of x.
enum SourceRule : int32_t {
  kSourceSame,      // i
  kSourceHalf,      // i / 2
  kSourceFloor32,   // floor(i * ratio), in f32
  kSourceFloor64,   // the same in f64
  kSourceCentre32,  // floor((i + 0.5) * ratio), in f32
};

struct UpsampleDimension {
  int64_t size;     // of y: dimension 0 in vectors, dimension 1 in groups of rows
  Divisor divisor;  // of size
  int64_t y_stride, x_stride;
  int64_t last;     // of x: its size less one
  double ratio64;
  float ratio32;
  SourceRule rule;
};

struct UpsampleArgs {
  const void* x;
  void* y;
  int64_t count;  // work-items' worth of work: a vector, or element, of each row of a group
  int64_t step;   // work-items of the grid
  int32_t small;  // what a kernel computes by 32 bits is below 2^31; else `any` goes by elements, not by groups
  int32_t rank;   // at least 1
  UpsampleDimension dimension[kUpsampleMaxRank];  // in the order of y, the innermost first
  int64_t rows;  // of which a group has some neighbours
  // Where dimension 1 is doubled, its rows are those of x, and each is stored again so many elements further; else 0.
  int64_t again;
  int32_t pairs;  // dimension 0 is doubled, and x's rows have no gaps and are aligned: a vector is half a one of x
};

}  // namespace hipops

// X(kernel, bits, mode)
#define HIPOPS_UPSAMPLE_KERNELS(X, op)  \
  X(op##_b8_any, 8, any)                \
  X(op##_b16_any, 16, any)              \
  X(op##_b32_any, 32, any)              \
  X(op##_b64_any, 64, any)              \
  X(op##_b8_row, 8, row)                \
  X(op##_b16_row, 16, row)              \
  X(op##_b32_row, 32, row)              \
  X(op##_b64_row, 64, row)              \
  X(op##_b128_row, 128, row)
