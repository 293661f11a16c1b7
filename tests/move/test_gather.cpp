// hipops_gather: its report, its use of shared memory, and its plans and kernels past 2^31 elements.
#include "device/core/launch_contract.h"
#include "move/take_tester.h"

using namespace hipops;
using namespace hipops_test;

namespace {

const TakeOp kGather = {"gather", false, hipops_gather};

}  // namespace

TEST_CASE("gather counts each index of an expanded index tensor", "[gather]") {
  on_cpu([] {
    HostTensor x(HIPOPS_F32, {4, 32}), y(HIPOPS_F32, {3, 32}), index(HIPOPS_I64, {3, 32}, {1, 0});
    for (int64_t i = 0; i < index.count(); ++i) index.set(i, i / 32 == 1 ? -5 : 2);
    hipops_index_report report = {10, 40};
    expect_success(hipops_gather(&y.view, &x.view, &index.view, 0, &report, nullptr));
    EXPECT_EQUAL(report.count, 42u);
    EXPECT_EQUAL(report.first, 32u);
    expect_success(hipops_gather(&y.view, &x.view, &index.view, 0, nullptr, nullptr));
  });
}

TEST_CASE("gather's kernels divide in 64 bits", "[gather]") {
  on_cpu([] { check_64_bits(kGather); });
}

TEST_CASE("gather's launches fit the shared memory of every device", "[gather]") {
  std::vector<DeviceFacts> devices(4);
  for (size_t i = 0; i < 3; ++i) devices[i].units = 132, devices[i].launch_shared_bytes = std::vector<int>{40, 100, 200}[i] << 10;
  devices[3].own_shared_bytes = kStaticSharedBytes;  // AMD, where a launch brings none
  bool some_staged = false;
  for (const DeviceFacts& device : devices)
    for (hipops_dtype dtype : {HIPOPS_U8, HIPOPS_BF16, HIPOPS_F32, HIPOPS_F64})
      for (const Sizes& shape : {Sizes{64, 1024, 512},
                                 {8, 8192, 512},
                                 {8192, 8192, 1},
                                 {1, 8192, 8192},
                                 {65536, 64, 1},
                                 {1024, 64, 256},
                                 {8192, 50000, 1}})
        for (int64_t index_rows : {shape[0], int64_t{1}}) {
          const hipops_tensor y = view_of(1 << 16, dtype, shape), x = view_of(uintptr_t{1} << 42, dtype, shape);
          const hipops_tensor index = view_of(uintptr_t{1} << 44, HIPOPS_I64, shape, {index_rows > 1 ? shape[1] * shape[2] : 0, shape[2], 1});
          const TakePlan plan = plan_take(plan_options(), device, y, x, index, index.stride, 1, nullptr);
          some_staged |= plan.shared_bytes > 0;
          CHECK(plan.shared_bytes <= static_cast<uint32_t>(device.launch_shared_bytes));
          CHECK((plan.block >= 1 && plan.block <= 1024 && uint64_t{plan.grid} * plan.block < uint64_t{1} << 32));
        }
  CHECK(some_staged);
}

TEST_CASE("gather's plan holds for more than 2^31 elements", "[gather]") {
  for (int32_t dim : {0, 1}) {
    check_plan_of_many(70000, 70000, dim, false);
    check_plan_of_many(3, int64_t{1} << 40, dim, false);
    check_plan_of_many(46340, 46341, dim, false);  // the last below 2^31
  }
}
