// Prints the support matrix of README.md, from the ops themselves: support_matrix > table.md
#include <cstdio>
#include <map>
#include <string>

#include "ops.h"
#include "tensor/tensor.h"

using namespace hipops;

namespace {

void append(std::string* list, const std::string& item) { *list += (list->empty() ? "" : ", ") + item; }

// The dtypes `second` may have where the first is `dtype`, as "f32, bf16".
std::string second_dtypes(const Op& op, hipops_dtype dtype) {
  std::string text;
  for (int second = HIPOPS_F32; second <= HIPOPS_U64; ++second)
    if (op.supports(dtype, hipops_dtype(second))) append(&text, dtype_name(hipops_dtype(second)));
  return text.empty() ? "-" : text;
}

}  // namespace

int main() {
  std::printf("| op | dtypes | dtype of the second operand (weight and bias; cos and sin; index) |\n|---|---|---|\n");
  for (int i = 0; i < op_count; ++i) {
    const Op& op = *all_ops[i];
    std::map<std::string, std::string> dtypes;  // by the second ones
    for (int dtype = HIPOPS_F32; dtype <= HIPOPS_U64; ++dtype)
      if (op.supports(hipops_dtype(dtype), HIPOPS_NONE))
        append(&dtypes[second_dtypes(op, hipops_dtype(dtype))], dtype_name(hipops_dtype(dtype)));
    for (const auto& [second, first] : dtypes)
      std::printf("| %s | %s | %s |\n", op.name, first.c_str(), second.c_str());
  }
}
