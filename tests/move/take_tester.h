// Helpers for the tests of gather and index_select: plans and kernels past 2^31 elements.
#pragma once

#include "as_many.h"
#include "move/take.h"
#include "op_tester.h"
#include "tensor/tensor.h"

namespace hipops_test {

struct TakeOp {
  const char* name;
  bool index_is_1d;  // index_select's index. gather's index has y's shape
  hipops_status (*call)(const hipops_tensor* y, const hipops_tensor* x, const hipops_tensor* index, int32_t dim,
                        hipops_index_report* report, void* stream);
};

// The index's strides along the dimensions of y.
inline void set_index_strides(const TakeOp& op, const hipops_tensor& index, int rank, int32_t dim,
                              int64_t (&stride)[HIPOPS_MAX_RANK]) {
  for (int d = 0; d < rank; ++d) stride[d] = op.index_is_1d ? (d == dim ? index.stride[0] : 0) : index.stride[d];
}

// The op, and its kernel in a grid of one block that divides in 64 bits, give the same bits and report. Returns the
// kernel.
inline int check_64_bits(const TakeOp& op, hipops_dtype dtype, const Sizes& y_shape, const Sizes& x_shape, int32_t dim,
                         bool one_index_a_row) {
  using namespace hipops;
  Random random(7);
  const int64_t taken = y_shape[static_cast<size_t>(dim)], size = x_shape[static_cast<size_t>(dim)];
  HostTensor y(dtype, y_shape), other(dtype, y_shape), x(dtype, x_shape),
      index(HIPOPS_I32, op.index_is_1d ? Sizes{taken} : y_shape,
            one_index_a_row && !op.index_is_1d ? Sizes{1, 0} : Sizes{});
  fill_with_bits(x, random);
  for (int64_t i = 0; i < index.count(); ++i) index.set(i, static_cast<double>(pick(random, -1, size)));
  hipops_index_report report = HIPOPS_INDEX_REPORT_INIT, other_report = HIPOPS_INDEX_REPORT_INIT;
  expect_success(op.call(&y.view, &x.view, &index.view, dim, &report, nullptr));
  const DeviceFacts* device = nullptr;
  expect_success(device_facts(&device));
  int64_t index_stride[HIPOPS_MAX_RANK] = {};
  set_index_strides(op, index.view, y.view.rank, dim, index_stride);
  TakePlan plan = plan_take(hipops::plan_options(), *device, other.view, x.view, index.view, index_stride, dim, &other_report);
  if (op.index_is_1d) share_index(other.view, dim, &plan.args);
  plan.args.walk.fits_int32 = 0;
  plan.args.step /= plan.grid;
  plan.grid = 1;
  expect_success(launch_take(op_named(op.name), *device, plan, nullptr));
  EXPECT(all_bits(other) == all_bits(y) && other.guards_are_whole());
  EXPECT(report.count == other_report.count && report.first == other_report.first);
  return plan.kernel;
}

// All kernels that walk in 64 bits: `any`, `rows` and `shifted` of each width. `few`, `staged` and `large` are for
// small tensors.
inline void check_64_bits(const TakeOp& op) {
  const AsMany as_many;
  std::vector<bool> seen(hipops::kTakeKernels);
  for (hipops_dtype dtype : {HIPOPS_U8, HIPOPS_BF16, HIPOPS_F32, HIPOPS_F64}) {
    const auto bytes = static_cast<int64_t>(hipops::parity::dtype_size(dtype));
    for (int64_t columns : {int64_t{7}, 16 / bytes, int64_t{33}, int64_t{32 + 256}, int64_t{33 + 4096}})
      seen[static_cast<size_t>(
          check_64_bits(op, dtype, {columns > 4000 ? 20 : 200, columns}, {50, columns}, 0, true))] = true;
  }
  for (int k = 0; k < hipops::first_take_kernel(hipops::TakeMode::staged); ++k)
    if (!seen[static_cast<size_t>(k)])
      throw std::runtime_error(std::string(op_named(op.name).kernel_names[k]) + " was not chosen");
}

// The plan for more elements than 32 bits can count: its launch, and the places that its walk computes for some
// elements.
inline void check_plan_of_many(int64_t rows, int64_t columns, int32_t dim, bool index_is_1d) {
  using namespace hipops;
  const hipops_tensor y = view_of(uintptr_t{1} << 44, HIPOPS_U8, {rows, columns});
  const hipops_tensor x = view_of(uintptr_t{1} << 45, HIPOPS_U8, {rows, columns}, {1, rows});
  const hipops_tensor index =
      view_of(uintptr_t{1} << 46, HIPOPS_I64, index_is_1d ? Sizes{y.shape[dim]} : Sizes{rows, columns});
  int64_t index_stride[HIPOPS_MAX_RANK] = {columns, 1};
  if (index_is_1d) index_stride[dim] = 1, index_stride[1 - dim] = 0;
  const TakePlan plan = plan_take(hipops::plan_options(), DeviceFacts(), y, x, index, index_stride, dim, nullptr);
  CHECK(plan.args.walk.count == rows * columns);
  CHECK(plan.args.walk.fits_int32 == (rows * columns < int64_t{1} << 31));
  CHECK(uint64_t{plan.grid} * kTakeBlock < uint64_t{1} << 32);
  CHECK(plan.args.step == int64_t{plan.grid} * kTakeBlock * kTakeDepth);
  CHECK(plan.args.x_step == (dim == 0 ? 1 : rows));
  for (int64_t i : {int64_t{0}, rows * columns / 3, (int64_t{1} << 31) - 1, rows * columns - 1}) {
    if (i >= rows * columns) continue;
    int64_t at[kTakeOperands] = {}, rest = i;
    for (int d = 0; d + 1 < plan.args.walk.rank; ++d) {
      for (int k = 0; k < kTakeOperands; ++k)
        at[k] += rest % plan.args.walk.dim[d].size * plan.args.walk.dim[d].stride[k];
      rest /= plan.args.walk.dim[d].size;
    }
    for (int k = 0; k < kTakeOperands; ++k) at[k] += rest * plan.args.walk.outermost[k];
    CHECK(at[kTakeY] == i);
    CHECK(at[kTakeX] == (dim == 0 ? i % columns * rows : i / columns));
    CHECK(at[kTakeIndex] == (index_is_1d ? (dim == 0 ? i / columns : i % columns) : i));
  }
}

}  // namespace hipops_test
