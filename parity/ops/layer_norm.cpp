// layer_norm and fused_add_layer_norm.
#include <algorithm>
#include <cmath>

#include "parity/ops/rows.h"

namespace hipops::parity {
namespace {

template <bool kAdds>
void expect_norm(Case* test) {
  const std::vector<Real> weight = weights_of(*test, "weight", 1), bias = weights_of(*test, "bias", 0);
  const hipops_dtype dtype = test->dtype;
  const bool biased = find_input(*test, "bias") != nullptr, wide = dtype == HIPOPS_F32 || dtype == HIPOPS_F64;
  const Real eps = test->params.at("eps");
  // The mean of n terms, kept as two numbers, may be off by n * eps^2 of their size, with eps half an ULP of 1. An
  // element nearer to the mean has no ULPs of its own. The tolerance is 4 ULPs of the scale. An h of 16-bit elements has
  // all digits of f32, and eight of them are added in f32.
  const Real lost = wide ? static_cast<Real>(weight.size()) * static_cast<Real>(ulp(dtype, 1)) / 8
                         : kAdds ? 0x1p-22L / static_cast<Real>(ulp(dtype, 1)) : 0;
  ExpectedTensor& y = output_of(test, "y");
  Scalars means(test, "mean", 4), rstds(test, "rstd", tolerance_of_variance(dtype));
  for_each_row(test, [&](std::vector<Real>& row, size_t first) {
    if (kAdds) add_residual(test, row, first);
    const Wide mean = sum(row) / static_cast<Wide>(row.size());
    Real size = 0, total = 0;
    for (Real& x : row) {
      size = std::max(size, std::fabs(x));
      total += std::fabs(x);
      x = static_cast<Real>(x - mean);
    }
    const Real deviation = std::sqrt(mean_of_squares(row) + eps);
    means.add(std::isfinite(total) ? static_cast<Real>(mean) : std::nanl(""), total / static_cast<Real>(row.size()));
    rstds.add(1 / deviation, 0);
    for (size_t c = 0; c < row.size(); ++c) {
      const Real scaled = row[c] / deviation * weight[c];
      y.values[first + c] = static_cast<double>(scaled + bias[c]);
      // A sum that cancels still has the rounding errors of its terms.
      const Real terms = biased ? std::max(std::fabs(scaled), std::fabs(bias[c])) : 0;
      const double scale = static_cast<double>(std::max(terms, lost * size / deviation * std::fabs(weight[c])));
      if (biased || wide || kAdds) y.scale.push_back(std::isfinite(scale) ? scale : 0);
    }
  });
}

}  // namespace

OpEntry describe_layer_norm() {
  OpEntry op = {"layer_norm", kFloats, {kY, scalar_of_rows("mean"), scalar_of_rows("rstd")}, {kX, columns_of_x("weight"), columns_of_x("bias")}};
  op.params = {eps_param(), {"flags", true, true, {0, HIPOPS_BATCH_INVARIANT}}};
  op.bind = [](const Arguments& a) {
    return bound(hipops_layer_norm, a["y"], a["mean"], a["rstd"], a["x"], a["weight"], a["bias"], a.real("eps"),
                 a.flags(), a.stream());
  };
  op.in_place = {{"y", {"x"}}};
  op.by_rows = true;
  op.random_case = random_row_case;
  op.reference = expect_norm<false>;
  op.large_cases = large::add_row_cases;
  return op;
}

OpEntry describe_fused_add_layer_norm() {
  OpEntry op = {"fused_add_layer_norm", {HIPOPS_F32, HIPOPS_F16, HIPOPS_BF16}};
  op.outputs = {kY, {"residual_out"}, scalar_of_rows("mean"), scalar_of_rows("rstd")};
  op.inputs = {kX, {"residual"}, columns_of_x("weight"), columns_of_x("bias")};
  op.params = {eps_param(), {"flags", true, false, {0, HIPOPS_ROUND_SUM, HIPOPS_BATCH_INVARIANT}}};
  op.bind = [](const Arguments& a) {
    return bound(hipops_fused_add_layer_norm, a["y"], a["residual_out"], a["mean"], a["rstd"], a["x"], a["residual"],
                 a["weight"], a["bias"], a.real("eps"), a.flags(), a.stream());
  };
  op.in_place = {{"y", {"x", "residual"}}, {"residual_out", {"x", "residual"}}};
  op.by_rows = true;
  op.random_case = random_residual_case;
  op.reference = expect_norm<true>;
  op.large_cases = large::add_row_cases;
  return op;
}

}  // namespace hipops::parity
