// Helpers for the tests of upsample_nearest1d and upsample_nearest2d: other launches of a plan give the op's bits.
#pragma once

#include <cstring>

#include "as_many.h"
#include "move/upsample.h"
#include "op_tester.h"
#include "tensor/divisor.h"

namespace hipops_test {

constexpr hipops_nearest kRules[] = {HIPOPS_NEAREST_PYTORCH, HIPOPS_NEAREST_CANDLE, HIPOPS_NEAREST_EXACT};

// The strides of [n, c, ..] with c innermost.
inline Sizes channels_last(const Sizes& shape) {
  Sizes stride(shape.size());
  int64_t step = shape[1];
  stride[1] = 1;
  for (size_t d = shape.size(); d-- > 2;) stride[d] = step, step *= shape[d];
  stride[0] = step;
  return stride;
}

struct UpsampleCase {
  HostTensor y, x;
  hipops_nearest rule;

  int resized() const { return y.view.rank - 2; }
  hipops::Op& op() const { return op_named(resized() == 1 ? "upsample_nearest1d" : "upsample_nearest2d"); }
  void run(const hipops_tensor& to) const {
    expect_success(resized() == 1 ? hipops_upsample_nearest1d(&to, &x.view, rule, 0, nullptr)
                                  : hipops_upsample_nearest2d(&to, &x.view, rule, 0, 0, nullptr));
  }
  hipops::UpsamplePlan plan() const {
    const hipops::Scale none[2] = {};
    return hipops::plan_upsample(hipops::plan_options(), y.view, x.view, resized(), rule, none);
  }

  // `change` alters the plan's launch. The bits must not change.
  template <class Change>
  void check_launch(Random& random, Change change) {
    fill_with_bits(x, random);
    run(y.view);
    const std::vector<uint64_t> expected = all_bits(y);
    fill_with_bits(y, random);
    hipops::UpsamplePlan planned = plan();
    change(op().kernel_names[planned.kernel], planned);
    expect_success(
        hipops::launch(op(), planned.kernel, planned.grid, planned.block, &planned.args, sizeof planned.args, nullptr));
    if (all_bits(y) != expected || !y.guards_are_whole())
      throw std::runtime_error(std::string(op().kernel_names[planned.kernel]) + " gives other bits");
  }
};

// Work-items handle several rounds of rows only in large tensors, and positions have 64 bits only past 2^31. Here small
// tensors do both: rows of whole vectors, and channels last.
inline void check_large_launches(int resized) {
  const AsMany as_many;
  Random random(20);
  int rounds = 0, wide = 0;
  for (hipops_dtype dtype : kMoved)
    for (hipops_nearest rule : kRules)
      for (bool last : {false, true}) {
        Sizes x{3, last ? 3 : 7, 31}, y{3, x[1], last ? 1001 : 1248};
        if (resized == 2) x.insert(x.begin() + 2, 3), y.insert(y.begin() + 2, 9);
        UpsampleCase t{HostTensor(dtype, y, last ? channels_last(y) : Sizes{}),
                       HostTensor(dtype, x, last ? channels_last(x) : Sizes{}), rule};
        t.check_launch(random, [&](const char* kernel, hipops::UpsamplePlan& plan) {
          if (!plan.args.fits_int32 || (!std::strstr(kernel, "_any") && !std::strstr(kernel, "_b8_row"))) return;
          hipops::take_rounds(&plan.args, static_cast<int32_t>(pick(random, 2, 8)));
          ++rounds;
        });
        Sizes apart = last ? channels_last(y) : contiguous(y);
        for (int64_t& step : apart) step *= 2;
        UpsampleCase spread{HostTensor(dtype, y, apart), HostTensor(dtype, x), rule};
        spread.check_launch(random, [&](const char* kernel, hipops::UpsamplePlan& plan) {
          EXPECT(std::strstr(kernel, "_any"));
          hipops::UpsampleArgs& a = plan.args;
          a.dimension[1].size = a.rows;  // single rows, not groups of them
          a.dimension[1].wide_divisor = hipops::wide_divisor_of(a.rows);
          a.fits_int32 = 0;
          a.count = a.dimension[0].size * a.dimension[1].size * a.dimension[2].size * a.dimension[3].size;
          ++wide;
        });
        spread.check_launch(random, [&](const char*, hipops::UpsamplePlan& plan) {
          hipops::take_rounds(&plan.args, static_cast<int32_t>(pick(random, 2, 8)));
        });
      }
  EXPECT(rounds > 0 && wide > 0);
}

}  // namespace hipops_test
