// Checks and arguments of the ops with an activation.
#pragma once

#include <initializer_list>

#include "device/map/contract.h"
#include "hipops/hipops.h"
#include "tensor/tensor.h"

namespace hipops {

// The checks of an op's tensors, which have x's shape and dtype, and of its activation. Outputs may be NULL, except a sole
// one. Each has memory of its own, or is exactly one of the inputs.
hipops_status check_activation(const Argument& x, std::initializer_list<Argument> outputs, std::initializer_list<Argument> inputs,
                               hipops_activation_kind kind, double alpha);

// The checks of a gated activation's numbers.
hipops_status check_gate(const char* op, double limit, uint32_t flags);

ActivationTerms activation_terms(hipops_activation_kind kind, double alpha);

}  // namespace hipops
