// Checks of tensors that all ops use, each with its message, and properties of tensors.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "hipops/hipops.h"
#include "tensor/overlap.h"

namespace hipops {

// An argument, with the names that messages use: "rms_norm: weight...".
struct Argument {
  const char* op;
  const char* name;
  const hipops_tensor* tensor;
  mutable ByteRange bytes = {0, UINTPTR_MAX};  // its memory, set by check_tensor or check_overlap
};

const char* dtype_name(hipops_dtype dtype);   // for example "bf16"; "invalid dtype" for other values
int dtype_bytes(hipops_dtype dtype);          // 0 for other values
bool is_float(hipops_dtype dtype);            // f32, f16, bf16 or f64

bool is_empty(const hipops_tensor& t);  // has no elements

// Copies a tensor with an address that passes check_tensor, for calls that use no memory. NULL stays NULL.
const hipops_tensor* without_data(const hipops_tensor* t, hipops_tensor* copy);

// The stride of a dimension, or 0 if the dimension has at most one element, so that its stride has no meaning.
inline int64_t step_of(const hipops_tensor& t, int d) { return t.shape[d] > 1 ? t.stride[d] : 0; }

// The number of elements of a tensor that passed check_tensor.
int64_t element_count(const hipops_tensor& t);

// hipops_supports for ops that move elements of any dtype, and for ops that compute with floats. The second tensor
// (weights, a table) is in the same dtype, in f32, or absent.
bool supports_elements(hipops_dtype dtype, hipops_dtype second);
bool supports_floats(hipops_dtype dtype, hipops_dtype second);
bool supports_floats_alone_but_f64(hipops_dtype dtype, hipops_dtype second);  // without a second tensor

// Requires a tensor that is not NULL, a known dtype, a rank of 0 to HIPOPS_MAX_RANK, and sizes >= 0. If it has
// elements, data must not be NULL, must be aligned to the element, and all elements must be inside the address space.
hipops_status check_tensor(const Argument& a);

// check_tensor, and strides that nest, so that each element has memory of its own.
hipops_status check_output(const Argument& a);

hipops_status check_rank(const Argument& a, int lowest, int highest);
hipops_status check_same_rank(const Argument& a, const Argument& expected);
hipops_status check_same_size(const Argument& a, int dimension, const Argument& expected, int of_expected);
hipops_status check_same_shape(const Argument& a, const Argument& expected);
hipops_status check_same_dtype(const Argument& a, const Argument& expected);
hipops_status check_same_dtype_or_f32(const Argument& a, const Argument& expected);
hipops_status check_float(const Argument& a);
hipops_status check_float_but_f64(const Argument& a);
// An output of whole numbers from 0 to `last`: i64, or i32 or u32 if it can have that number.
hipops_status check_index_dtype(const Argument& a, int64_t last);

// Requires that `output` and `input` have no common byte. With kInPlace they may also be the same view. Both tensors
// passed check_tensor, perhaps as another Argument.
constexpr bool kInPlace = true;
hipops_status check_overlap(const Argument& output, const Argument& input, bool in_place = false);

// A workspace may be NULL; an op that needs it checks that itself. Otherwise it must be aligned, have `needed` bytes or
// more, and not overlap `tensors`.
hipops_status check_workspace(const char* op, const void* workspace, int64_t workspace_bytes, int64_t needed,
                              std::initializer_list<Argument> tensors);

// Checks the output pointer of hipops_<op>_workspace_bytes.
hipops_status check_bytes(const char* op, const int64_t* bytes);

}  // namespace hipops
