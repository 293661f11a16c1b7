// hipops_index_select: its report, and its plans and kernels past 2^31 elements.
#include "move/take_tester.h"

using namespace hipops;
using namespace hipops_test;

namespace {

const TakeOp kIndexSelect = {"index_select", true, hipops_index_select};

}  // namespace

TEST_CASE("index_select counts an index once, for any number of elements", "[index_select]") {
  on_cpu([] {
    for (int64_t inner : {1, 3, 32, 1000})
      for (int64_t outer : {1, 2, 5}) {
        HostTensor x(HIPOPS_F32, {outer, 4, inner}), y(HIPOPS_F32, {outer, 6, inner}), index(HIPOPS_U32, {6});
        const double values[] = {3, 4294967295.0, 4, 0, 4294967294.0, 3};
        for (int64_t i = 0; i < 6; ++i) index.set(i, values[i]);
        hipops_index_report report = HIPOPS_INDEX_REPORT_INIT;
        expect_success(hipops_index_select(&y.view, &x.view, &index.view, 1, &report, nullptr));
        EXPECT_EQUAL(report.count, 2u);
        EXPECT_EQUAL(report.first, 2u);
      }
  });
}

TEST_CASE("index_select's kernels divide in 64 bits", "[index_select]") {
  on_cpu([] { check_64_bits(kIndexSelect); });
}

TEST_CASE("index_select's plan holds for more than 2^31 elements", "[index_select]") {
  for (int32_t dim : {0, 1}) {
    check_plan_of_many(70000, 70000, dim, true);
    check_plan_of_many(3, int64_t{1} << 40, dim, true);
    check_plan_of_many(46340, 46341, dim, true);  // the last below 2^31
  }
}
