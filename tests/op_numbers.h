// The numbers of a RowOp on the CPU runtime: every kernel, at the ends of the rows that it is for.
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
#include "op_tester.h"

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
inline void check_numbers(const RowOp& op, Operands& t, const std::function<hipops_status()>& run) {
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
  hipops_status status = run();
  if (status != HIPOPS_SUCCESS) throw std::runtime_error(hipops_last_error());
  EXPECT(inputs() == before);
  EXPECT(t.y().guards_are_whole());
  Row weight = row_of(t.weight, cols, 1), bias = row_of(t.bias, cols, 0);
  for (int64_t row = 0; row < rows; ++row)
    compare_row(op, x[static_cast<size_t>(row)], weight, bias, t.eps, t.y(), row);
}

inline void check_numbers(const RowOp& op, Operands& t) {
  auto view = [](std::optional<HostTensor>& tensor) { return tensor ? &tensor->view : nullptr; };
  check_numbers(op, t, [&] { return op.call(&t.y().view, &t.x.view, view(t.weight), view(t.bias), t.eps); });
}

// Stands between an op and its CPU kernels, and notes which of them run.
class Recorder {
 public:
  explicit Recorder(hipops::Op& op) {
    EXPECT(op.kernel_count <= kMostKernels);
    if (hipops::load(op) != HIPOPS_SUCCESS) throw std::runtime_error(hipops_last_error());
    void* const* loaded = op.functions[0].load();
    wrap(loaded, op.kernel_count, std::make_index_sequence<kMostKernels>());
    op.functions[0].store(functions_.data());
  }

  // The kernels that ran since the last call.
  static std::vector<int> ran() {
    std::vector<int> kernels;
    for (int i = 0; i < kMostKernels; ++i)
      if (ran_[static_cast<size_t>(i)].exchange(false)) kernels.push_back(i);
    return kernels;
  }

 private:
  static constexpr int kMostKernels = hipops::kRowKernels + hipops::kOwnKernels;

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

  static inline std::array<std::atomic<bool>, kMostKernels> ran_{};
  static inline std::array<const hipops::CpuKernel*, kMostKernels> real_{};
  static inline std::array<hipops::CpuKernel, kMostKernels> wrapped_{};
  static inline std::array<void*, kMostKernels> functions_{};
};

inline int64_t longest_staged(hipops_dtype dtype) {
  int64_t longest = 0;
  for (const hipops::RowVariant& v : hipops::row_variants)
    if (v.dtype == dtype && v.access == hipops::staged) longest = std::max(longest, v.longest);
  return longest;
}

// Lengths of rows that variant `kernel` is for: its shortest, its longest, one vector less than that, and one between;
// of a streaming one the shortest, and a vector around a whole number of tiles.
inline Sizes cols_of(int kernel) {
  const hipops::RowVariant& v = hipops::row_variants[kernel];
  // Edged rows end anywhere in a vector.
  int64_t step = v.access == hipops::edged ? 1 : v.length;
  // There can be no gap in a row of one element, which counts as edged where there are edged ones.
  int64_t shortest = v.access == hipops::any && v.dtype != HIPOPS_F64 ? 2 : step;
  // Shorter ones in one piece are staged.
  if (v.access == hipops::edged) shortest = longest_staged(v.dtype) + 1;
  for (const hipops::RowVariant& other : hipops::row_variants)
    if (other.dtype == v.dtype && other.access == v.access && !other.streaming &&
        (v.streaming || other.longest < v.longest))
      shortest = std::max(shortest, other.longest + step);
  Sizes cols{shortest};
  if (v.streaming) {
    int64_t tile = int64_t{v.threads} * v.vectors * v.length, tiles = (shortest / tile + 2) * tile;
    cols.insert(cols.end(), {tiles - step, tiles, tiles + step});
    return cols;
  }
  for (int64_t more : {(shortest + v.longest) / 2 / step * step, v.longest - step, v.longest})
    if (more > cols.back()) cols.push_back(more);
  return cols;
}

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
  bool any_vector = false;  // the weights are what allows no access of 16 bytes
};

inline const std::vector<Way>& ways(hipops::RowAccess access) {
  static const std::vector<Way> for_wide = {
      {Layout::kPlain, Layout::kPlain, Second::kNone, Second::kNone},
      {Layout::kPadded, Layout::kTransposed, Second::kSame, Second::kSame},
      {Layout::kTransposed, Layout::kPadded, Second::kF32, Second::kNone},
      {Layout::kReversed, {}, Second::kNone, Second::kF32},
      {Layout::kRepeated, Layout::kReversed, Second::kF32, Second::kF32},
  };
  static const std::vector<Way> for_edged = {
      {Layout::kShifted, Layout::kPlain, Second::kNone, Second::kNone},
      {Layout::kShifted, {}, Second::kSame, Second::kSame},
      {Layout::kPadded, Layout::kShifted, Second::kF32, Second::kNone},
      {Layout::kShifted, Layout::kReversed, Second::kNone, Second::kF32},
      {Layout::kTransposed, Layout::kShifted, Second::kF32, Second::kF32},
  };
  static const std::vector<Way> for_staged = {
      {Layout::kPlain, Layout::kShifted, Second::kNone, Second::kNone},
      {Layout::kShifted, {}, Second::kSame, Second::kSame},
      {Layout::kShifted, Layout::kShifted, Second::kF32, Second::kNone, true},
      {Layout::kShifted, Layout::kPlain, Second::kNone, Second::kF32},
  };
  static const std::vector<Way> for_any = {
      {Layout::kEveryOther, Layout::kPlain, Second::kNone, Second::kNone},
      {Layout::kPadded, Layout::kMirrored, Second::kSame, Second::kSame},
      {Layout::kPlain, Layout::kPlain, Second::kF32, Second::kF32, true},
      {Layout::kMirrored, {}, Second::kNone, Second::kF32},
      {Layout::kEveryOther, Layout::kShifted, Second::kF32, Second::kNone, true},
      {Layout::kRepeated, Layout::kEveryOther, Second::kSame, Second::kNone},
  };
  return access == hipops::wide     ? for_wide
         : access == hipops::edged  ? for_edged
         : access == hipops::staged ? for_staged
                                    : for_any;
}

inline std::optional<HostTensor> make_vector(hipops_dtype dtype, int64_t cols, Second second, bool any_vector,
                                             uint64_t seed) {
  if (second == Second::kNone) return {};
  Sizes stride{any_vector ? -2 : 1};
  HostTensor vector(second == Second::kF32 ? HIPOPS_F32 : dtype, {cols}, stride, any_vector ? 1 : 0);
  vector.randomize(seed, -2, 2);
  return vector;
}

inline Operands make_operands(const RowOp& op, hipops_dtype dtype, int64_t n, int64_t cols, const Way& way,
                              uint64_t seed) {
  Operands t{make_rows(dtype, n, cols, way.x), {}, {}, {}};
  t.x.randomize(seed, -3, 5);
  if (way.y) t.apart = make_rows(dtype, n, cols, *way.y);
  if (op.has_weight) t.weight = make_vector(dtype, cols, way.weight, way.any_vector, seed + 1);
  if (op.has_bias) t.bias = make_vector(dtype, cols, way.bias, way.any_vector, seed + 2);
  return t;
}

// Each of the dtype's variants, at the ends of the rows that it is for, with more rows than two blocks hold.
inline void check_variants(const RowOp& op, hipops_dtype dtype) {
  EXPECT_EQUAL(hipops_init(HIPOPS_BACKEND_CPU), HIPOPS_SUCCESS);
  Recorder recorder(op.kernels());
  size_t turn = 0;
  for (int kernel = 0; kernel < hipops::kRowVariants; ++kernel) {
    const hipops::RowVariant& v = hipops::row_variants[kernel];
    if (v.dtype != dtype) continue;
    int64_t n = 2 * (v.block / v.threads) / 3 + 1;
    for (int64_t cols : cols_of(kernel))
      for (int i = 0; i < 2; ++i, ++turn) {
        Way way = ways(v.access)[turn % ways(v.access).size()];
        const bool weights_decide = v.access == hipops::any && way.any_vector;
        if (weights_decide && (!op.has_weight || cols <= longest_staged(dtype))) way.x = Layout::kEveryOther;
        if (cols == 1 && way.x == Layout::kMirrored) way.x = Layout::kEveryOther;  // one element has no direction
        Operands t = make_operands(op, dtype, n, cols, way, turn);
        hipops::forced_row_kernel = kernel;
        try {
          const auto view = [](const std::optional<HostTensor>& tensor) { return tensor ? &tensor->view : nullptr; };
          EXPECT_EQUAL(hipops::row_access(t.y().view, t.x.view, hipops::row_geometry(t.y().view, t.x.view),
                                          view(t.weight), view(t.bias)),
                       v.access);
          check_numbers(op, t);
          EXPECT(recorder.ran() == std::vector<int>{kernel});
        } catch (const std::exception& problem) {
          throw std::runtime_error(std::string(op.kernels().kernel_names[kernel]) + ", " + std::to_string(cols) +
                                   " columns, way " + std::to_string(turn % ways(v.access).size()) + ": " +
                                   problem.what());
        }
      }
  }
}

// A grid that has to go round: two full rounds, and a third for which only one of two blocks has rows, not all that it
// could have: a late one, where there may be such.
inline void check_rounds(const RowOp& op, hipops_dtype dtype) {
  EXPECT_EQUAL(hipops_init(HIPOPS_BACKEND_CPU), HIPOPS_SUCCESS);
  for (int kernel = 0; kernel < hipops::kRowVariants; ++kernel) {
    const hipops::RowVariant& v = hipops::row_variants[kernel];
    if (v.dtype != dtype) continue;
    const int64_t cols = cols_of(kernel)[0], at_once = v.block / v.threads;
    // A stage is gone over twice where it has room.
    const bool twice = v.access == hipops::staged && 2 * at_once <= hipops::most_stage_rows(v, cols);
    const int64_t rows_per_block = twice ? 2 * at_once : at_once, rows = 4 * rows_per_block + (rows_per_block + 1) / 2;
    Operands t{HostTensor(dtype, {rows, cols}), HostTensor(dtype, {rows, cols}), {}, {}};
    t.x.randomize(static_cast<uint64_t>(kernel), -3, 5);
    t.eps = 1;
    hipops::RowGeometry geometry = hipops::row_geometry(t.y().view, t.x.view);
    geometry.row_step = 2 * rows_per_block;
    geometry.threads = v.block;
    geometry.rows_in_shared = static_cast<int32_t>(rows_per_block);
    const bool has_late = v.threads == v.block ||
                          (v.access == hipops::wide && v.vectors <= hipops::kMostVectorsAround);
    if (has_late) geometry.in_rounds = 2 * geometry.row_step;
    try {
      check_numbers(op, t, [&] {
        return op.launch(op.kernels(), kernel, has_late ? 3 : 2, static_cast<uint32_t>(v.block), geometry,
                         t.x.view.data, t.y().view.data);
      });
    } catch (const std::exception& problem) {
      throw std::runtime_error(std::string(op.kernels().kernel_names[kernel]) + ": " + problem.what());
    }
  }
}

// Few short rows go element by element, many by way of shared memory.
inline void check_few(const RowOp& op, hipops_dtype dtype) {
  EXPECT_EQUAL(hipops_init(HIPOPS_BACKEND_CPU), HIPOPS_SUCCESS);
  Recorder recorder(op.kernels());
  for (bool many : {false, true}) {
    hipops::rows_count_as_many = many;
    Operands t{HostTensor(dtype, {5, 7}), {}, {}, {}};
    t.x.randomize(3, -3, 5);
    check_numbers(op, t);
    const std::vector<int> ran = recorder.ran();
    EXPECT_EQUAL(ran.size(), size_t{1});
    EXPECT_EQUAL(hipops::row_variants[ran[0]].access, many ? hipops::staged : hipops::any);
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

// `check` on the CPU runtime, with waves of 32 and of 64, in a process for each dtype.
inline void on_cpu(const RowOp& op, void (*check)(const RowOp&, hipops_dtype), const Environment& environment = {}) {
  if (!has_cpu()) {
    WARN("left out: built without the CPU runtime");
    return;
  }
  for (const char* wave : {"32", "64"})
    for (hipops_dtype dtype : kFloats) {
      INFO("wave " << wave << ", " << hipops::parity::dtype_name(dtype));
      Environment all = environment;
      all["HIPOPS_CPU_WAVE"] = wave;
      check_in_child(all, [&] { check(op, dtype); });
    }
}

}  // namespace hipops_test
