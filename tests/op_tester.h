// What the tests of layer_norm, rms_norm and softmax share: each op brings a RowOp, and the checks of op_calls.h and
// op_numbers.h run on it, in child processes: which runtime is in use, and with which waves, is the process's own.
#pragma once

#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "catch.h"
#include "host_tensor.h"
#include "in_child.h"
#include "ops.h"

namespace hipops_test {

using Row = std::vector<long double>;

struct RowOp {
  const char* name;
  bool has_weight, has_bias;  // eps comes with the weight
  hipops_status (*call)(const hipops_tensor* y, const hipops_tensor* x, const hipops_tensor* weight,
                        const hipops_tensor* bias, double eps);
  // One row: y, and of each element the magnitude of what was added up last, by which an error of it is to be judged.
  void (*reference)(const Row& x, const Row& weight, const Row& bias, long double eps, Row* y, Row* magnitude);

  hipops::Op& kernels() const {
    for (int i = 0; i < hipops::op_count; ++i)
      if (!std::strcmp(hipops::all_ops[i]->name, name)) return *hipops::all_ops[i];
    throw std::runtime_error(std::string("no op ") + name);
  }
};

constexpr hipops_dtype kFloats[] = {HIPOPS_F32, HIPOPS_F16, HIPOPS_BF16, HIPOPS_F64};

inline bool has_cpu() { return hipops::image_count > 0 && hipops::all_images[0].cpu_wave32 != nullptr; }

}  // namespace hipops_test
