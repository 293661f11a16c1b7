// What the tests of layer_norm, rms_norm and softmax share. Each op brings a RowOp; the checks here run on it.
//
// Everything runs in child processes: which runtime is in use, and with which waves, is the process's own.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "catch.h"
#include "device/cpu.h"
#include "error.h"
#include "host_tensor.h"
#include "in_child.h"
#include "ops.h"
#include "rows.h"

namespace hipops_test {

using Row = std::vector<long double>;

struct RowOp {
  const char* name;
  bool has_weight, has_bias;  // eps comes with the weight
  hipops_status (*call)(const hipops_tensor* y, const hipops_tensor* x, const hipops_tensor* weight, const hipops_tensor* bias,
                        double eps);
  // One row: y, and of each element the magnitude of what was added up last, by which an error of it is to be judged.
  void (*reference)(const Row& x, const Row& weight, const Row& bias, long double eps, Row* y, Row* magnitude);
  // A launch with a grid and geometry of one's own, without weights and with an eps of 1.
  hipops_status (*launch)(hipops::Op& op, int kernel, uint32_t grid, uint32_t block, const hipops::RowGeometry& geometry,
                          const void* x, void* y);

  hipops::Op& kernels() const {
    for (int i = 0; i < hipops::op_count; ++i)
      if (!std::strcmp(hipops::all_ops[i]->name, name)) return *hipops::all_ops[i];
    throw std::runtime_error(std::string("no op ") + name);
  }
};

constexpr hipops_dtype kFloats[] = {HIPOPS_F32, HIPOPS_F16, HIPOPS_BF16, HIPOPS_F64};

inline bool has_cpu() { return hipops::image_count > 0 && hipops::all_images[0].cpu_wave32 != nullptr; }

// ---- Calls that are refused, and calls that do nothing

// A good call; its fields are there to be spoilt.
class Call {
 public:
  HostTensor y, x, weight, bias;
  hipops_tensor *y_view, *x_view, *weight_view, *bias_view;  // the arguments: NULL for a tensor that is left out
  double eps = 1e-5;

  explicit Call(const RowOp& op, hipops_dtype dtype = HIPOPS_F32, const Sizes& shape = {4, 8})
      : y(dtype, shape), x(dtype, shape), weight(dtype, {shape.back()}), bias(dtype, {shape.back()}), op_(op) {
    y_view = &y.view, x_view = &x.view;
    weight_view = op.has_weight ? &weight.view : nullptr;
    bias_view = op.has_bias ? &bias.view : nullptr;
    x.randomize(1, -1, 1), weight.randomize(2, -1, 1), bias.randomize(3, -1, 1);
  }

  // Without its weights.
  Call& plain() {
    weight_view = bias_view = nullptr;
    return *this;
  }

  // The op says no, with this message after its name, having chosen no runtime and touched no memory.
  void refused(hipops_status status, const std::string& message) {
    hipops::fail_runtime(719, "before");
    auto before = memory();
    EXPECT_EQUAL(run(), status);
    EXPECT_EQUAL(std::string(hipops_last_error()), std::string(op_.name) + ": " + message);
    EXPECT_EQUAL(hipops_last_runtime_error(), 0);
    EXPECT(memory() == before);
    EXPECT_EQUAL(hipops_backend_in_use(), HIPOPS_BACKEND_AUTO);
  }
  void invalid(const std::string& message) { refused(HIPOPS_INVALID_ARGUMENT, message); }
  void wrong_dtype(const std::string& message) { refused(HIPOPS_UNSUPPORTED_DTYPE, message); }

  // The op succeeds, and leaves the thread's last failure alone.
  void succeeds() {
    hipops::fail_runtime(719, "before");
    EXPECT_EQUAL(run(), HIPOPS_SUCCESS);
    EXPECT_EQUAL(std::string(hipops_last_error()), "before");
    EXPECT_EQUAL(hipops_last_runtime_error(), 719);
  }

 private:
  hipops_status run() { return op_.call(y_view, x_view, weight_view, bias_view, eps); }
  std::vector<std::vector<unsigned char>> memory() const { return {y.bytes(), x.bytes(), weight.bytes(), bias.bytes()}; }

  const RowOp& op_;
};

// In a child where nothing but the CPU could be chosen.
inline void check_calls(const std::function<void()>& body) { check_in_child({{"HIPOPS_BACKEND", "cpu"}}, body); }

inline hipops_dtype dtype_of(int32_t value) {
  hipops_dtype dtype;
  std::memcpy(&dtype, &value, sizeof dtype);
  return dtype;
}

inline std::string text_of(const void* pointer) {
  char text[32];
  std::snprintf(text, sizeof text, "%p", pointer);
  return text;
}

// `spoil` gets a call and the view of the argument that is to be spoilt: what every tensor is checked for.
inline void check_tensor_argument(const RowOp& op, const std::string& name, hipops_tensor* Call::*argument) {
  const std::string in_one = name + ".";
  auto spoilt = [&](auto spoil, const std::string& message) {
    Call call(op);
    spoil(*(call.*argument));
    call.invalid(message);
  };
  const std::string dtypes = ", expected a hipops_dtype from 1 (f32) to 12 (u64)";
  for (int32_t value : {0, 13, 99, -1, 0x7fffffff})
    spoilt([&](hipops_tensor& t) { t.dtype = dtype_of(value); }, in_one + "dtype is " + std::to_string(value) + dtypes);
  for (int32_t rank : {-1, 9, 0x7fffffff})
    spoilt([&](hipops_tensor& t) { t.rank = rank; }, in_one + "rank is " + std::to_string(rank) + ", expected 0 to 8");
  spoilt([](hipops_tensor& t) { t.shape[0] = -4; }, in_one + "shape[0] is -4, expected 0 or more");
  spoilt([](hipops_tensor& t) { t.shape[0] = INT64_MIN; }, in_one + "shape[0] is -9223372036854775808, expected 0 or more");
  for (int64_t stride : {INT64_MAX, INT64_MIN, INT64_MAX / 8, INT64_MIN / 8})
    spoilt([&](hipops_tensor& t) { t.stride[0] = stride; },
           in_one + "shape and " + in_one + "stride reach outside the address space");
  spoilt([](hipops_tensor& t) { t.stride[0] = 0, t.rank = 2, t.shape[0] = int64_t{1} << 62, t.shape[1] = 8, t.stride[1] = 1; },
         in_one + "shape has more than 2^63 - 1 elements");

  Call no_memory(op);
  hipops_tensor& t = *(no_memory.*argument);
  t.data = nullptr;
  no_memory.invalid(in_one + "data is NULL, expected memory of " + (t.rank == 2 ? "32" : "8") + " elements");

  for (hipops_dtype dtype : kFloats) {
    Call misaligned(op, dtype);
    hipops_tensor& odd = *(misaligned.*argument);
    int bytes = static_cast<int>(hipops::parity::dtype_size(dtype));
    odd.data = static_cast<char*>(odd.data) + bytes / 2;
    misaligned.invalid(in_one + "data is " + text_of(odd.data) + ", expected a multiple of " + std::to_string(bytes) +
                       " (an element of " + hipops::parity::dtype_name(dtype) + ")");
  }
}

inline void check_rows_arguments(const RowOp& op) {
  check_tensor_argument(op, "x", &Call::x_view);
  check_tensor_argument(op, "y", &Call::y_view);
  {
    Call call(op);
    call.x_view = nullptr;
    call.invalid("x is NULL, expected a tensor");
  }
  {
    Call call(op);
    call.y_view = nullptr;
    call.invalid("y is NULL, expected a tensor");
  }
  {
    Call call(op);
    call.x.view.rank = call.y.view.rank = 0;
    call.invalid("x.rank is 0, expected 1 to 8");
  }
  {
    Call call(op);
    call.y.view.rank = 1;
    call.invalid("y.rank is 1, expected 2 (x.rank)");
  }
  {
    Call call(op);
    call.y.view.shape[0] = 3;
    call.invalid("y.shape[0] is 3, expected 4 (x.shape[0])");
  }
  {
    Call call(op);
    call.y.view.shape[1] = 7;
    call.invalid("y.shape[1] is 7, expected 8 (x.shape[1])");
  }
  {
    Call call(op, HIPOPS_F32);
    call.y.view.dtype = HIPOPS_F16;
    call.wrong_dtype("y.dtype is f16, expected f32 (x.dtype)");
  }
  {
    Call call(op, HIPOPS_F16);
    call.y.view.dtype = HIPOPS_BF16;
    call.wrong_dtype("y.dtype is bf16, expected f16 (x.dtype)");
  }
  for (int dtype = HIPOPS_U8; dtype <= HIPOPS_U64; ++dtype) {
    Call call(op, static_cast<hipops_dtype>(dtype));
    call.wrong_dtype(std::string("x.dtype is ") + hipops::parity::dtype_name(call.x.view.dtype) +
                     ", expected f32, f16, bf16 or f64");
  }
}

inline void check_memory_of_rows(const RowOp& op) {
  const std::string either = "y overlaps x, expected separate memory or exactly the same view";
  for (int d : {0, 1}) {
    Call call(op);
    call.y.view.stride[d] = 0;
    call.invalid("y.stride[" + std::to_string(d) + "] is 0, expected distinct elements in an output (shape[" +
                 std::to_string(d) + "] is " + (d == 0 ? "4)" : "8)"));
  }
  {
    Call call(op);
    call.y.view.stride[0] = 7;
    call.refused(HIPOPS_UNSUPPORTED_LAYOUT,
                 "y.stride lets elements of an output meet, or interleaves its dimensions; expected strides that nest");
  }
  for (int64_t bytes : {-124, -16, -4, 4, 16, 124}) {
    Call call(op);
    call.y.view.data = static_cast<char*>(call.x.view.data) + bytes;
    call.invalid(either);
  }
  {
    Call call(op, HIPOPS_F32, {8, 8});  // the same memory, transposed
    call.y.view.data = call.x.view.data;
    std::swap(call.y.view.stride[0], call.y.view.stride[1]);
    call.invalid(either);
  }
}

inline void check_weight_arguments(const RowOp& op, const std::string& name, HostTensor Call::*tensor,
                                   hipops_tensor* Call::*argument) {
  check_tensor_argument(op, name, argument);
  for (int rank : {0, 2}) {
    Call call(op);
    (call.*tensor).view.rank = rank;
    (call.*tensor).view.shape[1] = (call.*tensor).view.stride[1] = 1;
    call.invalid(name + ".rank is " + std::to_string(rank) + ", expected 1");
  }
  for (int64_t length : {0, 1, 7, 9}) {
    Call call(op);
    (call.*tensor).view.shape[0] = length;
    call.invalid(name + ".shape[0] is " + std::to_string(length) + ", expected 8 (x.shape[1])");
  }
  {
    Call call(op, HIPOPS_BF16, {2, 3, 4096});
    (call.*tensor).view.shape[0] = 4095;
    call.invalid(name + ".shape[0] is 4095, expected 4096 (x.shape[2])");
  }
  const std::pair<hipops_dtype, hipops_dtype> refused[] = {{HIPOPS_BF16, HIPOPS_F16}, {HIPOPS_F16, HIPOPS_BF16},
                                                          {HIPOPS_F64, HIPOPS_F16},  {HIPOPS_BF16, HIPOPS_I16},
                                                          {HIPOPS_F32, HIPOPS_F16},  {HIPOPS_F32, HIPOPS_F64}};
  for (const auto& [dtype, weights] : refused) {
    Call call(op, dtype);
    (call.*tensor).view.dtype = weights;
    call.wrong_dtype(name + ".dtype is " + hipops::parity::dtype_name(weights) + ", expected " +
                     hipops::parity::dtype_name(dtype) + " (x.dtype)" + (dtype == HIPOPS_F32 ? "" : " or f32"));
  }
  for (int64_t bytes : {-28, -4, 0, 4, 124}) {
    Call call(op);
    (call.*tensor).view.data = static_cast<char*>(call.y.view.data) + bytes;
    call.invalid("y overlaps " + name + ", expected separate memory");
  }
}

inline void check_eps_argument(const RowOp& op) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const std::pair<double, const char*> refused[] = {
      {std::nan(""), "nan"}, {infinity, "inf"}, {-infinity, "-inf"}, {-1e-5, "-1e-05"}, {-5e-324, "-4.94066e-324"}};
  for (const Sizes& shape : {Sizes{4, 8}, Sizes{0, 8}})
    for (const auto& [eps, text] : refused) {
      Call call(op, HIPOPS_F32, shape);
      call.eps = eps;
      call.invalid(std::string("eps is ") + text + ", expected a finite number of 0 or more");
    }
}

// Tensors without elements: nothing of them is looked at but dtype, rank and shape.
inline void check_empty(const RowOp& op) {
  const Sizes shapes[] = {{0}, {0, 8}, {4, 0}, {0, 0}, {3, 0, 8}, {int64_t{1} << 62, 0, 64}, {2, 2, 2, 2, 2, 2, 0, 2}};
  for (const Sizes& shape : shapes)
    for (hipops_dtype dtype : kFloats) {
      Call call(op, dtype, {shape.back()});
      for (HostTensor* t : {&call.y, &call.x}) {
        t->view = view_of(0, dtype, shape, Sizes(shape.size(), INT64_MAX));
      }
      if (shape.back() == 0) call.weight.view.data = call.bias.view.data = nullptr;
      call.succeeds();
      call.plain().succeeds();
      EXPECT_EQUAL(hipops_backend_in_use(), HIPOPS_BACKEND_AUTO);
    }
  Call call(op, HIPOPS_F32, {0, 8});
  call.y.view.shape[1] = 9;
  call.invalid("y.shape[1] is 9, expected 8 (x.shape[1])");
}

// ---- Numbers, on the CPU runtime

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

// 1 ULP for 16 bits, 4 for the others; plus 4 of f32 of what is added up last, which for 16 bits matters only where that cancels.
inline long double tolerance(hipops_dtype dtype, long double exact, long double magnitude) {
  bool is_16_bit = dtype == HIPOPS_F16 || dtype == HIPOPS_BF16;
  long double of_sum = 4 * hipops::parity::ulp(is_16_bit ? HIPOPS_F32 : dtype, static_cast<double>(magnitude));
  return is_16_bit ? hipops::parity::ulp(dtype, static_cast<double>(exact)) + of_sum : of_sum;
}

inline void compare_row(const RowOp& op, const Row& x, const Row& weight, const Row& bias, double eps, const HostTensor& y,
                        int64_t row) {
  Row exact(x.size()), magnitude(x.size());
  op.reference(x, weight, bias, eps, &exact, &magnitude);
  for (size_t col = 0; col < x.size(); ++col) {
    long double got = y.get(row * static_cast<int64_t>(x.size()) + static_cast<int64_t>(col));
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
  for (int64_t row = 0; row < rows; ++row) compare_row(op, x[static_cast<size_t>(row)], weight, bias, t.eps, t.y(), row);
}

inline void check_numbers(const RowOp& op, Operands& t) {
  auto view = [](std::optional<HostTensor>& tensor) { return tensor ? &tensor->view : nullptr; };
  check_numbers(op, t, [&] { return op.call(&t.y().view, &t.x.view, view(t.weight), view(t.bias), t.eps); });
}

// Stands between an op and its CPU kernels, and notes which of them run.
class Recorder {
 public:
  explicit Recorder(hipops::Op& op) {
    EXPECT_EQUAL(op.kernel_count, hipops::kRowVariants);
    if (hipops::load(op) != HIPOPS_SUCCESS) throw std::runtime_error(hipops_last_error());
    void* const* loaded = op.functions[0].load();
    wrap(loaded, std::make_index_sequence<hipops::kRowVariants>());
    op.functions[0].store(functions_.data());
  }

  // The kernels that ran since the last call.
  static std::vector<int> ran() {
    std::vector<int> kernels;
    for (int i = 0; i < hipops::kRowVariants; ++i)
      if (ran_[static_cast<size_t>(i)].exchange(false)) kernels.push_back(i);
    return kernels;
  }

 private:
  template <size_t I>
  static void run(const void* args) {
    ran_[I].store(true, std::memory_order_relaxed);
    real_[I]->run(args);
  }
  template <size_t... I>
  static void wrap(void* const* loaded, std::index_sequence<I...>) {
    ((real_[I] = static_cast<const hipops::CpuKernel*>(loaded[I]), wrapped_[I] = {real_[I]->name, run<I>},
      functions_[I] = &wrapped_[I]),
     ...);
  }

  static inline std::array<std::atomic<bool>, hipops::kRowVariants> ran_{};
  static inline std::array<const hipops::CpuKernel*, hipops::kRowVariants> real_{};
  static inline std::array<hipops::CpuKernel, hipops::kRowVariants> wrapped_{};
  static inline std::array<void*, hipops::kRowVariants> functions_{};
};

// Lengths of rows that variant `kernel` is for: its shortest, its longest, one vector less than that, and one between; of a streaming
// one the shortest, and a vector around a whole number of tiles.
inline Sizes cols_of(int kernel) {
  const hipops::RowVariant& v = hipops::row_variants[kernel];
  int64_t shortest = v.length;
  for (const hipops::RowVariant& other : hipops::row_variants)
    if (other.dtype == v.dtype && other.wide == v.wide && !other.streaming && (v.streaming || other.longest < v.longest))
      shortest = std::max(shortest, other.longest + v.length);
  Sizes cols{shortest};
  if (v.streaming) {
    int64_t tile = int64_t{v.threads} * v.vectors * v.length, tiles = (shortest / tile + 2) * tile;
    cols.insert(cols.end(), {tiles - v.length, tiles, tiles + v.length});
    return cols;
  }
  for (int64_t more : {(shortest + v.longest) / 2 / v.length * v.length, v.longest - v.length, v.longest})
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

inline const std::vector<Way>& ways(bool wide) {
  static const std::vector<Way> for_wide = {
      {Layout::kPlain, Layout::kPlain, Second::kNone, Second::kNone},
      {Layout::kPadded, Layout::kTransposed, Second::kSame, Second::kSame},
      {Layout::kTransposed, Layout::kPadded, Second::kF32, Second::kNone},
      {Layout::kReversed, {}, Second::kNone, Second::kF32},
      {Layout::kRepeated, Layout::kReversed, Second::kF32, Second::kF32},
  };
  static const std::vector<Way> for_any = {
      {Layout::kShifted, Layout::kPlain, Second::kNone, Second::kNone},
      {Layout::kPadded, Layout::kMirrored, Second::kSame, Second::kSame},
      {Layout::kPlain, Layout::kPlain, Second::kF32, Second::kF32, true},
      {Layout::kMirrored, {}, Second::kNone, Second::kF32},
      {Layout::kEveryOther, Layout::kShifted, Second::kF32, Second::kNone, true},
      {Layout::kRepeated, Layout::kEveryOther, Second::kSame, Second::kNone},
  };
  return wide ? for_wide : for_any;
}

inline std::optional<HostTensor> make_vector(hipops_dtype dtype, int64_t cols, Second second, bool any_vector, uint64_t seed) {
  if (second == Second::kNone) return {};
  Sizes stride{any_vector ? -2 : 1};
  HostTensor vector(second == Second::kF32 ? HIPOPS_F32 : dtype, {cols}, stride, any_vector ? 1 : 0);
  vector.randomize(seed, -2, 2);
  return vector;
}

inline Operands make_operands(const RowOp& op, hipops_dtype dtype, int64_t n, int64_t cols, const Way& way, uint64_t seed) {
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
        Way way = ways(v.wide)[turn % ways(v.wide).size()];
        if (way.any_vector && !op.has_weight) way.x = Layout::kShifted;
        Operands t = make_operands(op, dtype, n, cols, way, turn);
        try {
          check_numbers(op, t);
          EXPECT(recorder.ran() == std::vector<int>{kernel});
        } catch (const std::exception& problem) {
          throw std::runtime_error(std::string(op.kernels().kernel_names[kernel]) + ", " + std::to_string(cols) +
                                   " columns, way " + std::to_string(turn % ways(v.wide).size()) + ": " + problem.what());
        }
      }
  }
}

// A grid that has to go round: two full rounds, and a third for which only one of two blocks has rows.
inline void check_rounds(const RowOp& op, hipops_dtype dtype) {
  EXPECT_EQUAL(hipops_init(HIPOPS_BACKEND_CPU), HIPOPS_SUCCESS);
  for (int kernel = 0; kernel < hipops::kRowVariants; ++kernel) {
    const hipops::RowVariant& v = hipops::row_variants[kernel];
    if (v.dtype != dtype) continue;
    int64_t rows_per_block = v.block / v.threads, rows = 4 * rows_per_block + (rows_per_block + 1) / 2, cols = cols_of(kernel)[0];
    Operands t{HostTensor(dtype, {rows, cols}), HostTensor(dtype, {rows, cols}), {}, {}};
    t.x.randomize(static_cast<uint64_t>(kernel), -3, 5);
    t.eps = 1;
    hipops::RowGeometry geometry = hipops::row_geometry(t.y().view, t.x.view);
    geometry.row_step = 2 * rows_per_block;
    try {
      check_numbers(op, t, [&] {
        return op.launch(op.kernels(), kernel, 2, static_cast<uint32_t>(v.block), geometry, t.x.view.data, t.y().view.data);
      });
    } catch (const std::exception& problem) {
      throw std::runtime_error(std::string(op.kernels().kernel_names[kernel]) + ": " + problem.what());
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
        if (shape[d] == 1) t.x.view.stride[d] = t.apart->view.stride[d] = d % 2 ? INT64_MIN : INT64_MAX;  // not looked at
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
