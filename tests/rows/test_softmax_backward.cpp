// hipops_softmax_backward and hipops_log_softmax_backward: the arguments that they refuse, and results in place.
// hipops-parity and hipops-fuzz check their numbers.
#include <limits>

#include "op_call.h"

using namespace hipops_test;

namespace {

void check_refusals(const std::string& op) {
  check_every_tensor(op);
  const auto invalid = [&](const std::string& message, auto change) {
    OpCall call(op);
    change(call);
    call.invalid(message);
  };
  for (const std::string name : {"dx", "dy"}) {
    invalid(name + ".rank is 1, expected 2 (y.rank)", [&](OpCall& c) { c[name].rank = 1; });
    invalid(name + ".shape[1] is 7, expected 8 (y.shape[1])", [&](OpCall& c) { c[name].shape[1] = 7; });
    OpCall call(op);
    call[name].dtype = HIPOPS_F16;
    call.refused(HIPOPS_UNSUPPORTED_DTYPE, name + ".dtype is f16, expected f32 (y.dtype)");
  }
  invalid("y.rank is 0, expected 1 to 8", [](OpCall& c) { c["y"].rank = 0; });
  invalid("flags is 0x2, expected 0 or some of HIPOPS_BATCH_INVARIANT (0x10)", [](OpCall& c) { c.params["flags"] = HIPOPS_ROUND_SUM; });
  OpCall integers(op, HIPOPS_U8);
  integers.refused(HIPOPS_UNSUPPORTED_DTYPE, "y.dtype is u8, expected f32, f16, bf16 or f64");
}

void check_successes(const std::string& op) {
  for (const char* input : {"dy", "y"}) {
    OpCall in_place(op);
    in_place["dx"].data = in_place[input].data;
    in_place.succeeds();
  }
  for (const Sizes& shape : {Sizes{0, 8}, {3, 0}}) {
    OpCall empty(op);
    for (const char* tensor : {"dx", "dy", "y"}) empty.set_shape(tensor, shape);
    empty.succeeds();
  }
}

}  // namespace

TEST_CASE("softmax_backward refuses tensors of other shapes or dtypes, and a scale that is not finite", "[softmax_backward]") {
  check_calls([] {
    check_refusals("softmax_backward");
    const double infinity = std::numeric_limits<double>::infinity();
    for (const auto& [scale, text] : {std::pair{infinity, "inf"}, {-infinity, "-inf"}, {1e39, "1e+39"}}) {
      OpCall call("softmax_backward"), wide("softmax_backward", HIPOPS_F64);
      call.params["scale"] = wide.params["scale"] = scale;
      call.invalid(std::string("scale is ") + text + ", expected a finite number in the range of f32");
      if (scale != 1e39) wide.invalid(std::string("scale is ") + text + ", expected a finite number");
    }
    OpCall wide("softmax_backward", HIPOPS_F64);
    wide.params["scale"] = 1e39;
    wide.succeeds();
    check_successes("softmax_backward");
  });
}

TEST_CASE("log_softmax_backward refuses tensors of other shapes or dtypes", "[log_softmax_backward]") {
  check_calls([] {
    check_refusals("log_softmax_backward");
    check_successes("log_softmax_backward");
  });
}
