#include "softmax.h"

#include "kernel_names.h"
#include "rows/rows.h"
#include "tensor/tensor.h"

namespace hipops {
namespace {

constexpr const char* kKernels[] = {HIPOPS_SOFTMAX_KERNELS(HIPOPS_KERNEL_NAME)};
static_assert(sizeof(kKernels) / sizeof(kKernels[0]) == kRowKernels + kOwnSoftmaxKernels,
              "one name for each variant");
#define HOLDS_AS_PLANNED(name, dtype, threads, vectors, block, access, mode) \
  static_assert(block == kTailedBlock && threads == block && \
                vectors == (mode == tailed ? kTailedVectors : kFullVectors), "what hold_in_eight goes by");
HIPOPS_OWN_SOFTMAX_KERNELS(HOLDS_AS_PLANNED)
#undef HOLDS_AS_PLANNED

bool supports(hipops_dtype dtype, hipops_dtype second) {
  return second == HIPOPS_NONE && is_float(dtype);
}

int64_t most_shared(int kernel, uint32_t block) {
  constexpr int64_t kAll = int64_t{1} << 20;  // more than any device has
  if (kernel < kRowKernels) return row_kernel_shared(kernel, block);
  return kernel == tailed_kernel && (block == 0 || block == kTailedBlock) ? kAll : 0;
}

}  // namespace

RowRounds softmax_rounds(const RowVariant& v) {
  if (v.clustered) return RowRounds::one_or_in_eight;
  if (v.dtype == HIPOPS_F64) return v.threads == v.block ? RowRounds::one_or_ahead : RowRounds::one;
  if (v.access != edged) return RowRounds::one;
  return v.threads < v.block ? RowRounds::ahead : RowRounds::one_or_ahead;
}

Op op_softmax = {"softmax", kKernels, kRowKernels + kOwnSoftmaxKernels, supports, most_shared,
                 nullptr, softmax_kernel_is_off_amd};

}  // namespace hipops

hipops_status hipops_softmax(const hipops_tensor* y, const hipops_tensor* x, void* stream) {
  using namespace hipops;
  if (hipops_status status = check_rows("softmax", y, x)) return status;
  if (is_empty(*x)) return HIPOPS_SUCCESS;

  SoftmaxArgs args{};
  args.geometry = row_geometry(*y, *x);
  args.x = x->data;
  args.y = y->data;

  RowAccess access = row_access(*y, *x, args.geometry);
  RowCall call = {x->dtype, access, softmax_rounds, 0, y->data == x->data};
  return launch_rows(op_softmax, call, &args.geometry, &args, sizeof args, stream);
}
