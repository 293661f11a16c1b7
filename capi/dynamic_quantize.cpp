#include "dynamic_quantize.h"

#include <cfloat>
#include <cinttypes>
#include <iterator>

#include "kernel_names.h"
#include "map/quantize.h"
#include "reduce/plan.h"
#include "rows/checks.h"
#include "rows/plan.h"
#include "tensor/error.h"
#include "tensor/tensor.h"

namespace hipops {
namespace {

constexpr const char* kName = "dynamic_quantize";
constexpr const char* kKernels[] = {HIPOPS_DYNAMIC_QUANTIZE_KERNELS(HIPOPS_KERNEL_NAME)};
constexpr RowKernel kList[] = {HIPOPS_DYNAMIC_QUANTIZE_KERNELS(HIPOPS_ROW_KERNEL_ENTRY)};
constexpr RowKernels kRows = {kList, static_cast<int>(std::size(kList))};
constexpr Op* kAlso[] = {&op_reduce, &op_static_quantize, nullptr};

struct Call {
  const hipops_tensor *q, *scale, *x, *scale_ub;
  int64_t group;
  uint32_t flags;

  Argument of_q() const { return {kName, "q", q}; }
  Argument of_scale() const { return {kName, "scale", scale}; }
  Argument of_x() const { return {kName, "x", x}; }
  Argument of_bound() const { return {kName, "scale_ub", scale_ub}; }
  bool is_whole() const { return group == HIPOPS_WHOLE_TENSOR; }
};

hipops_status check_f32(const Argument& t) {
  if (t.tensor->dtype == HIPOPS_F32) return HIPOPS_SUCCESS;
  return fail(HIPOPS_UNSUPPORTED_DTYPE, "%s: %s.dtype is %s, expected f32", kName, t.name, dtype_name(t.tensor->dtype));
}

hipops_status check_number(const Argument& t) {
  if (hipops_status status = check_f32(t)) return status;
  if (element_count(*t.tensor) == 1) return HIPOPS_SUCCESS;
  return fail(HIPOPS_INVALID_ARGUMENT, "%s: %s has %" PRId64 " elements, expected 1", kName, t.name, element_count(*t.tensor));
}

// The scale of the tensor; of each row; or of each group of columns: x's shape with the number of groups as the last size.
hipops_status check_scale(const Call& c) {
  const Argument of_scale = c.of_scale(), of_x = c.of_x();
  if (hipops_status status = check_output(of_scale)) return status;
  if (c.is_whole()) return check_number(of_scale);
  const int last = c.x->rank - 1;
  if (c.group == 0) {
    if (hipops_status status = check_row_scalar(of_scale, of_x)) return status;
    if (c.x->shape[last] != 0) return HIPOPS_SUCCESS;
    return fail(HIPOPS_INVALID_ARGUMENT, "%s: x.shape[%d] is 0, expected 1 or more with scale", kName, last);
  }
  if (hipops_status status = check_f32(of_scale)) return status;
  if (hipops_status status = check_same_rank(of_scale, of_x)) return status;
  for (int d = 0; d < last; ++d)
    if (hipops_status status = check_same_size(of_scale, d, of_x, d)) return status;
  if (c.scale->shape[last] == c.x->shape[last] / c.group) return HIPOPS_SUCCESS;
  return fail(HIPOPS_INVALID_ARGUMENT, "%s: scale.shape[%d] is %" PRId64 ", expected %" PRId64 " (x.shape[%d] / group)", kName,
              last, c.scale->shape[last], c.x->shape[last] / c.group, last);
}

hipops_status check_group(const Call& c) {
  const int last = c.x->rank - 1;
  for (int d = 0; d <= last && c.is_whole(); ++d)
    if (c.x->shape[d] == 0)
      return fail(HIPOPS_INVALID_ARGUMENT, "%s: x.shape[%d] is 0, expected 1 or more with scale", kName, d);
  if (c.is_whole()) return HIPOPS_SUCCESS;
  if (hipops_status status = check_rank(c.of_x(), 1, c.group == 0 ? HIPOPS_MAX_RANK : HIPOPS_MAX_RANK - 1)) return status;
  if (c.group < 0)
    return fail(HIPOPS_INVALID_ARGUMENT, "%s: group is %" PRId64 ", expected 0 or more, or HIPOPS_WHOLE_TENSOR (-1)", kName, c.group);
  if (c.group == 0 || c.x->shape[last] % c.group == 0) return HIPOPS_SUCCESS;
  return fail(HIPOPS_INVALID_ARGUMENT, "%s: group is %" PRId64 ", expected 0 or a divisor of %" PRId64 " (x.shape[%d])", kName,
              c.group, c.x->shape[last], last);
}

// The checks that use no address. hipops_dynamic_quantize_workspace_bytes makes them, too.
hipops_status check(const Call& c) {
  if (hipops_status status = check_quantized(c.of_q(), c.of_x())) return status;
  if (hipops_status status = check_group(c)) return status;
  if (hipops_status status = check_scale(c)) return status;
  if (c.scale_ub) {
    if (hipops_status status = check_tensor(c.of_bound())) return status;
    if (hipops_status status = check_number(c.of_bound())) return status;
  }
  return check_flags(kName, c.flags, HIPOPS_FNUZ_240 | HIPOPS_BATCH_INVARIANT,
                     "HIPOPS_FNUZ_240 (0x80) and HIPOPS_BATCH_INVARIANT (0x10)");
}

hipops_status check_memory(const Call& c) {
  const Argument q = c.of_q(), scale = c.of_scale(), x = c.of_x(), bound = c.of_bound();
  if (hipops_status status = check_overlap(q, x)) return status;
  for (const Argument* other : {&x, &q})
    if (hipops_status status = check_overlap(scale, *other)) return status;
  for (const Argument* output : {&q, &scale})
    if (c.scale_ub)
      if (hipops_status status = check_overlap(*output, bound)) return status;
  return HIPOPS_SUCCESS;
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

// The reduction that gives the scale of the tensor.
struct WholeTensor {
  hipops_tensor scale{};
  ReduceProblem problem{};

  explicit WholeTensor(const Call& c) {
    scale.data = c.scale->data;
    scale.dtype = HIPOPS_F32;
    problem = {&scale, c.x, (1u << c.x->rank) - 1, HIPOPS_REDUCE_MAX, false, {}};
  }
  WholeTensor(const WholeTensor&) = delete;
};

int64_t needed_workspace(const Call& c) {
  return c.is_whole() ? reduce_workspace_bytes(WholeTensor(c).problem) : 0;
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

Op op_dynamic_quantize = {kName, kKernels, kRows.count, supports_floats_alone_but_f64, most_shared<kRows>, kAlso, &kRows};

}  // namespace hipops

namespace hipops {
namespace {

// reduce's kernels compute the scale. Then static_quantize's kernel reads it.
hipops_status quantize_whole(const Call& c, const DynamicQuantizeArgs& terms, void* workspace, void* stream) {
  const DeviceFacts* device;
  if (hipops_status status = device_facts(op_dynamic_quantize, &device)) return status;
  const WholeTensor whole(c);
  ReducePlan plan = plan_reduce(plan_options(), whole.problem, *device, workspace);
  for (ReduceLaunch* each : {&plan.first, &plan.merge}) {
    each->args.sign = 0;
    each->args.count = terms.most;
    each->args.least_scale = terms.least;
    each->args.most_magnitude = terms.upper_bound;
  }
  if (hipops_status status = launch_reduce(plan, *device, stream)) return status;
  return launch_static_quantize(*c.q, *c.x, whole.scale, stream);
}

}  // namespace
}  // namespace hipops

hipops_status hipops_dynamic_quantize(const hipops_tensor* q, const hipops_tensor* scale, const hipops_tensor* x,
                                      const hipops_tensor* scale_ub, int64_t group, uint32_t flags, void* workspace,
                                      int64_t workspace_bytes, void* stream) {
  using namespace hipops;
  const Call call{q, scale, x, scale_ub, group, flags};
  if (hipops_status status = check(call)) return status;
  if (hipops_status status = check_memory(call)) return status;
  const int64_t needed = needed_workspace(call);
  for (const Argument& apart : {call.of_q(), call.of_scale(), call.of_x(), call.of_bound()})
    if (apart.tensor)
      if (hipops_status status = check_workspace(kName, workspace, workspace_bytes, needed, {apart})) return status;
  if (is_empty(*x)) return HIPOPS_SUCCESS;

  DynamicQuantizeArgs args{};
  args.to = eight_bits(q->dtype);
  args.format = kFloat8Formats[static_cast<int>(args.to)];
  args.most = most_of(args.to, flags);
  args.least = args.to == EightBits::i8 ? FLT_EPSILON : 1 / (args.most * 512);
  args.upper_bound = scale_ub ? static_cast<const float*>(scale_ub->data) : nullptr;
  if (call.is_whole()) return quantize_whole(call, args, workspace, stream);
  // max|x| is exact, so every plan is batch invariant.
  const hipops_tensor rows = grouped(*x, group), quantized = grouped(*q, group);
  const RowProblem problem = describe_rows({&rows, &quantized, scale}, 1, args.columns, 0, 0, &args.rows);
  return launch_rows(op_dynamic_quantize, problem, &args.rows, &args, sizeof args, stream);
}

hipops_status hipops_dynamic_quantize_workspace_bytes(const hipops_tensor* q, const hipops_tensor* scale, const hipops_tensor* x,
                                                      const hipops_tensor* scale_ub, int64_t group, uint32_t flags,
                                                      int64_t* bytes) {
  using namespace hipops;
  hipops_tensor copy[4];
  const Call call{without_data(q, &copy[0]), without_data(scale, &copy[1]), without_data(x, &copy[2]),
                  without_data(scale_ub, &copy[3]), group, flags};
  if (hipops_status status = check(call)) return status;
  if (hipops_status status = check_bytes(kName, bytes)) return status;
  *bytes = needed_workspace(call);
  return HIPOPS_SUCCESS;
}
