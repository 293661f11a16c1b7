// What the tests of rope, rope_i and rope_thd share: each op brings a RopeOp, and the checks run on it, in child
// processes: which runtime is in use, and with which waves, is the process's own.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "catch.h"
#include "tensor/error.h"
#include "host_tensor.h"
#include "in_child.h"
#include "ops.h"
#include "move/rope_common.h"

namespace hipops_test {

struct RopeOp {
  const char* name;
  hipops_status (*call)(const hipops_tensor* y, const hipops_tensor* x, const hipops_tensor* cos,
                        const hipops_tensor* sin, const hipops_tensor* positions, void* stream);
  bool interleaved;  // pair k is elements 2k and 2k + 1; else k and k + r / 2
  hipops::RopeDims dims;

  hipops::Op& kernels() const {
    for (int i = 0; i < hipops::op_count; ++i)
      if (!std::strcmp(hipops::all_ops[i]->name, name)) return *hipops::all_ops[i];
    throw std::runtime_error(std::string("no op ") + name);
  }
  // Something of each dimension, in the order of x's.
  Sizes in_order(int64_t batch, int64_t heads, int64_t tokens, int64_t cols) const {
    return dims.heads == 1 ? Sizes{batch, heads, tokens, cols} : Sizes{batch, tokens, heads, cols};
  }
  std::string dim_of_tokens() const { return "x.shape[" + std::to_string(dims.tokens) + "]"; }
};

constexpr hipops_dtype kRopeFloats[] = {HIPOPS_F32, HIPOPS_F16, HIPOPS_BF16, HIPOPS_F64};

// ---- Calls that are refused

// A good call; its fields are there to be spoilt. x has 2 batches, 3 heads, 4 tokens of 8 elements.
class RopeCall {
 public:
  HostTensor y, x, cos, sin, positions;
  hipops_tensor *y_view, *x_view, *cos_view, *sin_view, *positions_view;  // the arguments

  explicit RopeCall(const RopeOp& op, hipops_dtype dtype = HIPOPS_F32, hipops_dtype table = HIPOPS_NONE)
      : y(dtype, op.in_order(2, 3, 4, 8)),
        x(dtype, op.in_order(2, 3, 4, 8)),
        cos(table == HIPOPS_NONE ? dtype : table, {5, 4}),
        sin(table == HIPOPS_NONE ? dtype : table, {5, 4}),
        positions(HIPOPS_I64, {2, 4}),
        op_(op) {
    y_view = &y.view, x_view = &x.view, cos_view = &cos.view, sin_view = &sin.view, positions_view = &positions.view;
    if (hipops::parity::is_float(dtype)) x.randomize(1, -1, 1), cos.randomize(2, -1, 1), sin.randomize(3, -1, 1);
    for (int i = 0; i < 8; ++i) positions.set(i, i % 5);
  }

  // The op says no, with this message after its name, having chosen no runtime and touched no memory.
  void refused(hipops_status status, const std::string& message) {
    hipops::fail_runtime(719, "before");
    auto before = memory();
    EXPECT_EQUAL(op_.call(y_view, x_view, cos_view, sin_view, positions_view, nullptr), status);
    EXPECT_EQUAL(error_without_values(), std::string(op_.name) + ": " + message);
    EXPECT_EQUAL(hipops_last_runtime_error(), 0);
    EXPECT(memory() == before);
    EXPECT_EQUAL(hipops_backend_in_use(), HIPOPS_BACKEND_AUTO);
  }
  void invalid(const std::string& message) { refused(HIPOPS_INVALID_ARGUMENT, message); }
  void wrong_dtype(const std::string& message) { refused(HIPOPS_UNSUPPORTED_DTYPE, message); }

  // The op succeeds, and leaves the thread's last failure alone.
  void succeeds() {
    hipops::fail_runtime(719, "before");
    EXPECT_EQUAL(op_.call(y_view, x_view, cos_view, sin_view, positions_view, nullptr), HIPOPS_SUCCESS);
    EXPECT_EQUAL(std::string(hipops_last_error()), "before");
    EXPECT_EQUAL(hipops_last_runtime_error(), 719);
  }

 private:
  std::vector<std::vector<unsigned char>> memory() const {
    return {y.bytes(), x.bytes(), cos.bytes(), sin.bytes(), positions.bytes()};
  }

  const RopeOp& op_;
};

inline int64_t count_of(const hipops_tensor& t) {
  return std::accumulate(t.shape, t.shape + t.rank, int64_t{1}, [](int64_t a, int64_t b) { return a * b; });
}

// Runs `body` in a child where nothing but the CPU could be chosen.
template <class Body>
void check_rope_calls(Body body) {
  check_in_child({{"HIPOPS_BACKEND", "cpu"}}, body);
}

// What every tensor is checked for.
inline void check_rope_tensor(const RopeOp& op, const std::string& name, hipops_tensor* RopeCall::*argument,
                              bool optional) {
  const std::string in_one = name + ".";
  auto spoilt = [&](auto spoil, const std::string& message) {
    RopeCall call(op);
    spoil(*(call.*argument));
    call.invalid(message);
  };
  if (!optional) {
    RopeCall call(op);
    call.*argument = nullptr;
    call.invalid(name + " is NULL, expected a tensor");
  }
  for (int32_t value : {0, 13, -1, 0x7fffffff})
    spoilt([&](hipops_tensor& t) { std::memcpy(&t.dtype, &value, sizeof value); },
           in_one + "dtype is " + std::to_string(value) + ", expected a hipops_dtype from 1 (f32) to 12 (u64)");
  for (int32_t rank : {-1, 9})
    spoilt([&](hipops_tensor& t) { t.rank = rank; }, in_one + "rank is " + std::to_string(rank) + ", expected 0 to 8");
  spoilt([](hipops_tensor& t) { t.shape[1] = -4; }, in_one + "shape[1] is -4, expected 0 or more");
  for (int64_t stride : {INT64_MAX, INT64_MIN})
    spoilt([&](hipops_tensor& t) { t.stride[0] = stride; },
           in_one + "shape and " + in_one + "stride reach outside the address space");
  RopeCall no_memory(op);
  hipops_tensor& t = *(no_memory.*argument);
  t.data = nullptr;
  no_memory.invalid(in_one + "data is NULL, expected memory of " + std::to_string(count_of(t)) + " elements");
}

inline void check_rope_tensors(const RopeOp& op) {
  check_rope_tensor(op, "x", &RopeCall::x_view, false);
  check_rope_tensor(op, "y", &RopeCall::y_view, false);
  check_rope_tensor(op, "cos", &RopeCall::cos_view, false);
  check_rope_tensor(op, "sin", &RopeCall::sin_view, false);
  check_rope_tensor(op, "positions", &RopeCall::positions_view, true);
}

inline void check_rope_shapes(const RopeOp& op) {
  auto spoilt = [&](auto spoil, const std::string& message) {
    RopeCall call(op);
    spoil(call);
    call.invalid(message);
  };
  spoilt([](RopeCall& c) { c.x.view.rank = 3; }, "x.rank is 3, expected 4");
  spoilt([](RopeCall& c) { c.x.view.rank = 5, c.x.view.shape[4] = c.x.view.stride[4] = 1; }, "x.rank is 5, expected 4");
  spoilt([](RopeCall& c) { c.y.view.rank = 3; }, "y.rank is 3, expected 4 (x.rank)");
  spoilt([](RopeCall& c) { c.y.view.shape[0] = 1; }, "y.shape[0] is 1, expected 2 (x.shape[0])");
  spoilt([](RopeCall& c) { c.y.view.shape[3] = 7; }, "y.shape[3] is 7, expected 8 (x.shape[3])");
  spoilt([](RopeCall& c) { c.cos.view.rank = 1; }, "cos.rank is 1, expected 2 to 3");
  spoilt([](RopeCall& c) { c.sin.view.rank = 1; }, "sin.rank is 1, expected 2 (cos.rank)");
  spoilt([](RopeCall& c) { c.sin.view.shape[0] = 4; }, "sin.shape[0] is 4, expected 5 (cos.shape[0])");
  spoilt([](RopeCall& c) { c.sin.view.shape[1] = 3; }, "sin.shape[1] is 3, expected 4 (cos.shape[1])");
  spoilt([](RopeCall& c) { c.cos.view.shape[1] = 5, c.cos.view.stride[0] = 4; },
         "cos.shape[1] is 5, expected at most 4 (half of x.shape[3])");
  for (int64_t half : {int64_t{1} << 62, INT64_MAX})  // twice as many is no number
    spoilt([half](RopeCall& c) { c.cos.view.shape[1] = half, c.cos.view.shape[0] = 0; },
           "cos.shape[1] is " + std::to_string(half) + ", expected at most 4 (half of x.shape[3])");
  spoilt(
      [](RopeCall& c) {
        c.cos.view.rank = c.sin.view.rank = 3;
        for (hipops_tensor* t : {&c.cos.view, &c.sin.view}) t->shape[0] = 1, t->shape[2] = t->stride[2] = 1;
      },
      "cos.shape[0] is 1, expected 2 (x.shape[0])");
  spoilt([](RopeCall& c) { c.positions_view = nullptr, c.cos.view.shape[0] = c.sin.view.shape[0] = 3; },
         "cos.shape[0] is 3, expected at least 4 (" + op.dim_of_tokens() + ") without positions");
  spoilt([](RopeCall& c) { c.positions.view.rank = 0; }, "positions.rank is 0, expected 1 to 2");
  spoilt([](RopeCall& c) { c.positions.view.rank = 3, c.positions.view.shape[2] = c.positions.view.stride[2] = 1; },
         "positions.rank is 3, expected 1 to 2");
  spoilt([](RopeCall& c) { c.positions.view.shape[0] = 1; }, "positions.shape[0] is 1, expected 2 (x.shape[0])");
  spoilt([](RopeCall& c) { c.positions.view.shape[1] = 3; },
         "positions.shape[1] is 3, expected 4 (" + op.dim_of_tokens() + ")");
  spoilt([](RopeCall& c) { c.positions.view.rank = 1; },
         "positions.shape[0] is 2, expected 4 (" + op.dim_of_tokens() + ")");
}

inline void check_rope_dtypes(const RopeOp& op) {
  for (int dtype = HIPOPS_U8; dtype <= HIPOPS_U64; ++dtype) {
    RopeCall call(op, static_cast<hipops_dtype>(dtype));
    call.wrong_dtype(std::string("x.dtype is ") + hipops::parity::dtype_name(call.x.view.dtype) +
                     ", expected f32, f16, bf16 or f64");
  }
  {
    RopeCall call(op, HIPOPS_F16);
    call.y.view.dtype = HIPOPS_BF16;
    call.wrong_dtype("y.dtype is bf16, expected f16 (x.dtype)");
  }
  const std::pair<hipops_dtype, hipops_dtype> refused[] = {{HIPOPS_BF16, HIPOPS_F16}, {HIPOPS_F16, HIPOPS_BF16},
                                                           {HIPOPS_F64, HIPOPS_F16},  {HIPOPS_BF16, HIPOPS_I16},
                                                           {HIPOPS_F32, HIPOPS_F16},  {HIPOPS_F32, HIPOPS_F64}};
  for (const auto& [dtype, table] : refused) {
    RopeCall call(op, dtype, table);
    call.wrong_dtype(std::string("cos.dtype is ") + hipops::parity::dtype_name(table) + ", expected " +
                     hipops::parity::dtype_name(dtype) + " (x.dtype)" + (dtype == HIPOPS_F32 ? "" : " or f32"));
  }
  {
    RopeCall call(op, HIPOPS_F16, HIPOPS_F32);
    call.sin.view.dtype = HIPOPS_F16;
    call.wrong_dtype("sin.dtype is f16, expected f32 (cos.dtype)");
  }
  for (hipops_dtype dtype : {HIPOPS_U8, HIPOPS_I16, HIPOPS_U32, HIPOPS_U64, HIPOPS_F32}) {
    RopeCall call(op);
    call.positions.view.dtype = dtype;
    call.wrong_dtype(std::string("positions.dtype is ") + hipops::parity::dtype_name(dtype) + ", expected i32 or i64");
  }
}

inline void check_rope_memory(const RopeOp& op) {
  {
    RopeCall call(op);
    call.y.view.stride[1] = 0;
    call.invalid("y.stride[1] is 0, expected distinct elements in an output (shape[1] is " +
                 std::to_string(call.y.view.shape[1]) + ")");
  }
  {
    RopeCall call(op);
    call.y.view.stride[2] = 7;
    call.refused(HIPOPS_UNSUPPORTED_LAYOUT,
                 "y.stride lets elements of an output meet, or interleaves its dimensions; expected strides that nest");
  }
  for (int64_t bytes : {-764, -32, -4, 4, 32, 764}) {
    RopeCall call(op);
    call.y.view.data = static_cast<char*>(call.x.view.data) + bytes;
    call.invalid("y overlaps x, expected separate memory or exactly the same view");
  }
  {
    RopeCall call(op);  // the same memory, stepped through otherwise
    call.x.view.stride[1] = -call.x.view.stride[1];
    call.y.view.data = call.x.view.data;
    call.invalid("y overlaps x, expected separate memory or exactly the same view");
  }
  const std::pair<const char*, hipops_tensor * RopeCall::*> inputs[] = {
      {"cos", &RopeCall::cos_view}, {"sin", &RopeCall::sin_view}, {"positions", &RopeCall::positions_view}};
  for (const auto& [name, argument] : inputs)
    for (int64_t bytes : {-40, 0, 8, 760}) {
      RopeCall call(op);
      (call.*argument)->data = static_cast<char*>(call.y.view.data) + bytes;
      call.invalid(std::string("y overlaps ") + name + ", expected separate memory");
    }
}

// Tensors without elements: nothing of them is looked at but dtype, rank and shape.
inline void check_rope_empty(const RopeOp& op) {
  const Sizes shapes[] = {{0, 3, 4, 8}, {2, 0, 4, 8}, {2, 3, 0, 8}, {2, 3, 4, 0}};
  for (const Sizes& s : shapes)
    for (hipops_dtype dtype : kRopeFloats) {
      RopeCall call(op, dtype);
      Sizes shape = op.in_order(s[0], s[1], s[2], s[3]);
      for (HostTensor* t : {&call.y, &call.x}) t->view = view_of(0, dtype, shape, Sizes(4, INT64_MAX));
      for (HostTensor* t : {&call.cos, &call.sin}) t->view = view_of(0, dtype, {0, s[3] / 2}, Sizes(2, INT64_MAX));
      for (const Sizes& positions : {Sizes{s[2]}, Sizes{s[0], s[2]}}) {
        call.positions.view.rank = static_cast<int32_t>(positions.size());
        std::copy(positions.begin(), positions.end(), call.positions.view.shape);
        call.succeeds();
      }
      EXPECT_EQUAL(hipops_backend_in_use(), HIPOPS_BACKEND_AUTO);
    }
  // Nothing to rotate, in place: nothing to do.
  RopeCall call(op);
  call.cos.view.shape[1] = call.sin.view.shape[1] = 0;
  call.y_view = call.x_view;
  call.succeeds();
  EXPECT_EQUAL(hipops_backend_in_use(), HIPOPS_BACKEND_AUTO);
}

// ---- Numbers

struct RopeOperands {
  HostTensor x;
  std::optional<HostTensor> apart;  // y, where that is not x
  HostTensor cos, sin;
  std::optional<HostTensor> positions;

  HostTensor& y() { return apart ? *apart : x; }
  hipops::RopeTensors tensors() {
    return {&y().view, &x.view, &cos.view, &sin.view, positions ? &positions->view : nullptr};
  }
};

class RopeRandom {
 public:
  explicit RopeRandom(uint64_t seed) : random_(seed) {}
  int64_t between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random_() % static_cast<uint64_t>(high - low + 1));
  }
  bool one_in(int64_t n) { return between(1, n) == 1; }

  // A tensor whose outer dimensions lie in any order, forwards or backwards, with gaps or without. `vector` 1: elements
  // too; else rows keep their elements together, and every step but that is a multiple of it.
  HostTensor tensor(hipops_dtype dtype, const Sizes& shape, int64_t vector) {
    int rank = static_cast<int>(shape.size()), last = rank - 1;
    Sizes stride(shape.size(), 1);
    if (vector == 1) stride[static_cast<size_t>(last)] = one_in(2) ? 1 : between(1, 3) * (one_in(2) ? 1 : -1);
    int64_t step = round_up(
        std::llabs(stride[static_cast<size_t>(last)]) * std::max<int64_t>(shape[static_cast<size_t>(last)], 1), vector);
    std::vector<size_t> order(static_cast<size_t>(last));
    std::iota(order.begin(), order.end(), size_t{0});
    std::shuffle(order.begin(), order.end(), random_);
    for (size_t d : order) {
      if (one_in(3)) step += between(1, 3) * vector;
      stride[d] = one_in(4) ? -step : step;
      step *= std::max<int64_t>(shape[d], 1);
    }
    return HostTensor(dtype, shape, stride, vector == 1 ? between(0, 3) : between(0, 2) * vector);
  }

  static int64_t round_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

 private:
  std::mt19937_64 random_;
};

inline int64_t dtype_bytes_of(hipops_dtype dtype) { return static_cast<int64_t>(hipops::parity::dtype_size(dtype)); }

// Tensors of any shape and layout that variant `kernel` takes.
inline RopeOperands make_rope_operands(const RopeOp& op, int kernel, uint64_t seed) {
  const hipops::RopeVariant& v = hipops::rope_variants[kernel];
  RopeRandom random(seed);
  const int64_t n = v.length;
  const bool in_place = random.one_in(4);
  const int64_t batch = random.between(1, 3), heads = random.between(1, 9) * v.heads, tokens = random.between(1, 5);
  const int64_t half = random.one_in(8) ? 0 : random.between(1, 5) * n;
  int64_t cols = 2 * half + (random.one_in(2) ? 0 : in_place ? random.between(0, 9) : random.between(0, 4) * n);
  cols = std::max(cols, n);
  const Sizes shape = op.in_order(batch, heads, tokens, cols);
  RopeOperands t{random.tensor(v.dtype, shape, n), {}, {v.dtype, {1}}, {v.dtype, {1}}, {}};
  if (!in_place) t.apart = random.tensor(v.dtype, shape, n);

  const bool has_positions = random.one_in(2);
  const hipops_dtype table = random.one_in(2) ? HIPOPS_F32 : v.dtype;
  const int64_t rows = has_positions ? random.between(0, 7) : tokens + random.between(0, 2);
  const Sizes table_shape = random.one_in(2) ? Sizes{rows, half} : Sizes{batch, rows, half};
  const int64_t table_vector = v.wide ? std::min<int64_t>(n, 16 / dtype_bytes_of(table)) : 1;
  t.cos = random.tensor(table, table_shape, table_vector);
  t.sin = random.tensor(table, table_shape, table_vector);
  t.x.randomize(seed + 1, -3, 5), t.cos.randomize(seed + 2, -1, 1), t.sin.randomize(seed + 3, -1, 1);
  if (has_positions) {
    const hipops_dtype dtype = random.one_in(2) ? HIPOPS_I32 : HIPOPS_I64;
    t.positions = random.tensor(dtype, random.one_in(2) ? Sizes{tokens} : Sizes{batch, tokens}, 1);
    for (int64_t i = 0; i < t.positions->count(); ++i)
      t.positions->set(
          i, random.one_in(9) ? (random.one_in(2) ? 1e19 : -1e19) : static_cast<double>(random.between(-1, rows)));
  }
  return t;
}

// Where element [.., i] of the table's row for a token is, as a number of its elements; -1: the token's position is not
// in the table.
inline int64_t table_element(const RopeOperands& t, int64_t batch, int64_t token, int64_t i) {
  const hipops_tensor& table = t.cos.view;
  const int64_t rows = table.shape[table.rank - 2], half = table.shape[table.rank - 1];
  int64_t position = token;
  if (t.positions) {
    const hipops_tensor& p = t.positions->view;
    const uint64_t bits = t.positions->bits(p.rank == 2 ? batch * p.shape[1] + token : token);
    position = p.dtype == HIPOPS_I32 ? static_cast<int32_t>(static_cast<uint32_t>(bits)) : static_cast<int64_t>(bits);
  }
  if (position < 0 || position >= rows) return -1;
  return ((table.rank == 3 ? batch * rows : 0) + position) * half + i;
}

// Runs `run`, and compares all that it wrote and all that it must not have written.
template <class Run>
void check_rope_numbers(const RopeOp& op, RopeOperands& t, Run run) {
  std::vector<uint64_t> x;
  for (int64_t i = 0; i < t.x.count(); ++i) x.push_back(t.x.bits(i));
  auto inputs = [&] {
    std::vector<std::vector<unsigned char>> bytes{t.cos.bytes(), t.sin.bytes()};
    if (t.apart) bytes.push_back(t.x.bytes());
    if (t.positions) bytes.push_back(t.positions->bytes());
    return bytes;
  };
  auto before = inputs();
  hipops_status status = run();
  if (status != HIPOPS_SUCCESS) throw std::runtime_error(hipops_last_error());
  EXPECT(inputs() == before);
  EXPECT(t.y().guards_are_whole());

  const hipops_tensor& view = t.x.view;
  const hipops_dtype dtype = view.dtype;
  const double most = dtype == HIPOPS_F32 || dtype == HIPOPS_F64 ? 4 : 1;
  const int64_t half = t.cos.view.shape[t.cos.view.rank - 1], cols = view.shape[3];
  auto fail_at = [&](int64_t i, double expected) {
    throw std::runtime_error("y[" + std::to_string(i) + "] is " + hipops::parity::show_bits(dtype, t.y().bits(i)) +
                             ", expected " + hipops::parity::show_double(expected));
  };
  for (int64_t row = 0; row < t.x.count() / cols; ++row) {
    const int64_t index[] = {row / (view.shape[1] * view.shape[2]), row / view.shape[2] % view.shape[1],
                             row % view.shape[2]};
    auto element = [&](int64_t col) -> long double {
      return hipops::parity::decode(dtype, x[static_cast<size_t>(row * cols + col)]);
    };
    auto compare = [&](int64_t col, long double term, long double other, long double sum) {
      const double expected = static_cast<double>(sum);
      const double scale = std::isnan(sum) ? 0 : static_cast<double>(std::max(std::fabs(term), std::fabs(other)));
      if (!(hipops::parity::error_in_ulps(dtype, expected, scale, t.y().bits(row * cols + col)) <= most))
        fail_at(row * cols + col, expected);
    };
    for (int64_t k = 0; k < half; ++k) {
      const int64_t at = table_element(t, index[0], index[op.dims.tokens], k);
      const long double c = at < 0 ? std::nan("") : t.cos.get(at), s = at < 0 ? std::nan("") : t.sin.get(at);
      const int64_t first = op.interleaved ? 2 * k : k, second = op.interleaved ? 2 * k + 1 : k + half;
      const long double a = element(first), b = element(second);
      compare(first, a * c, b * s, a * c - b * s);
      compare(second, a * s, b * c, a * s + b * c);
    }
    for (int64_t col = 2 * half; col < cols; ++col)
      if (t.y().bits(row * cols + col) != x[static_cast<size_t>(row * cols + col)])
        fail_at(row * cols + col, static_cast<double>(element(col)));
  }
}

inline std::string rope_case(const RopeOp& op, int kernel, uint64_t seed, const std::exception& problem) {
  return std::string(op.kernels().kernel_names[kernel]) + ", seed " + std::to_string(seed) + ": " + problem.what();
}

// Each variant launched by itself: with the grid that it would have, and with one of two blocks that goes round and
// divides in 64 bits.
inline void check_rope_variants(const RopeOp& op) {
  EXPECT_EQUAL(hipops_init(HIPOPS_BACKEND_CPU), HIPOPS_SUCCESS);
  for (int kernel = 0; kernel < op.kernels().kernel_count; ++kernel)
    for (uint64_t seed = 0; seed < 60; ++seed) {
      RopeOperands t = make_rope_operands(op, kernel, seed);
      try {
        EXPECT_EQUAL(hipops::check_rope(op.name, op.dims, t.tensors()), HIPOPS_SUCCESS);
        hipops::RopePlan plan = hipops::plan_rope(hipops::plan_options(), kernel, op.dims, t.tensors());
        if (seed % 3 == 0 && plan.grid > 2) {
          plan.grid = 2;
          plan.args.step = 2 * int64_t{plan.block};
          plan.args.small = 0;
        }
        check_rope_numbers(op, t, [&] {
          if (plan.args.count == 0) return HIPOPS_SUCCESS;
          return hipops::launch(op.kernels(), kernel, plan.grid, plan.block, &plan.args, sizeof plan.args, nullptr);
        });
      } catch (const std::exception& problem) {
        throw std::runtime_error(rope_case(op, kernel, seed, problem));
      }
    }
}

// The op itself on the same tensors. A wide variant's are taken by a wide one, the others mostly not.
inline void check_rope_op(const RopeOp& op) {
  EXPECT_EQUAL(hipops_init(HIPOPS_BACKEND_CPU), HIPOPS_SUCCESS);
  for (int kernel = 0; kernel < op.kernels().kernel_count; ++kernel)
    for (uint64_t seed = 1000; seed < 1040; ++seed) {
      RopeOperands t = make_rope_operands(op, kernel, seed);
      try {
        const hipops::RopeTensors views = t.tensors();
        const hipops::RopeVariant& chosen = hipops::rope_variants[hipops::choose_rope(op.dims, views)];
        EXPECT_EQUAL(chosen.dtype, t.x.view.dtype);
        EXPECT(views.x->shape[op.dims.heads] % chosen.heads == 0);
        if (hipops::rope_variants[kernel].wide) EXPECT(chosen.wide);
        check_rope_numbers(op, t,
                           [&] { return op.call(views.y, views.x, views.cos, views.sin, views.positions, nullptr); });
      } catch (const std::exception& problem) {
        throw std::runtime_error(rope_case(op, kernel, seed, problem));
      }
    }
}

// Rows of many chunks, through the op.
inline void check_rope_much(const RopeOp& op) {
  EXPECT_EQUAL(hipops_init(HIPOPS_BACKEND_CPU), HIPOPS_SUCCESS);
  for (hipops_dtype dtype : kRopeFloats) {
    const int64_t cols = 4096 * (16 / dtype_bytes_of(dtype)), tokens = 4, heads = 6;
    const Sizes shape = op.in_order(1, heads, tokens, cols);
    RopeOperands t{HostTensor(dtype, shape),
                   HostTensor(dtype, shape),
                   HostTensor(HIPOPS_F32, {tokens, cols / 2}),
                   HostTensor(HIPOPS_F32, {tokens, cols / 2}),
                   {}};
    t.x.randomize(1, -3, 5), t.cos.randomize(2, -1, 1), t.sin.randomize(3, -1, 1);
    const hipops::RopeVariant& chosen = hipops::rope_variants[hipops::choose_rope(op.dims, t.tensors())];
    EXPECT(chosen.wide);
    EXPECT_EQUAL(chosen.heads, op.interleaved ? 2 : 1);
    const hipops::RopeTensors views = t.tensors();
    check_rope_numbers(op, t, [&] { return op.call(views.y, views.x, views.cos, views.sin, nullptr, nullptr); });
  }
}

// `check` on the CPU runtime, with waves of 32 and of 64.
inline void rope_on_cpu(const RopeOp& op, void (*check)(const RopeOp&)) {
  if (!(hipops::image_count > 0 && hipops::all_images[0].cpu_wave32 != nullptr)) {
    WARN("left out: built without the CPU runtime");
    return;
  }
  for (const char* wave : {"32", "64"}) {
    INFO("wave " << wave);
    check_in_child({{"HIPOPS_CPU_WAVE", wave}, {"HIPOPS_CPU_RACE", "1"}}, [&] { check(op); });
  }
}

}  // namespace hipops_test
