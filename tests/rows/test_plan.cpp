// How a row op's tensors are described to its kernels (capi/rows/problem.h), and the plans of their launches.
#include "rows/plan.h"

#include <algorithm>
#include <iterator>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "log_softmax.h"
#include "op_tester.h"
#include "rms_norm_backward.h"
#include "rows/column_sums.h"
#include "softmax.h"
#include "tensor/tensor.h"

using namespace hipops;
using namespace hipops_test;

namespace {

constexpr uintptr_t kAddress = uintptr_t{1} << 40;  // no test reads memory there

RowProblem problem_of(const hipops_tensor& x, const hipops_tensor& y, RowStreams<2>* streams,
                      const hipops_tensor* weight = nullptr) {
  const RowColumns columns = row_columns(weight);
  return describe_rows({&x, &y}, 1, &columns, 1, weight ? dtype_bytes(weight->dtype) : 0, streams);
}
RowLayout layout_of(const hipops_tensor& x, const hipops_tensor& y, const hipops_tensor* weight = nullptr) {
  RowStreams<2> streams;
  return problem_of(x, y, &streams, weight).layout;
}

// The offset that a kernel computes for row `row` of a stream.
int64_t row_offset(const RowStreams<2>& s, int stream, int64_t row) {
  int64_t offset = 0;
  for (int d = 0; d < s.dimensions; ++d) {
    offset += row % s.outer[d].size * s.outer[d].stride[stream];
    row /= s.outer[d].size;
  }
  return row == 0 ? offset : INT64_MIN;  // the sizes cover every row number
}

// "" if the streams give every row the offset that the views give it.
std::string wrong_rows(const hipops_tensor& x, const hipops_tensor& y) {
  RowStreams<2> s;
  problem_of(x, y, &s);
  const int last = x.rank - 1;
  int64_t rows = 1;
  for (int d = 0; d < last; ++d) rows *= x.shape[d];
  if (s.rows != rows || s.cols != x.shape[last]) return "rows or columns";
  if (s.step[0] != x.stride[last] || s.step[1] != y.stride[last]) return "the steps of columns";
  if (s.dimensions < 1 || s.dimensions > kMostOuterDimensions) return std::to_string(s.dimensions) + " dimensions";
  for (int64_t row = 0; row < rows; ++row)
    for (const int stream : {0, 1})
      if (row_offset(s, stream, row) != offset_of(stream == 0 ? x : y, row * s.cols))
        return "row " + std::to_string(row) + " of stream " + std::to_string(stream);
  for (int d = 0; d + 1 < s.dimensions; ++d) {
    const auto continues = [&](int i) { return s.outer[d + 1].stride[i] == s.outer[d].stride[i] * s.outer[d].size; };
    if (continues(0) && continues(1)) return "dimension " + std::to_string(d) + " could be one with the next";
  }
  return "";
}

DeviceNumbers device(int units, int wave, int largest_cluster, int blocks_in_one) {
  DeviceNumbers d;
  d.prefetches_rows = largest_cluster > 1 || units == 2;
  d.units = units, d.wave_size = wave, d.largest_cluster = largest_cluster, d.blocks_in_one = blocks_in_one;
  return d;
}
// NVIDIA with clusters of several sizes and without, AMD with either wave and with few registers, a small GPU, the CPU.
const DeviceNumbers kDevices[] = {device(132, 32, 16, 1), device(132, 32, 15, 1), device(132, 32, 3, 1),
                                  device(114, 32, 8, 1),  device(108, 32, 1, 1),  device(304, 64, 1, 2),
                                  device(48, 32, 1, 2),   device(64, 64, 1, 1),  device(2, 32, 1, 2),   device(2, 64, 1, 2)};

constexpr RowKernel kList[] = {HIPOPS_SOFTMAX_KERNELS(HIPOPS_ROW_KERNEL_ENTRY)};
constexpr RowKernels kKernels = {kList, static_cast<int>(std::size(kList))};
constexpr RowKernel kFewList[] = {HIPOPS_LOG_SOFTMAX_KERNELS(HIPOPS_ROW_KERNEL_ENTRY)};
constexpr RowKernels kFewKernels = {kFewList, static_cast<int>(std::size(kFewList))};
constexpr RowKernel kSummedList[] = {HIPOPS_RMS_NORM_BACKWARD_ROW_KERNELS(HIPOPS_ROW_KERNEL_ENTRY)};
constexpr RowKernels kSummedKernels = {kSummedList, static_cast<int>(std::size(kSummedList))};

// "" if the launch covers all rows of the problem, within the limits of its kernel and of the device.
std::string wrong_plan(const RowProblem& p, const DeviceNumbers& d, const RowLaunch& plan) {
  const RowKernels kernels = kKernels;
  if (plan.kernel < 0 || plan.kernel >= kernels.count) return "its kernel";
  const RowKernel& k = kernels.kernel[plan.kernel];
  if (k.dtype != p.dtype) return "its dtype";
  if (k.layout != RowLayout::strided && p.cols > kMostIntColumns) return "columns past an int";
  const int64_t bytes = dtype_bytes(p.dtype), length = 16 / bytes, grid = plan.grid, block = plan.block, cluster = plan.cluster;
  const bool has_gaps = p.layout == RowLayout::strided || p.cols < kLeastUnalignedVectors * length;
  if (k.layout != p.layout) {
    const RowLayout least = p.layout == RowLayout::packed ? RowLayout::unaligned : p.layout;
    if (k.layout < least || k.layout == RowLayout::packed) return "its layout";
    if (k.layout == RowLayout::unaligned && has_gaps) return "unaligned where there are gaps";
  }

  const bool in_cluster = k.body == RowBody::cluster, has_row = k.lanes == k.block;
  const int64_t most = in_cluster && d.largest_cluster == 1 ? int64_t{k.block} * d.blocks_in_one : k.block;
  if (block < 1 || block > most || block % d.wave_size != 0) return "its block";
  const bool may_be_smaller = has_row && (k.body <= RowBody::cluster || k.body == RowBody::streamed);
  if (!may_be_smaller && block != k.block) return "a block with some of its work-items";
  if (cluster < 1 || cluster > d.largest_cluster || (cluster & (cluster - 1)) != 0 || (!in_cluster && cluster != 1))
    return "its cluster";
  if (grid < 1 || grid % cluster != 0 || grid * block >= int64_t{1} << 32) return "its grid";
  const int64_t vectors = k.layout == RowLayout::packed    ? 1
                          : k.layout == RowLayout::strided ? p.cols
                          : k.layout == RowLayout::aligned ? (p.cols + length - 1) / length
                                                           : p.cols / length;
  if (k.body <= RowBody::cluster && (has_row ? block * cluster : int64_t{plan.lanes}) * k.vectors < vectors)
    return "the row does not fit";
  if (k.body == RowBody::streamed && block < k.block && block * k.vectors < vectors) return "fewer work-items than the row needs";

  const bool is_shorter = !has_row && k.layout == RowLayout::aligned;
  if (!is_shorter && plan.lanes != (has_row ? block : k.lanes)) return "its lanes";
  if (is_shorter && (plan.lanes < 1 || plan.lanes > k.lanes || (plan.lanes & (plan.lanes - 1)) != 0)) return "its lanes for a shorter row";
  int64_t rows = has_row ? 1 : k.block / plan.lanes, all = p.rows;  // of a block, and of the problem
  if (k.body == RowBody::parts) {
    const RowKernel& next = kernels.kernel[std::min(plan.kernel + 1, kernels.count - 1)];
    const int64_t unit = kSpanVectors * length;
    if (!p.may_split) return "split in place";
    if (next.body != RowBody::merged || next.layout != k.layout || next.block != k.block || next.vectors != k.vectors)
      return "the kernel of its second launch";
    if (plan.spans < 1 || plan.spans > kMostSpans || plan.per_block < 1) return "its spans";
    // All spans are of per_block units, or one more. Each has room for all parts, at any offset of the row's first vector.
    if (plan.spans * plan.per_block * unit + 2 * length > p.cols) return "the room of spans";
    if (plan.spans * (plan.per_block + 1) * unit + 16 <= p.cols) return "units of no span";
    if (plan.per_block * unit * bytes < plan.spans * kMostPartBytes + 16) return "the room for parts";
    all = p.rows * plan.spans;
  } else if (plan.spans != 0 || k.body == RowBody::merged) {
    return "spans of rows that are whole";
  }
  if (k.layout == RowLayout::packed) {
    rows = plan.per_block;
    if (rows < 1 || rows * p.cols > staged_at_most(p.dtype)) return "the rows of a stage";
  }
  const int64_t groups = grid / cluster;
  if (plan.row_step != groups * rows) return "its step";
  if ((groups - 1) * rows >= all) return "a block without rows";
  return "";
}

}  // namespace

TEST_CASE("kernels find every row of any view", "[rows]") {
  std::mt19937_64 random(1);
  auto between = [&random](int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random() % static_cast<uint64_t>(high - low + 1));
  };
  for (int i = 0; i < 20000; ++i) {
    Sizes shape(static_cast<size_t>(between(1, HIPOPS_MAX_RANK)));
    for (int64_t& size : shape) size = between(1, 3);
    Sizes x_stride = contiguous(shape), y_stride = x_stride;
    for (Sizes* stride : {&x_stride, &y_stride})
      for (int64_t& step : *stride) {
        const int64_t kind = between(0, 7);
        if (kind == 0) step = between(-50, 50);
        if (kind == 1) step = -step;
      }
    const hipops_tensor x = view_of(kAddress, HIPOPS_F32, shape, x_stride), y = view_of(kAddress, HIPOPS_F32, shape, y_stride);
    const std::string problem = wrong_rows(x, y);
    if (!problem.empty()) FAIL("tensors " << i << ": " << problem);
  }
}

TEST_CASE("kernels find rows past 2^31 and 4 GiB", "[rows]") {
  constexpr int64_t many = int64_t{1} << 33;
  const hipops_tensor x = view_of(kAddress, HIPOPS_BF16, {7, many, 5}),
                      y = view_of(kAddress, HIPOPS_BF16, {7, many, 5}, {5, 35, 1});
  RowStreams<2> together, apart;
  problem_of(x, x, &together);
  problem_of(x, y, &apart);
  CHECK(together.rows == 7 * many);
  CHECK(together.dimensions == 1);
  CHECK(together.outer[0].size == 7 * many);
  REQUIRE(apart.dimensions == 2);
  for (int64_t row : {int64_t{0}, many - 1, many, 3 * many + 12345, 7 * many - 1}) {
    CHECK(row_offset(apart, 0, row) == offset_of(x, row * 5));
    CHECK(row_offset(apart, 1, row) == offset_of(y, row * 5));
  }
}

TEST_CASE("the layout of rows follows from their addresses, strides and lengths", "[rows]") {
  for (const hipops_dtype dtype : kFloats) {
    INFO(dtype_name(dtype));
    const int64_t bytes = dtype_bytes(dtype), v = 16 / bytes, cols = 40 * v;
    const auto layout = [&](const Sizes& shape, const Sizes& stride = {}, int64_t shift = 0) {
      const hipops_tensor plain = view_of(kAddress, dtype, shape),
                          other = view_of(kAddress + static_cast<uintptr_t>(shift), dtype, shape, stride);
      const RowLayout as_x = layout_of(other, plain);
      CHECK(layout_of(plain, other) == as_x);  // the same for y as for x
      return as_x;
    };
    const auto with_weight = [&](hipops_dtype of, int64_t shift, int64_t step) {
      const hipops_tensor x = view_of(kAddress, dtype, {5, cols}),
                          weight = view_of(kAddress + static_cast<uintptr_t>(shift), of, {cols}, {step});
      return layout_of(x, x, &weight);
    };
    CHECK(layout({5, cols}, {-50 * v, 1}, 16) == RowLayout::aligned);
    CHECK(layout({1, 3, cols}, {60 * v + 1, cols, 1}) == RowLayout::aligned);  // a dimension of one element has no step
    CHECK(layout({5, cols + 1}) == RowLayout::unaligned);
    CHECK(layout({5, cols}, {}, bytes) == RowLayout::unaligned);
    CHECK(layout({5, 3, cols}, {3 * cols + 1, cols, 1}) == RowLayout::unaligned);
    CHECK(layout({5, cols}, {2 * cols, 2}) == RowLayout::strided);
    CHECK(layout({5, cols}, {cols, -1}) == RowLayout::strided);
    CHECK(with_weight(HIPOPS_F32, 0, 1) == RowLayout::aligned);
    CHECK(with_weight(dtype, bytes, 1) == RowLayout::unaligned);
    CHECK(with_weight(dtype, 0, 0) == RowLayout::strided);
    const auto short_rows = [&](const Sizes& shape, const Sizes& stride = {}) {
      const hipops_tensor rows = view_of(kAddress + static_cast<uintptr_t>(bytes), dtype, shape, stride);
      return layout_of(rows, rows);
    };
    CHECK(short_rows({2, 3, 5, 3}) == RowLayout::packed);
    CHECK(short_rows({1, 3}, {100, 1}) == RowLayout::packed);  // one row has no gap after it
    for (const Sizes& stride : {Sizes{4, 1}, Sizes{0, 1}, Sizes{6, 2}}) CHECK(short_rows({7, 3}, stride) == RowLayout::strided);
  }
}

TEST_CASE("a row may be split if no input is its output", "[rows]") {
  const hipops_tensor x = view_of(kAddress, HIPOPS_F32, {2, 100}), y = view_of(2 * kAddress, HIPOPS_F32, {2, 100});
  RowStreams<2> s;
  CHECK(problem_of(x, y, &s).may_split);
  CHECK_FALSE(problem_of(x, x, &s).may_split);
}

TEST_CASE("plans of HIPOPS_BATCH_INVARIANT do not depend on rows and units, but for the grid", "[rows]") {
  const hipops_tensor x = view_of(kAddress, HIPOPS_F32, {200, 7}), whole = view_of(kAddress, HIPOPS_F32, {200, 2048});
  for (const hipops_tensor& view : {x, whole}) {
    RowStreams<2> s;
    const RowProblem p = describe_rows({&view, &view}, 1, nullptr, 0, 0, &s, HIPOPS_BATCH_INVARIANT);
    CHECK(p.is_invariant);
    CHECK(p.layout == (view.shape[1] == 7 ? RowLayout::strided : RowLayout::aligned));
  }
  PlanOptions options;
  options.small_apart = false;  // as plan_rows() sets it
  for (const DeviceNumbers& d : kDevices)
    for (const hipops_dtype dtype : kFloats)
      for (const RowLayout layout : {RowLayout::aligned, RowLayout::strided})
        for (int64_t cols = 16 / dtype_bytes(dtype); cols < 1 << 20; cols += (cols / 7 + 8) / 8 * 8) {
          std::set<std::vector<int64_t>> plans;
          for (const int64_t rows : {1, 7, 200, 600, 5000, 1 << 20})
            for (const int units : {d.units, d.units / 2 + 1}) {
              DeviceNumbers other = d;
              other.units = units;
              const RowProblem p = {dtype, layout, rows, cols, rows == 7, true};
              for (const RowKernels* kernels : {&kKernels, &kFewKernels}) {
                const RowLaunch plan = resolve(options, *kernels, choose_rows_by_default(options, *kernels, p, other), p, other);
                plans.insert({kernels->count, plan.kernel, plan.block, plan.cluster, plan.lanes, plan.spans});
              }
              const RowChunks chunks = divide_rows(kSummedKernels, p, d.largest_cluster > 1);
              plans.insert({0, chunks.kernel, plan_chunks(options, kSummedKernels, chunks, p, other).block, chunks.lanes, chunks.spans});
            }
          INFO(dtype_name(dtype) << ", " << cols << " columns, layout " << int(layout));
          REQUIRE(plans.size() == 3);  // one for each list of kernels
        }
}

TEST_CASE("rows of a block have the same part of a mask that repeats", "[rows]") {
  const Sizes shape = {4, 32, 1024, 4096};
  const hipops_tensor x = view_of(kAddress, HIPOPS_BF16, shape),
                      mask = view_of(2 * kAddress, HIPOPS_F32, shape, {1024 * 4096, 0, 4096, 1});
  RowStreams<2, 0, 1> s;
  const RowProblem p = describe_rows({&x, &x, &mask}, 1, nullptr, 0, 0, &s);
  CHECK(p.period == 4 * 1024);
  REQUIRE(s.dimensions == 3);
  CHECK((s.outer[0].size == 1024 && s.outer[1].size == 4 && s.outer[2].size == 32));
  CHECK(s.outer[2].stride[2] == 0);
  for (const DeviceNumbers& d : kDevices) {
    const RowLaunch plan = resolve({}, kFewKernels, choose_rows_by_default({}, kFewKernels, p, d), p, d);
    CHECK(plan.row_step % p.period == 0);
    CHECK(plan.row_step < p.rows);
  }
}

TEST_CASE("every plan covers all rows, on every device", "[rows]") {
  for (const hipops_dtype dtype : kFloats) {
    std::set<int> chosen;
    for (const DeviceNumbers& d : kDevices)
      for (const RowLayout layout : {RowLayout::aligned, RowLayout::unaligned, RowLayout::strided, RowLayout::packed}) {
        const int64_t length = 16 / dtype_bytes(dtype), step = layout == RowLayout::aligned ? length : 1,
                      least = layout == RowLayout::unaligned ? kLeastUnalignedVectors * length : step,
                      most = layout == RowLayout::packed ? 128 / dtype_bytes(dtype) : int64_t{1} << 40;
        for (int64_t cols = least; cols <= most; cols += (cols / 50 + step) / step * step)
          for (const int64_t rows : {int64_t{1}, int64_t{7}, int64_t{200}, int64_t{5000}, int64_t{1} << 20, int64_t{1} << 33})
            for (const bool may_split : {false, true}) {
              const RowProblem p = {dtype, layout, rows, cols, may_split};
              const RowLaunch plan = resolve({}, kKernels, choose_rows_by_default({}, kKernels, p, d), p, d);
              chosen.insert(plan.kernel);
              if (plan.spans != 0) chosen.insert(plan.kernel + 1);
              const std::string wrong = wrong_plan(p, d, plan);
              if (!wrong.empty())
                FAIL(dtype_name(dtype) << ", " << rows << " rows of " << cols << " columns, layout " << int(layout)
                                       << ", units " << d.units << ": kernel " << plan.kernel << ", grid " << plan.grid
                                       << " of " << plan.block << ", cluster " << plan.cluster << ": " << wrong);
            }
      }
    const auto of_dtype = [&](const RowKernel& k) { return k.dtype == dtype; };
    CHECK(static_cast<int>(chosen.size()) == std::count_if(std::begin(kList), std::end(kList), of_dtype));
  }
}
