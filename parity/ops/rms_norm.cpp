// rms_norm and fused_add_rms_norm.
#include <cmath>

#include "parity/ops/rows.h"

namespace hipops::parity {
namespace {

void expect_rms_norm(Case* test) {
  const Real eps = test->params.at("eps");
  Weighing weighing(test);
  Scalars rstds(test, "rstd", 4);
  for_each_row(test, [&](const std::vector<Real>& row, size_t first) {
    const Real root = std::sqrt(mean_of_squares(row) + eps);
    weighing.weigh(row, root, first);
    rstds.add(1 / root, 0);
  });
  weighing.set_tolerance();
}

void expect_fused_add_rms_norm(Case* test) {
  const Real eps = test->params.at("eps");
  Weighing weighing(test);
  Scalars rstds(test, "rstd", 4);
  for_each_row(test, [&](std::vector<Real>& row, size_t first) {
    add_residual(test, row, first);
    const Real root = std::sqrt(mean_of_squares(row) + eps);
    weighing.weigh(row, root, first);
    rstds.add(1 / root, 0);
  });
  weighing.set_tolerance();
}

}  // namespace

OpEntry describe_rms_norm() {
  OpEntry op = {"rms_norm", kFloats, {kY, scalar_of_rows("rstd")}, {kX, columns_of_x("weight")}};
  op.params = {eps_param(),
               {"flags", true, true,
                {0, HIPOPS_WEIGHT_PLUS_ONE, HIPOPS_ROUND_BEFORE_WEIGHT,
                 HIPOPS_WEIGHT_PLUS_ONE | HIPOPS_ROUND_BEFORE_WEIGHT, HIPOPS_BATCH_INVARIANT}}};
  op.bind = [](const Arguments& a) {
    return bound(hipops_rms_norm, a["y"], a["rstd"], a["x"], a["weight"], a.real("eps"), a.flags(), a.stream());
  };
  op.in_place = {{"y", {"x"}}};
  op.by_rows = true;
  op.random_case = random_row_case;
  op.reference = expect_rms_norm;
  op.large_cases = large::add_row_cases;
  return op;
}

OpEntry describe_fused_add_rms_norm() {
  OpEntry op = {"fused_add_rms_norm", {HIPOPS_F32, HIPOPS_F16, HIPOPS_BF16}};
  op.outputs = {kY, {"residual_out"}, scalar_of_rows("rstd")};
  op.inputs = {kX, {"residual"}, columns_of_x("weight")};
  op.params = {eps_param(),
               {"flags", true, false,
                {0, HIPOPS_ROUND_SUM, HIPOPS_WEIGHT_PLUS_ONE, HIPOPS_ROUND_BEFORE_WEIGHT,
                 HIPOPS_ROUND_SUM | HIPOPS_WEIGHT_PLUS_ONE | HIPOPS_ROUND_BEFORE_WEIGHT, HIPOPS_BATCH_INVARIANT}}};
  op.bind = [](const Arguments& a) {
    return bound(hipops_fused_add_rms_norm, a["y"], a["residual_out"], a["rstd"], a["x"], a["residual"], a["weight"],
                 a.real("eps"), a.flags(), a.stream());
  };
  op.in_place = {{"y", {"x", "residual"}}, {"residual_out", {"x", "residual"}}};
  op.by_rows = true;
  op.random_case = random_residual_case;
  op.reference = expect_fused_add_rms_norm;
  op.large_cases = large::add_row_cases;
  return op;
}

}  // namespace hipops::parity
