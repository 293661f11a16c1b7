// hipops_apply_penalties: the arguments that it refuses, calls without an effect, and grids of any size.
#include "op_call.h"
#include "parity/temporary_options.h"

using namespace hipops_test;

TEST_CASE("apply_penalties refuses other shapes and dtypes", "[apply_penalties]") {
  check_calls([] {
    check_every_tensor("apply_penalties");
    const auto refuses = [](hipops_status status, const std::string& message, auto spoil, hipops_dtype dtype = HIPOPS_F32) {
      OpCall call("apply_penalties", dtype);
      spoil(call);
      call.refused(status, message);
    };
    const auto invalid = [&](const std::string& message, auto spoil) { refuses(HIPOPS_INVALID_ARGUMENT, message, spoil); };
    invalid("x.rank is 1, expected 2", [](OpCall& c) { c["x"].rank = 1; });
    for (const char* like_x : {"y", "prompt", "counts"}) {
      const std::string name = like_x;
      invalid(name + ".shape[1] is 7, expected 8 (x.shape[1])", [&](OpCall& c) { c[name].shape[1] = 7; });
      invalid(name + ".rank is 1, expected 2 (x.rank)", [&](OpCall& c) { c[name].rank = 1; });
    }
    for (const char* numbers : {"repetition", "frequency", "presence"}) {
      const std::string name = numbers;
      invalid(name + ".shape[0] is 3, expected 4 (x.shape[0])", [&](OpCall& c) { c[name].shape[0] = 3; });
      invalid(name + ".rank is 2, expected 1", [&](OpCall& c) { c.set_shape(name, {4, 1}); });
    }
    const std::pair<const char*, const char*> dtypes[] = {
        {"prompt", "u8"}, {"counts", "i32"}, {"repetition", "f32"}, {"frequency", "f32"}, {"presence", "f32"}};
    for (const auto& [name, dtype] : dtypes)
      refuses(HIPOPS_UNSUPPORTED_DTYPE, std::string(name) + ".dtype is i16, expected " + dtype, [&](OpCall& c) { c[name].dtype = HIPOPS_I16; });
    for (const hipops_dtype dtype : {HIPOPS_F64, HIPOPS_I32})
      refuses(HIPOPS_UNSUPPORTED_DTYPE, std::string("x.dtype is ") + hipops::parity::dtype_name(dtype) + ", expected f32, f16 or bf16",
              [](OpCall&) {}, dtype);
  });
}

TEST_CASE("a call of apply_penalties without an effect launches nothing", "[apply_penalties]") {
  check_calls([] {
    for (const auto& absent : {std::vector<const char*>{"prompt", "counts"}, {"counts", "repetition"}, {"repetition", "frequency", "presence"}}) {
      OpCall call("apply_penalties");
      call["y"] = call["x"];
      for (const char* name : absent) call.leave_out(name);
      call.succeeds();
      EXPECT_EQUAL(hipops_backend_in_use(), HIPOPS_BACKEND_AUTO);
    }
  });
}

TEST_CASE("no grid changes the logits that apply_penalties lowers", "[apply_penalties]") {
  on_cpu([] {
    constexpr int64_t kRows = 3, kColumns = 5003;
    HostTensor x(HIPOPS_BF16, {kRows, kColumns}), counts(HIPOPS_I32, {kRows, kColumns}), frequency(HIPOPS_F32, {kRows});
    for (int64_t i = 0; i < kRows * kColumns; ++i) x.set(i, static_cast<double>(i % 37)), counts.set(i, i % 101 == 0 ? static_cast<double>(i % 7) : 0.0);
    for (int64_t row = 0; row < kRows; ++row) frequency.set(row, 0.5 * static_cast<double>(row));
    for (const int64_t blocks : {1, 2, 1000}) {
      hipops::TemporaryOptions temporary;
      temporary.options.most_blocks = blocks;
      HostTensor y(HIPOPS_BF16, {kRows, kColumns});
      expect_success(hipops_apply_penalties(&y.view, &x.view, nullptr, &counts.view, nullptr, &frequency.view, nullptr, nullptr));
      for (int64_t i = 0; i < kRows * kColumns; ++i) {
        const double often = i % 101 == 0 ? static_cast<double>(i % 7) : 0.0;
        EXPECT(y.get(i) == static_cast<double>(i % 37) - 0.5 * static_cast<double>(i / kColumns) * often);
      }
    }
  });
}
