// What upsample_nearest1d and upsample_nearest2d share between kernel and launcher.
#pragma once

#include "device/strided_contract.h"

namespace hipops {

constexpr int kUpsampleBlock = 256;   // of every kernel
constexpr int kUpsampleDepth = 4;     // units that a work-item of `any` has in flight
constexpr int kUpsampleElements = 8;  // elements that a work-item of `row` has in flight, or a vector if that is more
constexpr int kUpsampleMaxRank = 4;

// Where the element at position i of a dimension of y comes from; never from past the last one of x.
enum SourceRule : int32_t {
  kSourceSame,      // i
  kSourceHalf,      // i / 2
  kSourceFloor32,   // floor(i * ratio), in f32
  kSourceFloor64,   // the same in f64
  kSourceCentre32,  // floor((i + 0.5) * ratio), in f32
};

struct UpsampleDimension {
  int64_t size;     // of y: in units for `any`; in vectors for the innermost dimension of `row`
  Divisor divisor;  // of size
  int64_t y_stride, x_stride;  // in units; in elements for `row`
  int64_t last;     // of x: its size less one
  double ratio64;
  float ratio32;
  SourceRule rule;
};

struct UpsampleArgs {
  const void* x;
  void* y;
  int64_t count;  // units or vectors
  int64_t step;   // of them, that the whole grid takes at a time
  int32_t small;  // count and all sizes are below 2^31
  int32_t rank;   // at least 1
  UpsampleDimension dimension[kUpsampleMaxRank];  // in the order of y, the innermost first
};

}  // namespace hipops

// X(kernel, bits, mode)
#define HIPOPS_UPSAMPLE_KERNELS(X, op)  \
  X(op##_b8_any, 8, any)                \
  X(op##_b16_any, 16, any)              \
  X(op##_b32_any, 32, any)              \
  X(op##_b64_any, 64, any)              \
  X(op##_b128_any, 128, any)            \
  X(op##_b8_row, 8, row)                \
  X(op##_b16_row, 16, row)              \
  X(op##_b32_row, 32, row)              \
  X(op##_b64_row, 64, row)
