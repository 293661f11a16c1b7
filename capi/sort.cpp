#include "sort.h"

#include <algorithm>
#include <cinttypes>

#include "kernel_names.h"
#include "policy/limits.h"
#include "policy/plan_options.h"
#include "rows/checks.h"
#include "runtime/runtime.h"
#include "tensor/divisor.h"
#include "tensor/error.h"
#include "tensor/strided.h"
#include "tensor/tensor.h"

namespace hipops {

extern Op op_sort;

namespace {

constexpr const char* kName = "sort";
constexpr const char* kKernels[] = {HIPOPS_SORT_KERNELS(HIPOPS_KERNEL_NAME)};
enum Kernel { kRowsKernel, kCountKernel, kOffsetsKernel, kPartitionKernel, kKernelCount };
static_assert(sizeof(kKernels) / sizeof(kKernels[0]) == kKernelCount, "a name for each kernel of the list");

bool supports(hipops_dtype dtype, hipops_dtype second) {
  if (second != HIPOPS_NONE) return false;
  return is_float(dtype) || dtype == HIPOPS_U8 || dtype == HIPOPS_I32 || dtype == HIPOPS_U32 || dtype == HIPOPS_I64;
}

struct Tensors {
  Argument values, indices, x;
  int64_t columns() const { return x.tensor->shape[x.tensor->rank - 1]; }
};

// The checks that use no address. hipops_sort_workspace_bytes makes them, too.
hipops_status check(const Tensors& t, uint32_t flags) {
  if (!t.values.tensor && !t.indices.tensor)
    return fail(HIPOPS_INVALID_ARGUMENT, "sort: values and indices are NULL, expected one tensor or two");
  for (const Argument* a : {&t.values, &t.indices})
    if (a->tensor)
      if (hipops_status status = check_output(*a)) return status;
  if (hipops_status status = check_tensor(t.x)) return status;
  const hipops_dtype dtype = t.x.tensor->dtype;
  if (!supports(dtype, HIPOPS_NONE))
    return fail(HIPOPS_UNSUPPORTED_DTYPE, "sort: x.dtype is %s, expected f32, f16, bf16, f64, u8, i32, u32 or i64",
                dtype_name(dtype));
  if (hipops_status status = check_rank(t.x, 1, HIPOPS_MAX_RANK)) return status;
  if (t.columns() > UINT32_MAX)
    return fail(HIPOPS_INVALID_ARGUMENT, "sort: x.shape[%d] is %" PRId64 ", expected up to %u", t.x.tensor->rank - 1,
                t.columns(), UINT32_MAX);
  if (element_count(*t.x.tensor) > int64_t{1} << 57)  // the bytes of more workspace would have too many digits
    return fail(HIPOPS_INVALID_ARGUMENT, "sort: x has %" PRId64 " elements, expected up to 2^57", element_count(*t.x.tensor));
  if (t.values.tensor)
    if (hipops_status status = check_same_dtype(t.values, t.x)) return status;
  if (t.indices.tensor)
    if (hipops_status status = check_index_dtype(t.indices, t.columns() - 1)) return status;
  for (const Argument* a : {&t.values, &t.indices})
    if (a->tensor)
      if (hipops_status status = check_same_shape(*a, t.x)) return status;
  return check_flags(kName, flags, HIPOPS_DESCENDING | HIPOPS_BATCH_INVARIANT,
                     "HIPOPS_BATCH_INVARIANT (0x10) and HIPOPS_DESCENDING (0x800)");
}

// The passes of rows that are not short. They follow from x's shape and dtype alone.
struct Passes {
  int64_t rows, columns, blocks, batch;
  int count;
  // The offsets of parts of the workspace: the entries of every second pass, the counts, the totals.
  int64_t entries[2], counts, totals, bytes;
};
Passes passes_of(const hipops_tensor& x) {
  Passes p{};
  if (is_empty(x) || x.shape[x.rank - 1] <= kSortRowsTile) return p;
  p.columns = x.shape[x.rank - 1];
  p.rows = element_count(x) / p.columns;
  p.count = dtype_bytes(x.dtype) * 8 / kSortDigitBits;
  const int64_t tiles = divided_up(p.rows * p.columns, kSortRowsTile * SortLimits::kMostBlocks);
  p.batch = kSortRowsTile * std::min(tiles, divided_up(p.columns, kSortRowsTile));
  while (p.batch > SortLimits::kLeastBatch && p.rows * divided_up(p.columns, p.batch) < SortLimits::kFewBlocks) p.batch /= 2;
  p.blocks = divided_up(p.columns, p.batch);
  const auto reserve = [&](int64_t words) {  // at a multiple of 256 bytes
    const int64_t at = p.bytes;
    p.bytes += divided_up(words * int64_t{sizeof(uint32_t)}, 256) * 256;
    return at;
  };
  for (int i = 0; i < 2; ++i)
    if (p.count > 1 + i) p.entries[i] = reserve(2 * p.rows * p.columns);
  p.counts = reserve(p.rows * kSortDigits * p.blocks);
  p.totals = reserve(p.rows * kSortDigits);
  return p;
}

SortRowsArgs arguments_of(const Tensors& t, uint32_t flags) {
  const hipops_tensor& x = *t.x.tensor;
  const int last = x.rank - 1;
  const auto stride = [](const Argument& a, int d) { return a.tensor ? a.tensor->stride[d] : 0; };
  SortRowsArgs args{};
  args.x = x.data;
  args.values = t.values.tensor ? t.values.tensor->data : nullptr;
  args.indices = t.indices.tensor ? t.indices.tensor->data : nullptr;
  Layout<kSortOperands> rows;
  for (int d = last; d-- > 0;) add_dimension(&rows, x.shape[d], {stride(t.values, d), stride(t.indices, d), stride(t.x, d)});
  args.rows = walk_of(rows);
  args.x_step = step_of(x, last);
  args.values_step = stride(t.values, last);
  args.indices_step = stride(t.indices, last);
  args.columns = t.columns();
  args.bytes = dtype_bytes(x.dtype);
  args.index_bytes = t.indices.tensor ? dtype_bytes(t.indices.tensor->dtype) : 0;
  args.is_float = is_float(x.dtype);
  const bool is_signed = args.is_float || x.dtype == HIPOPS_I32 || x.dtype == HIPOPS_I64;
  args.sign = is_signed ? uint64_t{1} << (8 * args.bytes - 1) : 0;
  switch (x.dtype) {
    case HIPOPS_F32: args.infinity = 0x7f800000; break;
    case HIPOPS_F16: args.infinity = 0x7c00; break;
    case HIPOPS_BF16: args.infinity = 0x7f80; break;
    case HIPOPS_F64: args.infinity = uint64_t{0x7ff} << 52; break;
    default: args.infinity = ~uint64_t{0};
  }
  args.invert = flags & HIPOPS_DESCENDING ? ~uint64_t{0} : 0;
  return args;
}

hipops_status launch_units(const DeviceFacts& device, Kernel kernel, int64_t units, SortRowsArgs* args, void* stream) {
  const uint32_t block = kernel == kRowsKernel ? kShortRowsBlock : kSortRowsBlock;
  const uint32_t grid = plan_options().grid_for(units * block, block);
  args->units = units;
  args->step = grid;
  return launch(op_sort, device, kernel, {grid, block}, args, sizeof *args, stream);
}

hipops_status launch_short_rows(const DeviceFacts& device, SortRowsArgs* args, void* stream) {
  args->lane_bits = log2_up(divided_up(args->columns, kShortRowsDepth));
  // A block has fewer rows if blocks would be too few.
  args->block_rows = static_cast<int32_t>(std::clamp<int64_t>(
      divided_up(args->rows.count, SortLimits::kBlocksAUnit * device.units), 1, kShortRowsBlock >> args->lane_bits));
  args->passes = divided_up(args->bytes, 2);
  return launch_units(device, kRowsKernel, divided_up(args->rows.count, args->block_rows), args, stream);
}

hipops_status launch_passes(const DeviceFacts& device, const Passes& p, void* workspace, SortRowsArgs* args, void* stream) {
  char* const at = static_cast<char*>(workspace);
  const auto entries = [&](int pass) { return reinterpret_cast<SortEntry*>(at + p.entries[pass % 2]); };
  args->counts = reinterpret_cast<uint32_t*>(at + p.counts);
  args->totals = reinterpret_cast<uint32_t*>(at + p.totals);
  args->blocks = p.blocks;
  args->blocks_divisor = wide_divisor_of(p.blocks);
  args->batch = p.batch;
  for (int pass = 0; pass < p.count; ++pass) {
    args->from = pass == 0 ? nullptr : entries(pass - 1);
    args->to = pass + 1 == p.count ? nullptr : entries(pass);
    args->word = pass * kSortDigitBits / 32;
    args->shift = pass * kSortDigitBits % 32;
    args->loads_word = pass > 0 && args->shift == 0;
    for (const Kernel kernel : {kCountKernel, kOffsetsKernel, kPartitionKernel}) {
      const int64_t units = p.rows * (kernel == kOffsetsKernel ? kSortDigits : p.blocks);
      if (hipops_status status = launch_units(device, kernel, units, args, stream)) return status;
    }
  }
  return HIPOPS_SUCCESS;
}

}  // namespace

Op op_sort = {kName, kKernels, kKernelCount, supports};

}  // namespace hipops

hipops_status hipops_sort(const hipops_tensor* values, const hipops_tensor* indices, const hipops_tensor* x, uint32_t flags,
                          void* workspace, int64_t workspace_bytes, void* stream) {
  using namespace hipops;
  const Tensors t{{kName, "values", values}, {kName, "indices", indices}, {kName, "x", x}};
  if (hipops_status status = check(t, flags)) return status;
  for (const Argument* a : {&t.values, &t.indices})
    if (a->tensor)
      if (hipops_status status = check_overlap(*a, t.x)) return status;
  if (values && indices)
    if (hipops_status status = check_overlap(t.values, t.indices)) return status;
  const Passes passes = passes_of(*x);
  if (passes.bytes > 0 && !workspace && workspace_bytes == 0)
    return fail(HIPOPS_INVALID_ARGUMENT, "sort: workspace is NULL, expected %" PRId64 " bytes (hipops_sort_workspace_bytes)",
                passes.bytes);
  const Argument& output = values ? t.values : t.indices;
  if (hipops_status status = check_workspace(kName, workspace, workspace_bytes, passes.bytes,
                                             {output, indices ? t.indices : output, t.x}))
    return status;
  if (is_empty(*x)) return HIPOPS_SUCCESS;

  const DeviceFacts* device;
  if (hipops_status status = device_facts(op_sort, &device)) return status;
  SortRowsArgs args = arguments_of(t, flags);
  return passes.count == 0 ? launch_short_rows(*device, &args, stream) : launch_passes(*device, passes, workspace, &args, stream);
}

hipops_status hipops_sort_workspace_bytes(const hipops_tensor* values, const hipops_tensor* indices, const hipops_tensor* x,
                                          uint32_t flags, int64_t* bytes) {
  using namespace hipops;
  hipops_tensor copy[3];
  const Tensors t{{kName, "values", without_data(values, &copy[0])},
                  {kName, "indices", without_data(indices, &copy[1])},
                  {kName, "x", without_data(x, &copy[2])}};
  if (hipops_status status = check(t, flags)) return status;
  if (hipops_status status = check_bytes(kName, bytes)) return status;
  *bytes = passes_of(*x).bytes;
  return HIPOPS_SUCCESS;
}
