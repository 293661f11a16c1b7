#include "map/quantize.h"

#include "tensor/error.h"

namespace hipops {

hipops_status check_quantized(const Argument& q, const Argument& x) {
  if (hipops_status status = check_tensor(x)) return status;
  if (hipops_status status = check_output(q)) return status;
  const hipops_dtype dtype = q.tensor->dtype;
  if (hipops_status status = check_float_but_f64(x)) return status;
  if (dtype != HIPOPS_I8 && (dtype < HIPOPS_F8_E4M3FN || dtype > HIPOPS_F8_E5M2FNUZ))
    return fail(HIPOPS_UNSUPPORTED_DTYPE, "%s: q.dtype is %s, expected f8_e4m3fn, f8_e4m3fnuz, f8_e5m2, f8_e5m2fnuz or i8",
                q.op, dtype_name(dtype));
  return check_same_shape(q, x);
}

EightBits eight_bits(hipops_dtype dtype) {
  return dtype == HIPOPS_I8 ? EightBits::i8 : static_cast<EightBits>(dtype - HIPOPS_F8_E4M3FN + 1);
}
static_assert(HIPOPS_F8_E5M2FNUZ - HIPOPS_F8_E4M3FN + 1 == static_cast<int>(EightBits::e5m2fnuz), "one order");

}  // namespace hipops
