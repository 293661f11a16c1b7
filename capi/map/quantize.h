// Checks of quantised tensors, and their types.
#pragma once

#include "device/core/float8_contract.h"
#include "hipops/hipops.h"
#include "tensor/tensor.h"

namespace hipops {

// Requires i8 or an 8-bit float for q, and f32, f16 or bf16 for x, of one shape, and without a common byte.
hipops_status check_quantized(const Argument& q, const Argument& x);

EightBits eight_bits(hipops_dtype dtype);

}  // namespace hipops
