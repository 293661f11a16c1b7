#include "layer_norm.h"

#include "tensor/error.h"
#include "kernel_names.h"
#include "rows/rows.h"
#include "tensor/tensor.h"

namespace hipops {
namespace {

constexpr const char* kKernels[] = {HIPOPS_LAYER_NORM_KERNELS(HIPOPS_KERNEL_NAME)};
static_assert(sizeof(kKernels) / sizeof(kKernels[0]) == kRowKernels + kOwnKernels,
              "one name for each variant");

hipops_status check(const hipops_tensor* y, const hipops_tensor* x, const hipops_tensor* weight,
                    const hipops_tensor* bias, double eps) {
  if (hipops_status status = check_rows("layer_norm", y, x)) return status;
  if (hipops_status status = check_weights("layer_norm", "weight", weight, *x, *y)) return status;
  if (hipops_status status = check_weights("layer_norm", "bias", bias, *x, *y)) return status;
  if (weight && bias)
    if (hipops_status status = check_same_dtype({"layer_norm", "bias", bias}, {"layer_norm", "weight", weight}))
      return status;
  return check_eps("layer_norm", eps, *x);
}

}  // namespace

// What a block finds and loads only once is a quarter of its instructions. Of f32, which has half the elements for its
// bytes, memory takes longer than those, but where a work-item has one vector.
RowRounds layer_norm_rounds(const RowVariant& v) {
  const bool in_16_bits = dtype_bytes(v.dtype) == 2;
  if (v.access == wide && v.threads < v.block) return in_16_bits || v.vectors == 1 ? RowRounds::several : RowRounds::one;
  if (v.access == wide && v.vectors == 4 && in_16_bits) return RowRounds::queued;
  if (v.dtype == HIPOPS_F64) return v.vectors == 4 ? RowRounds::one_or_ahead : RowRounds::one;
  if (v.access == edged && v.threads == v.block && v.vectors == 4) return RowRounds::weights_aside;
  if (v.access == edged || in_16_bits) return RowRounds::ahead_beside_weights;
  const bool may_be_early = v.access == wide && v.vectors == 4 && v.dtype == HIPOPS_F32 && !v.streaming;
  return may_be_early ? RowRounds::one_or_early : RowRounds::one;
}

RowRounds layer_norm_rounds_at_use(const RowVariant& v) {
  const RowRounds rounds = layer_norm_rounds(v);
  return rounds == RowRounds::queued ? RowRounds::queued_at_use : rounds;
}

Op op_layer_norm = {"layer_norm", kKernels, kRowKernels + kOwnKernels, supports_floats,
                    layer_norm_kernel_shared, nullptr, layer_norm_kernel_is_off_amd};

}  // namespace hipops

hipops_status hipops_layer_norm(const hipops_tensor* y, const hipops_tensor* x, const hipops_tensor* weight,
                                const hipops_tensor* bias, double eps, void* stream) {
  using namespace hipops;
  if (hipops_status status = check(y, x, weight, bias, eps)) return status;
  if (is_empty(*x)) return HIPOPS_SUCCESS;

  LayerNormArgs args{};
  args.geometry = row_geometry(*y, *x);
  args.x = x->data;
  args.y = y->data;
  set_norm_terms(eps, args.geometry.cols, &args);
  if (weight) {
    args.weight = weight->data;
    args.weight_stride = weight->stride[0];
    args.weights_are_f32 = weight->dtype != x->dtype;
  }
  if (bias) {
    args.bias = bias->data;
    args.bias_stride = bias->stride[0];
    args.weights_are_f32 = bias->dtype != x->dtype;
  }

  RowAccess access = row_access(*y, *x, args.geometry, weight, bias);
  const hipops_tensor* some = weight ? weight : bias;
  const bool at_use = some && some->dtype != x->dtype;
  const int kept = some && !at_use ? 2 : 0;  // each has its place, also where there is but one of them
  RowCall call = {x->dtype, access, at_use ? layer_norm_rounds_at_use : layer_norm_rounds, kept, y->data == x->data};
  return launch_rows(op_layer_norm, call, &args.geometry, &args, sizeof args, stream);
}
