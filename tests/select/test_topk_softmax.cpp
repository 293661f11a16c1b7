// hipops_topk_softmax: the arguments that it refuses, and tokens that do not depend on the grid or on other tokens.
#include "op_call.h"
#include "parity/temporary_options.h"

using namespace hipops_test;

TEST_CASE("topk_softmax refuses other shapes, dtypes, flags and numbers", "[topk_softmax]") {
  check_calls([] {
    check_every_tensor("topk_softmax");
    const auto refuses = [](hipops_status status, const std::string& message, auto spoil, hipops_dtype dtype = HIPOPS_F32) {
      OpCall call("topk_softmax", dtype);
      spoil(call);
      call.refused(status, message);
    };
    const auto invalid = [&](const std::string& message, auto spoil) { refuses(HIPOPS_INVALID_ARGUMENT, message, spoil); };
    const auto set = [](std::map<std::string, double> params) {
      return [=](OpCall& c) {
        for (const auto& [name, value] : params) c.params[name] = value;
      };
    };
    for (const double k : {0.0, -3.0, 9.0})
      invalid("k is " + std::to_string(static_cast<int64_t>(k)) + ", expected 1 to 8 (x.shape[1])", set({{"k", k}}));
    for (const double groups : {-1.0, 33.0})
      invalid("groups is " + std::to_string(static_cast<int64_t>(groups)) + ", expected 1 to 32, or 0", set({{"groups", groups}}));
    invalid("groups is 3, expected a divisor of 8 (x.shape[1])", set({{"groups", 3}}));
    for (const double kept : {0.0, 5.0})
      invalid("topk_groups is " + std::to_string(static_cast<int64_t>(kept)) + ", expected 1 to 4 (groups)",
              set({{"groups", 4}, {"topk_groups", kept}}));
    invalid("k is 8, expected 1 to 6 (experts of topk_groups groups)", set({{"groups", 4}, {"topk_groups", 3}}));
    invalid("scale is nan, expected a finite f32", set({{"scale", NAN}}));
    invalid("scale is 1e+39, expected a finite f32", set({{"scale", 1e39}}));
    invalid("flags is 0x1, expected 0 or some of HIPOPS_SIGMOID (0x1000), HIPOPS_RENORMALIZE (0x2000) and HIPOPS_BATCH_INVARIANT (0x10)",
            set({{"flags", 1}}));
    for (const int64_t experts : {0, 1025})
      invalid("x.shape[1] is " + std::to_string(experts) + ", expected 1 to 1024", [=](OpCall& c) { c.set_shape("x", {4, experts}); });
    invalid("x.rank is 1, expected 2", [](OpCall& c) { c["x"].rank = 1; });
    for (const char* output : {"weights", "ids", "token_expert"}) {
      const std::string name = output;
      invalid(name + ".shape[1] is 7, expected 8 (k)", [&](OpCall& c) { c[name].shape[1] = 7; });
      invalid(name + ".shape[0] is 3, expected 4 (x.shape[0])", [&](OpCall& c) { c[name].shape[0] = 3; });
      invalid(name + ".rank is 1, expected 2", [&](OpCall& c) { c.set_shape(name, {8}); });
    }
    invalid("bias.shape[0] is 7, expected 8 (x.shape[1])", [](OpCall& c) { c["bias"].shape[0] = 7; });
    invalid("bias.rank is 2, expected 1", [](OpCall& c) { c.set_shape("bias", {1, 8}); });
    for (const char* ids : {"ids", "token_expert"})
      refuses(HIPOPS_UNSUPPORTED_DTYPE, std::string(ids) + ".dtype is i16, expected i64, i32 or u32", [=](OpCall& c) { c[ids].dtype = HIPOPS_I16; });
    for (const char* numbers : {"weights", "bias"})
      refuses(HIPOPS_UNSUPPORTED_DTYPE, std::string(numbers) + ".dtype is f16, expected f32", [=](OpCall& c) { c[numbers].dtype = HIPOPS_F16; });
    refuses(HIPOPS_UNSUPPORTED_DTYPE, "token_expert.dtype is i32, expected i64 or u32 for numbers up to 3221225471", [](OpCall& c) {
      c.leave_out("bias");
      for (const char* name : {"x", "weights", "ids", "token_expert"}) c.set_shape(name, {int64_t{3} << 27, 8});
    });
    for (const hipops_dtype dtype : {HIPOPS_F64, HIPOPS_I32})
      refuses(HIPOPS_UNSUPPORTED_DTYPE, std::string("x.dtype is ") + hipops::parity::dtype_name(dtype) + ", expected f32, f16 or bf16",
              [](OpCall&) {}, dtype);
    OpCall call("topk_softmax");
    call["ids"].data = call.data("weights");
    call.invalid("ids overlaps weights, expected separate memory");
    OpCall other("topk_softmax");
    other["token_expert"].data = other.data("ids") + 8;
    other.invalid("token_expert overlaps ids, expected separate memory");
  });
}

TEST_CASE("a token has the same bits for any grid and any other tokens", "[topk_softmax]") {
  on_cpu([] {
    constexpr int64_t kTokens = 37, kK = 6;
    for (const auto& [experts, groups] : {std::pair<int64_t, int64_t>{24, 0}, {256, 8}, {1000, 4}}) {
      HostTensor x(HIPOPS_F32, {kTokens, experts}), bias(HIPOPS_F32, {experts});
      for (int64_t i = 0; i < x.count(); ++i) x.set(i, static_cast<double>(i * 7919 % 1009) / 100 - 5);
      for (int64_t i = 0; i < experts; ++i) bias.set(i, static_cast<double>(i % 7) / 16);
      const auto routed = [&, of_groups = groups](int64_t first, int64_t tokens) {
        HostTensor weights(HIPOPS_F32, {tokens, kK}), ids(HIPOPS_I32, {tokens, kK});
        hipops_tensor view = x.view;
        view.shape[0] = tokens;
        view.data = static_cast<float*>(view.data) + first * view.stride[0];
        expect_success(hipops_topk_softmax(&weights.view, &ids.view, nullptr, &view, &bias.view, kK, of_groups, 2, 1.5, 0, nullptr));
        std::vector<double> all;
        for (int64_t i = 0; i < ids.count(); ++i) all.push_back(ids.get(i)), all.push_back(weights.get(i));
        return all;
      };
      const std::vector<double> all = routed(0, kTokens);
      for (const int64_t blocks : {1, 3}) {
        hipops::TemporaryOptions temporary;
        temporary.options.most_blocks = blocks;
        EXPECT(routed(0, kTokens) == all);
      }
      const std::vector<double> one = routed(11, 1);
      EXPECT(std::equal(one.begin(), one.end(), all.begin() + 11 * kK * 2));
    }
  });
}
