#include "apply_penalties.h"

#include <iterator>

#include "kernel_names.h"
#include "policy/plan_options.h"
#include "rows/checks.h"
#include "runtime/runtime.h"
#include "tensor/divisor.h"
#include "tensor/error.h"
#include "tensor/tensor.h"
#include "variant_list.h"

namespace hipops {
namespace {

constexpr const char* kName = "apply_penalties";
constexpr const char* kKernels[] = {HIPOPS_APPLY_PENALTIES_KERNELS(HIPOPS_KERNEL_NAME)};

constexpr hipops_dtype kDtypes[] = {HIPOPS_APPLY_PENALTIES_KERNELS(HIPOPS_KERNEL_DTYPE)};

struct Call {
  Argument y, x, prompt, counts, repetition, frequency, presence;

  bool is_in_place() const { return y.tensor->data == x.tensor->data; }
};

// An input that may be NULL, of one dtype.
hipops_status check_input(const Call& c, const Argument& a, hipops_dtype dtype, bool is_of_rows) {
  if (!a.tensor) return HIPOPS_SUCCESS;
  if (hipops_status status = check_tensor(a)) return status;
  if (a.tensor->dtype != dtype)
    return fail(HIPOPS_UNSUPPORTED_DTYPE, "%s: %s.dtype is %s, expected %s", kName, a.name, dtype_name(a.tensor->dtype),
                dtype_name(dtype));
  if (is_of_rows) {
    if (hipops_status status = check_rank(a, 1, 1)) return status;
    if (hipops_status status = check_same_size(a, 0, c.x, 0)) return status;
  } else {
    if (hipops_status status = check_same_shape(a, c.x)) return status;
  }
  return check_apart(c.y, a);
}

hipops_status check(const Call& c) {
  if (hipops_status status = check_tensor(c.x)) return status;
  if (hipops_status status = check_float_but_f64(c.x)) return status;
  if (hipops_status status = check_rank(c.x, 2, 2)) return status;
  if (hipops_status status = check_output(c.y)) return status;
  if (hipops_status status = check_same_dtype(c.y, c.x)) return status;
  if (hipops_status status = check_same_shape(c.y, c.x)) return status;
  if (hipops_status status = check_input(c, c.prompt, HIPOPS_U8, false)) return status;
  if (hipops_status status = check_input(c, c.counts, HIPOPS_I32, false)) return status;
  for (const Argument& numbers : {c.repetition, c.frequency, c.presence})
    if (hipops_status status = check_input(c, numbers, HIPOPS_F32, true)) return status;
  return check_overlap(c.y, c.x, kInPlace);
}

template <class T>
void set_matrix(PenaltyArgs* args, const hipops_tensor* t, T* data, int64_t* row, int64_t* step) {
  if (!t) return;
  *data = static_cast<T>(t->data), *row = step_of(*t, 0), *step = step_of(*t, 1);
  args->has_steps |= t->shape[1] > 1 && *step != 1;
}

void set_numbers(const hipops_tensor* t, const float** numbers, int64_t* step) {
  if (t) *numbers = static_cast<const float*>(t->data), *step = step_of(*t, 0);
}

// Numbers without an effect are left out: without counts only repetition has one, and prompt has one only for that.
PenaltyArgs arguments_of(const Call& c) {
  const hipops_tensor *counts = c.counts.tensor, *repetition = c.repetition.tensor;
  const hipops_tensor* prompt = repetition ? c.prompt.tensor : nullptr;
  PenaltyArgs args{};
  set_matrix(&args, c.y.tensor, &args.y, &args.y_row, &args.y_step);
  set_matrix(&args, c.x.tensor, &args.x, &args.x_row, &args.x_step);
  set_matrix(&args, prompt, &args.prompt, &args.prompt_row, &args.prompt_step);
  set_matrix(&args, counts, &args.counts, &args.counts_row, &args.counts_step);
  set_numbers(repetition, &args.repetition, &args.repetition_step);
  set_numbers(counts ? c.frequency.tensor : nullptr, &args.frequency, &args.frequency_step);
  set_numbers(counts ? c.presence.tensor : nullptr, &args.presence, &args.presence_step);

  // In place all of counts is read, and little of x.
  const hipops_tensor& from = !c.is_in_place() ? *c.y.tensor : counts ? *counts : *prompt;
  const int64_t bytes = dtype_bytes(from.dtype), columns = c.x.tensor->shape[1];
  args.spans_from = reinterpret_cast<uintptr_t>(from.data), args.spans_row = step_of(from, 0) * bytes;
  args.spans_bits = log2_up(bytes);
  const bool are_aligned = (args.spans_from | static_cast<uint64_t>(args.spans_row)) % (kPenaltyColumns * bytes) == 0;
  args.columns = columns;
  args.chunks = divided_up(columns + (are_aligned ? 0 : kPenaltyColumns - 1), kPenaltyBlock * kPenaltyColumns);
  args.chunks_divisor = wide_divisor_of(args.chunks);
  args.tasks = c.x.tensor->shape[0] * args.chunks;
  return args;
}

}  // namespace

Op op_apply_penalties = {kName, kKernels, std::size(kKernels), supports_floats_alone_but_f64};

}  // namespace hipops

hipops_status hipops_apply_penalties(const hipops_tensor* y, const hipops_tensor* x, const hipops_tensor* prompt,
                                     const hipops_tensor* counts, const hipops_tensor* repetition,
                                     const hipops_tensor* frequency, const hipops_tensor* presence, void* stream) {
  using namespace hipops;
  const Call call{{kName, "y", y},
                  {kName, "x", x},
                  {kName, "prompt", prompt},
                  {kName, "counts", counts},
                  {kName, "repetition", repetition},
                  {kName, "frequency", frequency},
                  {kName, "presence", presence}};
  if (hipops_status status = check(call)) return status;
  const bool has_effect = counts ? repetition || frequency || presence : prompt && repetition;
  if (is_empty(*x) || (call.is_in_place() && !has_effect)) return HIPOPS_SUCCESS;

  const DeviceFacts* device;
  if (hipops_status status = device_facts(op_apply_penalties, &device)) return status;
  PenaltyArgs args = arguments_of(call);
  const uint32_t grid = plan_options().grid_for(args.tasks * kPenaltyBlock, kPenaltyBlock);
  args.step = grid;
  const int kernel = place_of(kDtypes, [&](hipops_dtype dtype) { return dtype == x->dtype; });
  return launch(op_apply_penalties, *device, kernel, {grid, kPenaltyBlock}, &args, sizeof args, stream);
}
