// The checks that row ops have in common.
#pragma once

#include "hipops/hipops.h"

namespace hipops {

// That y and x are tensors of one shape and float dtype, of rank 1 or more, y apart from x or the same view.
hipops_status check_rows(const char* op, const hipops_tensor* y, const hipops_tensor* x);

// A vector of weights, when there is one: 1-D, as long as a row, in x's dtype or f32, apart from y.
hipops_status check_weights(const char* op, const char* name, const hipops_tensor* weights, const hipops_tensor& x,
                            const hipops_tensor& y);

// A number that what x is computed in has: f32, for 16 bits too, or f64.
hipops_status check_eps(const char* op, double eps, const hipops_tensor& x);

// A combination of `known` flags. `names` lists those, with their values.
hipops_status check_flags(const char* op, uint32_t flags, uint32_t known, const char* names);

}  // namespace hipops
