#include "sample.h"

#include <cinttypes>
#include <iterator>

#include "kernel_names.h"
#include "policy/limits.h"
#include "policy/plan_options.h"
#include "rows/checks.h"
#include "runtime/runtime.h"
#include "tensor/divisor.h"
#include "tensor/error.h"
#include "tensor/strided.h"
#include "tensor/tensor.h"
#include "variant_list.h"

namespace hipops {

extern Op op_sample;

namespace {

constexpr const char* kName = "sample";
constexpr const char* kKernels[] = {HIPOPS_SAMPLE_KERNELS(HIPOPS_KERNEL_NAME)};

constexpr hipops_dtype kDtypes[] = {HIPOPS_SAMPLE_KERNELS(HIPOPS_KERNEL_DTYPE)};

struct Call {
  Argument tokens, x, uniform, temperature, top_k, top_p, min_p;

  int64_t rows() const { return x.tensor->shape[0]; }
  int64_t columns() const { return x.tensor->shape[1]; }
};

// A number of each row.
hipops_status check_numbers(const Call& c, const Argument& a, bool are_integers) {
  const hipops_dtype dtype = a.tensor->dtype;
  if (are_integers ? dtype != HIPOPS_I32 && dtype != HIPOPS_I64 : dtype != HIPOPS_F32)
    return fail(HIPOPS_UNSUPPORTED_DTYPE, "%s: %s.dtype is %s, expected %s", kName, a.name, dtype_name(dtype),
                are_integers ? "i32 or i64" : "f32");
  if (hipops_status status = check_rank(a, 1, 1)) return status;
  return check_same_size(a, 0, c.x, 0);
}

hipops_status check(const Call& c) {
  if (hipops_status status = check_tensor(c.x)) return status;
  if (hipops_status status = check_float_but_f64(c.x)) return status;
  if (hipops_status status = check_rank(c.x, 2, 2)) return status;
  if (c.columns() < 1 || c.columns() > SelectLimits::kMostColumns)
    return fail(HIPOPS_INVALID_ARGUMENT, "%s: x.shape[1] is %" PRId64 ", expected 1 to %" PRId64, kName, c.columns(),
                SelectLimits::kMostColumns);
  if (hipops_status status = check_output(c.tokens)) return status;
  if (hipops_status status = check_numbers(c, c.tokens, true)) return status;
  if (c.tokens.tensor->dtype == HIPOPS_I32 && c.columns() > int64_t{INT32_MAX} + 1)
    return fail(HIPOPS_UNSUPPORTED_DTYPE, "%s: tokens.dtype is i32, expected i64 for %" PRId64 " columns", kName,
                c.columns());
  for (const Argument& input : {c.uniform, c.temperature, c.top_k, c.top_p, c.min_p}) {
    if (!input.tensor && input.name != c.uniform.name) continue;
    if (hipops_status status = check_tensor(input)) return status;
    if (hipops_status status = check_numbers(c, input, input.name == c.top_k.name)) return status;
    if (hipops_status status = check_apart(c.tokens, input)) return status;
  }
  return check_apart(c.tokens, c.x);
}

template <class T>
void set_numbers(const hipops_tensor* t, const T** numbers, int64_t* step) {
  if (t) *numbers = static_cast<const T*>(t->data), *step = step_of(*t, 0);
}

SampleArgs arguments_of(const Call& c) {
  const hipops_tensor &x = *c.x.tensor, &tokens = *c.tokens.tensor;
  SampleArgs args{};
  args.x = x.data, args.x_row = step_of(x, 0), args.x_step = step_of(x, 1);
  args.rows = c.rows(), args.columns = c.columns();
  args.tokens = tokens.data, args.tokens_step = step_of(tokens, 0), args.tokens_are_64 = tokens.dtype == HIPOPS_I64;
  set_numbers(c.uniform.tensor, &args.uniform, &args.uniform_step);
  set_numbers(c.temperature.tensor, &args.temperature, &args.temperature_step);
  set_numbers(c.top_p.tensor, &args.top_p, &args.top_p_step);
  set_numbers(c.min_p.tensor, &args.min_p, &args.min_p_step);
  set_numbers(c.top_k.tensor, &args.top_k, &args.top_k_step);
  args.top_k_is_64 = c.top_k.tensor && c.top_k.tensor->dtype == HIPOPS_I64;
  return args;
}

int64_t most_shared(int, uint32_t) { return 16; }  // see rows/plan.h

// The number of blocks that share a row, if rows are few. Each work-item must have elements.
hipops_status choose_cluster(const Call& c, const DeviceFacts& device, uint32_t* cluster) {
  const int64_t least = kSampleBlock * (kWideAccess / dtype_bytes(c.x.tensor->dtype));
  for (*cluster = device.largest_cluster; *cluster > 1; *cluster /= 2) {
    uint32_t most = 0;
    if (c.columns() < least * *cluster) continue;
    if (hipops_status status = most_clusters(op_sample, device, *cluster, kSampleBlock, &most)) return status;
    if (most >= c.rows()) break;
  }
  return HIPOPS_SUCCESS;
}

}  // namespace

Op op_sample = {kName, kKernels, std::size(kKernels), supports_floats_alone_but_f64, most_shared};

}  // namespace hipops

hipops_status hipops_sample(const hipops_tensor* tokens, const hipops_tensor* x, const hipops_tensor* uniform,
                            const hipops_tensor* temperature, const hipops_tensor* top_k, const hipops_tensor* top_p,
                            const hipops_tensor* min_p, void* stream) {
  using namespace hipops;
  const Call call{{kName, "tokens", tokens},
                  {kName, "x", x},
                  {kName, "uniform", uniform},
                  {kName, "temperature", temperature},
                  {kName, "top_k", top_k},
                  {kName, "top_p", top_p},
                  {kName, "min_p", min_p}};
  if (hipops_status status = check(call)) return status;
  if (is_empty(*x)) return HIPOPS_SUCCESS;

  const DeviceFacts* device;
  if (hipops_status status = device_facts(op_sample, &device)) return status;
  SampleArgs args = arguments_of(call);
  uint32_t cluster;
  if (hipops_status status = choose_cluster(call, *device, &cluster)) return status;
  const int64_t vector = kWideAccess / dtype_bytes(x->dtype);
  args.part = divided_up(divided_up(args.columns, cluster), vector) * vector;
  args.step = plan_options().grid_for(args.rows * kSampleBlock, kSampleBlock);
  const int kernel = place_of(kDtypes, [&](hipops_dtype dtype) { return dtype == x->dtype; });
  return launch(op_sample, *device, kernel, {static_cast<uint32_t>(args.step) * cluster, kSampleBlock, cluster}, &args, sizeof args, stream);
}
