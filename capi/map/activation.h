// Checks and arguments of the ops with an activation.
#pragma once

#include "device/map/contract.h"
#include "hipops/hipops.h"

namespace hipops {

// Requires f32, f16 or bf16 for x.
bool supports_activation(hipops_dtype dtype, hipops_dtype second);
hipops_status check_activation(const char* op, const hipops_tensor& x, hipops_activation_kind kind, double alpha);

ActivationTerms activation_terms(hipops_activation_kind kind, double alpha);

}  // namespace hipops
