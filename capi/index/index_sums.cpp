// Sums of rows by an index: what is added, and which way it goes.
#include "index/index_sums.h"

#include <algorithm>
#include <iterator>

#include "count_as_many.h"
#include "tensor/error.h"
#include "index/index_sums_ways.h"
#include "index/indices.h"
#include "runtime/runtime.h"
#include "tensor/tensor.h"
#include "variant_list.h"

namespace hipops {
namespace {

struct Variant {
  hipops_dtype dtype;
  bool wide;
  IndexSumMode mode;
};

#define VARIANT(name, dtype, bytes, mode) {dtype, bytes != 0, mode},
constexpr Variant kVariants[] = {HIPOPS_INDEX_ADD_SUM_KERNELS(VARIANT)};
#undef VARIANT
#define ONE(...) +1
static_assert(kOrderKernels + sizeof(kVariants) / sizeof(kVariants[0]) == 0 HIPOPS_INDEX_ADD_KERNELS(ONE),
              "all kernels are one or the other");
#undef ONE

auto variant_for(hipops_dtype dtype, bool wide, IndexSumMode mode) {
  return [=](const Variant& v) { return v.dtype == added_as(dtype) && v.wide == wide && v.mode == mode; };
}

bool is_added(hipops_dtype dtype) {
  return is_float(dtype) || dtype == HIPOPS_U8 || dtype == HIPOPS_I32 || dtype == HIPOPS_U32 || dtype == HIPOPS_I64;
}

}  // namespace

bool sums_support(hipops_dtype dtype, hipops_dtype index) { return is_added(dtype) && index_op_supports_second(index); }

hipops_status check_added(const Argument& x) {
  if (is_added(x.tensor->dtype)) return HIPOPS_SUCCESS;
  return fail(HIPOPS_UNSUPPORTED_DTYPE, "%s: %s.dtype is %s, expected f32, f16, bf16, f64, u8, i32, u32 or i64", x.op,
              x.name, dtype_name(x.tensor->dtype));
}

hipops_dtype added_as(hipops_dtype dtype) { return dtype == HIPOPS_I32 ? u32 : dtype == HIPOPS_I64 ? u64 : dtype; }

bool has_kernel(hipops_dtype dtype, bool wide, IndexSumMode mode) {
  return std::any_of(std::begin(kVariants), std::end(kVariants), variant_for(dtype, wide, mode));
}

int find_kernel(hipops_dtype dtype, bool wide, IndexSumMode mode) {
  return kOrderKernels + place_of(kVariants, variant_for(dtype, wide, mode));
}

Layout<kIndexAddOperands> layout_of(const RowSums& t, IndexSumMode mode, int64_t slots) {
  Layout<kIndexAddOperands> layout;
  if (is_empty(*t.y)) return layout;
  for (int d = t.y->rank - 1; d >= 0; --d) {
    if (d != t.dim) add_dimension(&layout, t.x->shape[d], {t.y->stride[d], t.x->stride[d], 0});
    if (d == t.dim && mode == list) add_dimension(&layout, slots, {0, 0, 1});
  }
  if (mode == joined) add_dimension(&layout, slots, {0, 0, 1});
  return layout;
}

bool allows_wide(const RowSums& t, const Layout<kIndexAddOperands>& layout) {
  if (layout.rank == 0 || layout.stride[kIndexAddY][0] != 1 || layout.stride[kIndexAddX][0] != 1 ||
      layout.stride[kIndexAddRow][0] != 0)
    return false;
  uint64_t elements = static_cast<uint64_t>(layout.size[0] | step_of(*t.y, t.dim) | step_of(*t.x, t.dim));
  for (int d = 1; d < layout.rank; ++d)
    elements |= static_cast<uint64_t>(layout.stride[kIndexAddY][d] | layout.stride[kIndexAddX][d]);
  const uint64_t bytes = elements * static_cast<uint64_t>(dtype_bytes(t.y->dtype));
  return widest_access(bytes | bits_of(t.y->data) | bits_of(t.x->data)) == kWideAccess;
}

hipops_status launch_shaped(const DeviceFacts& device, int kernel, const LaunchShape& shape, IndexAddArgs* args,
                            void* stream) {
  args->grid = shape.grid;
  return launch(op_index_add, device, kernel, shape, args, sizeof *args, stream);
}

hipops_status launch_on(const DeviceFacts& device, int kernel, int64_t grid, int block, IndexAddArgs* args,
                        void* stream) {
  return launch_shaped(device, kernel, {static_cast<uint32_t>(grid), static_cast<uint32_t>(block)}, args, stream);
}

void set_operands(const RowSums& t, hipops_index_report* report, IndexAddArgs* args) {
  args->index = index_args(*t.index, t.y->shape[t.dim], report);
  args->index_step = step_of(*t.index, 0);
  args->indices = t.index->shape[0];
  args->x = t.x->data;
  args->y = t.y->data;
  args->x_step = step_of(*t.x, t.dim);
  args->y_step = step_of(*t.y, t.dim);
}

hipops_status launch_row_sums(const DeviceFacts& device, const RowSums& t, void* workspace,
                              hipops_index_report* report, void* stream) {
  IndexAddArgs args{};
  set_operands(t, report, &args);
  const bool may_be_few = !few_indices_are_ordered.load(std::memory_order_relaxed) &&
                          !rows_count_as_many.load(std::memory_order_relaxed);
  if (may_be_few) {
    bool launched;
    if (hipops_status status = try_few(device, t, &args, stream, &launched); status || launched) return status;
  }
  if (!workspace || (may_be_few && pays_to_scan(t))) return launch_scan(device, t, &args, stream);
  args.order.reported = 1;
  args.order.report_step = 1;
  return add_rows(device, t, &args, workspace, report, stream);
}

}  // namespace hipops
