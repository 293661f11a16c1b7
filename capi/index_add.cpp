#include "index_add.h"

#include <algorithm>
#include <cinttypes>

#include "error.h"
#include "indices.h"
#include "kernel_names.h"
#include "row_sums.h"
#include "runtime/runtime.h"
#include "strided.h"
#include "tensor.h"

namespace hipops {
namespace {

constexpr const char* kKernels[] = {HIPOPS_INDEX_ADD_KERNELS(HIPOPS_KERNEL_NAME)};
constexpr int kKernelCount = sizeof(kKernels) / sizeof(kKernels[0]);

// The list begins with the kernels that order.
enum { kSplit, kJoin, kBound, kOrderKernels };

enum Mode { list, deep, scan };
struct Variant {
  hipops_dtype dtype;
  bool wide;
  Mode mode;
};

// The names that the list uses. Unsigned integers stand for signed ones too.
constexpr hipops_dtype f32 = HIPOPS_F32, f16 = HIPOPS_F16, bf16 = HIPOPS_BF16, f64 = HIPOPS_F64;
constexpr hipops_dtype u8 = HIPOPS_U8, u32 = HIPOPS_U32, u64 = HIPOPS_U64;
#define VARIANT(name, dtype, bytes, mode) {dtype, bytes != 0, mode},
constexpr Variant kVariants[] = {HIPOPS_INDEX_ADD_SUM_KERNELS(VARIANT)};
#undef VARIANT
static_assert(kOrderKernels + sizeof(kVariants) / sizeof(kVariants[0]) == kKernelCount,
              "all kernels are one or the other");

hipops_dtype added_as(hipops_dtype dtype) { return dtype == HIPOPS_I32 ? u32 : dtype == HIPOPS_I64 ? u64 : dtype; }

int find_kernel(hipops_dtype dtype, bool wide, Mode mode) {
  int i = 0;
  while (kVariants[i].dtype != added_as(dtype) || kVariants[i].wide != wide || kVariants[i].mode != mode) ++i;
  return kOrderKernels + i;
}

bool is_added(hipops_dtype dtype) {
  return is_float(dtype) || dtype == HIPOPS_U8 || dtype == HIPOPS_I32 || dtype == HIPOPS_U32 || dtype == HIPOPS_I64;
}

bool supports(hipops_dtype dtype, hipops_dtype index) { return is_added(dtype) && index_op_supports_second(index); }

// ---- Checks

struct Tensors : RowSums {
  Argument of_y() const { return {"index_add", "y", y}; }
  Argument of_x() const { return {"index_add", "x", x}; }
  Argument of_index() const { return {"index_add", "index", index}; }
};

// All that can be said without looking at memory.
hipops_status check(const Tensors& t) {
  if (hipops_status status = check_output(t.of_y())) return status;
  if (hipops_status status = check_tensor(t.of_x())) return status;
  if (hipops_status status = check_index(t.of_index())) return status;
  if (!is_added(t.y->dtype))
    return fail(HIPOPS_UNSUPPORTED_DTYPE, "index_add: y.dtype is %s, expected f32, f16, bf16, f64, u8, i32, u32 or i64",
                dtype_name(t.y->dtype));
  if (hipops_status status = check_same_dtype(t.of_x(), t.of_y())) return status;
  if (hipops_status status = check_rank(t.of_y(), 1, HIPOPS_MAX_RANK)) return status;
  if (hipops_status status = check_rank(t.of_index(), 1, 1)) return status;
  if (hipops_status status = check_dim("index_add", t.dim, t.of_y())) return status;
  if (t.x->rank != t.y->rank)
    return fail(HIPOPS_INVALID_ARGUMENT, "index_add: x.rank is %d, expected %d (y.rank)", t.x->rank, t.y->rank);
  for (int d = 0; d < t.y->rank; ++d) {
    const bool along = d == t.dim;
    const int64_t expected = along ? t.index->shape[0] : t.y->shape[d];
    if (t.x->shape[d] != expected)
      return fail(HIPOPS_INVALID_ARGUMENT, "index_add: x.shape[%d] is %" PRId64 ", expected %" PRId64 " (%s.shape[%d])",
                  d, t.x->shape[d], expected, along ? "index" : "y", along ? 0 : d);
  }
  return HIPOPS_SUCCESS;
}

hipops_status check_memory(const Tensors& t, const void* workspace, int64_t workspace_bytes, int64_t needed,
                           const hipops_index_report* report) {
  if (hipops_status status = check_overlap(t.of_y(), t.of_x(), false)) return status;
  if (hipops_status status = check_overlap(t.of_y(), t.of_index(), false)) return status;
  if (hipops_status status = check_report("index_add", report)) return status;
  return check_workspace("index_add", workspace, workspace_bytes, needed, {t.of_y(), t.of_x(), t.of_index()});
}

// ---- The order, in the workspace

// Up to here the indices are looked through by each wave in a step or two, which takes less time than the launches that
// would order them.
constexpr int64_t kFewIndices = 256;

// A round orders by as many bits of the keys as two digits have. Keys with more of them take two rounds.
constexpr int kRoundBits = 2 * kIndexAddDigitBits;
constexpr int64_t kJoined = kIndexAddBatch / 2;  // entries for a block that joins: mostly, there is room for all

struct Round {
  int shift, low_bits, high_bits;
};

struct Order {
  int rounds;
  Round round[2];
  int key_bits;
  int64_t blocks;
  bool by_position;
  int64_t starts, split, joined, sources, lists;  // where they are in the workspace; the number of entries begins it
  int64_t bytes;                                  // 0: nothing is ordered
};

// Parts of the workspace begin at multiples of 256 bytes.
int64_t take_bytes(Order* order, int64_t bytes) {
  int64_t at = order->bytes;
  order->bytes += (bytes + 255) / 256 * 256;
  return at;
}

int bits_for(int64_t count) {
  int bits = 0;
  while (int64_t{1} << bits < count) ++bits;
  return bits;
}

// The high digit makes as many blocks that join as have work for one batch, if digits can be so long; and takes half of
// the bits at least, so that few entries don't meet many digits.
Round round_of(int shift, int bits, int64_t indices) {
  const int joiners = bits_for((indices + kJoined - 1) / kJoined);
  const int high = std::min({std::max(joiners, bits / 2), bits, kIndexAddDigitBits});
  return {shift, bits - high, high};
}

// Rows and places are 32 bits wide in the entries: where there are more, they are not ordered.
Order plan_order(const RowSums& t) {
  Order order{};
  const int64_t rows = t.y->shape[t.dim], indices = t.index->shape[0];
  constexpr int64_t kMost = UINT32_MAX;
  if (is_empty(*t.x) || is_empty(*t.y) || indices <= kFewIndices || indices > kMost || rows > kMost)
    return order;

  order.key_bits = std::max(bits_for(rows), 1);
  order.rounds = order.key_bits > kRoundBits ? 2 : 1;
  const int first = order.rounds == 1 ? order.key_bits : order.key_bits / 2;
  order.round[0] = round_of(0, first, indices);
  if (order.rounds == 2) order.round[1] = round_of(first, order.key_bits - first, indices);
  order.blocks = (indices + kIndexAddBatch - 1) / kIndexAddBatch;
  order.by_position = order.rounds == 2 || rows > indices;

  const int high_bits = std::max(order.round[0].high_bits, order.round[1].high_bits);
  const int64_t entries = indices * int64_t{sizeof(IndexAddEntry)};
  take_bytes(&order, sizeof(uint32_t));
  order.starts = take_bytes(&order, ((int64_t{1} << high_bits) + 1) * order.blocks * int64_t{sizeof(uint32_t)});
  order.split = take_bytes(&order, entries);
  if (order.rounds == 2) order.joined = take_bytes(&order, entries);
  order.sources = take_bytes(&order, indices * int64_t{sizeof(uint32_t)});
  order.lists = take_bytes(&order, (order.by_position ? indices : rows) * int64_t{sizeof(IndexAddList)});
  return order;
}

// ---- The walks

// 0 where there is one element at most: what the stride says there is not looked at.
int64_t step_of(const hipops_tensor& t, int d) { return t.shape[d] > 1 ? t.stride[d] : 0; }

// `slots`: of `list`, how many lists there are.
Layout<kIndexAddOperands> layout_of(const RowSums& t, Mode mode, int64_t slots) {
  Layout<kIndexAddOperands> layout;
  if (is_empty(*t.y)) return layout;
  for (int d = t.y->rank - 1; d >= 0; --d) {
    if (d != t.dim) add_dimension(&layout, t.x->shape[d], {t.y->stride[d], t.x->stride[d], 0});
    if (d == t.dim && mode == list) add_dimension(&layout, slots, {0, 0, 1});
  }
  return layout;
}

// Whether both tensors can be taken in vectors of 16 bytes along the layout's innermost dimension.
bool allows_wide(const RowSums& t, const Layout<kIndexAddOperands>& layout) {
  if (layout.rank == 0 || layout.stride[kIndexAddY][0] != 1 || layout.stride[kIndexAddX][0] != 1 ||
      layout.stride[kIndexAddRow][0] != 0)
    return false;
  uint64_t elements = static_cast<uint64_t>(layout.size[0] | step_of(*t.y, t.dim) | step_of(*t.x, t.dim));
  for (int d = 1; d < layout.rank; ++d)
    elements |= static_cast<uint64_t>(layout.stride[kIndexAddY][d] | layout.stride[kIndexAddX][d]);
  const uint64_t bytes = elements * static_cast<uint64_t>(dtype_bytes(t.y->dtype));
  return widest_access(bytes | reinterpret_cast<uintptr_t>(t.y->data) | reinterpret_cast<uintptr_t>(t.x->data)) == 16;
}

}  // namespace

Op op_index_add = {"index_add", kKernels, kKernelCount, supports};

namespace {

hipops_status launch_on(const DeviceFacts& device, int kernel, int64_t grid, int block, IndexAddArgs* args,
                        void* stream) {
  args->grid = grid;
  return launch(op_index_add, device, kernel, {static_cast<uint32_t>(grid), static_cast<uint32_t>(block)}, args,
                sizeof *args, stream);
}

hipops_status launch_order(const DeviceFacts& device, const Order& plan, char* workspace, IndexAddArgs* args,
                           void* stream) {
  IndexAddOrder& order = args->order;
  auto* joined = reinterpret_cast<IndexAddEntry*>(workspace + plan.joined);
  order.entries = reinterpret_cast<uint32_t*>(workspace);
  order.starts = reinterpret_cast<uint32_t*>(workspace + plan.starts);
  order.split = reinterpret_cast<IndexAddEntry*>(workspace + plan.split);
  order.sources = reinterpret_cast<uint32_t*>(workspace + plan.sources);
  order.last = plan.rounds == 1;
  order.joined = order.last ? static_cast<void*>(order.sources) : joined;
  order.lists = reinterpret_cast<IndexAddList*>(workspace + plan.lists);
  order.rows = static_cast<uint32_t>(args->index.size);
  order.blocks = static_cast<uint32_t>(plan.blocks);
  if (!order.state) order.longest = UINT32_MAX;
  order.key_mask = static_cast<uint32_t>((uint64_t{1} << plan.key_bits) - 1);
  order.by_position = plan.by_position;
  for (int r = 0; r < plan.rounds; ++r) {
    order.from = r == 0 ? nullptr : joined;
    order.shift = plan.round[r].shift;
    order.low_bits = plan.round[r].low_bits;
    order.high_bits = plan.round[r].high_bits;
    if (hipops_status status = launch_on(device, kSplit, plan.blocks, kIndexAddOrderBlock, args, stream)) return status;
    const int64_t joins = int64_t{1} << order.high_bits;
    if (hipops_status status = launch_on(device, kJoin, joins, kIndexAddOrderBlock, args, stream)) return status;
  }
  if (plan.rounds == 1) return HIPOPS_SUCCESS;
  order.from = joined;
  return launch_on(device, kBound, grid_for(args->indices, kIndexAddOrderBlock), kIndexAddOrderBlock, args, stream);
}

// Where rows are few and long lists are added to them, vectors of 16 bytes make too few work-items to keep memory busy:
// each has 8 sources in flight, or 32 elements.
bool is_short_of_lanes(const RowSums& t) {
  constexpr int64_t kBytes = 1 << 19, kLongList = 128;
  return element_count(*t.y) * dtype_bytes(t.y->dtype) < kBytes &&
         t.index->shape[0] / kLongList >= t.y->shape[t.dim];
}

int64_t list_slots(const RowSums& t, bool by_position) { return by_position ? t.index->shape[0] : t.y->shape[t.dim]; }

hipops_status launch_list(const DeviceFacts& device, const RowSums& t, bool by_position, IndexAddArgs* args,
                          void* stream) {
  const Layout<kIndexAddOperands> layout = layout_of(t, list, list_slots(t, by_position));
  const Mode mode = is_short_of_lanes(t) ? deep : list;
  const bool wide = mode == list && allows_wide(t, layout);
  args->walk = walk_of(layout, wide ? 16 / dtype_bytes(t.y->dtype) : 1);
  return launch_on(device, find_kernel(t.y->dtype, wide, mode), grid_for(args->walk.count, kIndexAddSumBlock),
                   kIndexAddSumBlock, args, stream);
}

hipops_status launch_scan(const DeviceFacts& device, const RowSums& t, IndexAddArgs* args, void* stream) {
  const Layout<kIndexAddOperands> layout = layout_of(t, scan, 0);
  const bool wide = allows_wide(t, layout);
  args->walk = walk_of(layout, wide ? 16 / dtype_bytes(t.y->dtype) : 1);
  args->by_source = args->indices < t.y->shape[t.dim];
  args->targets = std::min(args->indices, t.y->shape[t.dim]);
  const int64_t parts = (args->walk.count + device.wave_size - 1) / device.wave_size;
  // With no rows at all there is something left to do: to report the indices.
  const int64_t items = std::max<int64_t>(args->targets * parts, 1) * device.wave_size;
  return launch_on(device, find_kernel(t.y->dtype, wide, scan), grid_for(items, kIndexAddSumBlock), kIndexAddSumBlock,
                   args, stream);
}

IndexAddArgs* set_operands(const RowSums& t, hipops_index_report* report, IndexAddArgs* args) {
  args->index = index_args(*t.index, t.y->shape[t.dim], report);
  args->index_step = step_of(*t.index, 0);
  args->indices = t.index->shape[0];
  args->x = t.x->data;
  args->y = t.y->data;
  args->x_step = step_of(*t.x, t.dim);
  args->y_step = step_of(*t.y, t.dim);
  return args;
}

}  // namespace

int64_t row_order_bytes(const RowSums& t) { return plan_order(t).bytes; }

bool rows_are_wide(const RowSums& t) {
  return allows_wide(t, layout_of(t, list, list_slots(t, plan_order(t).by_position)));
}

hipops_status add_rows(const DeviceFacts& device, const RowSums& t, IndexAddArgs* args, void* workspace,
                       hipops_index_report* report, void* stream) {
  const Order order = plan_order(t);
  set_operands(t, report, args);
  if (hipops_status status = launch_order(device, order, static_cast<char*>(workspace), args, stream))
    return status;
  return launch_list(device, t, order.by_position, args, stream);
}

}  // namespace hipops

hipops_status hipops_index_add(const hipops_tensor* y, const hipops_tensor* x, const hipops_tensor* index, int32_t dim,
                               void* workspace, int64_t workspace_bytes, hipops_index_report* report, void* stream) {
  using namespace hipops;
  const Tensors t{{y, x, index, dim}};
  if (hipops_status status = check(t)) return status;
  const Order order = plan_order(t);
  if (hipops_status status = check_memory(t, workspace, workspace_bytes, order.bytes, report)) return status;
  if (is_empty(*x)) return HIPOPS_SUCCESS;

  const DeviceFacts* device;
  if (hipops_status status = device_facts(&device)) return status;
  IndexAddArgs args{};
  if (!workspace || order.bytes == 0) return launch_scan(*device, t, set_operands(t, report, &args), stream);
  args.order.reported = 1;
  args.order.report_step = 1;
  return add_rows(*device, t, &args, workspace, report, stream);
}

hipops_status hipops_index_add_workspace_bytes(const hipops_tensor* y, const hipops_tensor* x,
                                               const hipops_tensor* index, int32_t dim, int64_t* bytes) {
  using namespace hipops;
  Tensors t{{y, x, index, dim}};
  hipops_tensor copy[3];
  const hipops_tensor** tensors[] = {&t.y, &t.x, &t.index};
  for (int i = 0; i < 3; ++i) {
    if (!*tensors[i]) continue;
    copy[i] = **tensors[i];
    // Data is not looked at. Here there is room for strides of either sign.
    copy[i].data = reinterpret_cast<void*>(uintptr_t{1} << 62);
    *tensors[i] = &copy[i];
  }
  if (hipops_status status = check(t)) return status;
  if (hipops_status status = check_bytes("index_add", bytes)) return status;
  *bytes = plan_order(t).bytes;
  return HIPOPS_SUCCESS;
}
