// hipops_activation_backward: the arguments that it refuses. hipops-parity and hipops-fuzz check its numbers.
#include <cmath>

#include "op_call.h"

using namespace hipops_test;

TEST_CASE("activation_backward refuses tensors of other shapes or dtypes, and invalid scalars", "[activation_backward]") {
  check_calls([] {
    const std::string op = "activation_backward";
    check_every_tensor(op);
    for (const std::string name : {"dx", "dy"}) {
      OpCall shape(op), other(op);
      shape[name].shape[1] = 7;
      shape.invalid(name + ".shape[1] is 7, expected 8 (x.shape[1])");
      other[name].dtype = HIPOPS_F16;
      other.refused(HIPOPS_UNSUPPORTED_DTYPE, name + ".dtype is f16, expected f32 (x.dtype)");
    }
    OpCall dtype(op, HIPOPS_F64), kind(op), alpha(op);
    dtype.refused(HIPOPS_UNSUPPORTED_DTYPE, "x.dtype is f64, expected f32, f16 or bf16");
    kind.params["kind"] = -1;
    kind.invalid("kind is -1, expected a hipops_activation_kind from 0 (identity) to 16 (exp)");
    alpha.params["alpha"] = NAN;
    alpha.invalid("alpha is nan, expected a finite number of f32's range");
  });
}
