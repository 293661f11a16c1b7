// hipops_log_softmax: the arguments that it refuses. hipops-parity and hipops-fuzz check its numbers.
#include "op_call.h"

using namespace hipops_test;

TEST_CASE("log_softmax refuses tensors of other shapes or dtypes", "[log_softmax]") {
  check_calls([] {
    check_every_tensor("log_softmax");
    OpCall shape("log_softmax"), dtype("log_softmax", HIPOPS_U8);
    shape["y"].shape[1] = 7;
    shape.invalid("y.shape[1] is 7, expected 8 (x.shape[1])");
    dtype.refused(HIPOPS_UNSUPPORTED_DTYPE, "x.dtype is u8, expected f32, f16, bf16 or f64");
  });
}
