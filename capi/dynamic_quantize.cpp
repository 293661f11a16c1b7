#include "dynamic_quantize.h"

#include <cfloat>
#include <cinttypes>
#include <iterator>

#include "kernel_names.h"
#include "map/activation.h"
#include "map/quantize.h"
#include "rows/checks.h"
#include "rows/plan.h"
#include "tensor/error.h"

namespace hipops {
namespace {

constexpr const char* kName = "dynamic_quantize";
constexpr const char* kKernels[] = {HIPOPS_DYNAMIC_QUANTIZE_KERNELS(HIPOPS_KERNEL_NAME)};
constexpr RowKernel kList[] = {HIPOPS_DYNAMIC_QUANTIZE_KERNELS(HIPOPS_ROW_KERNEL_ENTRY)};
constexpr RowKernels kRows = {kList, static_cast<int>(std::size(kList))};

struct Call {
  const hipops_tensor *q, *scale, *x, *scale_ub;
  int64_t group;
  uint32_t flags;
};

// The scale of each row, or of each group of columns: x's shape with the number of groups as the last size.
hipops_status check_scale(const Call& c, const Argument& of_scale, const Argument& of_q, const Argument& of_x) {
  if (hipops_status status = check_output(of_scale)) return status;
  if (c.group == 0) return check_row_scalars({of_scale}, {of_x, of_q});
  const int last = c.x->rank - 1;
  if (c.scale->dtype != HIPOPS_F32)
    return fail(HIPOPS_UNSUPPORTED_DTYPE, "%s: scale.dtype is %s, expected f32", kName, dtype_name(c.scale->dtype));
  if (hipops_status status = check_same_rank(of_scale, of_x)) return status;
  for (int d = 0; d < last; ++d)
    if (hipops_status status = check_same_size(of_scale, d, of_x, d)) return status;
  if (c.scale->shape[last] != c.x->shape[last] / c.group)
    return fail(HIPOPS_INVALID_ARGUMENT, "%s: scale.shape[%d] is %" PRId64 ", expected %" PRId64 " (x.shape[%d] / group)", kName,
                last, c.scale->shape[last], c.x->shape[last] / c.group, last);
  if (hipops_status status = check_overlap(of_scale, of_x, false)) return status;
  return check_overlap(of_scale, of_q, false);
}

hipops_status check_bound(const Call& c, const Argument& of_q, const Argument& of_scale) {
  if (!c.scale_ub) return HIPOPS_SUCCESS;
  const Argument bound{kName, "scale_ub", c.scale_ub};
  if (hipops_status status = check_tensor(bound)) return status;
  if (c.scale_ub->dtype != HIPOPS_F32)
    return fail(HIPOPS_UNSUPPORTED_DTYPE, "%s: scale_ub.dtype is %s, expected f32", kName, dtype_name(c.scale_ub->dtype));
  if (element_count(*c.scale_ub) != 1)
    return fail(HIPOPS_INVALID_ARGUMENT, "%s: scale_ub has %" PRId64 " elements, expected 1", kName, element_count(*c.scale_ub));
  if (hipops_status status = check_overlap(of_q, bound, false)) return status;
  return check_overlap(of_scale, bound, false);
}

hipops_status check(const Call& c) {
  const Argument of_q{kName, "q", c.q}, of_scale{kName, "scale", c.scale}, of_x{kName, "x", c.x};
  if (hipops_status status = check_quantized(of_q, of_x)) return status;
  if (hipops_status status = check_rank(of_x, 1, c.group == 0 ? HIPOPS_MAX_RANK : HIPOPS_MAX_RANK - 1)) return status;
  const int last = c.x->rank - 1;
  if (c.group < 0) return fail(HIPOPS_INVALID_ARGUMENT, "%s: group is %" PRId64 ", expected 0 or more", kName, c.group);
  if (c.group > 0 && c.x->shape[last] % c.group != 0)
    return fail(HIPOPS_INVALID_ARGUMENT, "%s: group is %" PRId64 ", expected 0 or a divisor of %" PRId64 " (x.shape[%d])", kName,
                c.group, c.x->shape[last], last);
  if (hipops_status status = check_scale(c, of_scale, of_q, of_x)) return status;
  if (hipops_status status = check_bound(c, of_q, of_scale)) return status;
  return check_flags(kName, c.flags, HIPOPS_FNUZ_240 | HIPOPS_BATCH_INVARIANT,
                     "HIPOPS_FNUZ_240 (0x80) and HIPOPS_BATCH_INVARIANT (0x10)");
}

// The view in which each group of columns is a row.
hipops_tensor grouped(const hipops_tensor& t, int64_t group) {
  hipops_tensor view = t;
  const int last = t.rank - 1;
  if (group == 0) return view;
  view.rank = t.rank + 1;
  view.shape[last] = t.shape[last] / group;
  view.shape[last + 1] = group;
  view.stride[last] = t.stride[last] * group;
  view.stride[last + 1] = t.stride[last];
  return view;
}

// The number to which max|x| is scaled. vLLM's for e4m3fnuz is 224.
float most_of(EightBits to, uint32_t flags) {
  switch (to) {
    case EightBits::i8: return 127;
    case EightBits::e4m3fn: return 448;
    case EightBits::e4m3fnuz: return flags & HIPOPS_FNUZ_240 ? 240 : 224;
    default: return 57344;
  }
}

}  // namespace

Op op_dynamic_quantize = {kName, kKernels, kRows.count, supports_activation, most_shared<kRows>, nullptr, &kRows};

}  // namespace hipops

hipops_status hipops_dynamic_quantize(const hipops_tensor* q, const hipops_tensor* scale, const hipops_tensor* x,
                                      const hipops_tensor* scale_ub, int64_t group, uint32_t flags, void* stream) {
  using namespace hipops;
  if (hipops_status status = check({q, scale, x, scale_ub, group, flags})) return status;
  if (is_empty(*x)) return HIPOPS_SUCCESS;

  DynamicQuantizeArgs args{};
  args.to = eight_bits(q->dtype);
  args.format = kFloat8Formats[static_cast<int>(args.to)];
  args.most = most_of(args.to, flags);
  args.least = args.to == EightBits::i8 ? FLT_EPSILON : 1 / (args.most * 512);
  args.upper_bound = scale_ub ? static_cast<const float*>(scale_ub->data) : nullptr;
  // max|x| is exact, so every plan is batch invariant.
  const hipops_tensor rows = grouped(*x, group), quantized = grouped(*q, group);
  const RowProblem problem = describe_rows({&rows, &quantized, scale}, 1, args.columns, 0, 0, &args.rows);
  return launch_rows(op_dynamic_quantize, problem, &args.rows, &args, sizeof args, stream);
}
