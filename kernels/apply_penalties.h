// The contract between apply_penalties.hip and its launcher.
#pragma once

#include "device/core/divisor_contract.h"

namespace hipops {

constexpr int kPenaltyBlock = 128;
constexpr int kPenaltyColumns = 8;  // of a work-item

struct PenaltyArgs {
  void* y;
  const void* x;          // y itself: in place
  const uint8_t* prompt;  // may be null, as all of the following
  const int32_t* counts;
  const float *repetition, *frequency, *presence;
  int64_t y_row, x_row, prompt_row, counts_row, repetition_step, frequency_step, presence_step;
  int64_t y_step, x_step, prompt_step, counts_step;  // between columns
  int64_t columns, chunks, tasks, step;  // a task is a chunk of a row; step: of the blocks' loops
  WideDivisor chunks_divisor;
  // Spans begin where one tensor is at a multiple of their elements: its address and bytes from row to row, and
  // log2 of an element's bytes.
  uint64_t spans_from;
  int64_t spans_row;
  int32_t spans_bits;
  int32_t has_steps;  // columns are not neighbours in some tensor
};

}  // namespace hipops

// X(kernel, T)
#define HIPOPS_APPLY_PENALTIES_KERNELS(X) \
  X(apply_penalties_f32, f32)             \
  X(apply_penalties_f16, f16)             \
  X(apply_penalties_bf16, bf16)
