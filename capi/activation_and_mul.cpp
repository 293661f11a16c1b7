#include "activation_and_mul.h"

#include <cmath>
#include <iterator>

#include "kernel_names.h"
#include "map/activation.h"
#include "map/plan.h"

namespace hipops {
namespace {

constexpr const char* kName = "activation_and_mul";
constexpr const char* kKernels[] = {HIPOPS_ACTIVATION_AND_MUL_KERNELS(HIPOPS_KERNEL_NAME)};
constexpr MapVariant kList[] = {HIPOPS_ACTIVATION_AND_MUL_KERNELS(HIPOPS_MAP_ENTRY)};

}  // namespace

Op op_activation_and_mul = {kName, kKernels, static_cast<int>(std::size(kKernels)), supports_floats_alone_but_f64};

}  // namespace hipops

hipops_status hipops_activation_and_mul(const hipops_tensor* y, const hipops_tensor* x, const hipops_tensor* up,
                                        hipops_activation_kind kind, double limit, double alpha, uint32_t flags,
                                        void* stream) {
  using namespace hipops;
  if (hipops_status status = check_activation({kName, "x", x}, {{kName, "y", y}}, {{kName, "up", up}}, kind, alpha)) return status;
  if (hipops_status status = check_gate(kName, limit, flags)) return status;
  if (is_empty(*x)) return HIPOPS_SUCCESS;

  ActivationAndMulArgs args{};
  args.terms = activation_terms(kind, alpha);
  args.limit = limit == 0 ? INFINITY : static_cast<float>(limit);
  args.up_plus_one = flags != 0;
  return launch_map<3>(op_activation_and_mul, kList, {y, x, up}, &args.map, &args, sizeof args, stream);
}
