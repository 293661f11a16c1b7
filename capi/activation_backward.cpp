#include "activation_backward.h"

#include <iterator>

#include "kernel_names.h"
#include "map/activation.h"
#include "map/plan.h"

namespace hipops {
namespace {

constexpr const char* kName = "activation_backward";
constexpr const char* kKernels[] = {HIPOPS_ACTIVATION_BACKWARD_KERNELS(HIPOPS_KERNEL_NAME)};
constexpr MapVariant kList[] = {HIPOPS_ACTIVATION_BACKWARD_KERNELS(HIPOPS_MAP_ENTRY)};

}  // namespace

Op op_activation_backward = {kName, kKernels, static_cast<int>(std::size(kKernels)), supports_floats_alone_but_f64};

}  // namespace hipops

hipops_status hipops_activation_backward(const hipops_tensor* dx, const hipops_tensor* dy, const hipops_tensor* x,
                                         hipops_activation_kind kind, double alpha, void* stream) {
  using namespace hipops;
  if (hipops_status status = check_activation({kName, "x", x}, {{kName, "dx", dx}}, {{kName, "dy", dy}}, kind, alpha)) return status;
  if (is_empty(*x)) return HIPOPS_SUCCESS;

  ActivationBackwardArgs args{};
  args.terms = activation_terms(kind, alpha);
  return launch_map<3>(op_activation_backward, kList, {dx, dy, x}, &args.map, &args, sizeof args, stream);
}
