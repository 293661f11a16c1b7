// hipops_scatter: its workspace, and its plans and kernels past 2^31 elements.
#include "scatter.h"

#include "index/indices.h"
#include "move/scatter_tester.h"

using namespace hipops;
using namespace hipops_test;

namespace {

hipops_status launch_in_64_bits(const ScatterTensors& t, const ScatterLaunch& planned, void* workspace,
                                hipops_index_report* report) {
  const ScatterArgs args{planned.geometry, index_args(*t.index, t.y->shape[t.dim], report), t.x->data, t.y->data,
                         static_cast<uint32_t*>(workspace)};
  return launch(op_named("scatter"), planned.kernel, 1, kScatterBlock, &args, sizeof args, nullptr);
}

const ScatterOp kScatter = {"scatter", hipops_scatter, hipops_scatter_workspace_bytes, plan_scatter, launch_in_64_bits};

}  // namespace

TEST_CASE("scatter into nothing looks at no address of it", "[scatter]") {
  on_cpu([] {
    HostTensor x(HIPOPS_F32, {4}), index(HIPOPS_I64, {4});
    for (int64_t i = 0; i < 4; ++i) index.set(i, 7);
    for (const uint32_t flags : {0u, uint32_t{HIPOPS_DETERMINISTIC}})
      for (const uintptr_t address : {uintptr_t{0}, uintptr_t{1}, uintptr_t{2}, uintptr_t{3}}) {
        const hipops_tensor y = view_of(address, HIPOPS_F32, {0});
        hipops_index_report report{};
        EXPECT_EQUAL(hipops_scatter(&y, &x.view, &index.view, 0, flags, nullptr, 0, &report, nullptr), HIPOPS_SUCCESS);
      }
  });
}

TEST_CASE("scatter's kernels divide in 64 bits", "[scatter]") {
  on_cpu([] {
    for (hipops_dtype dtype : kMoved)
      for (int64_t columns : {32, 33 + 256}) {
        check_64_bits(kScatter, dtype, columns, 0, false);
        for (bool with_workspace : {false, true})
          check_64_bits(kScatter, dtype, columns, HIPOPS_DETERMINISTIC, with_workspace);
      }
  });
}

TEST_CASE("scatter requests 4 bytes for each element in reach if the order counts", "[scatter]") {
  check_calls([] {
    const hipops_tensor y = view_of(0, HIPOPS_U8, {100, 7}), x = view_of(0, HIPOPS_U8, {1000, 5}),
                        index = view_of(0, HIPOPS_I32, {1000, 5});
    int64_t bytes = -1;
    expect_success(hipops_scatter_workspace_bytes(&y, &x, &index, 0, HIPOPS_DETERMINISTIC, &bytes));
    EXPECT_EQUAL(bytes, 4 * 100 * 5);
    expect_success(hipops_scatter_workspace_bytes(&y, &x, &index, 0, 0, &bytes));
    EXPECT_EQUAL(bytes, 0);
    // The size has 64 bits. A position along dim has 32 bits in the workspace, so longer lines do without it.
    const hipops_tensor large = view_of(0, HIPOPS_U8, {int64_t{1} << 40, 7}), one = view_of(0, HIPOPS_U8, {1, 7}),
                        at = view_of(0, HIPOPS_I32, {1, 7});
    expect_success(hipops_scatter_workspace_bytes(&large, &one, &at, 0, HIPOPS_DETERMINISTIC, &bytes));
    EXPECT_EQUAL(bytes, (int64_t{28} << 40));
    for (int64_t length : {int64_t{UINT32_MAX} - 1, int64_t{UINT32_MAX}}) {
      const hipops_tensor line = view_of(0, HIPOPS_U8, {length}), where = view_of(0, HIPOPS_I64, {length}),
                          into = view_of(0, HIPOPS_U8, {4});
      expect_success(hipops_scatter_workspace_bytes(&into, &line, &where, 0, HIPOPS_DETERMINISTIC, &bytes));
      EXPECT_EQUAL(bytes, length < int64_t{UINT32_MAX} ? 16 : 0);
    }
  });
}

TEST_CASE("scatter's plan holds for more than 2^31 elements", "[scatter]") {
  for (int32_t dim : {0, 1}) {
    check_plan_of_many(kScatter, HIPOPS_U8, 70000, 70001, dim);
    check_plan_of_many(kScatter, HIPOPS_U8, 3, (int64_t{1} << 40) + 1, dim);
  }
}
