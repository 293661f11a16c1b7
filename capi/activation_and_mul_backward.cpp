#include "activation_and_mul_backward.h"

#include <cmath>
#include <iterator>

#include "kernel_names.h"
#include "map/activation.h"
#include "map/plan.h"
#include "tensor/error.h"

namespace hipops {
namespace {

constexpr const char* kName = "activation_and_mul_backward";
constexpr const char* kKernels[] = {HIPOPS_ACTIVATION_AND_MUL_BACKWARD_KERNELS(HIPOPS_KERNEL_NAME)};
constexpr MapVariant kList[] = {HIPOPS_ACTIVATION_AND_MUL_BACKWARD_KERNELS(HIPOPS_MAP_ENTRY)};

}  // namespace

Op op_activation_and_mul_backward = {kName, kKernels, static_cast<int>(std::size(kKernels)), supports_floats_alone_but_f64};

}  // namespace hipops

hipops_status hipops_activation_and_mul_backward(const hipops_tensor* dx, const hipops_tensor* dup,
                                                 const hipops_tensor* dy, const hipops_tensor* x,
                                                 const hipops_tensor* up, hipops_activation_kind kind, double limit,
                                                 double alpha, uint32_t flags, void* stream) {
  using namespace hipops;
  if (!dx && !dup) return fail(HIPOPS_INVALID_ARGUMENT, "%s: dx and dup are NULL, expected a tensor for one of them", kName);
  if (hipops_status status = check_activation({kName, "x", x}, {{kName, "dx", dx}, {kName, "dup", dup}},
                                              {{kName, "dy", dy}, {kName, "up", up}}, kind, alpha))
    return status;
  if (hipops_status status = check_gate(kName, limit, flags)) return status;
  if (is_empty(*x)) return HIPOPS_SUCCESS;

  ActivationAndMulBackwardArgs args{};
  args.terms = activation_terms(kind, alpha);
  args.limit = limit == 0 ? INFINITY : static_cast<float>(limit);
  args.up_plus_one = flags != 0;
  return launch_map<5, 2>(op_activation_and_mul_backward, kList, {dx, dup, dy, x, up}, &args.map, &args, sizeof args, stream);
}
