// What the tests of scatter and scatter_add share: operands of any layout, calls that are refused, and how an index is
// meant.
#pragma once

#include <cstring>

#include "move/mover_tester.h"
#include "move/scatter_plan.h"
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

  hipops::Op& kernels() const {
    for (int i = 0; i < hipops::op_count; ++i)
      if (!std::strcmp(hipops::all_ops[i]->name, name)) return *hipops::all_ops[i];
    throw std::runtime_error(std::string("no op ") + name);
  }
};

constexpr hipops_dtype kIndexDtypes[] = {HIPOPS_U8, HIPOPS_I16, HIPOPS_I32, HIPOPS_U32, HIPOPS_I64};

// Memory for `bytes`, 256-byte aligned, between guards.
class Workspace {
 public:
  explicit Workspace(int64_t bytes) : bytes_(bytes), memory_(static_cast<size_t>(bytes) + 3 * 256, kGuard) {
    offset_ = 256 + (256 - reinterpret_cast<uintptr_t>(memory_.data()) % 256) % 256;
  }
  void* data() { return memory_.data() + offset_; }
  int64_t bytes() const { return bytes_; }
  bool guards_are_whole() const {
    for (size_t i = 0; i < memory_.size(); ++i)
      if ((i < offset_ || i >= offset_ + static_cast<size_t>(bytes_)) && memory_[i] != kGuard) return false;
    return true;
  }

 private:
  static constexpr unsigned char kGuard = 0x5a;
  int64_t bytes_;
  std::vector<unsigned char> memory_;
  size_t offset_;
};

// x is [5, 8], and goes into y, [4, 8], along dim 0. The fields are there to be spoilt.
class ScatterCall {
 public:
  HostTensor y, x, index;
  hipops_index_report report = HIPOPS_INDEX_REPORT_INIT;
  hipops_tensor *y_view = &y.view, *x_view = &x.view, *index_view = &index.view;
  hipops_index_report* report_pointer = &report;
  void* workspace = nullptr;
  int64_t workspace_bytes = 0, bytes = -7;
  int64_t* bytes_pointer = &bytes;
  int32_t dim = 0;
  uint32_t flags = 0;

  explicit ScatterCall(const ScatterOp& op, hipops_dtype dtype = HIPOPS_F32)
      : y(dtype, {4, 8}), x(dtype, {5, 8}), index(HIPOPS_I32, {5, 8}), op_(op) {
    for (int64_t i = 0; i < index.count(); ++i) index.set(i, static_cast<double>(i % 4));
  }

  // The op says no, with this message after its name, having chosen no runtime and touched no memory.
  void refused(hipops_status status, const std::string& message) {
    expect_refused(
        [&] {
          return op_.call(y_view, x_view, index_view, dim, flags, workspace, workspace_bytes, report_pointer, nullptr);
        },
        {&y, &x, &index}, status, std::string(op_.name) + ": " + message);
    EXPECT(report.count == 0 && report.first == UINT64_MAX);
  }
  // So does hipops_<op>_workspace_bytes.
  void bytes_refused(hipops_status status, const std::string& message) {
    expect_refused([&] { return op_.bytes(y_view, x_view, index_view, dim, flags, bytes_pointer); }, {&y, &x, &index},
                   status, std::string(op_.name) + ": " + message);
    EXPECT_EQUAL(bytes, -7);
  }

 private:
  const ScatterOp& op_;
};

inline void check_refusals(const ScatterOp& op) {
  auto refused = [&](auto spoil, hipops_status status, const std::string& message, bool both = true) {
    ScatterCall call(op);
    spoil(call);
    call.refused(status, message);
    if (both) call.bytes_refused(status, message);
  };
  auto invalid = [&](auto spoil, const std::string& message, bool both = true) {
    refused(spoil, HIPOPS_INVALID_ARGUMENT, message, both);
  };
  invalid([](ScatterCall& c) { c.y_view = nullptr; }, "y is NULL, expected a tensor");
  invalid([](ScatterCall& c) { c.x_view = nullptr; }, "x is NULL, expected a tensor");
  invalid([](ScatterCall& c) { c.index_view = nullptr; }, "index is NULL, expected a tensor");
  invalid([](ScatterCall& c) { c.x.view.rank = 9; }, "x.rank is 9, expected 0 to 8");
  invalid([](ScatterCall& c) { c.x.view.rank = 0; }, "x.rank is 0, expected 1 to 8");
  invalid([](ScatterCall& c) { c.index.view.rank = 1; }, "index.rank is 1, expected 2 (x.rank)");
  invalid([](ScatterCall& c) { c.y.view.rank = 1; }, "y.rank is 1, expected 2 (x.rank)");
  invalid([](ScatterCall& c) { c.y.view.shape[1] = -8; }, "y.shape[1] is -8, expected 0 or more");
  invalid([](ScatterCall& c) { c.index.view.shape[0] = 4; }, "index.shape[0] is 4, expected 5 (x.shape[0])");
  invalid([](ScatterCall& c) { c.index.view.shape[1] = 7; }, "index.shape[1] is 7, expected 8 (x.shape[1])");
  invalid([](ScatterCall& c) { c.y.view.shape[1] = 7; }, "x.shape[1] is 8, expected at most 7 (y.shape[1])");
  invalid([](ScatterCall& c) { c.dim = 1; }, "x.shape[0] is 5, expected at most 4 (y.shape[0])");
  for (int32_t dim : {-1, 2, INT32_MIN, INT32_MAX})
    invalid([dim](ScatterCall& c) { c.dim = dim; },
            "dim is " + std::to_string(dim) + ", expected 0 to 1 (x.rank is 2)");
  invalid([](ScatterCall& c) { c.y.view.stride[0] = 0; },
          "y.stride[0] is 0, expected distinct elements in an output (shape[0] is 4)");
  invalid([](ScatterCall& c) { c.flags = 2; }, "flags is 0x2, expected 0 or HIPOPS_DETERMINISTIC (0x1)");
  invalid([](ScatterCall& c) { c.flags = 0x80000001u; },
          "flags is 0x80000001, expected 0 or HIPOPS_DETERMINISTIC (0x1)");
  refused([](ScatterCall& c) { c.index.view.dtype = HIPOPS_F32; }, HIPOPS_UNSUPPORTED_DTYPE,
          "index.dtype is f32, expected u8, i16, i32, u32 or i64");
  refused([](ScatterCall& c) { c.y.view.dtype = HIPOPS_I32; }, HIPOPS_UNSUPPORTED_DTYPE,
          "y.dtype is i32, expected f32 (x.dtype)");

  // What is about memory concerns the op alone.
  invalid([](ScatterCall& c) { c.x.view.data = nullptr; }, "x.data is NULL, expected memory of 40 elements", false);
  invalid([](ScatterCall& c) { c.y.view.data = nullptr; }, "y.data is NULL, expected memory of 32 elements", false);
  invalid([](ScatterCall& c) { c.y.view.data = c.x.view.data; }, "y overlaps x, expected separate memory", false);
  invalid([](ScatterCall& c) { c.y.view.data = c.index.view.data; }, "y overlaps index, expected separate memory",
          false);
  invalid([](ScatterCall& c) { c.workspace = nullptr, c.workspace_bytes = 256; },
          "workspace is NULL, expected memory of workspace_bytes, 256, or workspace_bytes 0", false);
  auto* odd = reinterpret_cast<hipops_index_report*>(uintptr_t{4100});
  invalid([odd](ScatterCall& c) { c.report_pointer = odd; }, "report is " + text_of(odd) + ", expected a multiple of 8",
          false);
  invalid([](ScatterCall& c) { c.report_pointer = report_in(c.y); }, "report overlaps y, expected separate memory", false);
  invalid([](ScatterCall& c) { c.report_pointer = report_in(c.index); }, "report overlaps index, expected separate memory",
          false);

  ScatterCall call(op);
  call.bytes_pointer = nullptr;
  call.bytes_refused(HIPOPS_INVALID_ARGUMENT, "bytes is NULL, expected memory for an int64_t");
}

// A workspace that is misaligned, short, or somewhere in a tensor.
inline void check_workspace_refusals(const ScatterOp& op, hipops_dtype dtype, uint32_t flags) {
  Workspace workspace(128);  // 4 bytes for each of 32 elements
  char* const data = static_cast<char*>(workspace.data());
  auto invalid = [&](void* memory, int64_t bytes, const std::string& message) {
    ScatterCall call(op, dtype);
    call.flags = flags;
    call.workspace = memory;
    call.workspace_bytes = bytes;
    call.refused(HIPOPS_INVALID_ARGUMENT, message);
  };
  for (int64_t off : {1, 16, 128, 255})
    invalid(data + off, 4096, "workspace is " + text_of(data + off) + ", expected a multiple of 256");
  for (int64_t bytes : {int64_t{0}, int64_t{127}, INT64_MIN})
    invalid(data, bytes,
            "workspace_bytes is " + std::to_string(bytes) + ", expected 128 or more (hipops_" + op.name +
                "_workspace_bytes)");
  for (HostTensor ScatterCall::*member : {&ScatterCall::y, &ScatterCall::x, &ScatterCall::index}) {
    ScatterCall call(op, dtype);
    call.flags = flags;
    call.workspace = data;
    call.workspace_bytes = 128;
    (call.*member).view.data = data + 64;
    call.refused(HIPOPS_INVALID_ARGUMENT, std::string("workspace overlaps ") +
                                              (member == &ScatterCall::y   ? "y"
                                               : member == &ScatterCall::x ? "x"
                                                                           : "index") +
                                              ", expected separate memory");
  }
}

// Sources without elements: success, whatever y is, with nothing launched.
inline void check_empty(const ScatterOp& op) {
  for (hipops_dtype dtype : {HIPOPS_F32, HIPOPS_BF16})
    for (const Sizes& shape : {Sizes{0}, Sizes{5, 0}, Sizes{0, 5}, Sizes{2, 0, 3}})
      for (int32_t dim = 0; dim < static_cast<int32_t>(shape.size()); ++dim)
        for (uint32_t flags : {0u, HIPOPS_DETERMINISTIC}) {
          Sizes y_shape = shape;
          for (int64_t& size : y_shape) size = std::max<int64_t>(size, 3);
          HostTensor x(dtype, shape), y(dtype, y_shape), index(HIPOPS_I64, shape);
          const std::vector<unsigned char> before = y.bytes();
          hipops_index_report report = HIPOPS_INDEX_REPORT_INIT;
          int64_t bytes = -1;
          EXPECT_EQUAL(op.bytes(&y.view, &x.view, &index.view, dim, flags, &bytes), HIPOPS_SUCCESS);
          EXPECT_EQUAL(bytes, 0);
          EXPECT_EQUAL(op.call(&y.view, &x.view, &index.view, dim, flags, nullptr, 0, &report, nullptr),
                       HIPOPS_SUCCESS);
          EXPECT(y.bytes() == before && report.count == 0 && report.first == UINT64_MAX);
        }
  EXPECT_EQUAL(hipops_backend_in_use(), HIPOPS_BACKEND_AUTO);
}

// ---- Operands

inline void set_bits(HostTensor& t, int64_t i, uint64_t bits) {
  const int64_t offset = offset_of(t.view, i) * static_cast<int64_t>(hipops::parity::dtype_size(t.view.dtype));
  hipops::parity::store_bits(t.view.dtype, static_cast<unsigned char*>(t.view.data) + offset, bits);
}

inline int64_t index_value(const HostTensor& index, int64_t i) {
  const uint64_t bits = index.bits(i);
  switch (index.view.dtype) {
    case HIPOPS_I16: return static_cast<int16_t>(bits);
    case HIPOPS_I32: return static_cast<int32_t>(bits);
    default: return static_cast<int64_t>(bits);
  }
}

inline int64_t mark_of(hipops_dtype dtype) {
  switch (dtype) {
    case HIPOPS_U8: return UINT8_MAX;
    case HIPOPS_I16: return INT16_MAX;
    case HIPOPS_I32: return INT32_MAX;
    case HIPOPS_U32: return UINT32_MAX;
    default: return INT64_MAX;
  }
}

struct ScatterOperands {
  HostTensor y, x, index;
  int32_t dim;

  hipops::ScatterTensors tensors(const ScatterOp& op) const { return {op.name, &y.view, &x.view, &index.view, dim}; }

  // The place in y of source i, or -1 where its index means nothing; and whether that counts as out of range.
  int64_t target_of(int64_t i, bool* bad) const {
    const int64_t at = index_value(index, i), size = y.view.shape[dim], mark = mark_of(index.view.dtype);
    *bad = at != mark && (at < 0 || at >= size);
    if (at == mark || *bad) return -1;
    int64_t place[HIPOPS_MAX_RANK], rest = i, to = 0;
    for (int d = x.view.rank - 1; d >= 0; --d) place[d] = rest % x.view.shape[d], rest /= x.view.shape[d];
    place[dim] = at;
    for (int d = 0; d < y.view.rank; ++d) to = to * y.view.shape[d] + place[d];
    return to;
  }

  hipops_index_report expected_report() const {
    hipops_index_report report = HIPOPS_INDEX_REPORT_INIT;
    for (int64_t i = index.count() - 1; i >= 0; --i) {
      bool bad;
      target_of(i, &bad);
      if (bad) ++report.count, report.first = static_cast<uint64_t>(i);
    }
    return report;
  }
};

// Mostly valid, at times the mark, an end of the type, or just past the dimension.
inline uint64_t random_index(Random& random, int64_t size, hipops_dtype dtype) {
  switch (random() % 12) {
    case 0: return static_cast<uint64_t>(mark_of(dtype));
    case 1: return static_cast<uint64_t>(size);
    case 2: return random();
    case 3: return ~uint64_t{0} - random() % 3;
    default: return size == 0 ? 0 : random() % static_cast<uint64_t>(size);
  }
}

// x and y are filled by `fill`; elements of x that share memory are whatever was written last.
template <class Fill>
ScatterOperands random_operands(Random& random, hipops_dtype dtype, hipops_dtype index_dtype, Fill fill) {
  const size_t rank = 1 + random() % 5;
  const auto dim = static_cast<int32_t>(random() % rank);
  Sizes x_shape(rank), y_shape(rank);
  int64_t elements = 1;
  for (size_t d = 0; d < rank; ++d) {
    x_shape[d] = pick(random, 1, 5);
    if (random() % 3 == 0 && elements < kManyElements) x_shape[d] *= 8;
    elements *= x_shape[d];
    y_shape[d] = x_shape[d] + (random() % 4 == 0 ? pick(random, 0, 8) : 0);
  }
  x_shape[static_cast<size_t>(dim)] = pick(random, 1, 20);
  y_shape[static_cast<size_t>(dim)] = random() % 20 == 0 ? 0 : pick(random, 1, 12);
  const bool plain = random() % 2;
  Sizes index_stride = plain ? contiguous(x_shape) : input_strides(random, x_shape);
  // Rows by an index that is the same along all but dim: what may be moved in vectors.
  if (random() % 3 == 0)
    for (size_t d = 0; d < rank; ++d) index_stride[d] = d == static_cast<size_t>(dim) ? 1 : 0;
  auto shift = [&] { return random() % 3 == 0 ? pick(random, 0, 15) : 0; };
  ScatterOperands t{
      HostTensor(dtype, y_shape, plain || random() % 4 == 0 ? contiguous(y_shape) : nested_strides(random, y_shape),
                 shift()),
      HostTensor(dtype, x_shape, plain || random() % 4 == 0 ? contiguous(x_shape) : input_strides(random, x_shape),
                 shift()),
      HostTensor(index_dtype, x_shape, index_stride, shift()), dim};
  fill(t.x), fill(t.y);
  for (int64_t i = 0; i < t.index.count(); ++i)
    set_bits(t.index, i, random_index(random, t.y.view.shape[dim], index_dtype));
  return t;
}

inline void expect_success(hipops_status status) {
  if (status != HIPOPS_SUCCESS) throw std::runtime_error(hipops_last_error());
}

// Runs the op, with a workspace of the bytes that it asks for if `with_workspace`, and checks the report and what must
// be as it was.
inline void run(const ScatterOp& op, ScatterOperands& t, uint32_t flags, bool with_workspace, bool with_report) {
  int64_t bytes = -1;
  expect_success(op.bytes(&t.y.view, &t.x.view, &t.index.view, t.dim, flags, &bytes));
  Workspace workspace(bytes);
  const std::vector<unsigned char> x = t.x.bytes(), index = t.index.bytes();
  hipops_index_report report = HIPOPS_INDEX_REPORT_INIT;
  expect_success(op.call(&t.y.view, &t.x.view, &t.index.view, t.dim, flags, with_workspace ? workspace.data() : nullptr,
                         with_workspace ? bytes : 0, with_report ? &report : nullptr, nullptr));
  EXPECT(t.x.bytes() == x && t.index.bytes() == index && t.y.guards_are_whole() && workspace.guards_are_whole());
  if (!with_report) return;
  const hipops_index_report expected = t.expected_report();
  EXPECT_EQUAL(report.count, expected.count);
  EXPECT_EQUAL(report.first, expected.first);
}

// More elements than 32 bits count: how the plan's walks are launched, and where they say that the ones at their ends
// are.
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
      if (walk.rank != 0) CHECK(walk.small == (walk.count < int64_t{1} << 31));  // what clears a workspace only counts
    }
  }
  auto offsets = [](const ScatterGeometry& g, int64_t i, int64_t (&at)[kScatterOperands]) {
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
