// Prints the support matrix of README.md, from the ops themselves: support_matrix > table.md
#include <cstdio>
#include <string>

#include "ops.h"
#include "tensor.h"

using namespace hipops;

namespace {

// The dtypes `second` may have where the first is `dtype`, as "f32, bf16"; "-" where the op takes no second one.
std::string second_dtypes(const Op& op, hipops_dtype dtype) {
  std::string text;
  for (int second = HIPOPS_F32; second <= HIPOPS_U64; ++second) {
    if (!op.supports(dtype, hipops_dtype(second))) continue;
    text += (text.empty() ? "" : ", ") + std::string(dtype_name(hipops_dtype(second)));
  }
  return text.empty() ? "-" : text;
}

}  // namespace

int main() {
  std::printf("| op | dtype | weights | kernels |\n|---|---|---|---|\n");
  for (int i = 0; i < op_count; ++i) {
    const Op& op = *all_ops[i];
    for (int dtype = HIPOPS_F32; dtype <= HIPOPS_U64; ++dtype) {
      std::string prefix = std::string(op.name) + "_" + dtype_name(hipops_dtype(dtype)) + "_";
      int kernels = 0;
      for (int k = 0; k < op.kernel_count; ++k) kernels += std::string(op.kernel_names[k]).compare(0, prefix.size(), prefix) == 0;
      if (op.supports(hipops_dtype(dtype), HIPOPS_NONE))
        std::printf("| %s | %s | %s | %d |\n", op.name, dtype_name(hipops_dtype(dtype)), second_dtypes(op, hipops_dtype(dtype)).c_str(), kernels);
    }
  }
}
