#include "indices.h"

#include "error.h"

namespace hipops {
namespace {

static_assert(sizeof(hipops_index_report) == sizeof(IndexReport), "the same struct, for the kernels and for the caller");

IndexType index_type(hipops_dtype dtype) {
  switch (dtype) {
    case HIPOPS_U8: return kIndexU8;
    case HIPOPS_I16: return kIndexI16;
    case HIPOPS_I32: return kIndexI32;
    case HIPOPS_U32: return kIndexU32;
    default: return kIndexI64;
  }
}

}  // namespace

bool is_index(hipops_dtype dtype) {
  return dtype == HIPOPS_U8 || dtype == HIPOPS_I16 || dtype == HIPOPS_I32 || dtype == HIPOPS_U32 || dtype == HIPOPS_I64;
}

hipops_status check_index(const Argument& index) {
  if (hipops_status status = check_tensor(index)) return status;
  if (is_index(index.tensor->dtype)) return HIPOPS_SUCCESS;
  return fail(HIPOPS_UNSUPPORTED_DTYPE, "%s: %s.dtype is %s, expected u8, i16, i32, u32 or i64", index.op, index.name,
              dtype_name(index.tensor->dtype));
}

hipops_status check_dim(const char* op, int32_t dim, const Argument& t) {
  if (dim >= 0 && dim < t.tensor->rank) return HIPOPS_SUCCESS;
  return fail(HIPOPS_INVALID_ARGUMENT, "%s: dim is %d, expected 0 to %d (%s.rank is %d)", op, dim, t.tensor->rank - 1, t.name, t.tensor->rank);
}

IndexArgs index_args(const hipops_tensor& index, int64_t size, hipops_index_report* report) {
  return {index.data, reinterpret_cast<IndexReport*>(report), size, index_type(index.dtype), 0};
}

}  // namespace hipops
