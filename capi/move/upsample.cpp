#include "move/upsample.h"

#include <cinttypes>
#include <cmath>

#include "policy/limits.h"
#include "tensor/error.h"

namespace hipops {
namespace {

using Limits = UpsampleLimits;

hipops_status check_scale(const char* op, const Scale& scale, hipops_nearest rule) {
  if (!std::isfinite(scale.value) || scale.value < 0)
    return fail(HIPOPS_INVALID_ARGUMENT, "%s: %s is %g, expected a finite number of 0 or more", op, scale.name,
                scale.value);
  if (scale.value == 0) return HIPOPS_SUCCESS;
  double ratio = 1 / scale.value;
  if (std::isfinite(rule == HIPOPS_NEAREST_CANDLE ? ratio : static_cast<float>(ratio))) return HIPOPS_SUCCESS;
  return fail(HIPOPS_INVALID_ARGUMENT, "%s: %s is %g, expected 0 or a number whose reciprocal is finite in %s", op,
              scale.name, scale.value, rule == HIPOPS_NEAREST_CANDLE ? "f64" : "f32");
}

// The position up to which a rule's arithmetic is exact if the ratio is 1, 1/2, 1/4, ..
int64_t exact_positions(hipops_nearest rule) {
  if (rule == HIPOPS_NEAREST_CANDLE) return int64_t{1} << 53;
  return rule == HIPOPS_NEAREST_EXACT ? int64_t{1} << 23 : int64_t{1} << 24;
}

// Returns s if every position i has the source i >> s, or -1. Without a scale PyTorch defines s = 0 for equal sizes and
// s = 1 for a doubled size. If two dimensions are resized, equal sizes give s = 0 with a scale, too. Otherwise s
// follows from the rule's arithmetic, as long as that is exact.
int shift_of(int64_t in, int64_t out, int resized, hipops_nearest rule, bool given, double ratio) {
  const bool defined = rule == HIPOPS_NEAREST_PYTORCH && !given;
  const bool copied = rule != HIPOPS_NEAREST_CANDLE && resized == 2;
  if ((defined || copied) && out == in) return 0;
  if (defined && out % 2 == 0 && out / 2 == in) return 1;
  if (out > exact_positions(rule)) return -1;
  for (int s = 0; s <= Limits::kMostShiftBits; ++s)
    if (ratio == std::ldexp(1.0, -s) && (out - 1) >> s < in) return s;
  return -1;
}

}  // namespace

hipops_status check_upsample(const char* op, const hipops_tensor* y, const hipops_tensor* x, int resized,
                             hipops_nearest rule, const Scale* scale) {
  Argument out{op, "y", y}, in{op, "x", x};
  if (hipops_status status = check_tensor(in)) return status;
  if (hipops_status status = check_output(out)) return status;
  if (hipops_status status = check_rank(in, 2 + resized, 2 + resized)) return status;
  if (hipops_status status = check_rank(out, 2 + resized, 2 + resized)) return status;
  if (hipops_status status = check_same_dtype(out, in)) return status;
  for (int d = 0; d < 2; ++d)
    if (hipops_status status = check_same_size(out, d, in, d)) return status;
  if (rule != HIPOPS_NEAREST_PYTORCH && rule != HIPOPS_NEAREST_CANDLE && rule != HIPOPS_NEAREST_EXACT)
    return fail(HIPOPS_INVALID_ARGUMENT, "%s: rule is %d, expected a hipops_nearest from %d to %d", op,
                static_cast<int>(rule), HIPOPS_NEAREST_PYTORCH, HIPOPS_NEAREST_EXACT);
  for (int s = 0; s < resized; ++s)
    if (hipops_status status = check_scale(op, scale[s], rule)) return status;
  if (is_empty(*y)) return HIPOPS_SUCCESS;
  for (int d = 2; d < x->rank; ++d)
    if (x->shape[d] == 0)
      return fail(HIPOPS_INVALID_ARGUMENT, "%s: x.shape[%d] is 0, expected 1 or more (y.shape[%d] is %" PRId64 ")", op,
                  d, d, y->shape[d]);
  return check_overlap(out, in);
}

UpsampleDimension resize_of(int64_t in, int64_t out, int resized, hipops_nearest rule, double scale) {
  UpsampleDimension d{};
  d.last = in - 1;
  bool given = scale > 0;
  d.ratio64 = given ? 1 / scale : static_cast<double>(in) / static_cast<double>(out);
  d.ratio32 = given ? static_cast<float>(1 / scale) : static_cast<float>(in) / static_cast<float>(out);
  d.rule = rule == HIPOPS_NEAREST_CANDLE  ? kSourceFloor64
           : rule == HIPOPS_NEAREST_EXACT ? kSourceCentre32
                                          : kSourceFloor32;

  const int shift = shift_of(in, out, resized, rule, given, rule == HIPOPS_NEAREST_CANDLE ? d.ratio64 : d.ratio32);
  if (shift >= 0) d.rule = shift == 0 ? kSourceSame : kSourceShift, d.shift = shift;
  return d;
}

hipops_status upsample(Op& op, const hipops_tensor* y, const hipops_tensor* x, int resized, hipops_nearest rule,
                       const Scale* scale, void* stream) {
  if (hipops_status status = check_upsample(op.name, y, x, resized, rule, scale)) return status;
  if (is_empty(*y)) return HIPOPS_SUCCESS;
  UpsamplePlan plan = plan_upsample(plan_options(), *y, *x, resized, rule, scale);
  return launch(op, plan.kernel, plan.grid, plan.block, &plan.args, sizeof plan.args, stream);
}

}  // namespace hipops
