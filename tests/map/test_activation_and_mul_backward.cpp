// hipops_activation_and_mul_backward: the arguments that it refuses. And dx and dup as views of one tensor, and in place of
// two inputs, which the golden files do not have.
#include <cmath>

#include "op_call.h"

using namespace hipops_test;

namespace {

constexpr const char* kName = "activation_and_mul_backward";

void refused_with(const char* param, double value, const std::string& message) {
  OpCall call(kName);
  call.params[param] = value;
  call.invalid(message);
}

}  // namespace

TEST_CASE("activation_and_mul_backward refuses tensors of other shapes or dtypes, and invalid scalars", "[activation_and_mul_backward]") {
  check_calls([] {
    check_every_tensor(kName);
    for (const std::string name : {"dx", "dup", "dy", "up"}) {
      OpCall shape(kName), dtype(kName);
      shape[name].shape[0] = 3;
      shape.invalid(name + ".shape[0] is 3, expected 4 (x.shape[0])");
      dtype[name].dtype = HIPOPS_I32;
      dtype.refused(HIPOPS_UNSUPPORTED_DTYPE, name + ".dtype is i32, expected f32 (x.dtype)");
    }
    OpCall dtype(kName, HIPOPS_F64), none(kName), overlap(kName);
    dtype.refused(HIPOPS_UNSUPPORTED_DTYPE, "x.dtype is f64, expected f32, f16 or bf16");
    overlap["dup"].data = overlap["dx"].data;
    overlap.invalid("dup overlaps dx, expected separate memory");
    for (const char* name : {"dx", "dup"}) none.leave_out(name);
    none.invalid("dx and dup are NULL, expected a tensor for one of them");
    refused_with("kind", 17, "kind is 17, expected a hipops_activation_kind from 0 (identity) to 16 (exp)");
    refused_with("alpha", INFINITY, "alpha is inf, expected a finite number of f32's range");
    refused_with("limit", -1, "limit is -1, expected 0 (none) or more");
    refused_with("flags", 1, "flags is 0x1, expected 0 or HIPOPS_UP_PLUS_ONE (0x40)");
  });
}

TEST_CASE("activation_and_mul_backward to halves, and to interleaved elements, of one tensor", "[activation_and_mul_backward]") {
  on_cpu([] {
    for (const hipops_dtype dtype : {HIPOPS_F32, HIPOPS_BF16})
      for (const int64_t cols : {8, 24, 63, 64, 301, 2048})
        for (const bool interleaved : {false, true})
          for (const int64_t shift : {0, 1}) {
            HostTensor both(dtype, {5, 2 * cols}, {}, shift), results(dtype, {5, 2 * cols}, {}, shift);
            HostTensor x(dtype, {5, cols}), up(dtype, {5, cols}), dy(dtype, {5, cols}), dx(dtype, {5, cols}), dup(dtype, {5, cols});
            both.randomize(1, -3, 3);
            dy.randomize(2, -3, 3);
            const int64_t second = interleaved ? 1 : cols, step = interleaved ? 2 : 1;
            const auto half = [&](const HostTensor& of, bool is_second) {
              hipops_tensor view = of.view;
              view.shape[1] = cols, view.stride[1] = step;
              if (is_second) view.data = static_cast<char*>(view.data) + second * hipops::parity::dtype_size(dtype);
              return view;
            };
            const auto place = [&](int64_t i) { return i / cols * 2 * cols + i % cols * step; };
            for (int64_t i = 0; i < 5 * cols; ++i) x.set_bits(i, both.bits(place(i))), up.set_bits(i, both.bits(place(i) + second));
            const auto run = [&](const hipops_tensor* to, const hipops_tensor* to_up, const hipops_tensor& gate, const hipops_tensor& other) {
              expect_success(hipops_activation_and_mul_backward(to, to_up, &dy.view, &gate, &other, HIPOPS_ACTIVATION_SILU, 1.5, 1,
                                                                HIPOPS_UP_PLUS_ONE, nullptr));
            };
            run(&dx.view, &dup.view, x.view, up.view);
            const auto expect_results = [&](const HostTensor& of, bool has_first, bool has_second) {
              for (int64_t i = 0; i < 5 * cols; ++i) {
                EXPECT_EQUAL(of.bits(place(i)), has_first ? dx.bits(i) : both.bits(place(i)));
                EXPECT_EQUAL(of.bits(place(i) + second), has_second ? dup.bits(i) : both.bits(place(i) + second));
              }
            };
            const hipops_tensor to = half(results, false), to_up = half(results, true), gate = half(both, false), other = half(both, true);
            run(&to, &to_up, gate, other);
            expect_results(results, true, true);
            run(&to, &to_up, x.view, up.view);
            expect_results(results, true, true);
            for (const bool first : {false, true}) {  // in place of x or up alone
              HostTensor copy(dtype, {5, 2 * cols}, {}, shift);
              for (int64_t i = 0; i < 10 * cols; ++i) copy.set_bits(i, both.bits(i));
              const hipops_tensor own_gate = half(copy, false), own_other = half(copy, true);
              run(first ? &own_gate : nullptr, first ? nullptr : &own_other, own_gate, own_other);
              expect_results(copy, first, !first);
            }
            run(&gate, &other, gate, other);
            expect_results(both, true, true);
          }
  });
}
