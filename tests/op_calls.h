// Calls of a RowOp that are refused, and calls that do nothing.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tensor/error.h"
#include "op_tester.h"

namespace hipops_test {

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
    EXPECT_EQUAL(run(), HIPOPS_SUCCESS);
    EXPECT_EQUAL(std::string(hipops_last_error()), "before");
    EXPECT_EQUAL(hipops_last_runtime_error(), 719);
  }

 private:
  hipops_status run() { return op_.call(y_view, x_view, weight_view, bias_view, eps); }
  std::vector<std::vector<unsigned char>> memory() const {
    return {y.bytes(), x.bytes(), weight.bytes(), bias.bytes()};
  }

  const RowOp& op_;
};

// In a child where nothing but the CPU could be chosen.
inline void check_calls(const std::function<void()>& body) { check_in_child({{"HIPOPS_BACKEND", "cpu"}}, body); }

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
    spoilt([&](hipops_tensor& t) { std::memcpy(&t.dtype, &value, sizeof value); },
           in_one + "dtype is " + std::to_string(value) + dtypes);
  for (int32_t rank : {-1, 9, 0x7fffffff})
    spoilt([&](hipops_tensor& t) { t.rank = rank; }, in_one + "rank is " + std::to_string(rank) + ", expected 0 to 8");
  spoilt([](hipops_tensor& t) { t.shape[0] = -4; }, in_one + "shape[0] is -4, expected 0 or more");
  spoilt([](hipops_tensor& t) { t.shape[0] = INT64_MIN; },
         in_one + "shape[0] is -9223372036854775808, expected 0 or more");
  for (int64_t stride : {INT64_MAX, INT64_MIN, INT64_MAX / 8, INT64_MIN / 8})
    spoilt([&](hipops_tensor& t) { t.stride[0] = stride; },
           in_one + "shape and " + in_one + "stride reach outside the address space");
  spoilt(
      [](hipops_tensor& t) {
        t.stride[0] = 0, t.rank = 2, t.shape[0] = int64_t{1} << 62, t.shape[1] = 8, t.stride[1] = 1;
      },
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
  for (const auto& [eps, text] : {std::pair{1e-46, "1e-46"}, std::pair{1e39, "1e+39"}})
    for (hipops_dtype dtype : {HIPOPS_F32, HIPOPS_F16, HIPOPS_BF16}) {
      Call call(op, dtype);
      call.eps = eps;
      const std::string name = hipops::parity::dtype_name(dtype);
      call.invalid(std::string("eps is ") + text +
                   ", expected 0, or 1.4013e-45 to 3.40282e+38, which f32 has (x.dtype is " + name + ")");
    }
  const std::pair<hipops_dtype, double> taken[] = {{HIPOPS_F32, 0.0},   {HIPOPS_F32, 1.5e-45}, {HIPOPS_F32, 3e38},
                                                   {HIPOPS_F64, 1e-46}, {HIPOPS_F64, 1e39}};
  for (const auto& [dtype, eps] : taken) {
    Call call(op, dtype);
    call.eps = eps;
    call.succeeds();
  }
}

// Tensors without elements: nothing of them is looked at but dtype, rank and shape.
inline void check_empty(const RowOp& op) {
  const Sizes shapes[] = {
      {0}, {0, 8}, {4, 0}, {0, 0}, {3, 0, 8}, {int64_t{1} << 62, 0, 64}, {INT64_MAX, 64, 0}, {2, 2, 2, 2, 2, 2, 0, 2}};
  for (const Sizes& shape : shapes)
    for (hipops_dtype dtype : kFloats) {
      Call call(op, dtype, {shape.back()});
      for (HostTensor* t : {&call.y, &call.x}) {
        t->view = view_of(0, dtype, shape, shape);
        std::fill_n(t->view.stride, HIPOPS_MAX_RANK, INT64_MAX);
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

}  // namespace hipops_test
