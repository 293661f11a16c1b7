// What the launchers ask of tensors: the checks that are the same for every op, each with its message, and collapsed
// layouts.
#pragma once

#include <cstdint>

#include "hipops/hipops.h"
#include "tensor/overlap.h"

namespace hipops {

// An argument as messages name it: "rms_norm: weight...".
struct Argument {
  const char* op;
  const char* name;
  const hipops_tensor* tensor;
  mutable ByteRange bytes = {0, UINTPTR_MAX};  // that it lies in, once check_tensor or check_overlap has looked
};

const char* dtype_name(hipops_dtype dtype);   // as "bf16"; "invalid dtype" for what is none
int dtype_bytes(hipops_dtype dtype);          // 0 for what is none
bool is_float(hipops_dtype dtype);

bool is_empty(const hipops_tensor& t);  // no elements

// A tensor whose data is not to be looked at, in `copy`: at an address with room for strides of either sign. NULL stays
// NULL.
const hipops_tensor* without_data(const hipops_tensor* t, hipops_tensor* copy);

// By what a dimension is stepped along: 0 where it has one element at most, and its stride is not looked at.
inline int64_t step_of(const hipops_tensor& t, int d) { return t.shape[d] > 1 ? t.stride[d] : 0; }

// Number of elements; only for tensors that check_tensor has accepted.
int64_t element_count(const hipops_tensor& t);

// hipops_supports of ops that move elements of any dtype, and of those that compute with floats, beside whose tensors
// (weights, tables) are in the same dtype, in f32, or not there.
bool supports_elements(hipops_dtype dtype, hipops_dtype second);
bool supports_floats(hipops_dtype dtype, hipops_dtype second);

// Not NULL, a known dtype, a rank of 0 to HIPOPS_MAX_RANK, sizes >= 0, an extent that fits the address space, and data
// that is there and aligned to the element.
hipops_status check_tensor(const Argument& a);

// check_tensor, and its elements are distinct in memory.
hipops_status check_output(const Argument& a);

hipops_status check_rank(const Argument& a, int lowest, int highest);
hipops_status check_same_rank(const Argument& a, const Argument& expected);
hipops_status check_same_size(const Argument& a, int dimension, const Argument& expected, int of_expected);
hipops_status check_same_shape(const Argument& a, const Argument& expected);
hipops_status check_same_dtype(const Argument& a, const Argument& expected);
hipops_status check_same_dtype_or_f32(const Argument& a, const Argument& expected);
hipops_status check_float(const Argument& a);

// `output` and `input` (of the same dtype, if they are the same memory) share no byte; or are the same view, where
// `in_place` allows that. Both are tensors that check_tensor has accepted, if by another Argument.
hipops_status check_overlap(const Argument& output, const Argument& input, bool in_place);

}  // namespace hipops
