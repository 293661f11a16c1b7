// The contract between sample.hip and its launcher.
#pragma once

#include <stdint.h>

namespace hipops {

constexpr int kSampleBlock = 1024;

struct SampleArgs {
  const void* x;
  const float *uniform, *temperature, *top_p, *min_p;  // all but uniform may be null
  const void* top_k;                                   // may be null
  void* tokens;
  int64_t rows, columns, part, step;  // part: columns of a cluster's block. step: of the clusters' loops
  int64_t x_row, x_step, tokens_step, uniform_step, temperature_step, top_k_step, top_p_step, min_p_step;
  int32_t tokens_are_64, top_k_is_64;
};

}  // namespace hipops

// X(kernel, T)
#define HIPOPS_SAMPLE_KERNELS(X) \
  X(sample_f32, f32)             \
  X(sample_f16, f16)             \
  X(sample_bf16, bf16)
