// hipops_activation_and_mul: the arguments that it refuses, and x and up as views of one tensor, which the golden files
// do not have.
#include <cmath>

#include "op_call.h"

using namespace hipops_test;

namespace {

constexpr const char* kName = "activation_and_mul";

void refused_with(const char* param, double value, const std::string& message) {
  OpCall call(kName);
  call.params[param] = value;
  call.invalid(message);
}

// The result for two views of the tensor, with y apart from it, or y in place of one view.
std::vector<uint64_t> gated(HostTensor& both, const hipops_tensor& x, const hipops_tensor& up, const hipops_tensor* y) {
  HostTensor apart(both.view.dtype, {x.shape[0], x.shape[1]});
  expect_success(hipops_activation_and_mul(y ? y : &apart.view, &x, &up, HIPOPS_ACTIVATION_SILU, 1.5, 1, HIPOPS_UP_PLUS_ONE,
                                           nullptr));
  if (!y) return all_bits(apart);
  apart.view = *y;
  return all_bits(apart);
}

}  // namespace

TEST_CASE("activation_and_mul refuses tensors of other shapes or dtypes, and invalid scalars", "[activation_and_mul]") {
  check_calls([] {
    check_every_tensor(kName);
    OpCall shape(kName), up(kName), dtype(kName, HIPOPS_F64), other(kName);
    shape["y"].shape[1] = 7;
    shape.invalid("y.shape[1] is 7, expected 8 (x.shape[1])");
    up["up"].shape[0] = 3;
    up.invalid("up.shape[0] is 3, expected 4 (x.shape[0])");
    dtype.refused(HIPOPS_UNSUPPORTED_DTYPE, "x.dtype is f64, expected f32, f16 or bf16");
    other["up"].dtype = HIPOPS_I32;
    other.refused(HIPOPS_UNSUPPORTED_DTYPE, "up.dtype is i32, expected f32 (x.dtype)");
    refused_with("kind", 17, "kind is 17, expected a hipops_activation_kind from 0 (identity) to 16 (exp)");
    refused_with("kind", -1, "kind is -1, expected a hipops_activation_kind from 0 (identity) to 16 (exp)");
    refused_with("alpha", INFINITY, "alpha is inf, expected a finite number of f32's range");
    refused_with("alpha", 1e39, "alpha is 1e+39, expected a finite number of f32's range");
    refused_with("limit", -1, "limit is -1, expected 0 (none) or more");
    refused_with("limit", NAN, "limit is nan, expected 0 (none) or more");
    refused_with("flags", 1, "flags is 0x1, expected 0 or HIPOPS_UP_PLUS_ONE (0x40)");
  });
}

TEST_CASE("activation_and_mul of halves, and of interleaved elements, of one tensor", "[activation_and_mul]") {
  on_cpu([] {
    for (const hipops_dtype dtype : {HIPOPS_F32, HIPOPS_BF16})
      for (const int64_t cols : {8, 24, 63, 64, 301, 2048})
        for (const bool interleaved : {false, true})
          for (const int64_t shift : {0, 1}) {
            HostTensor both(dtype, {5, 2 * cols}, {}, shift), x(dtype, {5, cols}), up(dtype, {5, cols});
            both.randomize(1, -3, 3);
            hipops_tensor halves[2] = {both.view, both.view};
            for (hipops_tensor& half : halves) half.shape[1] = cols, half.stride[1] = interleaved ? 2 : 1;
            const int64_t second = interleaved ? 1 : cols;
            halves[1].data = static_cast<char*>(both.view.data) + second * hipops::parity::dtype_size(dtype);
            for (int64_t i = 0; i < 5 * cols; ++i) {
              const int64_t from = i / cols * 2 * cols + i % cols * halves[0].stride[1];
              x.set_bits(i, both.bits(from));
              up.set_bits(i, both.bits(from + second));
            }
            const auto expected = gated(x, x.view, up.view, nullptr);
            EXPECT(gated(both, halves[0], halves[1], nullptr) == expected);
            // up first: the second view is x.
            const auto swapped = gated(x, up.view, x.view, nullptr);
            EXPECT(gated(both, halves[1], halves[0], nullptr) == swapped);
            EXPECT(gated(both, halves[0], halves[1], &halves[0]) == expected);
          }
  });
}
