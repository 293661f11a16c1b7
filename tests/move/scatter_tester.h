// Helpers for the tests of scatter and scatter_add: operands, and plans and kernels past 2^31 elements.
#pragma once

#include "move/scatter_plan.h"
#include "op_tester.h"
#include "tensor/tensor.h"

namespace hipops_test {

struct ScatterOp {
  const char* name;
  hipops_status (*call)(const hipops_tensor* y, const hipops_tensor* x, const hipops_tensor* index, int32_t dim,
                        uint32_t flags, void* workspace, int64_t workspace_bytes, hipops_index_report* report,
                        void* stream);
  hipops_status (*bytes)(const hipops_tensor* y, const hipops_tensor* x, const hipops_tensor* index, int32_t dim,
                         uint32_t flags, int64_t* bytes);
  hipops::ScatterPlan (*plan)(hipops::PlanOptions options, const hipops::ScatterTensors& t, uint32_t flags, bool with_workspace);
  // Launches the plan's kernel `launch` with one block that divides in 64 bits.
  hipops_status (*launch_in_64_bits)(const hipops::ScatterTensors& t, const hipops::ScatterLaunch& launch,
                                     void* workspace, hipops_index_report* report);
};

// Small whole numbers, whose sums are exact in every dtype.
inline void fill_with_whole_numbers(HostTensor& t, Random& random) {
  const bool is_signed = hipops::is_float(t.view.dtype);
  for (int64_t i = 0; i < t.count(); ++i) t.set(i, static_cast<double>(pick(random, is_signed ? -8 : 0, 8)));
}

struct ScatterOperands {
  HostTensor y, x, index;
  int32_t dim = 0;

  hipops::ScatterTensors tensors(const ScatterOp& op) const { return {op.name, &y.view, &x.view, &index.view, dim}; }
};

// The op, with the workspace that it requests or without one.
inline void run(const ScatterOp& op, ScatterOperands& t, uint32_t flags, bool with_workspace,
                hipops_index_report* report) {
  int64_t bytes = -1;
  expect_success(op.bytes(&t.y.view, &t.x.view, &t.index.view, t.dim, flags, &bytes));
  Workspace workspace(bytes);
  expect_success(op.call(&t.y.view, &t.x.view, &t.index.view, t.dim, flags, with_workspace ? workspace.data() : nullptr,
                         with_workspace ? bytes : 0, report, nullptr));
  EXPECT(t.y.guards_are_whole() && workspace.guards_are_whole());
}

// Rows of x go to distinct rows of y, and some indices are out of range. Every kernel of the plan gives the op's own
// bits and report if it divides in 64 bits.
inline void check_64_bits(const ScatterOp& op, hipops_dtype dtype, int64_t columns, uint32_t flags,
                          bool with_workspace) {
  Random random(12);
  const auto make = [&] {
    const int64_t step = columns + 16 - columns % 2;
    return ScatterOperands{HostTensor(dtype, {50, columns}, {step, 1}), HostTensor(dtype, {40, columns}),
                           HostTensor(HIPOPS_I32, {40, columns})};
  };
  ScatterOperands t = make(), other = make();
  fill_with_whole_numbers(t.x, random), fill_with_whole_numbers(t.y, random);
  for (int64_t i = 0; i < t.index.count(); ++i)
    t.index.set(i, static_cast<double>(i / columns % 9 == 4 ? 50 : i / columns * 7 % 50));
  for (int64_t i = 0; i < t.x.count(); ++i) other.x.set_bits(i, t.x.bits(i)), other.index.set_bits(i, t.index.bits(i));
  for (int64_t i = 0; i < t.y.count(); ++i) other.y.set_bits(i, t.y.bits(i));
  hipops_index_report report = HIPOPS_INDEX_REPORT_INIT, other_report = HIPOPS_INDEX_REPORT_INIT;
  run(op, t, flags, with_workspace, &report);
  Workspace workspace((4 * 50 * columns + 15) / 16 * 16);
  hipops::ScatterPlan plan = op.plan(hipops::plan_options(), other.tensors(op), flags, with_workspace);
  for (int i = 0; i < plan.count; ++i) {
    plan.launch[i].geometry.step /= plan.launch[i].grid;
    plan.launch[i].geometry.walk.fits_int32 = 0;
    expect_success(op.launch_in_64_bits(other.tensors(op), plan.launch[i], workspace.data(), &other_report));
  }
  EXPECT(all_bits(other.y) == all_bits(t.y) && other.y.guards_are_whole() && workspace.guards_are_whole());
  EXPECT(report.count > 0 && report.count == other_report.count && report.first == other_report.first);
}

// The plan for more elements than 32 bits can count: its launches, and the places that its walks compute for some
// elements.
inline void check_plan_of_many(const ScatterOp& op, hipops_dtype dtype, int64_t rows, int64_t columns, int32_t dim) {
  using namespace hipops;
  const hipops_tensor y = view_of(uintptr_t{1} << 50, dtype, {rows, columns});
  const hipops_tensor x = view_of(uintptr_t{1} << 54, dtype, {rows, columns}, {1, rows});
  const hipops_tensor index = view_of(uintptr_t{1} << 58, HIPOPS_I64, {rows, columns});
  const ScatterTensors t{op.name, &y, &x, &index, dim};
  const int64_t count = rows * columns;
  int64_t bytes = -1;
  for (uint32_t flags : {0u, HIPOPS_DETERMINISTIC}) {
    CHECK(op.bytes(&y, &x, &index, dim, flags, &bytes) == HIPOPS_SUCCESS);
    CHECK((bytes == 0 || bytes == (4 * count + 15) / 16 * 16));
    const ScatterPlan plan = op.plan(hipops::plan_options(), t, flags, bytes != 0);
    for (int i = 0; i < plan.count; ++i) {
      CHECK(uint64_t{plan.launch[i].grid} * kScatterBlock < uint64_t{1} << 32);
      CHECK(plan.launch[i].geometry.step % (int64_t{plan.launch[i].grid} * kScatterBlock) == 0);
      const Walk<kScatterOperands>& walk = plan.launch[i].geometry.walk;
      if (walk.rank != 0) CHECK(walk.fits_int32 == (walk.count < int64_t{1} << 31));  // a kernel that clears a workspace walks over nothing
    }
  }
  auto offsets = [](const ScatterGeometry& g, int64_t i, int64_t(&at)[kScatterOperands]) {
    std::fill_n(at, kScatterOperands, 0);
    for (int d = 0; d + 1 < g.walk.rank; ++d) {
      for (int k = 0; k < kScatterOperands; ++k) at[k] += i % g.walk.dim[d].size * g.walk.dim[d].stride[k];
      i /= g.walk.dim[d].size;
    }
    for (int k = 0; k < kScatterOperands; ++k) at[k] += i * g.walk.outermost[k];
  };
  for (int64_t i : {int64_t{0}, count / 3, (int64_t{1} << 31) - 1, count - 1}) {
    const int64_t row = i / columns, column = i % columns;
    int64_t at[kScatterOperands];
    const ScatterGeometry sources = walk_sources(t, ScatterInto::kY, 1);
    CHECK(sources.walk.count == count);
    offsets(sources, i, at);
    CHECK(at[kScatterX] == row + column * rows);
    CHECK(at[kScatterY] == (dim == 0 ? column : row * columns));
    CHECK(at[kScatterIndex] == i);
    CHECK(at[kScatterPlace] == (dim == 0 ? row : column));
    CHECK(sources.y_step == (dim == 0 ? columns : 1));
    const ScatterGeometry reach = walk_reach(t, true, 1);
    offsets(reach, i, at);
    CHECK(at[kScatterY] == i);
    CHECK(at[kScatterX] == (dim == 0 ? column * rows : row));
    CHECK(reach.x_step == (dim == 0 ? 1 : rows));
    const ScatterGeometry lines = walk_lines(t, ScatterInto::kWorkspace, 1);
    const int64_t line = dim == 0 ? column : row;
    CHECK(lines.walk.count == (dim == 0 ? columns : rows));
    offsets(lines, line, at);
    CHECK(at[kScatterX] == (dim == 0 ? line * rows : line));
    CHECK(at[kScatterY] == (dim == 0 ? line : line * columns));
    CHECK(at[kScatterPlace] == at[kScatterIndex]);
    CHECK(lines.length == (dim == 0 ? rows : columns));
    CHECK(lines.place_step == lines.index_step);
  }
}

}  // namespace hipops_test
