#include "index/indices.h"

#include "tensor/error.h"

namespace hipops {
namespace {

static_assert(sizeof(hipops_index_report) == sizeof(IndexReport),
              "the same struct, for the kernels and for the caller");

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

bool index_op_supports_second(hipops_dtype second) { return second == HIPOPS_NONE || is_index(second); }

bool supports_elements_by_index(hipops_dtype dtype, hipops_dtype index) {
  return dtype_bytes(dtype) != 0 && index_op_supports_second(index);
}

hipops_status check_index(const Argument& index) {
  if (hipops_status status = check_tensor(index)) return status;
  if (is_index(index.tensor->dtype)) return HIPOPS_SUCCESS;
  return fail(HIPOPS_UNSUPPORTED_DTYPE, "%s: %s.dtype is %s, expected u8, i16, i32, u32 or i64", index.op, index.name,
              dtype_name(index.tensor->dtype));
}

hipops_status check_dim(const char* op, int32_t dim, const Argument& t) {
  if (dim >= 0 && dim < t.tensor->rank) return HIPOPS_SUCCESS;
  return fail(HIPOPS_INVALID_ARGUMENT, "%s: dim is %d, expected 0 to %d (%s.rank is %d)", op, dim, t.tensor->rank - 1,
              t.name, t.tensor->rank);
}

hipops_status check_report(const char* op, const hipops_index_report* report, std::initializer_list<Argument> tensors,
                           const void* workspace, int64_t workspace_used) {
  if (!report) return HIPOPS_SUCCESS;
  if (reinterpret_cast<uintptr_t>(report) % alignof(hipops_index_report) != 0)
    return fail(HIPOPS_INVALID_ARGUMENT, "%s: report is %p, expected a multiple of %d", op,
                static_cast<const void*>(report), static_cast<int>(alignof(hipops_index_report)));
  const hipops_tensor view{const_cast<hipops_index_report*>(report), HIPOPS_U8, 1, {sizeof *report}, {1}};
  Argument of_report{op, "report", &view};
  if (!byte_range(view, &of_report.bytes))
    return fail(HIPOPS_INVALID_ARGUMENT, "%s: report is %p, from where %d bytes reach outside the address space", op,
                static_cast<const void*>(report), static_cast<int>(sizeof *report));
  for (const Argument& tensor : tensors)
    if (hipops_status status = check_overlap(of_report, tensor)) return status;
  if (!workspace || workspace_used == 0) return HIPOPS_SUCCESS;
  const hipops_tensor bytes{const_cast<void*>(workspace), HIPOPS_U8, 1, {workspace_used}, {1}};
  return check_overlap(of_report, {op, "workspace", &bytes});
}

IndexArgs index_args(const hipops_tensor& index, int64_t size, hipops_index_report* report) {
  return {index.data, reinterpret_cast<IndexReport*>(report), size, index_type(index.dtype)};
}

}  // namespace hipops
