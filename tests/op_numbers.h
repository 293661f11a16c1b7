// The numbers of a RowOp on the CPU runtime: rows however they lie, with every kernel that it has.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "device/core/cpu.h"
#include "as_many.h"
#include "op_tester.h"
#include "rows/plan.h"
#include "runtime/runtime.h"

namespace hipops_test {

struct Operands {
  HostTensor x;
  std::optional<HostTensor> apart;  // y, where that is not x
  std::optional<HostTensor> weight, bias;
  double eps = 1e-3;

  HostTensor& y() { return apart ? *apart : x; }
};

inline Row row_of(const std::optional<HostTensor>& values, int64_t cols, long double otherwise) {
  Row row(static_cast<size_t>(cols), otherwise);
  for (int64_t i = 0; values && i < cols; ++i) row[static_cast<size_t>(i)] = values->get(i);
  return row;
}

// What tells a right kernel from a wrong one: 1 ULP for 16 bits and 4 for the others, as hipops-parity holds the ops to.
// ULPs of what is added up last, that is: where it cancels, its own error is all that is left.
inline long double tolerance(hipops_dtype dtype, long double exact, long double magnitude) {
  const bool is_16_bit = dtype == HIPOPS_F16 || dtype == HIPOPS_BF16;
  const hipops_dtype computed_in = is_16_bit ? HIPOPS_F32 : dtype;
  const long double of_sum = 4 * hipops::parity::ulp(computed_in, static_cast<double>(magnitude));
  return is_16_bit ? hipops::parity::ulp(dtype, static_cast<double>(exact)) + of_sum : of_sum;
}

inline void compare_row(const RowOp& op, const Row& x, const Row& weight, const Row& bias, double eps,
                        const HostTensor& y, int64_t row) {
  Row exact(x.size()), magnitude(x.size());
  op.reference(x, weight, bias, eps, &exact, &magnitude);
  for (size_t col = 0; col < x.size(); ++col) {
    long double got = y.get(row * static_cast<int64_t>(x.size()) + static_cast<int64_t>(col));
    if (std::isnan(got) && std::isnan(exact[col])) continue;
    if (std::fabs(got - exact[col]) <= tolerance(y.view.dtype, exact[col], magnitude[col])) continue;
    throw std::runtime_error("y[" + std::to_string(row) + ", " + std::to_string(col) + "] is " +
                             hipops::parity::show_double(static_cast<double>(got)) + ", expected " +
                             hipops::parity::show_double(static_cast<double>(exact[col])));
  }
}

// Runs the op, and compares all that it wrote and all that it must not have written.
inline void check_numbers(const RowOp& op, Operands& t) {
  int64_t cols = t.x.view.shape[t.x.view.rank - 1], rows = t.x.count() / cols;
  std::vector<Row> x;
  for (int64_t row = 0; row < rows; ++row) {
    x.emplace_back();
    for (int64_t col = 0; col < cols; ++col) x.back().push_back(t.x.get(row * cols + col));
  }
  auto inputs = [&] {
    std::vector<std::vector<unsigned char>> bytes;
    if (t.apart) bytes.push_back(t.x.bytes());
    if (t.weight) bytes.push_back(t.weight->bytes());
    if (t.bias) bytes.push_back(t.bias->bytes());
    return bytes;
  };
  auto before = inputs();
  auto view = [](std::optional<HostTensor>& tensor) { return tensor ? &tensor->view : nullptr; };
  if (op.call(&t.y().view, &t.x.view, view(t.weight), view(t.bias), t.eps) != HIPOPS_SUCCESS)
    throw std::runtime_error(hipops_last_error());
  EXPECT(inputs() == before);
  EXPECT(t.y().guards_are_whole());
  Row weight = row_of(t.weight, cols, 1), bias = row_of(t.bias, cols, 0);
  for (int64_t row = 0; row < rows; ++row)
    compare_row(op, x[static_cast<size_t>(row)], weight, bias, t.eps, t.y(), row);
}

// Stands between an op and its CPU kernels, and notes which of them run.
class Recorder {
 public:
  explicit Recorder(hipops::Op& op) : op_(op) {
    EXPECT(op.kernel_count <= kMostKernels);
    if (hipops::load(op) != HIPOPS_SUCCESS) throw std::runtime_error(hipops_last_error());
    void* const* loaded = op.functions[0].load();
    wrap(loaded, op.kernel_count, std::make_index_sequence<kMostKernels>());
    op.functions[0].store(functions_.data());
  }

  // Of a dtype's kernels, the names of those that have not run.
  std::string missing(const char* dtype) const {
    const std::string prefix = std::string(op_.name) + "_" + dtype + "_";
    std::string names;
    for (int i = 0; i < op_.kernel_count; ++i)
      if (std::string(op_.kernel_names[i]).rfind(prefix, 0) == 0 && !ran_[static_cast<size_t>(i)])
        names += std::string(op_.kernel_names[i]) + " ";
    return names;
  }

 private:
  static constexpr int kMostKernels = 64;

  template <size_t I>
  static void run(const void* args) {
    ran_[I].store(true, std::memory_order_relaxed);
    real_[I]->run(args);
  }
  template <size_t I>
  static void wrap_one(void* const* loaded, int count) {
    if (static_cast<int>(I) >= count) return;
    real_[I] = static_cast<const hipops::CpuKernel*>(loaded[I]);
    wrapped_[I] = {real_[I]->name, run<I>};
    functions_[I] = &wrapped_[I];
  }
  template <size_t... I>
  static void wrap(void* const* loaded, int count, std::index_sequence<I...>) {
    (wrap_one<I>(loaded, count), ...);
  }

  hipops::Op& op_;
  static inline std::array<std::atomic<bool>, kMostKernels> ran_{};
  static inline std::array<const hipops::CpuKernel*, kMostKernels> real_{};
  static inline std::array<hipops::CpuKernel, kMostKernels> wrapped_{};
  static inline std::array<void*, kMostKernels> functions_{};
};

// How rows may lie: [n, 3, cols], n * 3 of them.
enum class Layout {
  kPlain,
  kPadded,      // 16 bytes between rows
  kReversed,    // the last row first
  kTransposed,  // the two outer dimensions cannot be taken as one
  kRepeated,    // the same three rows throughout: for x
  kShifted,     // one element past a multiple of 16 bytes
  kEveryOther,  // gaps between elements
  kMirrored     // the last element first
};

inline HostTensor make_rows(hipops_dtype dtype, int64_t n, int64_t cols, Layout layout) {
  int64_t gap = 16 / static_cast<int64_t>(hipops::parity::dtype_size(dtype));
  Sizes stride{3 * cols, cols, 1};
  if (layout == Layout::kPadded) stride = {3 * (cols + gap), cols + gap, 1};
  if (layout == Layout::kReversed) stride = {-3 * cols, -cols, 1};
  if (layout == Layout::kTransposed) stride = {cols, n * cols, 1};
  if (layout == Layout::kRepeated) stride = {0, cols, 1};
  if (layout == Layout::kEveryOther) stride = {6 * cols, 2 * cols, 2};
  if (layout == Layout::kMirrored) stride = {3 * cols, cols, -1};
  return HostTensor(dtype, {n, 3, cols}, stride, layout == Layout::kShifted ? 1 : 0);
}

enum class Second { kNone, kSame, kF32 };  // weights: none, in x's dtype, in f32

struct Way {
  Layout x;
  std::optional<Layout> y;  // none: in place
  Second weight, bias;
  bool gaps_in_weights = false;
};

inline const std::vector<Way>& ways(hipops::RowLayout layout) {
  static const std::vector<Way> of_aligned = {
      {Layout::kPlain, Layout::kPlain, Second::kNone, Second::kNone},
      {Layout::kPadded, Layout::kTransposed, Second::kSame, Second::kSame},
      {Layout::kTransposed, Layout::kPadded, Second::kF32, Second::kNone},
      {Layout::kReversed, {}, Second::kNone, Second::kF32},
      {Layout::kRepeated, Layout::kReversed, Second::kF32, Second::kF32},
  };
  static const std::vector<Way> of_unaligned = {
      {Layout::kShifted, Layout::kPlain, Second::kNone, Second::kNone},
      {Layout::kShifted, {}, Second::kSame, Second::kSame},
      {Layout::kPadded, Layout::kShifted, Second::kF32, Second::kNone},
      {Layout::kShifted, Layout::kReversed, Second::kNone, Second::kF32},
      {Layout::kTransposed, Layout::kShifted, Second::kSame, Second::kSame},
  };
  static const std::vector<Way> of_strided = {
      {Layout::kEveryOther, Layout::kPlain, Second::kNone, Second::kNone},
      {Layout::kPadded, Layout::kMirrored, Second::kSame, Second::kSame},
      {Layout::kEveryOther, Layout::kPlain, Second::kF32, Second::kF32, true},
      {Layout::kMirrored, {}, Second::kNone, Second::kF32},
      {Layout::kEveryOther, Layout::kShifted, Second::kF32, Second::kNone, true},
      {Layout::kRepeated, Layout::kEveryOther, Second::kSame, Second::kNone},
  };
  return layout == hipops::RowLayout::aligned     ? of_aligned
         : layout == hipops::RowLayout::unaligned ? of_unaligned
                                                  : of_strided;
}

inline std::optional<HostTensor> make_vector(hipops_dtype dtype, int64_t cols, Second second, bool has_gaps,
                                             uint64_t seed) {
  if (second == Second::kNone) return {};
  Sizes stride{has_gaps ? -2 : 1};
  HostTensor vector(second == Second::kF32 ? HIPOPS_F32 : dtype, {cols}, stride, has_gaps ? 1 : 0);
  vector.randomize(seed, -2, 2);
  if (second == Second::kF32)
    for (const int64_t col : {int64_t{0}, cols / 2, cols - 1}) vector.set_bits(col, 0x7fffffff);  // a NaN that carelessly rounded is -0
  return vector;
}

inline Operands make_operands(const RowOp& op, hipops_dtype dtype, int64_t n, int64_t cols, const Way& way,
                              uint64_t seed) {
  Operands t{make_rows(dtype, n, cols, way.x), {}, {}, {}};
  t.x.randomize(seed, -3, 5);
  if (way.y) t.apart = make_rows(dtype, n, cols, *way.y);
  if (op.has_weight) t.weight = make_vector(dtype, cols, way.weight, way.gaps_in_weights, seed + 1);
  if (op.has_bias) t.bias = make_vector(dtype, cols, way.bias, way.gaps_in_weights, seed + 2);
  return t;
}

// Rows of every length and layout that has a kernel of its own, in several rounds of the grid: all kernels run.
inline void check_layouts(const RowOp& op, hipops_dtype dtype) {
  EXPECT_EQUAL(hipops_init(HIPOPS_BACKEND_CPU), HIPOPS_SUCCESS);
  hipops::TemporaryOptions temporary;
  temporary.options.most_blocks = 2;
  const Recorder recorder(op.kernels());
  const int64_t length = 16 / static_cast<int64_t>(hipops::parity::dtype_size(dtype));
  size_t turn = 0;
  const auto check = [&](hipops::RowLayout layout, int64_t cols) {
    const auto& all = ways(layout);
    for (int i = 0; i < 2; ++i, ++turn) {
      const int64_t rows = i == 0 && cols <= 1025 * length ? 14 : 1;  // times three; few ones have other kernels
      Operands t = make_operands(op, dtype, rows, cols, all[turn % all.size()], turn);
      try {
        check_numbers(op, t);
      } catch (const std::exception& problem) {
        throw std::runtime_error(std::to_string(cols) + " columns, way " + std::to_string(turn % all.size()) + " of layout " +
                                 std::to_string(int(layout)) + ": " + problem.what());
      }
    }
  };
  for (const int64_t vectors : {1, 3, 16, 17, 64, 65, 300, 512, 513, 1024, 1025, 2049, 4096, 4097, 8193, 8200, 9000}) {
    check(hipops::RowLayout::aligned, vectors * length);
    if (vectors < 4) continue;
    for (const int64_t more : {int64_t{0}, length - 1}) check(hipops::RowLayout::unaligned, vectors * length + more);
  }
  for (const int64_t cols : {2, 31, 128, 129, 2048, 2049, 5000}) check(hipops::RowLayout::strided, cols);
  for (const int64_t cols : {3, 8, 9, 32}) {  // so many rows that they are packed
    Operands t{HostTensor(dtype, {140, cols}), HostTensor(dtype, {140, cols}), {}, {}};
    t.x.randomize(static_cast<uint64_t>(cols), -3, 5);
    check_numbers(op, t);
  }
  EXPECT_EQUAL(recorder.missing(hipops::parity::dtype_name(dtype)), "");
}

// Short rows without gaps, wherever x and y begin: some, and as many as take several rounds of stages that hold several
// rounds of rows.
inline void check_packed(const RowOp& op, hipops_dtype dtype) {
  EXPECT_EQUAL(hipops_init(HIPOPS_BACKEND_CPU), HIPOPS_SUCCESS);
  const AsMany as_many;
  const int64_t length = 16 / static_cast<int64_t>(hipops::parity::dtype_size(dtype));
  const auto check = [&](int64_t rows, int64_t cols, int64_t x, std::optional<int64_t> y) {
    Operands t{HostTensor(dtype, {rows, cols}, {}, x), {}, {}, {}};
    if (y) t.apart = HostTensor(dtype, {rows, cols}, {}, *y);
    const uint64_t seed = static_cast<uint64_t>(cols * length + x);
    t.x.randomize(seed, -3, 5);
    const Second second = x % 3 == 0 ? Second::kNone : x % 3 == 1 ? Second::kSame : Second::kF32;
    if (op.has_weight) t.weight = make_vector(dtype, cols, second, false, seed + 1);
    if (op.has_bias) t.bias = make_vector(dtype, cols, second, false, seed + 2);
    try {
      check_numbers(op, t);
    } catch (const std::exception& problem) {
      throw std::runtime_error(std::to_string(rows) + " rows of " + std::to_string(cols) + " columns, " + std::to_string(x) +
                               " and " + std::to_string(y.value_or(-1)) + " past 16 bytes: " + problem.what());
    }
  };
  for (int64_t cols = 1; cols <= 32; ++cols)
    for (int64_t x = 0; x < length; ++x) {
      check(11, cols, x, (3 * x + cols) % length);
      check(11, cols, x, {});
    }
  hipops::TemporaryOptions temporary;
  temporary.options.most_blocks = 2;
  for (const int64_t cols : {3, 17}) {
    check(3001, cols, 1, 1);
    check(3001, cols, 1, 0);
    check(3001, cols, 1, {});
  }
}

// Few long rows, whose spans' parts wait in y, wherever x and y begin. Of f64, spans of several tiles, too. Results are the
// same bits in any grid.
inline void check_split(const RowOp& op, hipops_dtype dtype) {
  EXPECT_EQUAL(hipops_init(HIPOPS_BACKEND_CPU), HIPOPS_SUCCESS);
  const int64_t length = 16 / static_cast<int64_t>(hipops::parity::dtype_size(dtype));
  const auto check = [&](int64_t rows, int64_t cols, int64_t x, int64_t y) {
    Operands t{HostTensor(dtype, {rows, cols}, {}, x), HostTensor(dtype, {rows, cols}, {}, y), {}, {}};
    t.x.randomize(static_cast<uint64_t>(x), -3, 5);
    if (op.has_weight) t.weight = make_vector(dtype, cols, x == y ? Second::kSame : Second::kF32, false, 1);
    if (op.has_bias && x == y) t.bias = make_vector(dtype, cols, Second::kSame, false, 2);
    check_numbers(op, t);
    const auto before = t.apart->bytes();
    hipops::TemporaryOptions temporary;
    temporary.options.most_blocks = 3;
    check_numbers(op, t);
    EXPECT(t.apart->bytes() == before);
  };
  for (int64_t x = 0; x < length; ++x) check(2, 4097 * length + x, x, (3 * x + 1) % length);
  check(2, 6144 * length, 0, 0);
  if (dtype == HIPOPS_F64) check(1, (int64_t{1} << 21) + 5001, 1, 0);
}

// Rows of a few values over and over: in part of a wave, a wave, a block, and in memory.
inline void check_values(const RowOp& op, hipops_dtype dtype, const std::vector<double>& x, double eps,
                         const std::vector<double>& weight = {}) {
  EXPECT_EQUAL(hipops_init(HIPOPS_BACKEND_CPU), HIPOPS_SUCCESS);
  const int64_t values = static_cast<int64_t>(x.size());
  for (const int64_t times : {1, 24, 1500, 24000}) {
    const int64_t cols = times * values;
    Operands t{HostTensor(dtype, {1, cols}), HostTensor(dtype, {1, cols}), {}, {}, eps};
    if (!weight.empty()) t.weight = HostTensor(dtype, {cols});
    for (int64_t i = 0; i < cols; ++i) {
      t.x.set(i, x[static_cast<size_t>(i % values)]);
      if (t.weight) t.weight->set(i, weight[static_cast<size_t>(i % values)]);
    }
    try {
      check_numbers(op, t);
    } catch (const std::exception& problem) {
      throw std::runtime_error(std::string(hipops::parity::dtype_name(dtype)) + " of " +
                               hipops::parity::show_double(x[0]) + ", " + std::to_string(cols) + " columns, eps " +
                               hipops::parity::show_double(eps) + ": " + problem.what());
    }
  }
}

// Every rank, strides that leave nothing to collapse, dimensions and rows of one element.
inline void check_ranks(const RowOp& op) {
  EXPECT_EQUAL(hipops_init(HIPOPS_BACKEND_CPU), HIPOPS_SUCCESS);
  std::vector<Sizes> shapes = {{1}, {1, 1}, {7, 1}, {1, 5}, {3, 1, 1, 5, 1, 3}, {1, 1, 1, 1, 1, 1, 1, 1}};
  for (size_t rank = 1; rank <= HIPOPS_MAX_RANK; ++rank) {
    shapes.emplace_back(rank, 2);
    shapes.back().back() = 5;
  }
  for (const Sizes& shape : shapes)
    for (hipops_dtype dtype : kFloats) {
      Sizes backwards = contiguous(Sizes(shape.rbegin(), shape.rend()));  // the first dimension is the densest
      std::reverse(backwards.begin(), backwards.end());
      for (size_t d = 0; d < shape.size(); ++d)
        if (shape[d] == 1) backwards[d] = 0;
      Operands t{HostTensor(dtype, shape), HostTensor(dtype, shape, backwards), {}, {}};
      t.x.randomize(shape.size(), -3, 5);
      for (size_t d = 0; d < shape.size(); ++d)
        if (shape[d] == 1)
          t.x.view.stride[d] = t.apart->view.stride[d] = d % 2 ? INT64_MIN : INT64_MAX;  // not looked at
      check_numbers(op, t);
    }
}

// Long rows whose parts differ in size as much as the type allows, split and in place, the smallest ones first or last.
inline void check_sizes_of_parts(const RowOp& op, hipops_dtype dtype) {
  EXPECT_EQUAL(hipops_init(HIPOPS_BACKEND_CPU), HIPOPS_SUCCESS);
  const double apart = dtype == HIPOPS_F64 ? 1e200 : dtype == HIPOPS_F16 ? 1e3 : 1e30;
  const int64_t cols = 70001;
  for (const double first : {1 / apart, apart})
    for (const bool in_place : {false, true}) {
      Operands t{HostTensor(dtype, {1, cols}), {}, {}, {}, 0};
      if (!in_place) t.apart = HostTensor(dtype, {1, cols});
      t.x.randomize(5, -3, 5);
      for (int64_t i = 0; i < cols; ++i)
        t.x.set(i, t.x.get(i) * (i < cols / 3 ? first : i < 2 * cols / 3 ? 1 : 1 / first));
      check_numbers(op, t);
      // One part is scaled, and others have large sums that count for nothing beside it.
      if (dtype != HIPOPS_F32 && dtype != HIPOPS_BF16) continue;
      for (int64_t i = 0; i < cols; ++i) t.x.set(i, i == cols / 2 ? 0x1p126 : i % 2 ? 0x1p47 : -0x1p47);
      check_numbers(op, t);
      // Parts of equal elements, as lanes have them, whose sums' squares leave the type's range.
      for (const int64_t equal : {int64_t{16} / static_cast<int64_t>(hipops::parity::dtype_size(dtype)), cols / 2}) {
        for (int64_t i = 0; i < cols; ++i) t.x.set(i, i / equal % 2 ? 1e20 : -1e20);
        check_numbers(op, t);
      }
    }
}

// `check` on the CPU runtime, with waves of 32 and of 64, in a process for each dtype. Races in shared memory are reported.
inline void on_cpu(const RowOp& op, void (*check)(const RowOp&, hipops_dtype)) {
  if (!has_cpu()) {
    WARN("left out: built without the CPU runtime");
    return;
  }
  for (const char* wave : {"32", "64"})
    for (hipops_dtype dtype : kFloats) {
      INFO("wave " << wave << ", " << hipops::parity::dtype_name(dtype));
      check_in_child({{"HIPOPS_CPU_WAVE", wave}, {"HIPOPS_CPU_UNITS", "2"}, {"HIPOPS_CPU_RACE", "1"}},
                     [&] { check(op, dtype); });
    }
}

}  // namespace hipops_test
