// The contract between scatter.hip and its launcher.
#pragma once

#include "device/index/index_contract.h"
#include "device/move/scatter_contract.h"

namespace hipops {

struct ScatterArgs {
  ScatterGeometry geometry;
  IndexArgs index;
  const void* x;
  void* y;
  uint32_t* winners;
};

}  // namespace hipops

// X(kernel, type, mode): the type of an access. `clear` and `claim` move no elements.
#define HIPOPS_SCATTER_VARIANTS(X, T)     \
  X(scatter_##T##_any, T, any)            \
  X(scatter_##T##_line, T, line)          \
  X(scatter_##T##_winner, T, winner)

#define HIPOPS_SCATTER_KERNELS(X)   \
  HIPOPS_SCATTER_VARIANTS(X, b8)    \
  HIPOPS_SCATTER_VARIANTS(X, b16)   \
  HIPOPS_SCATTER_VARIANTS(X, b32)   \
  HIPOPS_SCATTER_VARIANTS(X, b64)   \
  HIPOPS_SCATTER_VARIANTS(X, b128)  \
  X(scatter_clear, b32, clear)      \
  X(scatter_claim, b32, claim)
