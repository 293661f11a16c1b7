#include "activation_and_mul.h"

#include <cmath>
#include <iterator>

#include "kernel_names.h"
#include "map/activation.h"
#include "map/plan.h"
#include "tensor/error.h"

namespace hipops {
namespace {

constexpr const char* kName = "activation_and_mul";
constexpr const char* kKernels[] = {HIPOPS_ACTIVATION_AND_MUL_KERNELS(HIPOPS_KERNEL_NAME)};
constexpr MapVariant kList[] = {HIPOPS_ACTIVATION_AND_MUL_KERNELS(HIPOPS_MAP_ENTRY)};

hipops_status check(const hipops_tensor* y, const hipops_tensor* x, const hipops_tensor* up,
                    hipops_activation_kind kind, double limit, double alpha, uint32_t flags) {
  const Argument of_y{kName, "y", y}, of_x{kName, "x", x}, of_up{kName, "up", up};
  if (hipops_status status = check_tensor(of_x)) return status;
  if (hipops_status status = check_output(of_y)) return status;
  if (hipops_status status = check_tensor(of_up)) return status;
  if (hipops_status status = check_activation(kName, *x, kind, alpha)) return status;
  for (const Argument* a : {&of_y, &of_up}) {
    if (hipops_status status = check_same_dtype(*a, of_x)) return status;
    if (hipops_status status = check_same_shape(*a, of_x)) return status;
  }
  if (!(limit >= 0)) return fail(HIPOPS_INVALID_ARGUMENT, "%s: limit is %g, expected 0 (none) or more", kName, limit);
  if (flags & ~HIPOPS_UP_PLUS_ONE)
    return fail(HIPOPS_INVALID_ARGUMENT, "%s: flags is 0x%x, expected 0 or HIPOPS_UP_PLUS_ONE (0x40)", kName, flags);
  if (hipops_status status = check_overlap(of_y, of_x, kInPlace)) return status;
  return check_overlap(of_y, of_up, kInPlace);
}

}  // namespace

Op op_activation_and_mul = {kName, kKernels, static_cast<int>(std::size(kKernels)), supports_activation};

}  // namespace hipops

hipops_status hipops_activation_and_mul(const hipops_tensor* y, const hipops_tensor* x, const hipops_tensor* up,
                                        hipops_activation_kind kind, double limit, double alpha, uint32_t flags,
                                        void* stream) {
  using namespace hipops;
  if (hipops_status status = check(y, x, up, kind, limit, alpha, flags)) return status;
  if (is_empty(*x)) return HIPOPS_SUCCESS;

  ActivationAndMulArgs args{};
  args.terms = activation_terms(kind, alpha);
  args.limit = limit == 0 ? INFINITY : static_cast<float>(limit);
  args.up_plus_one = flags != 0;
  return launch_map<3>(op_activation_and_mul, kList, {y, x, up}, &args.map, &args, sizeof args, stream);
}
