// Prints the support matrix of README.md, a row for each op, by hipops_supports: support_matrix > table.md
#include <cstdio>
#include <string>
#include <vector>

#include "ops.h"
#include "tensor/tensor.h"

using namespace hipops;

namespace {

using Dtypes = std::vector<hipops_dtype>;

std::string list(const Dtypes& dtypes) {
  std::string text;
  for (const hipops_dtype dtype : dtypes) text += (text.empty() ? "" : ", ") + std::string(dtype_name(dtype));
  return text.empty() ? "-" : text;
}

Dtypes firsts(const Op& op) {
  Dtypes dtypes;
  for (int dtype = HIPOPS_F32; dtype <= HIPOPS_F8_E5M2FNUZ; ++dtype)
    if (op.supports(hipops_dtype(dtype), HIPOPS_NONE)) dtypes.push_back(hipops_dtype(dtype));
  return dtypes;
}

Dtypes seconds(const Op& op, hipops_dtype first) {
  Dtypes dtypes;
  for (int second = HIPOPS_F32; second <= HIPOPS_F8_E5M2FNUZ; ++second)
    if (op.supports(first, hipops_dtype(second))) dtypes.push_back(hipops_dtype(second));
  return dtypes;
}

// The dtypes of the second operand: the same list for every first dtype; "x's or f32"; or a list for each first dtype.
std::string second_operand(const Op& op, const Dtypes& dtypes) {
  bool same = true, first_or_f32 = true;
  std::string each;
  for (const hipops_dtype dtype : dtypes) {
    const Dtypes second = seconds(op, dtype);
    same &= second == seconds(op, dtypes.front());
    first_or_f32 &= second == (dtype == HIPOPS_F32 ? Dtypes{HIPOPS_F32} : Dtypes{HIPOPS_F32, dtype});
    each += (each.empty() ? "" : "; ") + std::string("with ") + dtype_name(dtype) + ": " + list(second);
  }
  return same ? list(seconds(op, dtypes.front())) : first_or_f32 ? "the op's dtype, or f32" : each;
}

}  // namespace

int main() {
  std::printf("| op | dtypes | dtype of the second operand (weight and bias; cos and sin; index; mask) |\n|---|---|---|\n");
  for (int i = 0; i < op_count; ++i) {
    const Op& op = *all_ops[i];
    const Dtypes dtypes = firsts(op);
    std::printf("| %s | %s | %s |\n", op.name, list(dtypes).c_str(), second_operand(op, dtypes).c_str());
  }
}
