// hipops_index_add: what it refuses, its workspace, and its results on the CPU with every kernel that it has.
#include "index_add.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "device/core/cpu.h"
#include "device/core/launch_contract.h"
#include "index/plan.h"
#include "tensor/overlap.h"
#include "runtime/runtime.h"
#include "move/take_tester.h"
#include "policy/plan_options.h"

using namespace hipops;
using namespace hipops_test;

namespace {

constexpr hipops_dtype kAdded[] = {HIPOPS_F32, HIPOPS_F16, HIPOPS_BF16, HIPOPS_F64,
                                   HIPOPS_U8,  HIPOPS_I32, HIPOPS_U32,  HIPOPS_I64};

Op& op() {
  for (int i = 0; i < op_count; ++i)
    if (!std::strcmp(all_ops[i]->name, "index_add")) return *all_ops[i];
  throw std::runtime_error("no op index_add");
}

// Memory for a workspace, of all sorts of bytes, with some around it that must stay as they are.
class Workspace {
 public:
  explicit Workspace(int64_t bytes) : bytes_(bytes), memory_(static_cast<size_t>(bytes) + 3 * kAlignment) {
    for (size_t i = 0; i < memory_.size(); ++i) memory_[i] = before(i);
  }

  unsigned char* data() { return memory_.data() + first(); }
  int64_t bytes() const { return bytes_; }

  bool guards_are_whole() const {
    for (size_t i = 0; i < memory_.size(); ++i)
      if ((i < first() || i >= first() + static_cast<size_t>(bytes_)) && memory_[i] != before(i)) return false;
    return true;
  }

 private:
  static constexpr size_t kAlignment = 256;

  // Never 0, and no two neighbouring words alike.
  static unsigned char before(size_t i) { return static_cast<unsigned char>(1 + i * 37 % 251); }
  size_t first() const {
    return 2 * kAlignment - reinterpret_cast<uintptr_t>(memory_.data()) % kAlignment;
  }

  int64_t bytes_;
  std::vector<unsigned char> memory_;
};

// ---- Calls

// A good call; its fields are there to be spoilt. 300 rows of x, which are enough to be ordered, are added to y's four.
class Call {
 public:
  HostTensor y{HIPOPS_F32, {4, 8}}, x{HIPOPS_F32, {300, 8}}, index{HIPOPS_I32, {300}};
  hipops_tensor *y_view = &y.view, *x_view = &x.view, *index_view = &index.view;
  int32_t dim = 0;
  hipops_index_report report = HIPOPS_INDEX_REPORT_INIT;
  hipops_index_report* report_pointer = &report;
  Workspace memory{1 << 14};
  void* workspace = memory.data();
  int64_t workspace_bytes = memory.bytes();

  Call() {
    for (int64_t i = 0; i < 300; ++i) index.set(i, static_cast<double>(i % 4));
    x.randomize(1, -1, 1), y.randomize(2, -1, 1);
  }

  hipops_status run() {
    return hipops_index_add(y_view, x_view, index_view, dim, workspace, workspace_bytes, report_pointer, nullptr);
  }
  hipops_status ask(int64_t* bytes) { return hipops_index_add_workspace_bytes(y_view, x_view, index_view, dim, bytes); }

  // The op says no, with this message after its name, having chosen no runtime and touched no memory.
  void refused(hipops_status status, const std::string& message) {
    hipops::fail_runtime(719, "before");
    const auto before = bytes();
    EXPECT_EQUAL(run(), status);
    EXPECT_EQUAL(error_without_values(), "index_add: " + message);
    EXPECT_EQUAL(hipops_last_runtime_error(), 0);
    EXPECT(bytes() == before);
    EXPECT(report.count == 0 && report.first == UINT64_MAX);
    EXPECT_EQUAL(hipops_backend_in_use(), HIPOPS_BACKEND_AUTO);
  }

 private:
  std::vector<std::vector<unsigned char>> bytes() {
    return {y.bytes(), x.bytes(), index.bytes(), {memory.data(), memory.data() + memory.bytes()}};
  }
};

// What is refused by the op, and by the question for its workspace as well.
const std::vector<std::pair<std::function<void(Call&)>, std::pair<hipops_status, std::string>>>& spoilt_shapes() {
  static const auto* const all = [] {
    auto* list = new std::vector<std::pair<std::function<void(Call&)>, std::pair<hipops_status, std::string>>>;
    auto invalid = [list](std::function<void(Call&)> spoil, const std::string& message) {
      list->push_back({std::move(spoil), {HIPOPS_INVALID_ARGUMENT, message}});
    };
    auto dtype = [list](std::function<void(Call&)> spoil, const std::string& message) {
      list->push_back({std::move(spoil), {HIPOPS_UNSUPPORTED_DTYPE, message}});
    };
    invalid([](Call& c) { c.y_view = nullptr; }, "y is NULL, expected a tensor");
    invalid([](Call& c) { c.x_view = nullptr; }, "x is NULL, expected a tensor");
    invalid([](Call& c) { c.index_view = nullptr; }, "index is NULL, expected a tensor");
    invalid([](Call& c) { c.y.view.rank = 9; }, "y.rank is 9, expected 0 to 8");
    invalid([](Call& c) { c.x.view.rank = -1; }, "x.rank is -1, expected 0 to 8");
    invalid([](Call& c) { c.y.view.rank = c.x.view.rank = 0; }, "y.rank is 0, expected 1 to 8");
    invalid([](Call& c) { c.x.view.rank = 1; }, "x.rank is 1, expected 2 (y.rank)");
    invalid([](Call& c) { c.index.view.rank = 0; }, "index.rank is 0, expected 1");
    invalid([](Call& c) { c.index.view.rank = 2, c.index.view.shape[1] = c.index.view.stride[1] = 1; },
            "index.rank is 2, expected 1");
    invalid([](Call& c) { c.x.view.shape[1] = -8; }, "x.shape[1] is -8, expected 0 or more");
    invalid([](Call& c) { c.x.view.shape[1] = 7; }, "x.shape[1] is 7, expected 8 (y.shape[1])");
    invalid([](Call& c) { c.x.view.shape[0] = 299; }, "index.shape[0] is 300, expected 299 (x.shape[0])");
    invalid([](Call& c) { c.index.view.shape[0] = 299; }, "index.shape[0] is 299, expected 300 (x.shape[0])");
    invalid([](Call& c) { c.dim = 1; }, "x.shape[0] is 300, expected 4 (y.shape[0])");
    for (int32_t dim : {-1, 2, INT32_MIN, INT32_MAX})
      invalid([dim](Call& c) { c.dim = dim; }, "dim is " + std::to_string(dim) + ", expected 0 to 1 (y.rank is 2)");
    invalid([](Call& c) { c.y.view.stride[1] = 0; },
            "y.stride[1] is 0, expected distinct elements in an output (shape[1] is 8)");
    for (hipops_dtype type : {HIPOPS_I8, HIPOPS_I16, HIPOPS_U16, HIPOPS_U64})
      dtype([type](Call& c) { c.y.view.dtype = c.x.view.dtype = type; },
            "y.dtype is " + std::string(dtype_name(type)) + ", expected f32, f16, bf16, f64, u8, i32, u32 or i64");
    dtype([](Call& c) { c.x.view.dtype = HIPOPS_I32; }, "x.dtype is i32, expected f32 (y.dtype)");
    for (hipops_dtype type : {HIPOPS_F32, HIPOPS_I8, HIPOPS_U16, HIPOPS_U64})
      dtype([type](Call& c) { c.index.view.dtype = type, c.index.view.data = c.x.view.data; },
            "index.dtype is " + std::string(dtype_name(type)) + ", expected u8, i16, i32, u32 or i64");
    return list;
  }();
  return *all;
}

void check_bad_arguments() {
  for (const auto& [spoil, refusal] : spoilt_shapes()) {
    Call call;
    spoil(call);
    call.refused(refusal.first, refusal.second);
  }
  auto invalid = [](auto spoil, const std::string& message) {
    Call call;
    spoil(call);
    call.refused(HIPOPS_INVALID_ARGUMENT, message);
  };
  invalid([](Call& c) { c.y.view.data = nullptr; }, "y.data is NULL, expected memory of 32 elements");
  invalid([](Call& c) { c.x.view.data = nullptr; }, "x.data is NULL, expected memory of 2400 elements");
  invalid([](Call& c) { c.index.view.data = nullptr; }, "index.data is NULL, expected memory of 300 elements");
  invalid([](Call& c) { c.y.view.data = c.x.view.data; }, "y overlaps x, expected separate memory");
  invalid([](Call& c) { c.y.view.data = c.index.view.data; }, "y overlaps index, expected separate memory");
  auto* odd = reinterpret_cast<hipops_index_report*>(uintptr_t{4100});
  invalid([odd](Call& c) { c.report_pointer = odd; }, "report is " + text_of(odd) + ", expected a multiple of 8");
  for (uintptr_t past : {UINTPTR_MAX - 15, uintptr_t{INT64_MAX} - 7, uintptr_t{1} << 63}) {
    auto* report = reinterpret_cast<hipops_index_report*>(past);
    invalid([report](Call& c) { c.report_pointer = report; },
            "report is " + text_of(report) + ", from where 16 bytes reach outside the address space");
  }
  invalid([](Call& c) { c.report_pointer = report_in(c.y); }, "report overlaps y, expected separate memory");
  invalid([](Call& c) { c.report_pointer = report_in(c.x); }, "report overlaps x, expected separate memory");
}

void check_workspace_refusals() {
  int64_t needed = 0;
  EXPECT_EQUAL(Call().ask(&needed), HIPOPS_SUCCESS);
  EXPECT(needed > 0);
  auto invalid = [](auto spoil, const std::string& message) {
    Call call;
    spoil(call);
    call.refused(HIPOPS_INVALID_ARGUMENT, message);
  };
  for (int64_t bytes : {needed - 1, int64_t{255}, int64_t{0}, int64_t{-1}, INT64_MIN})
    invalid([bytes](Call& c) { c.workspace_bytes = bytes; }, "workspace_bytes is " + std::to_string(bytes) +
                                                                 ", expected " + std::to_string(needed) +
                                                                 " or more (hipops_index_add_workspace_bytes)");
  for (int64_t bytes : {needed, int64_t{1}, int64_t{-1}})
    invalid([bytes](Call& c) { c.workspace = nullptr, c.workspace_bytes = bytes; },
            "workspace is NULL, expected memory of workspace_bytes, " + std::to_string(bytes) + ", or workspace_bytes 0");
  for (int shift : {1, 8, 128}) {
    Call call;
    call.workspace = call.memory.data() + shift;
    call.refused(HIPOPS_INVALID_ARGUMENT, "workspace is " + text_of(call.workspace) + ", expected a multiple of 256");
  }
  Call last;
  last.workspace = reinterpret_cast<unsigned char*>(uintptr_t{INT64_MAX} - 255);
  last.refused(HIPOPS_INVALID_ARGUMENT, "workspace is " + text_of(last.workspace) + ", from where " +
                                            std::to_string(needed) + " bytes reach outside the address space");
  invalid([](Call& c) { c.y.view.data = c.memory.data(); }, "workspace overlaps y, expected separate memory");
  invalid([needed](Call& c) { c.x.view.data = c.memory.data() + needed - 4; },
          "workspace overlaps x, expected separate memory");
  invalid([](Call& c) { c.index.view.data = c.memory.data(); }, "workspace overlaps index, expected separate memory");
  invalid([](Call& c) { c.report_pointer = reinterpret_cast<hipops_index_report*>(c.memory.data() + 256); },
          "report overlaps workspace, expected separate memory");
}

// ---- The workspace's size

int64_t bytes_for(hipops_dtype dtype, int64_t rows, int64_t columns, int64_t indices) {
  // No data, and strides of which those along dim say nothing of memory.
  const hipops_tensor y = view_of(0, dtype, {rows, columns}), x = view_of(0, dtype, {indices, columns}, {0, 0});
  const hipops_tensor index = view_of(0, HIPOPS_I64, {indices}, {0});
  int64_t bytes = -1;
  if (hipops_index_add_workspace_bytes(&y, &x, &index, 0, &bytes) != HIPOPS_SUCCESS)
    throw std::runtime_error(hipops_last_error());
  return bytes;
}

int64_t rounded(int64_t bytes) { return (bytes + 255) / 256 * 256; }

void check_workspace_bytes() {
  for (const auto& [spoil, refusal] : spoilt_shapes()) {
    Call call;
    spoil(call);
    int64_t bytes = -5;
    EXPECT_EQUAL(call.ask(&bytes), refusal.first);
    EXPECT_EQUAL(std::string(hipops_last_error()), "index_add: " + refusal.second);
    EXPECT_EQUAL(bytes, -5);
  }
  Call call;
  EXPECT_EQUAL(call.ask(nullptr), HIPOPS_INVALID_ARGUMENT);
  EXPECT_EQUAL(std::string(hipops_last_error()), "index_add: bytes is NULL, expected memory for an int64_t");
  call.y.view.stride[0] = -8;  // data is not looked at, nor what overlaps
  call.y.view.data = call.x.view.data = nullptr;
  int64_t bytes = -1;
  EXPECT_EQUAL(call.ask(&bytes), HIPOPS_SUCCESS);

  // What is kept: how many entries there are, where runs start in each block (128 of them, but of 256 indices at least, as
  // many as there are digits, and up to 2048), entries by the high digit (and by both, where there are two rounds),
  // sources, lists, and where long ones are.
  auto expected = [](int64_t digits, int64_t indices, int64_t lists, int entries = 1) {
    const int64_t steps = std::min<int64_t>(std::max((indices + 128 * 256 - 1) / (128 * 256), digits / 256), 8);
    const int64_t blocks = (indices + steps * 256 - 1) / (steps * 256);
    return 256 + rounded((digits + 1) * blocks * 4) + entries * rounded(indices * 8) + rounded(indices * 4) +
           rounded(lists * 8) + rounded(indices / kLongList * 16);
  };
  EXPECT_EQUAL(bytes, expected(2, 300, 4));
  EXPECT_EQUAL(bytes_for(HIPOPS_F32, 16384, 256, 262144), expected(256, 262144, 16384));
  EXPECT_EQUAL(bytes_for(HIPOPS_U8, 1, 3, 257), expected(1, 257, 1));
  // Either way of which the device decides: with more digits, or with lists.
  EXPECT_EQUAL(bytes_for(HIPOPS_U8, 1024, 128, 50000), std::max(expected(64, 50000, 1024), expected(256, 50000, 0)));
  EXPECT_EQUAL(bytes_for(HIPOPS_U8, 1024, 3, 50000), expected(64, 50000, 1024));
  EXPECT(expected(64, 50000, 1024) < expected(256, 50000, 0));
  EXPECT_EQUAL(bytes_for(HIPOPS_U8, 256, 3, 2049), expected(16, 2049, 256));
  EXPECT_EQUAL(bytes_for(HIPOPS_U8, 2, 3, 100000), expected(2, 100000, 2));
  // Lists by position, where there are more rows than indices.
  EXPECT_EQUAL(bytes_for(HIPOPS_U8, 2050, 3, 2049), expected(64, 2049, 2049));
  // A low digit has 10 bits at most; so has a high one.
  EXPECT_EQUAL(bytes_for(HIPOPS_U8, 65537, 3, 1000), expected(256, 1000, 1000));
  EXPECT_EQUAL(bytes_for(HIPOPS_U8, 1 << 20, 3, 1000), expected(1024, 1000, 1000));
  EXPECT_EQUAL(bytes_for(HIPOPS_U8, 1 << 20, 3, int64_t{1} << 30), expected(1024, int64_t{1} << 30, 1 << 20));
  // Two rounds.
  EXPECT_EQUAL(bytes_for(HIPOPS_U8, (1 << 20) + 1, 3, 1000), expected(32, 1000, 1000, 2));
  EXPECT_EQUAL(bytes_for(HIPOPS_U8, (1 << 20) + 1, 3, 1 << 22), expected(1024, 1 << 22, 1 << 22, 2));

  // In 64 bits.
  const int64_t most = UINT32_MAX, large = int64_t{1} << 31;
  EXPECT_EQUAL(bytes_for(HIPOPS_F32, large, 4, large), expected(1024, large, large, 2));
  EXPECT_EQUAL(bytes_for(HIPOPS_F32, most, 4, most - 64), expected(1024, most - 64, most - 64, 2));
  // Nothing is ordered: few indices, more than entries are made for, nothing there.
  EXPECT_EQUAL(bytes_for(HIPOPS_F32, 100000, 4, 256), 0);
  EXPECT_EQUAL(bytes_for(HIPOPS_F32, 100000, 4, 0), 0);
  EXPECT_EQUAL(bytes_for(HIPOPS_F32, 0, 4, 1000), 0);
  EXPECT_EQUAL(bytes_for(HIPOPS_F32, 4, 0, 1000), 0);
  EXPECT_EQUAL(bytes_for(HIPOPS_F32, 4, 4, most - 63), 0);
  EXPECT_EQUAL(bytes_for(HIPOPS_F32, most + 1, 4, 1000), 0);
  EXPECT_EQUAL(hipops_backend_in_use(), HIPOPS_BACKEND_AUTO);
}

// ---- Results

struct Operands {
  HostTensor y, x, index;
  int32_t dim;
};

// A sum as the op makes it: each addition in f32 (f64; modulo 2^bits), rounded to the dtype in the end.
class Sum {
 public:
  Sum(hipops_dtype dtype, uint64_t bits) : dtype_(dtype), integer_(bits), real_(decode(bits)) {}

  void add(uint64_t bits) {
    integer_ += bits;
    real_ = dtype_ == HIPOPS_F64 ? real_ + decode(bits)
                                 : static_cast<double>(static_cast<float>(real_) + static_cast<float>(decode(bits)));
  }
  uint64_t bits() const {
    return is_float(dtype_) ? hipops::parity::encode(dtype_, real_) : integer_ & hipops::parity::low_bits(dtype_);
  }

 private:
  double decode(uint64_t bits) const { return is_float(dtype_) ? hipops::parity::decode(dtype_, bits) : 0; }

  hipops_dtype dtype_;
  uint64_t integer_;
  double real_;
};

// The bits that y must have after the call, row-major, by a plain loop over x.
std::vector<uint64_t> expected_bits(const Operands& t, hipops_index_report* report) {
  const hipops_tensor &y = t.y.view, &x = t.x.view;
  std::vector<uint64_t> bits(static_cast<size_t>(t.y.count()));
  std::vector<std::optional<Sum>> sums(bits.size());
  for (size_t i = 0; i < bits.size(); ++i) bits[i] = t.y.bits(static_cast<int64_t>(i));
  int64_t inner = 1, outer = 1;
  for (int d = 0; d < y.rank; ++d) (d < t.dim ? outer : inner) *= d == t.dim ? 1 : y.shape[d];
  const int64_t rows = y.shape[t.dim], indices = x.shape[t.dim];
  for (int64_t j = 0; j < indices && t.x.count() > 0; ++j) {
    const int64_t row = index_value(t.index, j);
    if (row == mark_of(t.index.view.dtype)) continue;
    if (row < 0 || row >= rows) {
      report->first = std::min(report->first, static_cast<uint64_t>(j));
      ++report->count;
      continue;
    }
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < inner; ++i) {
        const auto to = static_cast<size_t>((o * rows + row) * inner + i);
        if (!sums[to]) sums[to].emplace(y.dtype, bits[to]);
        sums[to]->add(t.x.bits((o * indices + j) * inner + i));
      }
  }
  for (size_t i = 0; i < bits.size(); ++i)
    if (sums[i]) bits[i] = sums[i]->bits();
  return bits;
}

void set_all_bits(HostTensor& t, const std::vector<uint64_t>& bits) {
  for (size_t i = 0; i < bits.size(); ++i) set_bits(t, static_cast<int64_t>(i), bits[i]);
}

std::vector<uint64_t> all_bits(const HostTensor& t) {
  std::vector<uint64_t> bits(static_cast<size_t>(t.count()));
  for (size_t i = 0; i < bits.size(); ++i) bits[i] = t.bits(static_cast<int64_t>(i));
  return bits;
}

// Calls the op, with its workspace or without.
void call(Operands& t, bool with_workspace, hipops_index_report* report) {
  int64_t bytes = 0;
  EXPECT_EQUAL(hipops_index_add_workspace_bytes(&t.y.view, &t.x.view, &t.index.view, t.dim, &bytes), HIPOPS_SUCCESS);
  Workspace workspace(with_workspace ? bytes : 0);
  const auto x = t.x.bytes(), index = t.index.bytes();
  if (hipops_index_add(&t.y.view, &t.x.view, &t.index.view, t.dim, with_workspace ? workspace.data() : nullptr,
                       with_workspace ? bytes : 0, report, nullptr) != HIPOPS_SUCCESS)
    throw std::runtime_error(hipops_last_error());
  EXPECT(workspace.guards_are_whole());
  EXPECT(t.x.bytes() == x && t.index.bytes() == index);
}

// Each way gives what the plain loop gives, and the report, and touches nothing else.
void check_ways(Operands& t, const std::vector<bool>& ways, bool with_report = true) {
  hipops_index_report expected_report = HIPOPS_INDEX_REPORT_INIT;
  const std::vector<uint64_t> before = all_bits(t.y), expected = expected_bits(t, &expected_report);
  for (const bool with_workspace : ways) {
    set_all_bits(t.y, before);
    hipops_index_report report = HIPOPS_INDEX_REPORT_INIT;
    call(t, with_workspace, with_report ? &report : nullptr);
    EXPECT(t.y.guards_are_whole());
    for (size_t i = 0; i < expected.size(); ++i) {
      if (t.y.bits(static_cast<int64_t>(i)) == expected[i]) continue;
      throw std::runtime_error("y[" + std::to_string(i) + "] of " + std::to_string(expected.size()) +
                               (with_workspace ? ", ordered" : "") + " is " +
                               hipops::parity::show_bits(t.y.view.dtype, t.y.bits(static_cast<int64_t>(i))) +
                               ", expected " + hipops::parity::show_bits(t.y.view.dtype, expected[i]));
    }
    if (!with_report) continue;
    EXPECT_EQUAL(report.count, expected_report.count);
    EXPECT_EQUAL(report.first, expected_report.first);
  }
}

const std::vector<bool> kWithout{false}, kWith{true}, kBothWays{false, true};  // a workspace
void check_both_ways(Operands& t, bool with_report = true) { check_ways(t, kBothWays, with_report); }

void fill(HostTensor& t, std::mt19937_64& random) {
  if (!is_float(t.view.dtype)) return fill_with_bits(t, random);
  for (int64_t i = 0; i < t.count(); ++i) t.set(i, static_cast<double>(static_cast<int64_t>(random())) * 0x1p-60);
}

// A NaN that arithmetic and conversions would make another one.
uint64_t signalling_nan(hipops_dtype dtype) {
  switch (dtype) {
    case HIPOPS_F16:
      return 0x7d01;
    case HIPOPS_BF16:
      return 0x7f91;
    case HIPOPS_F32:
      return 0x7f801234;
    default:
      return 0x7ff0000000001234;
  }
}

// Such a one in each element that no index names: what is not added to is not written.
void mark_untouched(Operands& t) {
  if (!is_float(t.y.view.dtype)) return;
  std::set<int64_t> named;
  for (int64_t j = 0; j < t.index.count(); ++j)
    if (index_value(t.index, j) != mark_of(t.index.view.dtype)) named.insert(index_value(t.index, j));
  int64_t inner = 1;
  for (int d = t.dim + 1; d < t.y.view.rank; ++d) inner *= t.y.view.shape[d];
  for (int64_t i = 0; i < t.y.count(); ++i)
    if (named.count(i / inner % t.y.view.shape[t.dim]) == 0) set_bits(t.y, i, signalling_nan(t.y.view.dtype));
}

Operands random_sum(std::mt19937_64& random, hipops_dtype dtype, hipops_dtype index_dtype) {
  const size_t rank = random() % 8 == 0 ? 8 : 1 + random() % 4;
  const auto dim = static_cast<size_t>(random() % rank);
  Sizes shape(rank);
  int64_t elements = 1;
  for (int64_t& size : shape) {
    size = static_cast<int64_t>(1 + random() % (rank == 8 ? 2 : 5));
    if (rank < 5 && random() % 4 == 0 && elements < kManyElements) size *= 8;
    elements *= size;
  }
  constexpr int64_t kIndices[] = {0, 1, 2, 9, 33, 70, 256, 257, 300, 515};
  const int64_t indices = kIndices[random() % 10];
  Sizes x_shape = shape;
  x_shape[dim] = indices;
  const bool plain = random() % 2;
  auto strides = [&](const Sizes& s, bool repeats) {
    return plain ? contiguous(s) : random_strides(random, s, repeats);
  };
  auto shift = [&] { return static_cast<int64_t>(random() % 3 == 0 ? random() % 16 : 0); };
  Operands t{HostTensor(dtype, shape, strides(shape, false), shift()),
             HostTensor(dtype, x_shape, strides(x_shape, true), shift()),
             HostTensor(index_dtype, {indices}, strides({indices}, true), shift()), static_cast<int32_t>(dim)};
  fill(t.x, random), fill(t.y, random);
  for (int64_t j = 0; j < indices; ++j) set_bits(t.index, j, random_index(random, shape[dim], index_dtype));
  mark_untouched(t);
  return t;
}

void check_any_in(const std::vector<bool>& ways) {
  std::mt19937_64 random(20241120);
  for (int round = 0; round < 12; ++round)
    for (hipops_dtype dtype : kAdded)
      for (hipops_dtype index_dtype : kIndexDtypes) {
        Operands t = random_sum(random, dtype, index_dtype);
        check_ways(t, ways, random() % 4 != 0);
      }
}

void check_any() { check_any_in(kBothWays); }

// y [rows, columns] and as many indices, of which some name nothing.
Operands rows_of(hipops_dtype dtype, int64_t rows, int64_t columns, int64_t indices, uint64_t seed) {
  std::mt19937_64 random(seed);
  Operands t{HostTensor(dtype, {rows, columns}), HostTensor(dtype, {indices, columns}),
             HostTensor(HIPOPS_I32, {indices}), 0};
  fill(t.x, random), fill(t.y, random);
  for (int64_t j = 0; j < indices; ++j) set_bits(t.index, j, random_index(random, rows, HIPOPS_I32));
  mark_untouched(t);
  return t;
}

// Rows whose keys have one bit, low digits and high ones, and two rounds.
void check_digits() {
  for (int64_t rows : {1, 2, 256, 257, 1024, 1025, 65536, 65537, 1 << 18, 1 << 20}) {
    Operands t = rows_of(HIPOPS_BF16, rows, 1, 600, static_cast<uint64_t>(rows));
    check_both_ways(t);
  }
  Operands t = rows_of(HIPOPS_U8, (1 << 24) + 5, 1, 300, 7);
  for (int64_t j = 0; j < 300; j += 3) set_bits(t.index, j, static_cast<uint64_t>((1 << 24) + j % 5));
  check_both_ways(t);
  // Two rounds, in which most of the entries have the same digits.
  Operands same = rows_of(HIPOPS_I32, (1 << 20) + 1, 1, 5000, 13);
  for (int64_t j = 0; j < 5000; ++j)
    if (j % 10 != 0) set_bits(same.index, j, 654321);
  mark_untouched(same);
  check_both_ways(same);
  // A row whose number is an index type's mark is out of its reach.
  for (int64_t indices : {30, 300}) {
    Operands marks{HostTensor(HIPOPS_F32, {300}), HostTensor(HIPOPS_F32, {indices}), HostTensor(HIPOPS_U8, {indices}),
                   0};
    for (int64_t j = 0; j < indices; ++j) set_bits(marks.index, j, static_cast<uint64_t>(253 + j % 3));
    marks.x.randomize(1, 1, 2), marks.y.randomize(2, 1, 2);
    check_both_ways(marks);
  }
}

// Batches, the parts of them that waves own, and a last one that is not full; blocks that join more than one batch.
// (check_shares has more of them than blocks join at a time.)
void check_ranges() {
  for (int64_t indices : {1023, 1025, 2049, 4099, 32768, 32769, 70000, 131073, 262145}) {
    Operands t = rows_of(HIPOPS_F32, 37, 1, indices, static_cast<uint64_t>(indices));
    check_both_ways(t);
  }
  // One row has most of the entries of its block.
  Operands t = rows_of(HIPOPS_I32, 5000, 1, 9000, 12);
  for (int64_t j = 0; j < 9000; ++j)
    if (j % 3 != 0) set_bits(t.index, j, 4321);
  mark_untouched(t);
  check_both_ways(t);
}

// Everything to one row, and rows in which all is in order, or backwards.
void check_orders_of(int64_t columns, const std::vector<bool>& ways) {
  for (hipops_dtype dtype : {HIPOPS_F32, HIPOPS_BF16})
    for (int64_t indices : {200, 3000})
      for (int order = 0; order < 4; ++order) {
        Operands t = rows_of(dtype, 300, columns, indices, static_cast<uint64_t>(order));
        for (int64_t j = 0; j < indices; ++j) {
          const int64_t rows[] = {299, j * 300 / indices, 299 - j * 300 / indices, j % 2 * 299};
          set_bits(t.index, j, static_cast<uint64_t>(rows[order]));
        }
        t.y.randomize(5, -2, 2);
        mark_untouched(t);
        check_ways(t, ways);
      }
}

void check_orders() { check_orders_of(3, kBothWays); }

// More shares than a block joins at a time: rows that all of those name, that the first ones alone do, or the last one.
void check_shares() {
  constexpr int64_t kTile = int64_t{hipops::kOrderRuns} * hipops::kOrderBatch;
  Operands t = rows_of(HIPOPS_U8, 3000, 1, kTile + 100, 9);
  for (int64_t j = 0; j < kTile + 100; ++j) {
    const int64_t row = j < kTile ? j % 5 == 0 ? 2999 : j * 2000 / kTile : j % 2 == 0 ? 2999 : 2500;
    set_bits(t.index, j, static_cast<uint64_t>(row));
  }
  hipops_index_report report = HIPOPS_INDEX_REPORT_INIT;
  const std::vector<uint64_t> bits = expected_bits(t, &report);
  call(t, true, nullptr);
  EXPECT(all_bits(t.y) == bits);
}

// ---- Kernels

constexpr int kKernels = 50, kJoinedKernels = 6, kFewKernels = 6;  // which have no grid to go round

constexpr SumsPolicy kByDefault, kSorted{false, false, false}, kJoined{false, false, true};

void go_by(const SumsPolicy& sums) {
  static TemporaryOptions temporary;
  temporary.options.sums = sums;
}

// Here indices are sorted wherever there is a workspace, but in the tests of when they are not.
[[maybe_unused]] const bool are_sorted = (go_by(kSorted), true);

// Stands between the op and its CPU kernels: notes which of them run.
class Recorder {
 public:
  Recorder() {
    EXPECT_EQUAL(op().kernel_count, kKernels);
    if (load(op()) != HIPOPS_SUCCESS) throw std::runtime_error(hipops_last_error());
    wrap(op().functions[0].load(), std::make_index_sequence<kKernels>());
    op().functions[0].store(functions_.data());
  }

  // The kernels that ran since the last call.
  std::set<std::string> ran() const {
    std::set<std::string> names;
    for (size_t i = 0; i < kKernels; ++i)
      if (ran_[i].exchange(false)) names.insert(op().kernel_names[i]);
    return names;
  }

  // What the last kernel was told to expect.
  static inline std::atomic<const void*> expected{nullptr};
  static inline std::atomic<uint32_t> expected_parts{0};
  // Whether it was told that a wave's lanes have one list.
  static inline std::atomic<bool> one_list{false};
  // The kernels that let the next launch be placed while they still wait: a bit each.
  static inline std::atomic<uint64_t> at_once{0};

 private:
  template <size_t I>
  static void run(const void* args) {
    ran_[I].store(true, std::memory_order_relaxed);
    expected = static_cast<const IndexAddArgs*>(args)->expected;
    expected_parts = static_cast<const IndexAddArgs*>(args)->expected_parts;
    one_list = static_cast<const IndexAddArgs*>(args)->waves_have_one_list != 0;
    if (static_cast<const IndexAddArgs*>(args)->next_at_once) at_once |= uint64_t{1} << I;
    real_[I]->run(args);
  }
  template <size_t... I>
  static void wrap(void* const* loaded, std::index_sequence<I...>) {
    ((real_[I] = static_cast<const CpuKernel*>(loaded[I]), wrapped_[I] = {real_[I]->name, run<I>},
      functions_[I] = &wrapped_[I]),
     ...);
  }

  static inline std::array<std::atomic<bool>, kKernels> ran_{};
  static inline std::array<const CpuKernel*, kKernels> real_{};
  static inline std::array<CpuKernel, kKernels> wrapped_{};
  static inline std::array<void*, kKernels> functions_{};
};

// Kernels are for signed integers under the names of unsigned ones.
std::string kernel_type(hipops_dtype dtype) {
  return dtype == HIPOPS_I32 ? "u32" : dtype == HIPOPS_I64 ? "u64" : dtype_name(dtype);
}

// Each dtype, in vectors and by elements, in each way.
void check_kernels() {
  Recorder recorder;
  std::set<std::string> all;
  for (hipops_dtype dtype : kAdded)
    for (int64_t columns : {64, 63})
      for (int64_t indices : {256, 257}) {
        Operands t = rows_of(dtype, 40, columns, indices, static_cast<uint64_t>(columns));
        hipops_index_report report = HIPOPS_INDEX_REPORT_INIT;
        const std::vector<uint64_t> bits = expected_bits(t, &report);
        call(t, true, nullptr);
        EXPECT(all_bits(t.y) == bits);
        const bool ordered = indices == 257;
        const std::string type = kernel_type(dtype);
        std::set<std::string> expected{"index_add_" + type + (ordered ? "_list" : "_scan") +
                                       (columns == 64 ? "_wide" : "_any")};
        if (ordered) expected.insert({"index_add_split", "index_add_join"});
        const std::set<std::string> ran = recorder.ran();
        EXPECT(ran == expected);
        all.insert(ran.begin(), ran.end());
      }
  // Long lists for a few rows, and rows of which there are too many for one round.
  for (hipops_dtype dtype : kAdded) {
    Operands t = rows_of(dtype, 3, 16, 600, 5);
    check_both_ways(t);
    const std::set<std::string> ran = recorder.ran();
    const std::string type = kernel_type(dtype);
    EXPECT(ran.count("index_add_" + type + "_list_deep"));
    all.insert(ran.begin(), ran.end());
  }
  Operands t = rows_of(HIPOPS_U8, (1 << 20) + 1, 1, 300, 7);
  check_both_ways(t);
  const std::set<std::string> ran = recorder.ran();
  EXPECT(ran.count("index_add_bound"));
  all.insert(ran.begin(), ran.end());
  // Blocks that join add up what they joined, as of many indices.
  go_by(kJoined);
  for (hipops_dtype dtype : kAdded) {
    Operands joined = rows_of(dtype, 40, 64, 300, 6);
    hipops_index_report report = HIPOPS_INDEX_REPORT_INIT;
    const std::vector<uint64_t> bits = expected_bits(joined, &report);
    call(joined, true, nullptr);
    EXPECT(all_bits(joined.y) == bits);
    const std::string type = kernel_type(dtype);
    const std::set<std::string> names = recorder.ran();
    const std::set<std::string> of_u8{"index_add_split", "index_add_join", "index_add_u8_list_wide"};
    const std::set<std::string> of_others{"index_add_split", "index_add_" + type + "_joined_wide"};
    EXPECT(names == (dtype == HIPOPS_U8 ? of_u8 : of_others));
    all.insert(names.begin(), names.end());
  }
  go_by(kSorted);
  EXPECT_EQUAL(all.size(), size_t{kKernels - kFewKernels});
}

// What the L2 cache is to load ahead is x's, and there is some of it, if x has no gaps and its elements are distinct.
void check_expected() {
  Recorder recorder;
  struct Case {
    int64_t indices;
    Sizes x_stride;
    int64_t x_shift;
    bool some;
  };
  for (const Case& c : {Case{4096, {64, 1}, 0, true}, {4096, {64, 1}, 1, true}, {4096, {-64, 1}, 0, true},
                        {4096, {1, 4096}, 3, true}, {300, {64, 1}, 1, true}, {40, {64, 1}, 0, false},
                        {4096, {65, 1}, 0, false}, {4096, {0, 1}, 0, false}, {4096, {0, 1024}, 0, false}}) {
    Operands t = rows_of(HIPOPS_F32, 40, 64, c.indices, 3);
    t.x = HostTensor(HIPOPS_F32, {c.indices, 64}, c.x_stride, c.x_shift);
    t.x.randomize(1, -1, 1);
    call(t, true, nullptr);
    ByteRange range;
    EXPECT(byte_range(t.x.view, &range));
    const auto begin = reinterpret_cast<uintptr_t>(Recorder::expected.load());
    EXPECT_EQUAL(Recorder::expected_parts > 0, c.some);
    if (!c.some) continue;
    EXPECT_EQUAL(begin % 16, uintptr_t{0});
    EXPECT(begin >= range.begin && begin + Recorder::expected_parts * uintptr_t{kPrefetchBytes} <= range.end);
  }
}

// Sums that expect much are placed as soon as the join before them is, where that is the last launch that orders, and
// nothing else is.
void check_next_at_once() {
  Recorder recorder;
  constexpr int kJoinKernel = 1;
  EXPECT_EQUAL(std::string(op().kernel_names[kJoinKernel]), "index_add_join");
  const DeviceFacts* device;
  EXPECT_EQUAL(device_facts(&device), HIPOPS_SUCCESS);
  const int64_t most = device->units * (int64_t{160} << 10);
  struct Case {
    int64_t rows, indices, x_stride;
    bool at_once;
  };
  for (const Case& c : {Case{40, most / 64, 64, false}, {40, most / 64 + 1, 64, true}, {40, 2 * most / 64, 65, false},
                        {40, 2 * most / 64, 64, true}, {(1 << 20) + 1, most / 64 + 1, 64, false}}) {
    Recorder::at_once = 0;
    Operands t = rows_of(HIPOPS_U8, c.rows, 64, c.indices, 3);
    t.x = HostTensor(HIPOPS_U8, {c.indices, 64}, {c.x_stride, 1}, 16);
    t.x.randomize(1, -1, 1);
    call(t, true, nullptr);
    EXPECT_EQUAL(Recorder::at_once.load(), uint64_t{c.at_once} << kJoinKernel);
    EXPECT(Recorder::expected_parts * kPrefetchBytes <= most);
  }

  // scatter_add's rows, which another kernel may turn out to add.
  Recorder::at_once = 0;
  recorder.ran();
  const int64_t indices = 2 * most / 128;
  HostTensor y(HIPOPS_U8, {40, 128}), x(HIPOPS_U8, {indices, 128}), index(HIPOPS_I64, {indices, 128});
  for (int64_t i = 0; i < index.count(); ++i) index.set(i, static_cast<double>(i / 128 % 40));
  int64_t bytes = 0;
  EXPECT_EQUAL(hipops_scatter_add_workspace_bytes(&y.view, &x.view, &index.view, 0, 0, &bytes), HIPOPS_SUCCESS);
  Workspace workspace(bytes);
  EXPECT_EQUAL(hipops_scatter_add(&y.view, &x.view, &index.view, 0, 0, workspace.data(), bytes, nullptr, nullptr),
               HIPOPS_SUCCESS);
  EXPECT(recorder.ran().count("index_add_join"));
  EXPECT(Recorder::expected_parts > 0);
  EXPECT_EQUAL(Recorder::at_once.load(), uint64_t{0});
}

// Vectors are for rows that are contiguous in both tensors, all addresses and steps of which are multiples of 16 bytes.
void check_wide() {
  Recorder recorder;
  struct Case {
    bool scan, list;  // by vectors
    Sizes y, y_stride, x_stride;
    int64_t y_shift, x_shift;
    int32_t dim;
  };
  const Case cases[] = {
      {true, true, {4, 8}, {8, 1}, {8, 1}, 0, 0, 0},
      {true, true, {4, 8}, {12, 1}, {16, 1}, 4, 8, 0},
      {true, true, {4, 8}, {-8, 1}, {0, 1}, 0, 0, 0},
      {false, false, {4, 6}, {8, 1}, {8, 1}, 0, 0, 0},
      {false, false, {4, 8}, {9, 1}, {8, 1}, 0, 0, 0},
      {false, false, {4, 8}, {8, 1}, {9, 1}, 0, 0, 0},
      {false, false, {4, 8}, {8, 1}, {8, 1}, 1, 0, 0},
      {false, false, {4, 8}, {8, 1}, {8, 1}, 0, 2, 0},
      {false, false, {4, 8}, {8, 1}, {1, 300}, 0, 0, 0},
      {false, false, {4, 8}, {8, 1}, {8, 0}, 0, 0, 0},
      {false, false, {4, 8}, {8, -1}, {8, -1}, 0, 0, 0},
      {false, false, {4, 8}, {8, 1}, {300, 1}, 0, 0, 1},
      {true, true, {3, 4, 8}, {32, 8, 1}, {8 * 300, 8, 1}, 0, 0, 1},
      {true, true, {3, 4, 8}, {8, 24, 1}, {8, 24, 1}, 0, 0, 1},
      {false, false, {3, 4, 8}, {33, 8, 1}, {8 * 300, 8, 1}, 0, 0, 1},
      // A row is contiguous in memory, though dim is the last dimension: for `list`, neighbours are in neighbouring
      // rows.
      {true, false, {8, 4}, {1, 8}, {1, 8}, 0, 0, 1},
      // One row: its step is not looked at.
      {true, true, {1, 8}, {7, 1}, {8, 1}, 0, 0, 0},
  };
  for (const Case& c : cases)
    for (int64_t indices : {40, 41, 300}) {
      go_by(indices == 41 ? kByDefault : kSorted);  // those have waves of their own
      Sizes x_shape = c.y;
      x_shape[static_cast<size_t>(c.dim)] = indices;
      Operands t{HostTensor(HIPOPS_F32, c.y, c.y_stride, c.y_shift),
                 HostTensor(HIPOPS_F32, x_shape, c.x_stride, c.x_shift), HostTensor(HIPOPS_U8, {indices}), c.dim};
      const int64_t rows = c.y[static_cast<size_t>(c.dim)];
      for (int64_t j = 0; j < indices; ++j) set_bits(t.index, j, static_cast<uint64_t>(j * j % rows));
      t.x.randomize(1, -1, 1), t.y.randomize(2, -1, 1);
      hipops_index_report report = HIPOPS_INDEX_REPORT_INIT;
      const std::vector<uint64_t> bits = expected_bits(t, &report);
      call(t, true, nullptr);
      EXPECT(all_bits(t.y) == bits);
      const bool wide = indices == 300 ? c.list : c.scan;
      const char* elements = indices == 300 && rows == 1 ? "_deep" : wide ? "_wide" : "_any";  // a list of 300
      const char* way = indices == 300 ? "_list" : indices == 41 ? "_few" : "_scan";
      EXPECT(recorder.ran().count(std::string("index_add_f32") + way + elements));
    }
}

// Several rounds of the grid, or launches, with a last one that is not full.
void check_two_blocks() {
  Recorder recorder;
  TemporaryOptions temporary;
  temporary.options.most_blocks = 2;
  for (hipops_dtype dtype : kAdded)
    for (int64_t columns : {64, 63})
      for (int64_t indices : {200, 700}) {
        Operands t = rows_of(dtype, 150, columns, indices, static_cast<uint64_t>(indices));
        check_both_ways(t);
      }
  for (hipops_dtype dtype : kAdded) {
    Operands t = rows_of(dtype, 3, 160, 600, 5);
    check_both_ways(t);
  }
  Operands t = rows_of(HIPOPS_U8, (1 << 20) + 1, 1, 600, 7);
  hipops_index_report report = HIPOPS_INDEX_REPORT_INIT;
  const std::vector<uint64_t> bits = expected_bits(t, &report);
  call(t, true, nullptr);
  EXPECT(all_bits(t.y) == bits);
  EXPECT_EQUAL(recorder.ran().size(), size_t{kKernels - kJoinedKernels - kFewKernels});
}

// 4 GiB of y, few pages of which are touched.
void check_far_rows() {
  constexpr int64_t kFar = int64_t{1} << 32, kRows = kFar + 10;
  void* memory = mmap(nullptr, kRows, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  EXPECT(memory != MAP_FAILED);
  auto* y = static_cast<uint8_t*>(memory);
  const hipops_tensor of_y = {y, HIPOPS_U8, 1, {kRows}, {1}};
  const int64_t rows[] = {kFar + 3, 5, kFar - 1, kFar - 2, kFar + 3, kFar, kRows, INT64_MIN};
  constexpr int64_t kIndices = std::size(rows);
  uint8_t x[kIndices];
  for (int64_t j = 0; j < kIndices; ++j) x[j] = static_cast<uint8_t>(1 << j);
  const hipops_tensor of_x = {x, HIPOPS_U8, 1, {kIndices}, {1}};
  const hipops_tensor index = {const_cast<int64_t*>(rows), HIPOPS_I64, 1, {kIndices}, {1}};
  hipops_index_report report = HIPOPS_INDEX_REPORT_INIT;
  EXPECT_EQUAL(hipops_index_add(&of_y, &of_x, &index, 0, nullptr, 0, &report, nullptr), HIPOPS_SUCCESS);
  EXPECT_EQUAL(report.count, uint64_t{2});
  EXPECT_EQUAL(report.first, uint64_t{6});
  const std::map<int64_t, int> expected = {{kFar + 3, 1 + 16}, {5, 2}, {kFar - 1, 4}, {kFar - 2, 8}, {kFar, 32}};
  for (const auto& [row, sum] : expected) EXPECT_EQUAL(int{y[row]}, sum);
  for (int64_t row : {3, 0, 4, 6}) EXPECT_EQUAL(int{y[row]}, 0);
  EXPECT_EQUAL(munmap(memory, kRows), 0);
}

// Few indices are looked through, also with a workspace, and reported once.
void check_scanned() {
  Recorder recorder;
  go_by(kByDefault);
  struct Case {
    int64_t rows, columns, indices;
    bool scanned;
  };
  for (const Case& c : {Case{300, 8, 300, true}, {40, 8, 2289, true}, {40, 8, 2290, false}, {5000, 9, 3000, true}})
    for (bool with_workspace : {true, false}) {
      Operands t = rows_of(HIPOPS_BF16, c.rows, c.columns, c.indices, static_cast<uint64_t>(c.indices));
      for (int64_t j = 0; j < c.indices; j += 100) set_bits(t.index, j, 1u << 31);
      hipops_index_report report = HIPOPS_INDEX_REPORT_INIT, expected = HIPOPS_INDEX_REPORT_INIT;
      const std::vector<uint64_t> bits = expected_bits(t, &expected);
      call(t, with_workspace, &report);
      EXPECT(all_bits(t.y) == bits);
      EXPECT(report.count == expected.count && report.first == expected.first);
      const std::set<std::string> ran = recorder.ran();
      const std::string elements = c.columns == 8 ? "wide" : "any";
      EXPECT_EQUAL(ran == std::set<std::string>{"index_add_bf16_scan_" + elements}, c.scanned || !with_workspace);
    }
}

// Up to 128 indices have waves of their own, of floats up to 32 bits: in vectors and by elements, where few or many name
// a row, or are marks or out of range, also as the first or the last that does, and reported once.
void check_few() {
  Recorder recorder;
  go_by(kByDefault);
  std::set<std::string> all;
  for (hipops_dtype dtype : kAdded)
    for (int64_t columns : {64, 63, 1, 1040})
      for (int64_t indices : {1, 31, 64, 65, 127, 128, 129})
        for (int64_t rows : {1, 3, 1000}) {
          Operands t = rows_of(dtype, rows, columns, indices, static_cast<uint64_t>(indices + rows));
          if (columns == 63)
            for (int64_t j = 0; j < indices; j += 63) set_bits(t.index, j, 1u << 31);
          hipops_index_report report = HIPOPS_INDEX_REPORT_INIT, expected = HIPOPS_INDEX_REPORT_INIT;
          const std::vector<uint64_t> bits = expected_bits(t, &expected);
          call(t, indices % 2 == 0, &report);
          EXPECT(all_bits(t.y) == bits);
          EXPECT(report.count == expected.count && report.first == expected.first);
          const std::string elements = columns == 64 || columns == 1040 ? "wide" : "any";
          const std::set<std::string> ran = recorder.ran();
          const bool few = indices <= 128 && (dtype == HIPOPS_F32 || dtype == HIPOPS_F16 || dtype == HIPOPS_BF16);
          EXPECT(ran == std::set<std::string>{"index_add_" + kernel_type(dtype) + (few ? "_few_" : "_scan_") + elements});
          if (few) all.insert(ran.begin(), ran.end());
        }
  EXPECT_EQUAL(all.size(), size_t{kFewKernels});
}

// A block that has no room for all that is its rows', or many for one row, goes over the index again for others: where
// most indices, or half of them, name few rows, and others come before, between and after; or where they come in the
// order of their rows.
void check_crowded_shares() {
  go_by(kByDefault);
  for (auto [dtype, columns] : {std::pair{HIPOPS_F32, 5}, {HIPOPS_BF16, 8}, {HIPOPS_U8, 16}})
    for (int64_t indices : {700, 2048, 2049, 9000})
      for (int64_t crowded : {1, 2, 40})
        for (int64_t every : {2, 50, 0}) {
          const int64_t rows = 500, first = indices == 700 ? 0 : indices == 2049 ? rows - crowded : 7;
          const int64_t parts = indices == 700 ? 65 : 1;  // of a row, where lanes are 64 at most
          Operands t = rows_of(dtype, rows, parts * columns, indices, static_cast<uint64_t>(indices));
          for (int64_t j = 0; j < indices; ++j) {
            if (every == 0) set_bits(t.index, j, static_cast<uint64_t>(first + j * crowded / indices));
            else if (j % every != 1) set_bits(t.index, j, static_cast<uint64_t>(first + j % crowded));
          }
          t.x.randomize(1, 0, 2), t.y.randomize(2, 0, 2);
          mark_untouched(t);
          check_ways(t, kWithout);
        }
}

// Blocks that join add up what they joined where there is work for all of them, about as much, and their lists fit.
void check_joined() {
  Recorder recorder;
  struct Case {
    hipops_dtype dtype;
    int64_t rows, columns, indices;
    bool joined;
  };
  for (const Case& c : {Case{HIPOPS_BF16, 4096, 256, 1 << 13, true},
                        {HIPOPS_BF16, 4096, 264, (1 << 13) - 1, false},     // too few indices for so many blocks
                        {HIPOPS_BF16, 8192, 8, 600000, true},               // more than a block has at hand
                        {HIPOPS_F32, 4096, 4, 1 << 18, true},
                        {HIPOPS_F32, 4096, 4, 1 << 15, true},               // little: of fewer blocks
                        {HIPOPS_F32, 129, 4, 1 << 13, true},
                        {HIPOPS_F32, 128, 4, 1 << 13, false},               // one or two rows a block
                        {HIPOPS_U8, 4096, 16, 1 << 18, false},              // has no kernel for that
                        {HIPOPS_F32, 513, 48, 1 << 15, true},
                        {HIPOPS_F32, 512, 48, 1 << 15, false},              // one or two rows a block
                        {HIPOPS_F64, 1 << 16, 16, 40000, true},
                        {HIPOPS_F32, (1 << 16) + 1, 64, 1 << 16, true},     // of more blocks
                        {HIPOPS_F16, 4096, 72, 1 << 15, true},
                        {HIPOPS_F16, 4096, 76, 1 << 15, false},             // not by vectors
                        {HIPOPS_F32, 600, 16, 100000, false}}) {            // long lists for few lanes
    Operands t = rows_of(c.dtype, c.rows, c.columns, c.indices, static_cast<uint64_t>(c.columns));
    hipops_index_report report = HIPOPS_INDEX_REPORT_INIT, expected = HIPOPS_INDEX_REPORT_INIT;
    const std::vector<uint64_t> bits = expected_bits(t, &expected);
    call(t, true, &report);
    EXPECT(all_bits(t.y) == bits);
    EXPECT(report.count == expected.count && report.first == expected.first);
    const std::set<std::string> ran = recorder.ran();
    EXPECT_EQUAL(ran.count(std::string("index_add_") + dtype_name(c.dtype) + "_joined_wide"), size_t{c.joined});
    EXPECT_EQUAL(ran.count("index_add_join"), size_t{!c.joined});
  }
}

// By the blocks that join, as of many indices: what is right elsewhere is so there. Their lists are in shared memory,
// or, of one block that has more than there is room for, in memory. Without a workspace nothing is joined.
void check_joined_results() {
  Recorder recorder;
  go_by(kJoined);
  check_any_in(kWith);
  check_orders_of(8, kWith);
  EXPECT(recorder.ran().count("index_add_bf16_joined_wide"));
  for (int64_t rows : {255, 1000, 40000})
    for (int64_t indices : {2048, 2049, 9000}) {
      Operands t = rows_of(HIPOPS_F32, rows, 12, indices, static_cast<uint64_t>(rows));
      for (int64_t j = 0; j < indices; ++j)
        if (j % 9 != 0) set_bits(t.index, j, static_cast<uint64_t>(rows - 1 - j % 2));
      t.y.randomize(5, -2, 2);
      mark_untouched(t);
      check_ways(t, kWith);
      EXPECT(recorder.ran().count("index_add_f32_joined_wide"));
    }
  // More digits than they have lists for.
  Operands digits = rows_of(HIPOPS_F32, 70000, 4, 2048, 6);
  check_ways(digits, kWith);
  EXPECT(recorder.ran().count("index_add_f32_list_wide"));
  // Rows of several dimensions, on either side of the index's.
  std::mt19937_64 random(8);
  Operands t{HostTensor(HIPOPS_BF16, {3, 700, 2, 8}), HostTensor(HIPOPS_BF16, {3, 3000, 2, 8}),
             HostTensor(HIPOPS_I16, {3000}), 1};
  fill(t.x, random), fill(t.y, random);
  for (int64_t j = 0; j < 3000; ++j) set_bits(t.index, j, random_index(random, 700, HIPOPS_I16));
  check_ways(t, kWith);
  EXPECT(recorder.ran().count("index_add_bf16_joined_wide"));
  go_by(kSorted);
}

// Lists that several blocks take parts of: one a bit longer than there are such for, and one that is not; several, and a
// row of fewer and more vectors than a part has. Of other dtypes, and in other ways, a list is one work-item's.
void check_long_lists() {
  Recorder recorder;
  constexpr int64_t kRows = 60, kLong = kLongList, kIndices = 3 * kLong + 500;
  for (hipops_dtype dtype : {HIPOPS_F32, HIPOPS_F16, HIPOPS_BF16, HIPOPS_U8})
    for (bool joined : {false, true})
      for (int64_t vectors : {1, 2, 5, 40})
        for (int64_t outside : {1, 2}) {
          go_by(joined ? kJoined : kSorted);
          const int64_t columns = 16 / dtype_bytes(dtype) * vectors;
          Operands t{HostTensor(dtype, {outside, kRows, columns}), HostTensor(dtype, {outside, kIndices, columns}),
                     HostTensor(HIPOPS_I32, {kIndices}), 1};
          t.x.randomize(1, -2, 2), t.y.randomize(2, -2, 2);
          std::vector<uint64_t> rows(kIndices, 7);
          std::fill_n(rows.begin(), kLong, 0);
          std::fill_n(rows.begin() + kLong, kLong + 1, kRows - 1);
          for (int64_t j = 0; j < 200; ++j) rows[static_cast<size_t>(2 * kLong + 1 + j)] = static_cast<uint64_t>(j % 50);
          std::shuffle(rows.begin(), rows.end(), std::mt19937_64(static_cast<uint64_t>(vectors)));
          for (int64_t j = 0; j < kIndices; ++j) set_bits(t.index, j, rows[static_cast<size_t>(j)]);
          mark_untouched(t);
          check_ways(t, joined ? kWith : kBothWays);
          const std::string type = kernel_type(dtype);
          const std::string way = joined && dtype != HIPOPS_U8 ? "_joined_wide" : "_list_wide";
          EXPECT(recorder.ran().count("index_add_" + type + way));
        }
  go_by(kSorted);
}

// Rows that are whole waves, of which each lane has the same list: of no, one, a few and many sources; and rows that
// are not.
void check_rows_of_waves() {
  Recorder recorder;
  for (hipops_dtype dtype : kAdded)
    for (int way : {0, 1, 2, 3}) {
      const bool joined = way % 2 != 0, whole = way < 2;
      go_by(joined ? kJoined : kSorted);
      Operands t = rows_of(dtype, 100, (whole ? 1024 : 1040) / dtype_bytes(dtype), 300, 9);
      for (int64_t j = 0; j < 300; j += 20) set_bits(t.index, j, 3);
      t.x.randomize(1, 0, 3), t.y.randomize(2, 0, 3);
      check_ways(t, joined ? kWith : kBothWays);
      const std::string type = kernel_type(dtype);
      const std::string kernel = joined && dtype != HIPOPS_U8 ? "_joined_wide" : "_list_wide";
      EXPECT(recorder.ran().count("index_add_" + type + kernel));
      EXPECT_EQUAL(Recorder::one_list.load(), whole);
    }
  go_by(kSorted);
}

// Sums whose order shows, of many sources for each row.
Operands sums_that_show_their_order(int64_t indices) { return rows_of(HIPOPS_F32, 50, 5, indices, 3); }

// `check` on the CPU runtime, with waves of 32 and of 64.
void on_both_waves(void (*check)(), const Environment& more = {}) {
  if (!has_cpu()) {
    WARN("left out: built without the CPU runtime");
    return;
  }
  for (const char* wave : {"32", "64"}) {
    INFO("wave " << wave);
    Environment environment = more;
    environment["HIPOPS_BACKEND"] = "cpu";
    environment["HIPOPS_CPU_WAVE"] = wave;
    check_in_child(environment, check);
  }
}

}  // namespace

TEST_CASE("index_add refuses bad arguments", "[index_add]") {
  check_in_child({{"HIPOPS_BACKEND", "cpu"}}, check_bad_arguments);
}

TEST_CASE("index_add refuses a workspace that is too small, misaligned or not its own", "[index_add]") {
  check_in_child({{"HIPOPS_BACKEND", "cpu"}}, check_workspace_refusals);
}

TEST_CASE("index_add says how much workspace it needs", "[index_add]") {
  check_in_child({{"HIPOPS_BACKEND", "cpu"}}, check_workspace_bytes);
}

TEST_CASE("index_add to nothing is success, and reports what it could not add", "[index_add]") {
  on_both_waves([] {
    for (const Sizes& shape : {Sizes{0}, Sizes{5, 0}, Sizes{0, 5}, Sizes{2, 0, 3}, Sizes{0, 0}})
      for (int32_t dim = 0; dim < static_cast<int32_t>(shape.size()); ++dim)
        for (int64_t indices : {0, 3, 300}) {
          Sizes x_shape = shape;
          x_shape[static_cast<size_t>(dim)] = indices;
          Operands t{HostTensor(HIPOPS_F16, shape), HostTensor(HIPOPS_F16, x_shape), HostTensor(HIPOPS_U8, {indices}),
                     dim};
          for (int64_t j = 0; j < indices; ++j) set_bits(t.index, j, j % 2 ? 7 : 255);
          for (hipops_tensor* view : {&t.y.view, &t.x.view})
            for (int d = 0; d < view->rank && view->shape[dim] == 0; ++d) view->stride[d] = INT64_MAX;  // not looked at
          hipops_index_report report = HIPOPS_INDEX_REPORT_INIT;
          call(t, true, &report);
          EXPECT(t.y.guards_are_whole());
          const bool any = t.x.count() > 0 && indices > 0;
          EXPECT_EQUAL(report.count, static_cast<uint64_t>(any ? indices / 2 : 0));
          EXPECT_EQUAL(report.first, any ? 1 : UINT64_MAX);
        }
  });
}

TEST_CASE("index_add is right for any shapes, strides and dtypes", "[index_add]") { on_both_waves(check_any); }

TEST_CASE("index_add orders rows of any number", "[index_add]") { on_both_waves(check_digits); }

TEST_CASE("index_add orders any number of indices", "[index_add]") { on_both_waves(check_ranges); }

TEST_CASE("index_add orders what is in order already, and what is one row's", "[index_add]") {
  on_both_waves(check_orders, {{"HIPOPS_CPU_RACE", "1"}});
}

TEST_CASE("index_add orders more shares than a block joins at a time", "[index_add]") { on_both_waves(check_shares); }

TEST_CASE("index_add has a kernel for each dtype, width and way", "[index_add]") { on_both_waves(check_kernels); }

TEST_CASE("index_add expects loads of nothing but x", "[index_add]") { on_both_waves(check_expected); }

TEST_CASE("index_add's sums follow at once where they expect much", "[index_add]") {
  on_both_waves(check_next_at_once);
}

TEST_CASE("index_add takes vectors where addresses and steps allow it", "[index_add]") { on_both_waves(check_wide); }

TEST_CASE("index_add adds long lists", "[index_add]") {
  on_both_waves(check_long_lists, {{"HIPOPS_CPU_RACE", "1"}});
}

TEST_CASE("index_add adds lists of any length to rows of whole waves", "[index_add]") {
  on_both_waves(check_rows_of_waves);
}

TEST_CASE("index_add's kernels are right over several rounds of the grid", "[index_add]") {
  on_both_waves(check_two_blocks);
}

TEST_CASE("index_add tells rows apart that 32 bits do not", "[index_add]") { on_both_waves(check_far_rows); }

TEST_CASE("index_add has a wave for each of few indices, whatever the layout", "[index_add]") {
  on_both_waves([] {
    go_by(kByDefault);
    check_any();
    check_far_rows();
  });
}

TEST_CASE("index_add has waves for few indices where a launch has room for them", "[index_add]") {
  for (int wave : {32, 64}) {
    const int64_t waves = 128 / wave, most = (int64_t{1} << 22) * waves;
    CHECK(few_blocks(1, 1, wave) == 1);
    CHECK(few_blocks(waves, 1, wave) == 1);
    CHECK(few_blocks(waves + 1, 1, wave) == 2);
    CHECK(few_blocks(128, 1, wave) == 128 / waves);
    CHECK(few_blocks(129, 1, wave) == 0);
    CHECK(few_blocks(1, most, wave) == most / waves);
    CHECK(few_blocks(1, most + 1, wave) == 0);
    CHECK(few_blocks(128, most / 128, wave) == most / waves);
    CHECK(few_blocks(128, most / 128 + 1, wave) == 0);
    CHECK(few_blocks(128, INT64_MAX / 32, wave) == 0);
  }
}

TEST_CASE("index_add has a wave for each of few indices", "[index_add]") {
  on_both_waves(check_few, {{"HIPOPS_CPU_RACE", "1"}});
}

TEST_CASE("index_add looks few indices through", "[index_add]") {
  on_both_waves(check_scanned, {{"HIPOPS_CPU_RACE", "1"}});
}

TEST_CASE("index_add looks indices through of which a block has no room for its share", "[index_add]") {
  on_both_waves(check_crowded_shares, {{"HIPOPS_CPU_RACE", "1"}});
}

// The way of rows without gaps, with a workspace, on any device.
SumsWay way_of(int64_t rows, int64_t columns, int64_t indices, const SumsPolicy& sums = kByDefault,
               hipops_dtype dtype = HIPOPS_F32) {
  const hipops_tensor y = view_of(0, dtype, {rows, columns}), x = view_of(0, dtype, {indices, columns});
  const hipops_tensor index = view_of(0, HIPOPS_I64, {indices});
  const SumsProblem problem = describe_sums({&y, &x, &index, 0});
  PlanOptions options;
  options.sums = sums;
  return choose_sums(options, problem, plan_sorts(problem), DeviceNumbers{}, true).way;
}

TEST_CASE("index_add looks indices through where they are few, and what is added", "[index_add]") {
  const auto scans = [](int64_t rows, int64_t columns, int64_t indices) {
    return way_of(rows, columns, indices) == SumsWay::scan;
  };
  CHECK(scans(8192, 512, 8192));
  CHECK_FALSE(scans(8192, 513, 8192));  // over 16 MiB
  CHECK(scans(8193, 255, 8193));
  CHECK_FALSE(scans(8193, 256, 8193));  // over 8 MiB
  CHECK(scans(16384, 1, 16384));
  CHECK_FALSE(scans(16385, 1, 16385));
  CHECK(scans(2048, 1, 16384));
  CHECK_FALSE(scans(2047, 1, 16384));  // over 8 a row
  CHECK(scans(512, 1, 8192));
  CHECK_FALSE(scans(511, 1, 8192));  // over 16 a row
  CHECK(scans(32, 1, 2048));
  CHECK_FALSE(scans(31, 1, 2048));  // over 64 a row
  CHECK(scans((int64_t{1} << 32) - 1, 1, 257));
}

TEST_CASE("index_add's blocks that join add up what they joined where that is better", "[index_add]") {
  on_both_waves(check_joined);
}

TEST_CASE("index_add's indices are spread over blocks that join by as many bits as it takes", "[index_add]") {
  struct Case {
    int64_t rows, indices;
    int bits, high_bits, low_bits;
  };
  constexpr int64_t kMost = (1 << 22) - 1;
  for (const Case& c : {Case{513, 1 << 13, 8, 8, 2}, {1024, kMost, 8, 8, 2}, {1 << 16, 1 << 13, 8, 8, 8},
                        {(1 << 16) + 1, 1 << 13, 8, 9, 8}, {1 << 17, 1 << 13, 8, 9, 8}, {1 << 18, 1 << 13, 8, 10, 8},
                        {129, 1 << 13, 6, 6, 2}, {1 << 14, 1 << 13, 6, 6, 8}, {(1 << 14) + 1, 1 << 13, 6, 7, 8}}) {
    const SortPlan sort = plan_joined_sort(c.rows, c.indices, c.bits);
    CAPTURE(c.rows);
    CHECK(sort.passes == 1);
    CHECK(sort.pass[0].high_bits == c.high_bits);
    CHECK(sort.pass[0].low_bits == c.low_bits);
  }
  CHECK(plan_joined_sort((1 << 18) + 1, 1 << 13, 8).passes == 0);
  CHECK(plan_joined_sort(INT64_MAX, 1 << 13, 8).passes == 0);
  CHECK(plan_joined_sort(1024, kMost + 1, 8).passes == 0);
}

// By how many high bits blocks partition that join; 0: none do.
int partition_bits(int64_t rows, int64_t columns, int64_t indices, hipops_dtype dtype = HIPOPS_F32) {
  const hipops_tensor y = view_of(0, dtype, {rows, columns}), x = view_of(0, dtype, {indices, columns});
  const hipops_tensor index = view_of(0, HIPOPS_I64, {indices});
  return plan_sorts(describe_sums({&y, &x, &index, 0})).joined.pass[0].high_bits;
}

TEST_CASE("index_add's indices are spread over fewer blocks where there is little to add", "[index_add]") {
  CHECK(partition_bits(1024, 127, 1 << 13) == 6);
  CHECK(partition_bits(1024, 128, 1 << 13) == 8);  // 4 MiB
  CHECK(partition_bits(1024, 128, 1 << 13, HIPOPS_BF16) == 6);
  CHECK(partition_bits(1 << 14, 64, 1 << 13) == 6);
  CHECK(partition_bits((1 << 14) + 1, 64, 1 << 13) == 8);
  CHECK(partition_bits(1024, 8, 1792 << 6) == 6);
  CHECK(partition_bits(1024, 8, (1792 << 6) + 1) == 8);
}

TEST_CASE("index_add's indices are not spread where blocks would have few rows or indices", "[index_add]") {
  CHECK(partition_bits(513, 128, 1 << 13) == 8);
  CHECK(partition_bits(512, 128, 1 << 13) == 0);
  CHECK(partition_bits(129, 127, 1 << 13) == 6);
  CHECK(partition_bits(128, 127, 1 << 13) == 0);
  CHECK(partition_bits(1024, 128, (1 << 13) - 1) == 0);
}

TEST_CASE("index_add's blocks that join leave it to others where that pays", "[index_add]") {
  const auto joins = [](int64_t columns, int64_t indices, int high_bits) {
    const int64_t rows = int64_t{1} << (8 + high_bits);
    CHECK(partition_bits(rows, columns, indices) == high_bits);
    const SumsWay way = way_of(rows, columns, indices, kSorted);
    CHECK((way == SumsWay::joined || way == SumsWay::list));
    return way == SumsWay::joined;
  };
  CHECK(joins(4, 1792 << 6, 8));
  CHECK_FALSE(joins(4, (1792 << 6) + 1, 8));
  CHECK_FALSE(joins(4, 1 << 17, 8));
  CHECK(joins(8, 1 << 17, 8));  // 4 MiB
  CHECK(joins(1024, 1 << 13, 9));
  CHECK_FALSE(joins(1020, 1 << 13, 9));  // 32 MiB
  CHECK(joins(2048, 1 << 13, 10));
  CHECK_FALSE(joins(2044, 1 << 13, 10));  // 64 MiB
  CHECK(joins(64, 1 << 16, 9));
  CHECK_FALSE(joins(60, 1 << 16, 9));        // 16 MiB
  CHECK_FALSE(joins(64, (1 << 16) - 1, 9));  // 128 indices a block
  CHECK(joins(32, 1 << 17, 10));
  CHECK_FALSE(joins(32, (1 << 17) - 1, 10));
  CHECK(joins(1 << 24, (1 << 22) - 1, 8));  // in 64 bits
}

TEST_CASE("index_add's blocks that join add up what they joined right", "[index_add]") {
  on_both_waves(check_joined_results, {{"HIPOPS_CPU_RACE", "1"}});
}

TEST_CASE("index_add gives the same bits on every run", "[index_add]") {
  if (!has_cpu()) return;
  for (int run = 0; run < 100; ++run) {
    INFO("run " << run);
    const Environment environment = {{"HIPOPS_BACKEND", "cpu"},
                                     {"HIPOPS_CPU_WAVE", run % 2 ? "64" : "32"},
                                     {"HIPOPS_CPU_THREADS", std::to_string(1 + run / 2 % 4)},
                                     {"HIPOPS_CPU_UNITS", std::to_string(1 + run / 4 % 4)},
                                     {"HIPOPS_CPU_SEED", std::to_string(run)}};
    check_in_child(environment, [] {
      for (int64_t indices : {250, 2500}) {
        Operands t = sums_that_show_their_order(indices);
        check_both_ways(t);
      }
    });
  }
  // The order does show: backwards, the bits are others.
  Operands forwards = sums_that_show_their_order(2500), backwards = sums_that_show_their_order(2500);
  for (int64_t j = 0; j < 2500; ++j) {
    set_bits(backwards.index, 2499 - j, forwards.index.bits(j));
    for (int64_t i = 0; i < 5; ++i) set_bits(backwards.x, (2499 - j) * 5 + i, forwards.x.bits(j * 5 + i));
  }
  hipops_index_report report = HIPOPS_INDEX_REPORT_INIT;
  CHECK(expected_bits(forwards, &report) != expected_bits(backwards, &report));
}

TEST_CASE("hipops_supports knows what index_add takes", "[index_add]") {
  for (int dtype = HIPOPS_F32; dtype <= HIPOPS_U64; ++dtype) {
    const auto type = static_cast<hipops_dtype>(dtype);
    const bool added = std::find(std::begin(kAdded), std::end(kAdded), type) != std::end(kAdded);
    for (hipops_dtype index : kIndexDtypes) CHECK(hipops_supports("index_add", type, index) == added);
    CHECK(hipops_supports("index_add", type, HIPOPS_NONE) == added);
    for (hipops_dtype index : {HIPOPS_F32, HIPOPS_I8, HIPOPS_U16, HIPOPS_U64})
      CHECK(hipops_supports("index_add", type, index) == 0);
  }
}
