// The contract between static_quantize.hip and its launcher.
#pragma once

#include "device/core/float8_contract.h"
#include "device/core/strided_contract.h"
#include "device/map/contract.h"

namespace hipops {

template <class T> constexpr int kQuantizeVector = 32 / int(sizeof(T));  // `wide`: the elements of a vector
constexpr int kQuantizeBlocks = 8;   // that an NVIDIA multiprocessor has room for
constexpr int kQuantizeElements = 4;  // `any`: the elements that a work-item loads before it computes

struct StaticQuantizeArgs {
  void* q;
  const void* x;
  const float* scale;
  Walk<4> walk;  // q, x, scale, and the column in the row: over vectors (wide) or elements (any)
  int64_t step;  // vectors or elements that the grid handles at a time
  int32_t advances;    // wide: whether a work-item's next vector is always `advance` elements from the vector before it
  int64_t advance[4];
  int64_t apart;       // any: between the elements of a work-item
  int64_t cols;        // wide: of a row, which has no gaps in q and x, and at least one vector
  int32_t overlaps;    // wide: whether a row is not whole vectors
  int64_t scale_step;  // wide: between the scales of neighbouring columns
  int32_t x_access;    // wide: the widest access, in bytes, that reaches each vector of x
  EightBits to;
  Float8Format format;
};

}  // namespace hipops

#define HIPOPS_STATIC_QUANTIZE_KERNELS_OF(X, T) \
  X(static_quantize_##T##_wide, T, wide)        \
  X(static_quantize_##T##_any, T, any)
#define HIPOPS_STATIC_QUANTIZE_KERNELS(X)   \
  HIPOPS_STATIC_QUANTIZE_KERNELS_OF(X, f32) \
  HIPOPS_STATIC_QUANTIZE_KERNELS_OF(X, f16) \
  HIPOPS_STATIC_QUANTIZE_KERNELS_OF(X, bf16)
