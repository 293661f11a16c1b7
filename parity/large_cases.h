// The cases of hipops-parity --large.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "parity/large.h"

namespace hipops::parity::large {

struct LargeCase {
  std::string op;
  hipops_dtype dtype;
  std::string name;
  std::vector<int64_t> shape;  // of y
  std::function<void(Stage& stage)> run;
};

// Sizes are derived from `giant`, which is 2^31 divided by the scale.
void add_row_cases(int64_t giant, std::vector<LargeCase>* cases);      // the row ops
void add_rope_cases(int64_t giant, std::vector<LargeCase>* cases);     // rope, rope_i, rope_thd
void add_take_cases(int64_t giant, std::vector<LargeCase>* cases);     // gather, index_select
void add_scatter_cases(int64_t giant, std::vector<LargeCase>* cases);  // scatter, scatter_add
void add_index_add_cases(int64_t giant, std::vector<LargeCase>* cases);
void add_upsample_cases(int64_t giant, std::vector<LargeCase>* cases);  // upsample_nearest1d and 2d
void add_copy_cases(int64_t giant, std::vector<LargeCase>* cases);      // strided_copy, copy2d

inline std::string large_name(const char* what, hipops_dtype dtype) {
  return std::string("large_") + what + "_" + dtype_name(dtype);
}

// All cases. Sizes are divided by `scale`, a power of two of at most kGreatestScale.
constexpr int64_t kGreatestScale = 1 << 16;
std::vector<LargeCase> large_cases(int64_t scale);

// Skipped if the device's memory is too small.
CaseResult run_large_case(Runtime& runtime, Staging& staging, const LargeCase& test, int64_t scale, uint64_t seed);

}  // namespace hipops::parity::large
