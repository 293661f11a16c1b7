// hipops_cross_entropy: the arguments that it refuses, and targets out of range. hipops-parity and hipops-fuzz check its numbers.
#include <cmath>
#include <limits>

#include "op_call.h"

using namespace hipops_test;

TEST_CASE("cross_entropy refuses tensors of other shapes or dtypes, and numbers out of range", "[cross_entropy]") {
  check_calls([] {
    check_every_tensor("cross_entropy");
    const auto refused = [](hipops_status status, const std::string& message, auto change, hipops_dtype dtype = HIPOPS_F32) {
      OpCall call("cross_entropy", dtype);
      change(call);
      call.refused(status, message);
    };
    const auto invalid = [&](const std::string& message, auto change) { refused(HIPOPS_INVALID_ARGUMENT, message, change); };
    const auto wrong_dtype = [&](const std::string& message, auto change) { refused(HIPOPS_UNSUPPORTED_DTYPE, message, change); };
    invalid("x.rank is 0, expected 1 to 8", [](OpCall& c) { c["x"].rank = 0; });
    invalid("dx.rank is 1, expected 2 (x.rank)", [](OpCall& c) { c["dx"].rank = 1; });
    invalid("dx.shape[1] is 7, expected 8 (x.shape[1])", [](OpCall& c) { c["dx"].shape[1] = 7; });
    wrong_dtype("dx.dtype is f16, expected f32 (x.dtype)", [](OpCall& c) { c["dx"].dtype = HIPOPS_F16; });
    for (const std::string name : {"loss", "lse", "dloss", "target"}) {
      invalid(name + ".rank is 3, expected 1 to 2", [&](OpCall& c) { c.set_shape(name, {4, 1, 1}); });
      invalid(name + ".shape[0] is 3, expected 4 (x.shape[0])", [&](OpCall& c) { c[name].shape[0] = 3; });
      invalid(name + ".shape[1] is 8, expected 1, or one dimension less", [&](OpCall& c) { c.set_shape(name, {4, 8}); });
      wrong_dtype(name + (name == "target" ? ".dtype is u32, expected i32 or i64" : ".dtype is f16, expected f32 (x.dtype is f32)"),
                  [&](OpCall& c) { c[name].dtype = name == "target" ? HIPOPS_U32 : HIPOPS_F16; });
    }
    refused(HIPOPS_UNSUPPORTED_DTYPE, "x.dtype is u8, expected f32, f16, bf16 or f64", [](OpCall&) {}, HIPOPS_U8);
    invalid("x.shape[1] is 0, expected 1 or more with loss", [](OpCall& c) { c.set_shape("x", {4, 0}), c.set_shape("dx", {4, 0}); });
    invalid("dx is NULL, expected a tensor with dloss", [](OpCall& c) { c.leave_out("dx"); });
    invalid("loss overlaps lse, expected separate memory", [](OpCall& c) { c["loss"].data = c.data("lse"); });
    invalid("loss overlaps dx, expected separate memory", [](OpCall& c) { c["loss"].data = c.data("dx"); });
    invalid("report overlaps target, expected separate memory",
            [](OpCall& c) { c.report_pointer = reinterpret_cast<hipops_index_report*>(c.data("target")); });
    for (const char* text : {"-0.1", "1.5", "nan", "inf"})
      invalid(std::string("label_smoothing is ") + text + ", expected 0 to 1", [&](OpCall& c) { c.params["label_smoothing"] = std::stod(text); });
    for (const char* text : {"-0.1", "1e+39", "nan", "inf"})
      invalid(std::string("z_loss is ") + text + ", expected 0 or more, in the range of f32", [&](OpCall& c) { c.params["z_loss"] = std::stod(text); });
    invalid("flags is 0x2, expected 0 or some of HIPOPS_BATCH_INVARIANT (0x10)", [](OpCall& c) { c.params["flags"] = HIPOPS_ROUND_SUM; });
    OpCall in_place("cross_entropy"), empty("cross_entropy");
    in_place["dx"].data = in_place["x"].data;
    in_place.succeeds();
    for (const char* tensor : {"x", "dx"}) empty.set_shape(tensor, {0, 8});
    for (const char* tensor : {"loss", "lse", "target", "dloss"}) empty.set_shape(tensor, {0});
    empty.succeeds();
  });
}

TEST_CASE("cross_entropy counts targets out of range, and leaves their rows out", "[cross_entropy]") {
  on_cpu([] {
    constexpr int64_t kRows = 5, kClasses = 40;
    HostTensor x(HIPOPS_BF16, {kRows, kClasses}), target(HIPOPS_I64, {kRows}), loss(HIPOPS_F32, {kRows});
    x.randomize(1, -2, 2);
    const int64_t targets[kRows] = {3, -100, -1, kClasses, INT64_MAX};
    for (int64_t row = 0; row < kRows; ++row) target.set_bits(row, static_cast<uint64_t>(targets[row])), loss.set(row, 7);
    hipops_index_report report = {2, 3};
    expect_success(hipops_cross_entropy(&loss.view, nullptr, &x.view, &x.view, &target.view, nullptr, -100, 0.1, 0, 0, &report, nullptr));
    EXPECT_EQUAL(report.count, 5u);
    EXPECT_EQUAL(report.first, 2u);
    EXPECT(loss.get(0) > 0);
    for (int64_t i = kClasses; i < kRows * kClasses; ++i) EXPECT_EQUAL(x.get(i), 0.0);
    for (int64_t row = 1; row < kRows; ++row) EXPECT_EQUAL(loss.get(row), 0.0);
  });
}
