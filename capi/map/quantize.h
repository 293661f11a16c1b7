// Checks of quantised tensors, and their types.
#pragma once

#include "device/core/float8_contract.h"
#include "hipops/hipops.h"
#include "runtime/runtime.h"
#include "tensor/tensor.h"

namespace hipops {

// Requires i8 or an 8-bit float for q, and f32, f16 or bf16 for x, of one shape.
hipops_status check_quantized(const Argument& q, const Argument& x);

EightBits eight_bits(hipops_dtype dtype);

extern Op op_static_quantize;  // has the kernels

// Launches static_quantize after its checks.
hipops_status launch_static_quantize(const hipops_tensor& q, const hipops_tensor& x, const hipops_tensor& scale, void* stream);

}  // namespace hipops
