#include "activation.h"

#include <iterator>

#include "kernel_names.h"
#include "map/activation.h"
#include "map/plan.h"

namespace hipops {
namespace {

constexpr const char* kName = "activation";
constexpr const char* kKernels[] = {HIPOPS_ACTIVATION_KERNELS(HIPOPS_KERNEL_NAME)};
constexpr MapVariant kList[] = {HIPOPS_ACTIVATION_KERNELS(HIPOPS_MAP_ENTRY)};

}  // namespace

Op op_activation = {kName, kKernels, static_cast<int>(std::size(kKernels)), supports_floats_alone_but_f64};

}  // namespace hipops

hipops_status hipops_activation(const hipops_tensor* y, const hipops_tensor* x, hipops_activation_kind kind,
                                double alpha, void* stream) {
  using namespace hipops;
  if (hipops_status status = check_activation({kName, "x", x}, {{kName, "y", y}}, {}, kind, alpha)) return status;
  if (is_empty(*x)) return HIPOPS_SUCCESS;

  ActivationArgs args{};
  args.terms = activation_terms(kind, alpha);
  return launch_map<2>(op_activation, kList, {y, x}, &args.map, &args, sizeof args, stream);
}
