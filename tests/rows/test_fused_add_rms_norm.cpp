// hipops_fused_add_rms_norm: what it refuses, and what the golden cases do not show: both outputs in place, one left out,
// several rounds of the grid.
#include <cmath>
#include <functional>

#include "catch.h"
#include "host_tensor.h"
#include "in_child.h"
#include "ops.h"
#include "runtime/runtime.h"

using namespace hipops;
using namespace hipops_test;

namespace {

struct Call {
  HostTensor y, out, x, residual, weight;
  hipops_tensor *y_view, *out_view, *x_view, *residual_view, *weight_view;
  double eps = 1e-5;
  uint32_t flags = 0;

  explicit Call(hipops_dtype dtype = HIPOPS_F32, const Sizes& shape = {4, 8}, int64_t shift = 0)
      : y(dtype, shape, {}, 2 * shift),
        out(dtype, shape),
        x(dtype, shape, {}, shift),
        residual(dtype, shape, {}, 3 * shift),
        weight(dtype, {shape.back()}) {
    y_view = &y.view, out_view = &out.view, x_view = &x.view, residual_view = &residual.view, weight_view = &weight.view;
    x.randomize(1, -1, 1), residual.randomize(2, -2, 2), weight.randomize(3, -1, 1);
  }

  hipops_status run() {
    return hipops_fused_add_rms_norm(y_view, out_view, x_view, residual_view, weight_view, eps, flags, nullptr);
  }
  void refused(hipops_status status, const std::string& message) {
    EXPECT_EQUAL(run(), status);
    EXPECT_EQUAL(error_without_values(), "fused_add_rms_norm: " + message);
    EXPECT_EQUAL(hipops_backend_in_use(), HIPOPS_BACKEND_AUTO);
  }
  void invalid(const std::string& message) { refused(HIPOPS_INVALID_ARGUMENT, message); }

  // Of f32, by the definition; `h` is what x + residual was.
  void expect_right(const std::vector<double>& h) {
    const int64_t cols = weight.count();
    for (int64_t first = 0; first < x.count(); first += cols) {
      double squares = 0;
      for (int64_t c = 0; c < cols; ++c) squares += h[static_cast<size_t>(first + c)] * h[static_cast<size_t>(first + c)];
      const double root = std::sqrt(squares / static_cast<double>(cols) + eps);
      for (int64_t c = 0; c < cols; ++c) {
        const double right = h[static_cast<size_t>(first + c)] / root * (weight_view ? weight.get(c) : 1);
        const double got = static_cast<float*>(y_view->data)[offset_of(*y_view, first + c)];
        EXPECT(std::fabs(got - right) <= 4e-7 * std::fabs(right));
      }
    }
  }
  std::vector<double> sums() const {
    std::vector<double> h(static_cast<size_t>(x.count()));
    for (size_t i = 0; i < h.size(); ++i)
      h[i] = static_cast<float>(x.get(static_cast<int64_t>(i)) + residual.get(static_cast<int64_t>(i)));
    return h;
  }
};

// With either wave, and races in shared memory reported.
void on_cpu(const std::function<void()>& body) {
  if (image_count == 0 || all_images[0].cpu_wave32 == nullptr) return;
  for (const char* wave : {"32", "64"})
    check_in_child({{"HIPOPS_BACKEND", "cpu"}, {"HIPOPS_CPU_WAVE", wave}, {"HIPOPS_CPU_RACE", "1"}}, body);
}

}  // namespace

TEST_CASE("fused_add_rms_norm refuses bad arguments", "[fused_add_rms_norm]") {
  check_in_child({{"HIPOPS_BACKEND", "cpu"}}, [] {
    const auto spoilt = [](const std::function<void(Call&)>& spoil, const std::string& message) {
      Call call;
      spoil(call);
      call.invalid(message);
    };
    spoilt([](Call& c) { c.x_view = nullptr; }, "x is NULL, expected a tensor");
    spoilt([](Call& c) { c.y_view = nullptr; }, "y is NULL, expected a tensor");
    spoilt([](Call& c) { c.residual_view = nullptr; }, "residual is NULL, expected a tensor");
    spoilt([](Call& c) { c.residual.view.shape[1] = 7; }, "residual.shape[1] is 7, expected 8 (x.shape[1])");
    spoilt([](Call& c) { c.out.view.shape[0] = 3; }, "residual_out.shape[0] is 3, expected 4 (x.shape[0])");
    spoilt([](Call& c) { c.out.view.stride[0] = 0; },
           "residual_out.stride[0] is 0, expected distinct elements in an output (shape[0] is 4)");
    spoilt([](Call& c) { c.weight.view.shape[0] = 7; }, "weight.shape[0] is 7, expected 8 (x.shape[1])");
    spoilt([](Call& c) { c.out.view = c.y.view; }, "residual_out overlaps y, expected separate memory");
    spoilt([](Call& c) { c.y.view.data = static_cast<char*>(c.residual.view.data) + 4; },
           "y overlaps residual, expected separate memory or exactly the same view");
    spoilt([](Call& c) { c.out.view.data = static_cast<char*>(c.x.view.data) + 4; },
           "residual_out overlaps x, expected separate memory or exactly the same view");
    spoilt([](Call& c) { c.weight.view.data = c.out.view.data; }, "residual_out overlaps weight, expected separate memory");
    spoilt([](Call& c) { c.flags = 1; },
           "flags is 0x1, expected 0 or some of HIPOPS_ROUND_SUM (0x2), HIPOPS_WEIGHT_PLUS_ONE (0x4) and "
           "HIPOPS_ROUND_BEFORE_WEIGHT (0x8)");
    spoilt([](Call& c) { c.eps = -1; }, "eps is -1, expected a finite number of 0 or more");
    Call other;
    other.residual.view.dtype = HIPOPS_F16;
    other.refused(HIPOPS_UNSUPPORTED_DTYPE, "residual.dtype is f16, expected f32 (x.dtype)");
    Call(HIPOPS_F64).refused(HIPOPS_UNSUPPORTED_DTYPE, "x.dtype is f64, expected f32, f16 or bf16");
    Call nothing(HIPOPS_F32, {0, 8});
    EXPECT_EQUAL(nothing.run(), HIPOPS_SUCCESS);
    EXPECT_EQUAL(hipops_backend_in_use(), HIPOPS_BACKEND_AUTO);
  });
}

TEST_CASE("fused_add_rms_norm in place of both inputs, and without residual_out", "[fused_add_rms_norm]") {
  on_cpu([] {
    for (const int64_t cols : {3, 40, 63, 1000, 2050, 9001, 40000}) {
      for (const int64_t shift : {0, 1}) {
        Call both(HIPOPS_F32, {3, cols}, shift);
        const std::vector<double> h = both.sums();
        both.y_view = &both.x.view, both.out_view = &both.residual.view;
        EXPECT_EQUAL(both.run(), HIPOPS_SUCCESS);
        both.expect_right(h);
        for (size_t i = 0; i < h.size(); ++i) EXPECT_EQUAL(both.residual.get(static_cast<int64_t>(i)), h[i]);

        Call swapped(HIPOPS_F32, {3, cols}, shift);
        swapped.y_view = &swapped.residual.view, swapped.out_view = &swapped.x.view;
        EXPECT_EQUAL(swapped.run(), HIPOPS_SUCCESS);
        swapped.expect_right(h);

        Call without(HIPOPS_F32, {3, cols}, shift);
        without.out_view = nullptr, without.weight_view = nullptr;
        const auto untouched = without.out.bytes();
        EXPECT_EQUAL(without.run(), HIPOPS_SUCCESS);
        without.expect_right(h);
        EXPECT(without.out.bytes() == untouched);
      }
    }
  });
}

TEST_CASE("fused_add_rms_norm takes several rounds of rows", "[fused_add_rms_norm]") {
  on_cpu([] {
    EXPECT_EQUAL(hipops_init(HIPOPS_BACKEND_CPU), HIPOPS_SUCCESS);
    limit_grid(2);
    for (const Sizes& shape : {Sizes{37, 16}, Sizes{37, 130}, Sizes{11, 257}, Sizes{7, 2052}, Sizes{5, 9000}, Sizes{5, 20000}}) {
      for (const int64_t shift : {0, 1}) {
        Call call(HIPOPS_F32, shape, shift);
        EXPECT_EQUAL(call.run(), HIPOPS_SUCCESS);
        call.expect_right(call.sums());
      }
    }
  });
}
