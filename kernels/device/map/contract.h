// The contract between the map kernels (map_kernel.h) and their launchers.
#pragma once

#include "device/core/strided_contract.h"

namespace hipops {

constexpr int kMapBlock = 128;
constexpr int kMapDepth = 2;     // `shifted`: vectors of each input that a work-item loads before it computes
constexpr int kMapElements = 4;  // `any`: the same in elements
constexpr int32_t kAlternateInputs = 1, kAlternateOutputs = 2;

// How work-items reach the elements. A call has the first mode that its tensors allow.
enum class MapMode {
  wide,     // vectors of 16 bytes at multiples of 16, without gaps in rows of whole vectors; or a run without gaps
  shifted,  // rows without gaps that begin and end anywhere; rows of two outputs have the same misalignment
  any,      // single elements at any strides
};

// The tensors of a map: outputs, then inputs. The launcher orders dimensions by the strides of y, the first of them.
template <int kOperands_>
struct MapStreams {
  static constexpr int kOperands = kOperands_;

  void* data[kOperands];
  Walk<kOperands> walk;  // over vectors (wide), rows (shifted) or elements (any)
  int64_t step;          // vectors (wide), work-items (shifted) or elements (any) that the grid handles at a time
  int64_t apart;         // any: between the elements of a work-item
  // wide: whether the next vector of a work-item is always `advance` elements from the vector before it.
  int32_t advances;
  int64_t advance[kOperands];
  int32_t head, tail;    // wide: elements before the first vector and after the last. The rest has no gaps
  // wide: kAlternate*. The elements of the last two inputs, or of two outputs, alternate. Each vector of the walk is 32
  // bytes that hold both. The address of the second is 16 bytes past the first's.
  int32_t alternate;
  int32_t present;  // a bit for each output. An output that the caller leaves out has the layout of the other
  RowPieces rows;  // shifted
};

// The kinds of activations, in groups that share code. HIPOPS_ACTIVATION_* select them.
enum class Activation : int32_t {
  identity, relu, relu_squared, leaky_relu, abs, neg, sqr,
  sigmoid, swish, gelu_tanh,  // 1, x or x times a sigmoid
  gelu, tanh, elu, softplus, exp,
};

struct ActivationTerms {
  Activation kind;
  float alpha, alpha_rest;  // alpha in two numbers: the slope, elu's limit, or the factor in the sigmoid
};

}  // namespace hipops

// X(kernel, T, mode)
#define HIPOPS_MAP_KERNELS_OF(X, op, T)      \
  X(op##_##T##_wide, T, wide)                \
  X(op##_##T##_shifted, T, shifted)          \
  X(op##_##T##_any, T, any)
#define HIPOPS_MAP_KERNELS(X, op)    \
  HIPOPS_MAP_KERNELS_OF(X, op, f32)  \
  HIPOPS_MAP_KERNELS_OF(X, op, f16)  \
  HIPOPS_MAP_KERNELS_OF(X, op, bf16)
