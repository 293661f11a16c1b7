// The contract between @op@.hip and its launcher.
#pragma once

#include "device/core/strided_contract.h"

namespace hipops {

constexpr int k@Op@Block = 256;

enum @Op@Operand { k@Op@Y, k@Op@X, k@Op@Operands };

struct @Op@Args {
  Walk<k@Op@Operands> walk;
  int64_t step;  // elements that the whole grid processes together
  const void* x;
  void* y;
};

}  // namespace hipops

// X(kernel, T)
#define HIPOPS_@OP@_KERNELS(X) \
  X(@op@_f32_any, f32)         \
  X(@op@_f16_any, f16)         \
  X(@op@_bf16_any, bf16)       \
  X(@op@_f64_any, f64)
