#include "topk_softmax.h"

#include <cfloat>
#include <cinttypes>
#include <cmath>
#include <iterator>

#include "kernel_names.h"
#include "policy/plan_options.h"
#include "rows/checks.h"
#include "runtime/runtime.h"
#include "tensor/error.h"
#include "tensor/strided.h"
#include "tensor/tensor.h"
#include "variant_list.h"

namespace hipops {
namespace {

constexpr const char* kName = "topk_softmax";
constexpr const char* kKernels[] = {HIPOPS_TOPK_SOFTMAX_KERNELS(HIPOPS_KERNEL_NAME)};

struct Variant {
  hipops_dtype dtype;
  bool is_many;
};
constexpr hipops_dtype f32 = HIPOPS_F32, f16 = HIPOPS_F16, bf16 = HIPOPS_BF16;
#define VARIANT(name, T, is_many) {T, is_many},
constexpr Variant kVariants[] = {HIPOPS_TOPK_SOFTMAX_KERNELS(VARIANT)};
#undef VARIANT

struct Call {
  Argument weights, ids, token_expert, x, bias;
  int64_t k, groups, topk_groups;
  double scale;
  uint32_t flags;

  int64_t tokens() const { return x.tensor->shape[0]; }
  int64_t experts() const { return x.tensor->shape[1]; }
  bool has_groups() const { return groups > 1; }
};

// ---- Check

hipops_status check_range(const char* name, int64_t value, int64_t most, const char* of_what) {
  if (value >= 1 && value <= most) return HIPOPS_SUCCESS;
  return fail(HIPOPS_INVALID_ARGUMENT, "%s: %s is %" PRId64 ", expected 1 to %" PRId64 "%s", kName, name, value, most,
              of_what);
}

hipops_status check_numbers(const Call& c) {
  if (hipops_status status = check_flags(kName, c.flags, HIPOPS_SIGMOID | HIPOPS_RENORMALIZE | HIPOPS_BATCH_INVARIANT,
                                         "HIPOPS_SIGMOID (0x1000), HIPOPS_RENORMALIZE (0x2000) and "
                                         "HIPOPS_BATCH_INVARIANT (0x10)"))
    return status;
  if (!(std::fabs(c.scale) <= FLT_MAX))
    return fail(HIPOPS_INVALID_ARGUMENT, "%s: scale is %g, expected a finite f32", kName, c.scale);
  if (hipops_status status = check_range("x.shape[1]", c.experts(), kMostRoutedExperts, "")) return status;
  if (!c.has_groups() && c.groups >= 0) return check_range("k", c.k, c.experts(), " (x.shape[1])");
  if (hipops_status status = check_range("groups", c.groups, kMostRoutedGroups, ", or 0")) return status;
  if (c.experts() % c.groups != 0)
    return fail(HIPOPS_INVALID_ARGUMENT, "%s: groups is %" PRId64 ", expected a divisor of %" PRId64 " (x.shape[1])",
                kName, c.groups, c.experts());
  if (hipops_status status = check_range("topk_groups", c.topk_groups, c.groups, " (groups)")) return status;
  return check_range("k", c.k, c.experts() / c.groups * c.topk_groups, " (experts of topk_groups groups)");
}

hipops_status check_result(const Call& c, const Argument& a) {
  if (hipops_status status = check_output(a)) return status;
  if (hipops_status status = check_rank(a, 2, 2)) return status;
  if (hipops_status status = check_same_size(a, 0, c.x, 0)) return status;
  if (a.tensor->shape[1] == c.k) return HIPOPS_SUCCESS;
  return fail(HIPOPS_INVALID_ARGUMENT, "%s: %s.shape[1] is %" PRId64 ", expected %" PRId64 " (k)", kName, a.name,
              a.tensor->shape[1], c.k);
}

// Numbers from 0 to `last`.
hipops_status check_numbers(const Call& c, const Argument& a, int64_t last) {
  if (hipops_status status = check_result(c, a)) return status;
  return check_index_dtype(a, last);
}

hipops_status check_f32(const Argument& a) {
  if (a.tensor->dtype == HIPOPS_F32) return HIPOPS_SUCCESS;
  return fail(HIPOPS_UNSUPPORTED_DTYPE, "%s: %s.dtype is %s, expected f32", kName, a.name, dtype_name(a.tensor->dtype));
}

hipops_status check(const Call& c) {
  if (hipops_status status = check_tensor(c.x)) return status;
  if (hipops_status status = check_float_but_f64(c.x)) return status;
  if (hipops_status status = check_rank(c.x, 2, 2)) return status;
  if (hipops_status status = check_numbers(c)) return status;
  if (c.tokens() > INT64_MAX / c.k)
    return fail(HIPOPS_INVALID_ARGUMENT, "%s: x.shape[0] is %" PRId64 ", expected at most 2^63 / k", kName, c.tokens());
  if (hipops_status status = check_result(c, c.weights)) return status;
  if (hipops_status status = check_f32(c.weights)) return status;
  if (hipops_status status = check_numbers(c, c.ids, c.experts() - 1)) return status;
  if (c.token_expert.tensor)
    if (hipops_status status = check_numbers(c, c.token_expert, c.tokens() * c.k - 1)) return status;
  if (c.bias.tensor) {
    if (hipops_status status = check_tensor(c.bias)) return status;
    if (hipops_status status = check_f32(c.bias)) return status;
    if (hipops_status status = check_rank(c.bias, 1, 1)) return status;
    if (hipops_status status = check_same_size(c.bias, 0, c.x, 1)) return status;
  }
  for (const Argument& output : {c.weights, c.ids, c.token_expert})
    for (const Argument& input : {c.x, c.bias})
      if (hipops_status status = check_apart(output, input)) return status;
  if (hipops_status status = check_apart(c.ids, c.weights)) return status;
  if (hipops_status status = check_apart(c.token_expert, c.weights)) return status;
  return check_apart(c.token_expert, c.ids);
}

// ---- Plan

bool has_vectors(const hipops_tensor& x) {
  const uint64_t bytes = static_cast<uint64_t>(dtype_bytes(x.dtype));
  const uint64_t row = static_cast<uint64_t>(step_of(x, 0)), size = static_cast<uint64_t>(x.shape[1]);
  return step_of(x, 1) == 1 && widest_access(bits_of(x.data) | row * bytes | size * bytes) == kWideAccess;
}

TopkSoftmaxArgs arguments_of(const Call& c) {
  const hipops_tensor &x = *c.x.tensor, &weights = *c.weights.tensor, &ids = *c.ids.tensor;
  TopkSoftmaxArgs args{};
  args.x = x.data;
  args.x_token = step_of(x, 0), args.x_expert = step_of(x, 1);
  if (const hipops_tensor* bias = c.bias.tensor)
    args.bias = static_cast<const float*>(bias->data), args.bias_step = step_of(*bias, 0);
  args.weights = static_cast<float*>(weights.data);
  args.weights_token = step_of(weights, 0), args.weights_step = step_of(weights, 1);
  args.ids = ids.data, args.id_bytes = dtype_bytes(ids.dtype);
  args.ids_token = step_of(ids, 0), args.ids_step = step_of(ids, 1);
  if (const hipops_tensor* slots = c.token_expert.tensor) {
    args.token_expert = slots->data, args.slot_bytes = dtype_bytes(slots->dtype);
    args.slots_token = step_of(*slots, 0), args.slots_step = step_of(*slots, 1);
  }
  args.tokens = c.tokens();
  args.experts = static_cast<int32_t>(c.experts());
  args.k = static_cast<int32_t>(c.k);
  args.groups = c.has_groups() ? static_cast<int32_t>(c.groups) : 1;
  args.kept_groups = static_cast<int32_t>(c.topk_groups);
  args.of_group = args.experts / args.groups;
  args.has_vectors = has_vectors(x);
  args.is_sigmoid = (c.flags & HIPOPS_SIGMOID) != 0;
  args.renormalizes = (c.flags & HIPOPS_RENORMALIZE) != 0;
  args.scale = static_cast<float>(c.scale);
  return args;
}

}  // namespace

Op op_topk_softmax = {kName, kKernels, std::size(kKernels), supports_floats_alone_but_f64};

}  // namespace hipops

hipops_status hipops_topk_softmax(const hipops_tensor* weights, const hipops_tensor* ids,
                                  const hipops_tensor* token_expert, const hipops_tensor* x, const hipops_tensor* bias,
                                  int64_t k, int64_t groups, int64_t topk_groups, double scale, uint32_t flags,
                                  void* stream) {
  using namespace hipops;
  const Call call{{kName, "weights", weights}, {kName, "ids", ids}, {kName, "token_expert", token_expert},
                  {kName, "x", x},             {kName, "bias", bias}, k, groups, topk_groups, scale, flags};
  if (hipops_status status = check(call)) return status;
  if (is_empty(*x)) return HIPOPS_SUCCESS;

  const DeviceFacts* device;
  if (hipops_status status = device_facts(op_topk_softmax, &device)) return status;
  TopkSoftmaxArgs args = arguments_of(call);
  const bool is_many = args.experts > kFewOfLane * device->wave_size;
  const int depth = is_many ? kMostRoutedExperts / device->wave_size : kFewOfLane;
  while (args.experts > depth << args.lane_bits || args.groups > 1 << args.lane_bits) ++args.lane_bits;
  const int64_t of_block = kRouteBlock >> args.lane_bits, blocks = (args.tokens + of_block - 1) / of_block;
  const uint32_t grid = plan_options().grid_for(blocks * kRouteBlock, kRouteBlock);
  args.step = grid * of_block;
  const int kernel = place_of(kVariants, [&](const Variant& v) { return v.dtype == x->dtype && v.is_many == is_many; });
  return launch(op_topk_softmax, *device, kernel, {grid, kRouteBlock}, &args, sizeof args, stream);
}
