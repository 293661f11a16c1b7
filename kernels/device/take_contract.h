// What gather and index_select share between kernel and launcher: both take elements of x along dim, as an index says.
#pragma once

#include "device/index_contract.h"
#include "device/strided_contract.h"

namespace hipops {

// Every kernel runs in blocks of kTakeBlock work-items, each of which has kTakeDepth units in flight.
constexpr int kTakeBlock = 256;
constexpr int kTakeDepth = 4;

// The operands of the walk, which is over y. x is where it would be with an index of 0.
enum TakeOperand { kTakeY, kTakeX, kTakeIndex, kTakeOperands };

// A unit is what one load moves: an element, or a vector of them. The walk's strides in y and x count units, those in
// the index elements.
struct TakeArgs {
  Walk<kTakeOperands> walk;
  IndexArgs index;
  const void* x;
  void* y;
  int64_t x_step;  // of x along dim, in units
  int64_t step;    // units that the whole grid takes at a time
  int64_t vector;  // elements of a unit
  // Where one index serves many elements of y (index_select): element i of y, in row-major order, is the first that
  // uses index j if i = j * run, j < length. Where each element has an index of its own (gather): 0.
  int64_t run, length;
};

}  // namespace hipops

// X(kernel, unit), of 1 to 16 bytes.
#define HIPOPS_TAKE_KERNELS(X, op)  \
  X(op##_b8_any, b8)                \
  X(op##_b16_any, b16)              \
  X(op##_b32_any, b32)              \
  X(op##_b64_any, b64)              \
  X(op##_b128_wide, b128)
