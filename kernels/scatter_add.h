// The contract between scatter_add.hip and its launcher.
#pragma once

#include "device/index/index_contract.h"
#include "device/move/scatter_contract.h"

namespace hipops {

// `uniform`: the most blocks; vectors of 16 bytes in flight of a work-item; vectors that a block loads at a time.
constexpr int kUniformBlocks = 2048;
constexpr int kUniformDepth = 8;
constexpr int kUniformTile = kUniformDepth * kScatterBlock;

// `claim` and `sparse`. An element's slot is its place in `sums`, modulo the number of slots.
struct ScatterSparse {
  static constexpr uint32_t kNone = UINT32_MAX, kMixed = kNone - 1;  // a target without an element, or with several
  uint32_t *claimed, *repeated;  // a bit for each slot: a source has it; several sources have it
  uint32_t* target;              // the index of each source, or of each vector, unless its indices differ
  int64_t slots;                 // a power of two, at least 128
};

struct ScatterAddArgs {
  ScatterGeometry geometry;
  IndexArgs index;
  const void* x;
  void* y;
  float* sums;  // of the elements of y that x's lines can reach, row-major
  const uint32_t* rows_differ;   // null, or a flag: if it is 0, whole rows have been added
  uint32_t* differ;              // `uniform`: for each block, whether the indices of a row differ
  void* firsts;                  // `uniform`: the first index of each row
  ScatterSparse sparse;
};

}  // namespace hipops

// X(kernel, type, sum, mode): u32 and u64 are for signed integers too. Sources are added to `sum`: y's
// elements, or, in f32, the workspace.
#define HIPOPS_SCATTER_ADD_16_BITS(X, T)           \
  X(scatter_add_##T##_f32_few, T, f32, few)        \
  X(scatter_add_##T##_atomic, T, T, atomic)        \
  X(scatter_add_##T##_wide, T, T, wide)            \
  X(scatter_add_##T##_line, T, T, line)            \
  X(scatter_add_##T##_widen, T, f32, widen)        \
  X(scatter_add_##T##_f32_atomic, T, f32, atomic)  \
  X(scatter_add_##T##_f32_wide, T, f32, wide)      \
  X(scatter_add_##T##_f32_line, T, f32, line)      \
  X(scatter_add_##T##_round, T, f32, round)        \
  X(scatter_add_##T##_sparse, T, f32, sparse)

#define HIPOPS_SCATTER_ADD_KERNELS(X)             \
  X(scatter_add_f32_atomic, f32, f32, atomic)     \
  X(scatter_add_f32_wide, f32, f32, wide)         \
  X(scatter_add_f32_line, f32, f32, line)         \
  X(scatter_add_f32_few, f32, f32, few)           \
  HIPOPS_SCATTER_ADD_16_BITS(X, f16)              \
  HIPOPS_SCATTER_ADD_16_BITS(X, bf16)             \
  X(scatter_add_f64_atomic, f64, f64, atomic)     \
  X(scatter_add_f64_line, f64, f64, line)         \
  X(scatter_add_u32_atomic, u32, u32, atomic)     \
  X(scatter_add_u64_atomic, u64, u64, atomic)     \
  X(scatter_add_u8_line, u8, u8, line)            \
  X(scatter_add_claim, u8, u8, claim)             \
  X(scatter_add_uniform, u8, u8, uniform)
