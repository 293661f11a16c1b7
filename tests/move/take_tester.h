// What the tests of gather and index_select share: calls that are refused, calls that do nothing, and results against a
// plain loop. Each op brings a TakeOp.
#pragma once

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "as_many.h"
#include "catch.h"
#include "tensor/error.h"
#include "host_tensor.h"
#include "in_child.h"
#include "ops.h"
#include "move/take.h"
#include "tensor/tensor.h"

namespace hipops_test {

struct TakeOp {
  const char* name;
  bool index_is_1d;  // index_select's; gather's has y's shape
  hipops_status (*call)(const hipops_tensor* y, const hipops_tensor* x, const hipops_tensor* index, int32_t dim,
                        hipops_index_report* report, void* stream);
};

constexpr hipops_dtype kIndexDtypes[] = {HIPOPS_U8, HIPOPS_I16, HIPOPS_I32, HIPOPS_U32, HIPOPS_I64};

inline bool has_cpu() { return hipops::image_count > 0 && hipops::all_images[0].cpu_wave32 != nullptr; }

inline void set_bits(HostTensor& t, int64_t i, uint64_t bits) {
  int64_t offset = offset_of(t.view, i) * static_cast<int64_t>(hipops::parity::dtype_size(t.view.dtype));
  hipops::parity::store_bits(t.view.dtype, static_cast<unsigned char*>(t.view.data) + offset, bits);
}

inline void fill_with_bits(HostTensor& t, std::mt19937_64& random) {
  for (int64_t i = 0; i < t.count(); ++i) set_bits(t, i, random());
}

// The CPU runtime's facts, where it is the one in use.
inline const hipops::DeviceFacts& cpu_device() {
  const hipops::DeviceFacts* facts = nullptr;
  if (hipops::device_facts(&facts) != HIPOPS_SUCCESS) throw std::runtime_error(hipops_last_error());
  return *facts;
}

// ---- Calls

// A good call; its fields are there to be spoilt. x is [4, 8], and three rows of it are taken along dim 0.
class TakeCall {
 public:
  HostTensor y, x, index;
  hipops_index_report report = HIPOPS_INDEX_REPORT_INIT;
  hipops_tensor *y_view = &y.view, *x_view = &x.view, *index_view = &index.view;
  hipops_index_report* report_pointer = &report;
  int32_t dim = 0;

  explicit TakeCall(const TakeOp& op)
      : y(HIPOPS_F32, {3, 8}),
        x(HIPOPS_F32, {4, 8}),
        index(HIPOPS_I32, op.index_is_1d ? Sizes{3} : Sizes{3, 8}),
        op_(op) {
    for (int64_t i = 0; i < index.count(); ++i) index.set(i, static_cast<double>(i % 4));
  }

  // The op says no, with this message after its name, having chosen no runtime and touched no memory.
  void refused(hipops_status status, const std::string& message) {
    hipops::fail_runtime(719, "before");
    auto before = memory();
    EXPECT_EQUAL(run(), status);
    EXPECT_EQUAL(error_without_values(), std::string(op_.name) + ": " + message);
    EXPECT_EQUAL(hipops_last_runtime_error(), 0);
    EXPECT(memory() == before);
    EXPECT(report.count == 0 && report.first == UINT64_MAX);
    EXPECT_EQUAL(hipops_backend_in_use(), HIPOPS_BACKEND_AUTO);
  }
  void invalid(const std::string& message) { refused(HIPOPS_INVALID_ARGUMENT, message); }
  void wrong_dtype(const std::string& message) { refused(HIPOPS_UNSUPPORTED_DTYPE, message); }

  hipops_status run() { return op_.call(y_view, x_view, index_view, dim, report_pointer, nullptr); }

 private:
  std::vector<std::vector<unsigned char>> memory() const { return {y.bytes(), x.bytes(), index.bytes()}; }

  const TakeOp& op_;
};

inline std::string text_of(const void* pointer) {
  char text[32];
  std::snprintf(text, sizeof text, "%p", pointer);
  return text;
}

// What both refuse, in a child where nothing but the CPU could be chosen.
inline void check_refusals(const TakeOp& op) {
  auto call = [&](auto spoil, hipops_status status, const std::string& message) {
    TakeCall c(op);
    spoil(c);
    c.refused(status, message);
  };
  auto invalid = [&](auto spoil, const std::string& message) { call(spoil, HIPOPS_INVALID_ARGUMENT, message); };

  invalid([](TakeCall& c) { c.y_view = nullptr; }, "y is NULL, expected a tensor");
  invalid([](TakeCall& c) { c.x_view = nullptr; }, "x is NULL, expected a tensor");
  invalid([](TakeCall& c) { c.index_view = nullptr; }, "index is NULL, expected a tensor");
  invalid([](TakeCall& c) { c.x.view.rank = 9; }, "x.rank is 9, expected 0 to 8");
  invalid([](TakeCall& c) { c.x.view.rank = 0; }, "x.rank is 0, expected 1 to 8");
  invalid([](TakeCall& c) { c.index.view.rank = -1; }, "index.rank is -1, expected 0 to 8");
  invalid([](TakeCall& c) { c.y.view.shape[1] = -8; }, "y.shape[1] is -8, expected 0 or more");
  invalid([](TakeCall& c) { c.x.view.data = nullptr; }, "x.data is NULL, expected memory of 32 elements");
  invalid([](TakeCall& c) { c.y.view.data = nullptr; }, "y.data is NULL, expected memory of 24 elements");
  invalid([](TakeCall& c) { c.y.view.stride[0] = 0; },
          "y.stride[0] is 0, expected distinct elements in an output (shape[0] is 3)");
  for (int32_t dim : {-1, 2, INT32_MIN, INT32_MAX})
    invalid([dim](TakeCall& c) { c.dim = dim; }, "dim is " + std::to_string(dim) + ", expected 0 to 1 (x.rank is 2)");
  for (hipops_dtype dtype : {HIPOPS_F32, HIPOPS_F64, HIPOPS_I8, HIPOPS_U16, HIPOPS_U64})
    call(
        [dtype](TakeCall& c) {
          c.index.view.dtype = dtype;
          c.index.view.data = c.x.view.data;
        },
        HIPOPS_UNSUPPORTED_DTYPE,
        "index.dtype is " + std::string(hipops::dtype_name(dtype)) + ", expected u8, i16, i32, u32 or i64");
  call([](TakeCall& c) { c.y.view.dtype = HIPOPS_I32; }, HIPOPS_UNSUPPORTED_DTYPE,
       "y.dtype is i32, expected f32 (x.dtype)");
  invalid([](TakeCall& c) { c.y.view.data = c.x.view.data; }, "y overlaps x, expected separate memory");
  invalid([](TakeCall& c) { c.y.view.data = c.index.view.data; }, "y overlaps index, expected separate memory");
  auto* odd = reinterpret_cast<hipops_index_report*>(uintptr_t{4100});
  invalid([odd](TakeCall& c) { c.report_pointer = odd; }, "report is " + text_of(odd) + ", expected a multiple of 8");
  invalid([](TakeCall& c) { c.report_pointer = report_in(c.y); }, "report overlaps y, expected separate memory");
  invalid([](TakeCall& c) { c.report_pointer = report_in(c.x); }, "report overlaps x, expected separate memory");
  invalid([](TakeCall& c) { c.report_pointer = report_in(c.index); }, "report overlaps index, expected separate memory");
}

// No elements in y: success, whatever the rest, and the report as it was.
inline void check_empty(const TakeOp& op) {
  for (const Sizes& shape : {Sizes{0}, Sizes{5, 0}, Sizes{0, 5}, Sizes{2, 0, 3}, Sizes{0, 0}})
    for (int32_t dim = 0; dim < static_cast<int32_t>(shape.size()); ++dim) {
      const int64_t n = shape[static_cast<size_t>(dim)];
      HostTensor x(HIPOPS_U16, shape), y(HIPOPS_U16, shape), index(HIPOPS_I64, op.index_is_1d ? Sizes{n} : shape);
      hipops_index_report report = HIPOPS_INDEX_REPORT_INIT;
      EXPECT_EQUAL(op.call(&y.view, &x.view, &index.view, dim, &report, nullptr), HIPOPS_SUCCESS);
      EXPECT(y.guards_are_whole() && report.count == 0 && report.first == UINT64_MAX);
    }
  EXPECT_EQUAL(hipops_backend_in_use(), HIPOPS_BACKEND_AUTO);
}

// ---- Results

struct TakeOperands {
  HostTensor y, x, index;
  int32_t dim;
};

inline int64_t index_value(const HostTensor& index, int64_t i) {  // none of the five leaves int64
  const uint64_t bits = index.bits(i);
  switch (index.view.dtype) {
    case HIPOPS_I16:
      return static_cast<int16_t>(bits);
    case HIPOPS_I32:
      return static_cast<int32_t>(bits);
    default:
      return static_cast<int64_t>(bits);
  }
}

inline int64_t mark_of(hipops_dtype dtype) {
  switch (dtype) {
    case HIPOPS_U8:
      return UINT8_MAX;
    case HIPOPS_I16:
      return INT16_MAX;
    case HIPOPS_I32:
      return INT32_MAX;
    case HIPOPS_U32:
      return UINT32_MAX;
    default:
      return INT64_MAX;
  }
}

// The bits that y must have, and the report, by a plain loop over y.
inline void expect_taken(const TakeOp& op, const TakeOperands& t, const hipops_index_report* report) {
  const hipops_tensor& y = t.y.view;
  const int64_t size = t.x.view.shape[t.dim], mark = mark_of(t.index.view.dtype);
  for (int64_t i = 0; i < t.y.count(); ++i) {
    int64_t place[HIPOPS_MAX_RANK], rest = i;
    for (int d = y.rank - 1; d >= 0; --d) place[d] = rest % y.shape[d], rest /= y.shape[d];
    const int64_t at = index_value(t.index, op.index_is_1d ? place[t.dim] : i);
    uint64_t expected = 0;
    if (at >= 0 && at < size && at != mark) {
      place[t.dim] = at;
      int64_t from = 0;
      for (int d = 0; d < y.rank; ++d) from = from * t.x.view.shape[d] + place[d];
      expected = t.x.bits(from);
    }
    if (t.y.bits(i) == expected) continue;
    throw std::runtime_error("element " + std::to_string(i) + " of " + std::to_string(t.y.count()) + " is " +
                             std::to_string(t.y.bits(i)) + ", expected " + std::to_string(expected) + " (index " +
                             std::to_string(at) + ")");
  }
  EXPECT(t.y.guards_are_whole());
  if (report == nullptr) return;
  hipops_index_report expected = HIPOPS_INDEX_REPORT_INIT;
  for (int64_t i = t.index.count() - 1; i >= 0; --i) {
    const int64_t at = index_value(t.index, i);
    if ((at >= 0 && at < size) || at == mark) continue;
    ++expected.count;
    expected.first = static_cast<uint64_t>(i);
  }
  EXPECT_EQUAL(report->count, expected.count);
  EXPECT_EQUAL(report->first, expected.first);
}

// Draws an index: mostly valid, at times the mark, an end of the type, or just past the dimension.
inline uint64_t random_index(std::mt19937_64& random, int64_t size, hipops_dtype dtype) {
  switch (random() % 12) {
    case 0:
      return static_cast<uint64_t>(mark_of(dtype));
    case 1:
      return static_cast<uint64_t>(size);
    case 2:
      return random();
    case 3:
      return ~uint64_t{0} - random() % 3;
    default:
      return size == 0 ? 0 : random() % static_cast<uint64_t>(size);
  }
}

// Strides of a permuted, padded, at times backwards tensor; with `repeats`, at times 0.
inline Sizes random_strides(std::mt19937_64& random, const Sizes& shape, bool repeats) {
  std::vector<size_t> order(shape.size());
  for (size_t d = 0; d < order.size(); ++d) order[d] = d;
  if (random() % 2) std::shuffle(order.begin(), order.end(), random);
  Sizes stride(shape.size());
  int64_t step = random() % 4 == 0 ? 2 : 1;
  for (size_t k = order.size(); k-- > 0;) {
    const size_t d = order[k];
    stride[d] = random() % 6 == 0 ? -step : step;
    step *= shape[d];
    if (random() % 5 == 0) step += static_cast<int64_t>(random() % 5);
    if (repeats && random() % 7 == 0) stride[d] = 0;
  }
  return stride;
}

inline TakeOperands random_operands(const TakeOp& op, std::mt19937_64& random, hipops_dtype dtype,
                                    hipops_dtype index_dtype) {
  const size_t rank = 1 + random() % 5;
  const auto dim = static_cast<int32_t>(random() % rank);
  Sizes x_shape(rank), y_shape(rank);
  int64_t elements = 1;
  for (size_t d = 0; d < rank; ++d) {
    x_shape[d] = static_cast<int64_t>(1 + random() % 5);
    if (random() % 3 == 0 && elements < kManyElements) x_shape[d] = 8 * x_shape[d];
    elements *= x_shape[d];
    y_shape[d] = x_shape[d];
    if (!op.index_is_1d && random() % 4 == 0)
      y_shape[d] = static_cast<int64_t>(1 + random() % static_cast<uint64_t>(x_shape[d]));
  }
  y_shape[static_cast<size_t>(dim)] = static_cast<int64_t>(1 + random() % 20);
  if (random() % 20 == 0) x_shape[static_cast<size_t>(dim)] = 0;
  const Sizes index_shape = op.index_is_1d ? Sizes{y_shape[static_cast<size_t>(dim)]} : y_shape;
  const bool plain = random() % 2;
  auto strides = [&](const Sizes& shape, bool repeats) {
    return plain && random() % 4 ? contiguous(shape) : random_strides(random, shape, repeats);
  };
  Sizes index_stride = strides(index_shape, true);
  // Rows by an index that is the same along all but dim: the one that is moved in vectors.
  if (!op.index_is_1d && random() % 3 == 0)
    for (size_t d = 0; d < rank; ++d) index_stride[d] = d == static_cast<size_t>(dim) ? 1 : 0;
  const auto shift = [&] { return static_cast<int64_t>(random() % 3 == 0 ? random() % 16 : 0); };
  TakeOperands t{HostTensor(dtype, y_shape, strides(y_shape, false), shift()),
                 HostTensor(dtype, x_shape, strides(x_shape, true), shift()),
                 HostTensor(index_dtype, index_shape, index_stride, shift()), dim};
  fill_with_bits(t.x, random);
  for (int64_t i = 0; i < t.index.count(); ++i)
    set_bits(t.index, i, random_index(random, t.x.view.shape[dim], index_dtype));
  return t;
}

inline void check_random(const TakeOp& op) {
  std::mt19937_64 random(20240607);
  int met[hipops::kTakeKernels] = {};
  for (int round = 0; round < 60; ++round) {
    const AsMany as_many(round % 2 == 0);
    for (int dtype = HIPOPS_F32; dtype <= HIPOPS_U64; ++dtype)
      for (hipops_dtype index_dtype : kIndexDtypes) {
        TakeOperands t = random_operands(op, random, static_cast<hipops_dtype>(dtype), index_dtype);
        hipops_index_report report = HIPOPS_INDEX_REPORT_INIT;
        hipops_index_report* asked = random() % 4 ? &report : nullptr;
        EXPECT_EQUAL(std::string(op.call(&t.y.view, &t.x.view, &t.index.view, t.dim, asked, nullptr) == HIPOPS_SUCCESS
                                     ? "success"
                                     : hipops_last_error()),
                     "success");
        expect_taken(op, t, asked);
        int64_t index_stride[HIPOPS_MAX_RANK] = {};
        for (int d = 0; d < t.y.view.rank; ++d)
          index_stride[d] = op.index_is_1d ? (d == t.dim ? t.index.view.stride[0] : 0) : t.index.view.stride[d];
        ++met[hipops::plan_take(hipops::plan_options(), cpu_device(), t.y.view, t.x.view, t.index.view, index_stride, t.dim, nullptr).kernel];
      }
  }
  for (int k = 0; k < hipops::kTakeFirstRows; ++k) {
    EXPECT(met[k] + met[k + hipops::kTakeFirstRows] >= 20);
    EXPECT(met[k + hipops::kTakeFirstFew] >= 20);
  }
}

inline hipops::Op& kernels_of(const TakeOp& op) {
  for (int i = 0; i < hipops::op_count; ++i)
    if (!std::strcmp(hipops::all_ops[i]->name, op.name)) return *hipops::all_ops[i];
  throw std::runtime_error(std::string("no op ") + op.name);
}

// A launch as it would be, or with one block, so that it goes several rounds; and of rows that are too many to be
// counted by 32 bits, if not `small`.
inline void launch_taken(const TakeOp& op, TakeOperands& t, bool one_block, bool small, bool* met) {
  hipops_index_report report = HIPOPS_INDEX_REPORT_INIT;
  int64_t index_stride[HIPOPS_MAX_RANK] = {};
  for (int d = 0; d < t.y.view.rank; ++d)
    index_stride[d] = op.index_is_1d ? (d == t.dim ? t.index.view.stride[0] : 0) : t.index.view.stride[d];
  hipops::TakePlan plan = hipops::plan_take(hipops::plan_options(), cpu_device(), t.y.view, t.x.view, t.index.view, index_stride, t.dim, &report);
  if (op.index_is_1d) hipops::share_index(t.y.view, t.dim, &plan.args);
  if (!small) plan.args.walk.small = 0;
  if (one_block) {
    plan.args.step /= plan.grid;
    plan.grid = 1;
  }
  hipops::Op& kernels = kernels_of(op);
  EXPECT_EQUAL(hipops::launch_take(kernels, cpu_device(), plan, nullptr), HIPOPS_SUCCESS);
  expect_taken(op, t, &report);
  met[plan.kernel] = true;
}

// Every kernel over several rounds, up to an end amid a tile; and with the divisions of 64 bits that only more than
// 2^31 units call for.
inline void check_rounds(const TakeOp& op) {
  std::mt19937_64 random(7);
  bool met[hipops::kTakeKernels] = {};
  // Few units, whose blocks make no rounds: by themselves, and 16 bytes of a row.
  for (hipops_dtype dtype : {HIPOPS_U8, HIPOPS_BF16, HIPOPS_F32, HIPOPS_F64})
    for (int64_t columns : {7, 400}) {
      TakeOperands t{HostTensor(dtype, {67, columns}), HostTensor(dtype, {50, columns}, {columns + 16, 1}),
                     op.index_is_1d ? HostTensor(HIPOPS_U8, {67}) : HostTensor(HIPOPS_U8, {67, columns}, {1, 0}), 0};
      fill_with_bits(t.x, random);
      for (int64_t i = 0; i < t.index.count(); ++i) set_bits(t.index, i, random_index(random, 50, HIPOPS_U8));
      launch_taken(op, t, false, columns == 7, met);
    }
  const AsMany as_many;
  for (hipops_dtype dtype : {HIPOPS_U8, HIPOPS_BF16, HIPOPS_F32, HIPOPS_F64}) {
    const auto bytes = static_cast<int64_t>(hipops::parity::dtype_size(dtype));
    for (int64_t columns : {int64_t{7}, 16 / bytes, 32 / bytes, int64_t{33}, int64_t{32 + 256}, int64_t{33 + 4096}}) {
      const int64_t rows = columns > 4000 ? 20 : 200;
      TakeOperands t{
          HostTensor(dtype, {rows, columns}), HostTensor(dtype, {50, columns}, {columns + 16 - columns % 2, 1}),
          op.index_is_1d ? HostTensor(HIPOPS_I32, {rows}) : HostTensor(HIPOPS_I32, {rows, columns}, {1, 0}), 0};
      fill_with_bits(t.x, random);
      for (int64_t i = 0; i < t.index.count(); ++i) set_bits(t.index, i, random_index(random, 50, HIPOPS_I32));
      launch_taken(op, t, true, columns < 256, met);
    }
    // Rows in shared memory: one at a time, where those of x have gaps, and several.
    for (hipops_dtype index_dtype : kIndexDtypes)
      for (int64_t columns : {1200 / bytes * 4, 1200 / bytes * 4 + 1}) {
        const bool gaps = columns % 2 == 0, one = index_dtype == HIPOPS_I64;
        const int64_t taken = columns + 1024 - columns % 4, rows = one && !gaps ? 64 * 12 + 5 : 67;
        if (!gaps && !one) continue;
        const Sizes x_stride = gaps ? Sizes{columns + 3, 1} : Sizes{columns, 1};
        TakeOperands t{HostTensor(dtype, {rows, taken}), HostTensor(dtype, {rows, columns}, x_stride),
                       HostTensor(index_dtype, op.index_is_1d ? Sizes{taken} : Sizes{rows, taken}), 1};
        fill_with_bits(t.x, random);
        for (int64_t i = 0; i < t.index.count(); ++i)
          set_bits(t.index, i, random_index(random, columns, index_dtype));
        launch_taken(op, t, random() % 2, true, met);
      }
    // More than a block has room for where others share its unit.
    const int64_t columns = 40000 / bytes, taken = 2504;
    TakeOperands t{HostTensor(dtype, {65, taken}), HostTensor(dtype, {65, columns}, {}, 1),
                   HostTensor(HIPOPS_I32, op.index_is_1d ? Sizes{taken} : Sizes{65, taken}), 1};
    fill_with_bits(t.x, random);
    for (int64_t i = 0; i < t.index.count(); ++i) set_bits(t.index, i, random_index(random, columns, HIPOPS_I32));
    launch_taken(op, t, true, true, met);
  }
  for (int k = 0; k < hipops::kTakeKernels; ++k)
    if (!met[k]) throw std::runtime_error(std::string(kernels_of(op).kernel_names[k]) + " was not chosen");
}

// A check on the CPU runtime, with waves of 32 and of 64.
inline void on_cpu(const TakeOp& op, void (*check)(const TakeOp&)) {
  if (!has_cpu()) {
    WARN("left out: built without the CPU runtime");
    return;
  }
  for (const char* wave : {"32", "64"}) {
    INFO("wave " << wave);
    check_in_child({{"HIPOPS_BACKEND", "cpu"}, {"HIPOPS_CPU_WAVE", wave}}, [&] { check(op); });
  }
}

// Any dtype, with any of the five for the index, or none named.
inline void check_supports(const TakeOp& op) {
  for (int dtype = -1; dtype <= 14; ++dtype)
    for (int second = -1; second <= 14; ++second) {
      bool index = second == HIPOPS_NONE;
      for (hipops_dtype one : kIndexDtypes) index = index || second == one;
      INFO(dtype << " with " << second);
      CHECK(hipops_supports(op.name, static_cast<hipops_dtype>(dtype), static_cast<hipops_dtype>(second)) ==
            (dtype >= HIPOPS_F32 && dtype <= HIPOPS_U64 && index));
    }
}

// ---- The choice of a kernel

// Units of 1 to 16 bytes, as exponents of 2, for rows that are taken along dim 0.
inline int kernel_of(const hipops_tensor& y, const hipops_tensor& x) {
  const hipops_tensor index = view_of(1 << 20, HIPOPS_I32, {y.shape[0]});
  return hipops::plan_take(hipops::plan_options(), hipops::DeviceFacts(), y, x, index, {1}, 0, nullptr).kernel;
}

// More elements than 32 bits count: where the walk says that the ones at its ends are, and how it is launched.
inline void check_plan_of_many(int64_t rows, int64_t columns, int32_t dim, bool index_is_1d) {
  using namespace hipops;
  const hipops_tensor y = view_of(uintptr_t{1} << 44, HIPOPS_U8, {rows, columns});
  const hipops_tensor x = view_of(uintptr_t{1} << 45, HIPOPS_U8, {rows, columns}, {1, rows});
  const hipops_tensor index =
      view_of(uintptr_t{1} << 46, HIPOPS_I64, index_is_1d ? Sizes{y.shape[dim]} : Sizes{rows, columns});
  int64_t index_stride[HIPOPS_MAX_RANK] = {columns, 1};
  if (index_is_1d) index_stride[dim] = 1, index_stride[1 - dim] = 0;
  const TakePlan plan = plan_take(plan_options(), DeviceFacts(), y, x, index, index_stride, dim, nullptr);
  CHECK(plan.args.walk.count == rows * columns);
  CHECK(plan.args.walk.small == (rows * columns < int64_t{1} << 31));
  CHECK(uint64_t{plan.grid} * kTakeBlock < uint64_t{1} << 32);
  CHECK(plan.args.step == int64_t{plan.grid} * kTakeBlock * kTakeDepth);
  CHECK(plan.args.x_step == (dim == 0 ? 1 : rows));
  for (int64_t i : {int64_t{0}, rows * columns / 3, (int64_t{1} << 31) - 1, rows * columns - 1}) {
    if (i >= rows * columns) continue;
    int64_t at[kTakeOperands] = {}, rest = i;
    for (int d = 0; d + 1 < plan.args.walk.rank; ++d) {
      for (int k = 0; k < kTakeOperands; ++k) at[k] += rest % plan.args.walk.dim[d].size * plan.args.walk.dim[d].stride[k];
      rest /= plan.args.walk.dim[d].size;
    }
    for (int k = 0; k < kTakeOperands; ++k) at[k] += rest * plan.args.walk.outermost[k];
    CHECK(at[kTakeY] == i);
    CHECK(at[kTakeX] == (dim == 0 ? i % columns * rows : i / columns));
    CHECK(at[kTakeIndex] == (index_is_1d ? (dim == 0 ? i / columns : i % columns) : i));
  }
}

}  // namespace hipops_test
