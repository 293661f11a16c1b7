// The checks of all row ops. A failure names the argument.
#pragma once

#include <initializer_list>

#include "hipops/hipops.h"
#include "tensor/tensor.h"

namespace hipops {

// Requires that y and x have one shape, one float dtype, and rank 1 or more. y must not overlap x, unless it is x.
hipops_status check_rows(const char* op, const hipops_tensor* y, const hipops_tensor* x);

// check_rows of an op that adds a residual, and does not support f64. residual_out may be null.
hipops_status check_residual(const char* op, const hipops_tensor* y, const hipops_tensor* residual_out, const hipops_tensor* x,
                             const hipops_tensor* residual);
bool supports_floats_but_f64(hipops_dtype dtype, hipops_dtype second);  // Op::supports, without f64
bool supports_floats_alone(hipops_dtype dtype, hipops_dtype second);    // of an op without weights

// Requires that tensors that are not null have no common byte.
hipops_status check_apart(const Argument& output, const Argument& other);

// The checks of dx and dy, which must have the shape and dtype of `like`. They use no address.
hipops_status check_gradients(const Argument& dx, const Argument& dy, const Argument& like);

// Weights may be null. Otherwise they must be 1-D, as long as a row, in x's dtype or f32, and must not overlap y.
hipops_status check_weights(const char* op, const char* name, const hipops_tensor* weights, const hipops_tensor& x,
                            const hipops_tensor& y);

// Requires one number for each row of x: f32, or f64 if x is f64, of x's shape without the last dimension or with 1 there.
hipops_status check_row_scalar(const Argument& scalar, const Argument& x);

// Requires x's shape without the last dimension, or with 1 there.
hipops_status check_shape_of_rows(const Argument& a, const Argument& x);

// Outputs of one number for each row, all optional (check_row_scalar). They must overlap neither each other nor `others`.
// The first of `others` is x.
hipops_status check_row_scalars(std::initializer_list<Argument> scalars, std::initializer_list<Argument> others);

// Inputs of one number for each row, all optional (check_row_scalar). They must not overlap y.
hipops_status check_given_scalars(std::initializer_list<Argument> scalars, const Argument& x, const Argument& y);

// eps must be 0 or in the range of the type that x is computed in: f64 for f64, otherwise f32.
hipops_status check_eps(const char* op, double eps, const hipops_tensor& x);

// Only flags of `known` are valid. `names` lists these flags with their values, for the message.
hipops_status check_flags(const char* op, uint32_t flags, uint32_t known = HIPOPS_BATCH_INVARIANT,
                          const char* names = "HIPOPS_BATCH_INVARIANT (0x10)");

}  // namespace hipops
