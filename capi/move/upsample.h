// The checks and the plan of upsample_nearest1d and upsample_nearest2d.
#pragma once

#include <cstdint>

#include "device/move/upsample_contract.h"
#include "hipops/hipops.h"
#include "policy/plan_options.h"
#include "runtime/runtime.h"
#include "tensor/tensor.h"

namespace hipops {

// A scale that the caller passed, and its name. An array of scales is for the last dimensions, the outermost first.
struct Scale {
  const char* name;
  double value;
};

// Checks a call that resizes the last `resized` dimensions of x, which has rank 2 + resized.
hipops_status check_upsample(const char* op, const hipops_tensor* y, const hipops_tensor* x, int resized,
                             hipops_nearest rule, const Scale* scale);

// The rule and the ratios of a dimension that changes from size `in` to `out`. The op resizes `resized` dimensions.
UpsampleDimension resize_of(int64_t in, int64_t out, int resized, hipops_nearest rule, double scale);

struct UpsamplePlan {
  int kernel;  // of HIPOPS_UPSAMPLE_KERNELS
  uint32_t grid, block;
  UpsampleArgs args;
};

// For tensors that passed check_upsample, where y has elements.
UpsamplePlan plan_upsample(PlanOptions options, const hipops_tensor& y, const hipops_tensor& x, int resized, hipops_nearest rule,
                           const Scale* scale);

// Lets each work-item compute `rounds` rounds of rows instead of one. The caller must plan the grid afterwards.
void take_rounds(UpsampleArgs* args, int32_t rounds);

hipops_status upsample(Op& op, const hipops_tensor* y, const hipops_tensor* x, int resized, hipops_nearest rule,
                       const Scale* scale, void* stream);

// ---- Conversions of the arguments to a kernel's form. upsample_plan.cpp chooses the kernel.

double ratio_of(const UpsampleDimension& d);

// The largest offset of an element of x in these dimensions; true if the offset and all sizes are below 2^31.
double reach_of(const UpsampleDimension* dimension, int rank);
bool is_near(const UpsampleDimension* dimension, int rank);

// Converts to the form of `run` or `apart`, by vectors of vector_bytes. If vector_bytes is 0, converts to the form of
// `few`, by accesses. Returns false if y has gaps or the form does not support the sizes. y is one period. If y or x is
// very large, y is several periods of whole vectors, each with the same number of positions in the outermost dimension.
// A vector has elements of at most two lines.
bool to_periods(const PlanOptions& options, UpsampleArgs* a, int rank, int64_t unit, int64_t vector_bytes);

// Converts to the form of `tile`. Returns false if y or x has gaps, or if y needs too little of x.
bool to_tiles(UpsampleArgs* a, int rank, int64_t unit);

}  // namespace hipops
