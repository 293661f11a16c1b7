#include "tensor/tensor.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <initializer_list>

#include "tensor/error.h"

namespace hipops {
namespace {

struct DtypeRow {
  const char* name;
  int bytes;
  bool floating;
};


constexpr DtypeRow kDtypes[] = {
    {"invalid dtype", 0, false}, {"f32", 4, true}, {"f16", 2, true},   {"bf16", 2, true},  {"f64", 8, true},
    {"u8", 1, false},       {"i8", 1, false}, {"i16", 2, false},  {"u16", 2, false},  {"i32", 4, false},
    {"u32", 4, false},      {"i64", 8, false}, {"u64", 8, false},  {"f8_e4m3fn", 1, false}, {"f8_e4m3fnuz", 1, false},
    {"f8_e5m2", 1, false},  {"f8_e5m2fnuz", 1, false},
};
constexpr int kDtypeCount = sizeof(kDtypes) / sizeof(kDtypes[0]);
static_assert(kDtypeCount == HIPOPS_F8_E5M2FNUZ + 1, "a row for each dtype");

const DtypeRow& row_of(hipops_dtype dtype) { return kDtypes[dtype > HIPOPS_NONE && dtype < kDtypeCount ? dtype : 0]; }

// The text of sizes or strides for messages: "[2, 3]".
class Listed {
 public:
  Listed(const int64_t* values, int count) {
    char* at = text_;
    for (int i = 0; i < count; ++i) at += std::sprintf(at, "%s%" PRId64, i ? ", " : "[", values[i]);
    std::strcpy(at, count ? "]" : "[]");
  }
  const char* text() const { return text_; }

 private:
  char text_[HIPOPS_MAX_RANK * sizeof "-9223372036854775808, " + sizeof "[]"];
};

}  // namespace

const char* dtype_name(hipops_dtype dtype) { return row_of(dtype).name; }
int dtype_bytes(hipops_dtype dtype) { return row_of(dtype).bytes; }
bool is_float(hipops_dtype dtype) { return row_of(dtype).floating; }

bool is_empty(const hipops_tensor& t) {
  for (int d = 0; d < t.rank; ++d)
    if (t.shape[d] == 0) return true;
  return false;
}

const hipops_tensor* without_data(const hipops_tensor* t, hipops_tensor* copy) {
  if (!t) return nullptr;
  *copy = *t;
  copy->data = reinterpret_cast<void*>(UINTPTR_MAX / 4 + 1);
  return copy;
}

int64_t element_count(const hipops_tensor& t) {
  if (is_empty(t)) return 0;  // next to a 0, other sizes are unchecked and may overflow
  int64_t count = 1;
  for (int d = 0; d < t.rank; ++d) count *= t.shape[d];
  return count;
}

hipops_status check_tensor(const Argument& a) {
  if (!a.tensor) return fail(HIPOPS_INVALID_ARGUMENT, "%s: %s is NULL, expected a tensor", a.op, a.name);
  const hipops_tensor& t = *a.tensor;
  int32_t dtype;  // a C caller may pass any number, and in C++ an enum must not hold any number
  std::memcpy(&dtype, &t.dtype, sizeof dtype);
  if (dtype <= HIPOPS_NONE || dtype >= kDtypeCount)
    return fail(HIPOPS_INVALID_ARGUMENT, "%s: %s.dtype is %d, expected a hipops_dtype from %d (f32) to %d (f8_e5m2fnuz)",
                a.op, a.name, dtype, HIPOPS_F32, HIPOPS_F8_E5M2FNUZ);
  if (t.rank < 0 || t.rank > HIPOPS_MAX_RANK)
    return fail(HIPOPS_INVALID_ARGUMENT, "%s: %s.rank is %d, expected 0 to %d", a.op, a.name, t.rank, HIPOPS_MAX_RANK);
  bool empty = false;
  for (int d = 0; d < t.rank; ++d) {
    if (t.shape[d] < 0)
      return fail(HIPOPS_INVALID_ARGUMENT, "%s: %s.shape[%d] is %" PRId64 ", expected 0 or more", a.op, a.name, d,
                  t.shape[d]);
    empty = empty || t.shape[d] == 0;
  }
  if (empty) return HIPOPS_SUCCESS;  // its strides address no memory
  int64_t count = 1;
  for (int d = 0; d < t.rank; ++d)
    if (__builtin_mul_overflow(count, t.shape[d], &count))
      return fail(HIPOPS_INVALID_ARGUMENT, "%s: %s.shape has more than 2^63 - 1 elements; here %s.shape is %s", a.op,
                  a.name, a.name, Listed(t.shape, t.rank).text());
  if (!t.data)
    return fail(HIPOPS_INVALID_ARGUMENT, "%s: %s.data is NULL, expected memory of %" PRId64 " elements", a.op, a.name,
                count);
  if (!byte_range(t, &a.bytes))
    return fail(HIPOPS_INVALID_ARGUMENT,
                "%s: %s.shape and %s.stride reach outside the address space; here shape is %s, stride %s, data %p",
                a.op, a.name, a.name, Listed(t.shape, t.rank).text(), Listed(t.stride, t.rank).text(), t.data);
  if (reinterpret_cast<uintptr_t>(t.data) % dtype_bytes(t.dtype) != 0)
    return fail(HIPOPS_INVALID_ARGUMENT, "%s: %s.data is %p, expected a multiple of %d (an element of %s)", a.op,
                a.name, t.data, dtype_bytes(t.dtype), dtype_name(t.dtype));
  return HIPOPS_SUCCESS;
}

hipops_status check_output(const Argument& a) {
  if (hipops_status status = check_tensor(a)) return status;
  const hipops_tensor& t = *a.tensor;
  if (is_empty(t)) return HIPOPS_SUCCESS;
  if (element_count(t) > 1 && std::all_of(t.stride, t.stride + t.rank, [](int64_t step) { return step == 0; })) {
    const hipops_tensor contiguous = hipops_contiguous(t.data, t.dtype, t.rank, t.shape);
    return fail(HIPOPS_INVALID_ARGUMENT,
                "%s: %s.stride is %s, expected strides that keep an output's elements apart, as %s (contiguous)", a.op, a.name,
                Listed(t.stride, t.rank).text(), Listed(contiguous.stride, t.rank).text());
  }
  for (int d = 0; d < t.rank; ++d)
    if (t.shape[d] > 1 && t.stride[d] == 0)
      return fail(HIPOPS_INVALID_ARGUMENT,
                  "%s: %s.stride[%d] is 0, expected distinct elements in an output (shape[%d] is %" PRId64 ")", a.op,
                  a.name, d, d, t.shape[d]);
  if (!elements_are_distinct(t))
    return fail(HIPOPS_UNSUPPORTED_LAYOUT,
                "%s: %s.stride overlaps elements of an output, or interleaves its dimensions; expected strides that "
                "nest; here shape is %s, stride %s",
                a.op, a.name, Listed(t.shape, t.rank).text(), Listed(t.stride, t.rank).text());
  return HIPOPS_SUCCESS;
}

hipops_status check_rank(const Argument& a, int lowest, int highest) {
  if (a.tensor->rank >= lowest && a.tensor->rank <= highest) return HIPOPS_SUCCESS;
  if (lowest == highest)
    return fail(HIPOPS_INVALID_ARGUMENT, "%s: %s.rank is %d, expected %d", a.op, a.name, a.tensor->rank, lowest);
  return fail(HIPOPS_INVALID_ARGUMENT, "%s: %s.rank is %d, expected %d to %d", a.op, a.name, a.tensor->rank, lowest,
              highest);
}

hipops_status check_same_rank(const Argument& a, const Argument& expected) {
  if (a.tensor->rank == expected.tensor->rank) return HIPOPS_SUCCESS;
  return fail(HIPOPS_INVALID_ARGUMENT, "%s: %s.rank is %d, expected %d (%s.rank)", a.op, a.name, a.tensor->rank,
              expected.tensor->rank, expected.name);
}

hipops_status check_same_size(const Argument& a, int dimension, const Argument& expected, int of_expected) {
  const int64_t size = a.tensor->shape[dimension], wanted = expected.tensor->shape[of_expected];
  if (size == wanted) return HIPOPS_SUCCESS;
  return fail(HIPOPS_INVALID_ARGUMENT, "%s: %s.shape[%d] is %" PRId64 ", expected %" PRId64 " (%s.shape[%d])", a.op,
              a.name, dimension, size, wanted, expected.name, of_expected);
}

hipops_status check_same_shape(const Argument& a, const Argument& expected) {
  if (hipops_status status = check_same_rank(a, expected)) return status;
  for (int d = 0; d < a.tensor->rank; ++d)
    if (hipops_status status = check_same_size(a, d, expected, d)) return status;
  return HIPOPS_SUCCESS;
}

hipops_status check_same_dtype(const Argument& a, const Argument& expected) {
  if (a.tensor->dtype == expected.tensor->dtype) return HIPOPS_SUCCESS;
  return fail(HIPOPS_UNSUPPORTED_DTYPE, "%s: %s.dtype is %s, expected %s (%s.dtype)", a.op, a.name,
              dtype_name(a.tensor->dtype), dtype_name(expected.tensor->dtype), expected.name);
}

hipops_status check_same_dtype_or_f32(const Argument& a, const Argument& expected) {
  const hipops_dtype wanted = expected.tensor->dtype;
  if (a.tensor->dtype == wanted || a.tensor->dtype == HIPOPS_F32) return HIPOPS_SUCCESS;
  return fail(HIPOPS_UNSUPPORTED_DTYPE, "%s: %s.dtype is %s, expected %s (%s.dtype)%s", a.op, a.name,
              dtype_name(a.tensor->dtype), dtype_name(wanted), expected.name, wanted == HIPOPS_F32 ? "" : " or f32");
}

hipops_status check_index_dtype(const Argument& a, int64_t last) {
  const hipops_dtype dtype = a.tensor->dtype;
  if (dtype != HIPOPS_I64 && dtype != HIPOPS_I32 && dtype != HIPOPS_U32)
    return fail(HIPOPS_UNSUPPORTED_DTYPE, "%s: %s.dtype is %s, expected i64, i32 or u32", a.op, a.name, dtype_name(dtype));
  if (dtype == HIPOPS_I64 || last <= (dtype == HIPOPS_U32 ? UINT32_MAX : INT32_MAX)) return HIPOPS_SUCCESS;
  return fail(HIPOPS_UNSUPPORTED_DTYPE, "%s: %s.dtype is %s, expected i64%s for numbers up to %" PRId64, a.op, a.name,
              dtype_name(dtype), last <= UINT32_MAX ? " or u32" : "", last);
}

hipops_status check_float(const Argument& a) {
  if (is_float(a.tensor->dtype)) return HIPOPS_SUCCESS;
  return fail(HIPOPS_UNSUPPORTED_DTYPE, "%s: %s.dtype is %s, expected f32, f16, bf16 or f64", a.op, a.name,
              dtype_name(a.tensor->dtype));
}

hipops_status check_float_but_f64(const Argument& a) {
  const hipops_dtype dtype = a.tensor->dtype;
  if (supports_floats_alone_but_f64(dtype, HIPOPS_NONE)) return HIPOPS_SUCCESS;
  return fail(HIPOPS_UNSUPPORTED_DTYPE, "%s: %s.dtype is %s, expected f32, f16 or bf16", a.op, a.name, dtype_name(dtype));
}

hipops_status check_overlap(const Argument& output, const Argument& input, bool in_place) {
  if (is_empty(*output.tensor) || is_empty(*input.tensor)) return HIPOPS_SUCCESS;
  if (in_place && same_view(*output.tensor, *input.tensor)) return HIPOPS_SUCCESS;
  for (const Argument* a : {&output, &input})
    if (a->bytes.begin == 0) byte_range(*a->tensor, &a->bytes);
  if (are_apart(output.bytes, input.bytes) || !overlap(*output.tensor, *input.tensor)) return HIPOPS_SUCCESS;
  const auto at = [](uintptr_t address) { return reinterpret_cast<const void*>(address); };
  return fail(HIPOPS_INVALID_ARGUMENT, "%s: %s overlaps %s, expected %s; here %s is %p to %p, %s %p to %p", output.op,
              output.name, input.name, in_place ? "separate memory or exactly the same view" : "separate memory",
              output.name, at(output.bytes.begin), at(output.bytes.end), input.name, at(input.bytes.begin),
              at(input.bytes.end));
}

hipops_status check_workspace(const char* op, const void* workspace, int64_t workspace_bytes, int64_t needed,
                              std::initializer_list<Argument> tensors) {
  constexpr int kAlignment = 256;  // see hipops.h
  if (!workspace && workspace_bytes != 0)
    return fail(HIPOPS_INVALID_ARGUMENT,
                "%s: workspace is NULL, expected memory of workspace_bytes, %" PRId64 ", or workspace_bytes 0", op,
                workspace_bytes);
  if (!workspace || needed == 0) return HIPOPS_SUCCESS;
  if (reinterpret_cast<uintptr_t>(workspace) % kAlignment != 0)
    return fail(HIPOPS_INVALID_ARGUMENT, "%s: workspace is %p, expected a multiple of %d", op, workspace,
                kAlignment);
  if (workspace_bytes < needed)
    return fail(HIPOPS_INVALID_ARGUMENT,
                "%s: workspace_bytes is %" PRId64 ", expected %" PRId64 " or more (hipops_%s_workspace_bytes)", op,
                workspace_bytes, needed, op);
  const hipops_tensor view{const_cast<void*>(workspace), HIPOPS_U8, 1, {needed}, {1}};
  Argument of_workspace{op, "workspace", &view};
  if (!byte_range(view, &of_workspace.bytes))
    return fail(HIPOPS_INVALID_ARGUMENT,
                "%s: workspace is %p, from where %" PRId64 " bytes reach outside the address space", op, workspace, needed);
  for (const Argument& tensor : tensors)
    if (hipops_status status = check_overlap(of_workspace, tensor)) return status;
  return HIPOPS_SUCCESS;
}

hipops_status check_bytes(const char* op, const int64_t* bytes) {
  if (bytes) return HIPOPS_SUCCESS;
  return fail(HIPOPS_INVALID_ARGUMENT, "%s: bytes is NULL, expected memory for an int64_t", op);
}

bool supports_elements(hipops_dtype dtype, hipops_dtype second) {
  return dtype_bytes(dtype) != 0 && second == HIPOPS_NONE;
}

bool supports_floats(hipops_dtype dtype, hipops_dtype second) {
  return is_float(dtype) && (second == HIPOPS_NONE || second == dtype || second == HIPOPS_F32);
}

bool supports_floats_alone_but_f64(hipops_dtype dtype, hipops_dtype second) {
  return second == HIPOPS_NONE && is_float(dtype) && dtype != HIPOPS_F64;
}

}  // namespace hipops
