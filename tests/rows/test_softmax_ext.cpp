// hipops_softmax_ext: the arguments that it refuses. hipops-parity and hipops-fuzz check its numbers.
#include <cmath>
#include <limits>

#include "op_call.h"

using namespace hipops_test;

namespace {

template <class Spoil>
void refused(hipops_status status, const std::string& message, Spoil spoil, hipops_dtype dtype = HIPOPS_F32) {
  OpCall call("softmax_ext", dtype);
  spoil(call);
  call.refused(status, message);
}

}  // namespace

TEST_CASE("softmax_ext refuses tensors of other shapes or dtypes", "[softmax_ext]") {
  check_calls([] {
    check_every_tensor("softmax_ext");
    refused(HIPOPS_UNSUPPORTED_DTYPE, "x.dtype is f64, expected f32, f16 or bf16", [](OpCall&) {}, HIPOPS_F64);
    for (const hipops_dtype dtype : {HIPOPS_F16, HIPOPS_I8, HIPOPS_F64})
      refused(HIPOPS_UNSUPPORTED_DTYPE,
              std::string("mask.dtype is ") + hipops::parity::dtype_name(dtype) + ", expected f32, u8, or x.dtype, which is bf16",
              [dtype](OpCall& c) { c["mask"] = view_of(1 << 20, dtype, {4, 8}); }, HIPOPS_BF16);
    refused(HIPOPS_INVALID_ARGUMENT, "mask.shape[0] is 1, expected 4 (x.shape[0])", [](OpCall& c) { c["mask"].shape[0] = 1; });
    refused(HIPOPS_INVALID_ARGUMENT, "mask.rank is 1, expected 2 (x.rank)", [](OpCall& c) { c["mask"].rank = 1; });
    refused(HIPOPS_INVALID_ARGUMENT, "mask is NULL, expected a tensor with alibi_slopes", [](OpCall& c) { c.leave_out("mask"); });
    for (const std::string name : {"alibi_slopes", "sinks"}) {
      refused(HIPOPS_INVALID_ARGUMENT, name + ".shape[0] is 3, expected 4 (x.shape[0])", [&](OpCall& c) { c[name].shape[0] = 3; });
      refused(HIPOPS_INVALID_ARGUMENT, name + ".shape[1] is 2, expected 1, or one dimension less",
              [&](OpCall& c) { c[name].rank = 2, c[name].shape[1] = 2; });
      refused(HIPOPS_UNSUPPORTED_DTYPE, name + ".dtype is f16, expected f32 (x.dtype is f16)",
              [&](OpCall& c) { c[name] = view_of(1 << 20, HIPOPS_F16, {4}); }, HIPOPS_F16);
    }
  });
}

TEST_CASE("softmax_ext refuses a scale that is not finite, and other flags", "[softmax_ext]") {
  check_calls([] {
    for (const double scale : {1e39, -1e39, HUGE_VAL, std::numeric_limits<double>::quiet_NaN()}) {
      OpCall call("softmax_ext");
      call.params["scale"] = scale;
      char text[32];
      std::snprintf(text, sizeof text, "%g", scale);
      call.invalid(std::string("scale is ") + text + ", expected a finite number in the range of f32");
    }
    for (const uint32_t flags : {1u, 49u, 64u}) {
      OpCall call("softmax_ext");
      call.params["flags"] = flags;
      char text[32];
      std::snprintf(text, sizeof text, "flags is 0x%x", flags);
      call.invalid(std::string(text) + ", expected 0 or some of HIPOPS_MASKED_ROW_ZERO (0x20) and HIPOPS_BATCH_INVARIANT (0x10)");
    }
  });
}
