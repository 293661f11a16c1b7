// hipops_activation: the arguments that it refuses. hipops-parity and hipops-fuzz check its numbers.
#include <cmath>

#include "op_call.h"

using namespace hipops_test;

TEST_CASE("activation refuses tensors of other shapes or dtypes, and invalid scalars", "[activation]") {
  check_calls([] {
    check_every_tensor("activation");
    OpCall shape("activation"), dtype("activation", HIPOPS_U8), kind("activation"), alpha("activation");
    shape["y"].shape[1] = 7;
    shape.invalid("y.shape[1] is 7, expected 8 (x.shape[1])");
    dtype.refused(HIPOPS_UNSUPPORTED_DTYPE, "x.dtype is u8, expected f32, f16 or bf16");
    kind.params["kind"] = 17;
    kind.invalid("kind is 17, expected a hipops_activation_kind from 0 (identity) to 16 (exp)");
    alpha.params["alpha"] = NAN;
    alpha.invalid("alpha is nan, expected a finite number of f32's range");
  });
}
