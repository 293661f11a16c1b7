// hipops_rms_norm_backward of a row of many spans. hipops-parity and hipops-fuzz check other rows.
#include "op_tester.h"
#include "parity/ops.h"

using namespace hipops;
using namespace hipops_test;

TEST_CASE("rms_norm_backward of equal elements has the documented error in rows of many spans", "[rms_norm_backward]") {
  if (!parity::is_built(*parity::find_op(parity::all_ops(), "rms_norm_backward"))) return;
  on_cpu([] {
    const int64_t cols = (int64_t{1} << 22) + 1;
    HostTensor x(HIPOPS_F32, {1, cols}, {}, 1), dx(HIPOPS_F32, {1, cols}, {}, 1), rstd(HIPOPS_F32, {1});
    for (int64_t i = 0; i < cols; ++i) x.set(i, 0.7);  // a plain sum of spans would round the same way each time
    rstd.set(0, 1);
    int64_t bytes = 0;
    expect_success(hipops_rms_norm_backward_workspace_bytes(&dx.view, nullptr, &x.view, &x.view, nullptr, &rstd.view,
                                                            &bytes));
    Workspace workspace(bytes);
    expect_success(hipops_rms_norm_backward(&dx.view, nullptr, &x.view, &x.view, nullptr, &rstd.view, 0, 0,
                                            workspace.data(), bytes, nullptr));
    const double v = x.get(0), expected = v - v * v * v, ulp = 0x1p-23;  // of v + v^3, which is between 1 and 2
    double most = 0;
    for (int64_t i = 0; i < cols; ++i) most = std::max(most, std::abs(dx.get(i) - expected));
    EXPECT(most <= 8 * ulp && workspace.guards_are_whole());
  });
}
