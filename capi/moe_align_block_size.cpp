#include "moe_align_block_size.h"

#include <algorithm>
#include <cinttypes>
#include <iterator>

#include "kernel_names.h"
#include "policy/limits.h"
#include "policy/plan_options.h"
#include "rows/checks.h"
#include "runtime/runtime.h"
#include "tensor/divisor.h"
#include "tensor/error.h"
#include "tensor/tensor.h"

namespace hipops {
namespace {

constexpr const char* kName = "moe_align_block_size";
constexpr const char* kKernels[] = {HIPOPS_MOE_ALIGN_BLOCK_SIZE_KERNELS(HIPOPS_KERNEL_NAME)};
enum Kernel { kCount, kIds, kExperts };

bool supports(hipops_dtype dtype, hipops_dtype second) {
  return second == HIPOPS_NONE && (dtype == HIPOPS_I32 || dtype == HIPOPS_U32 || dtype == HIPOPS_I64);
}

struct Call {
  Argument sorted_ids, expert_ids, count, x, expert_map;
  int64_t experts, block_size;

  int64_t total() const { return x.tensor->shape[0] * x.tensor->shape[1]; }
  // The most places that ids and padding need: each expert that has an id may need all but one of a block.
  int64_t most_places() const { return total() + std::min(total(), experts) * (block_size - 1); }
};

hipops_status check_vector(const Argument& a) {
  if (a.tensor->dtype != HIPOPS_I32)
    return fail(HIPOPS_UNSUPPORTED_DTYPE, "%s: %s.dtype is %s, expected i32", kName, a.name,
                dtype_name(a.tensor->dtype));
  return check_rank(a, 1, 1);
}

hipops_status check_number(const char* name, int64_t value, int64_t most) {
  if (value >= 1 && value <= most) return HIPOPS_SUCCESS;
  return fail(HIPOPS_INVALID_ARGUMENT, "%s: %s is %" PRId64 ", expected 1 to %" PRId64, kName, name, value, most);
}

hipops_status check_least(const Argument& a, int64_t least) {
  if (hipops_status status = check_output(a)) return status;
  if (hipops_status status = check_vector(a)) return status;
  if (a.tensor->shape[0] < least)
    return fail(HIPOPS_INVALID_ARGUMENT, "%s: %s.shape[0] is %" PRId64 ", expected %" PRId64 " or more", kName, a.name,
                a.tensor->shape[0], least);
  if (a.tensor->shape[0] <= INT32_MAX) return HIPOPS_SUCCESS;
  return fail(HIPOPS_INVALID_ARGUMENT, "%s: %s.shape[0] is %" PRId64 ", expected at most 2147483647", kName, a.name,
              a.tensor->shape[0]);
}

hipops_status check(const Call& c) {
  if (hipops_status status = check_tensor(c.x)) return status;
  if (!supports(c.x.tensor->dtype, HIPOPS_NONE))
    return fail(HIPOPS_UNSUPPORTED_DTYPE, "%s: x.dtype is %s, expected i32, u32 or i64", kName,
                dtype_name(c.x.tensor->dtype));
  if (hipops_status status = check_rank(c.x, 2, 2)) return status;
  if (hipops_status status = check_number("experts", c.experts, kMostAlignedExperts)) return status;
  if (hipops_status status = check_number("block_size", c.block_size, AlignLimits::kMostBlockSize)) return status;
  if (element_count(*c.x.tensor) > INT32_MAX)
    return fail(HIPOPS_INVALID_ARGUMENT, "%s: x has %" PRId64 " elements, expected at most 2147483647", kName,
                c.total());
  if (c.most_places() > INT32_MAX)
    return fail(HIPOPS_INVALID_ARGUMENT, "%s: block_size is %" PRId64 ", expected total + min(total, experts) * (block_size - 1) of at "
                "most 2147483647, total being %" PRId64 " and experts %" PRId64, kName, c.block_size, c.total(), c.experts);
  if (hipops_status status = check_least(c.sorted_ids, c.most_places())) return status;
  const int64_t most_blocks = (c.most_places() + c.block_size - 1) / c.block_size;
  if (hipops_status status = check_least(c.expert_ids, most_blocks)) return status;
  if (hipops_status status = check_least(c.count, 1)) return status;
  if (c.expert_map.tensor) {
    if (hipops_status status = check_tensor(c.expert_map)) return status;
    if (hipops_status status = check_vector(c.expert_map)) return status;
    if (c.expert_map.tensor->shape[0] != c.experts)
      return fail(HIPOPS_INVALID_ARGUMENT, "%s: expert_map.shape[0] is %" PRId64 ", expected %" PRId64 " (experts)",
                  kName, c.expert_map.tensor->shape[0], c.experts);
  }
  for (const Argument& output : {c.sorted_ids, c.expert_ids, c.count})
    for (const Argument& input : {c.x, c.expert_map})
      if (hipops_status status = check_apart(output, input)) return status;
  if (hipops_status status = check_apart(c.expert_ids, c.sorted_ids)) return status;
  if (hipops_status status = check_apart(c.count, c.sorted_ids)) return status;
  return check_apart(c.count, c.expert_ids);
}

AlignArgs arguments_of(const Call& c) {
  const hipops_tensor &x = *c.x.tensor, &sorted = *c.sorted_ids.tensor, &of_blocks = *c.expert_ids.tensor;
  AlignArgs args{};
  args.ids = x.data, args.id_bytes = dtype_bytes(x.dtype);
  args.step = step_of(x, 1), args.token_step = step_of(x, 0) - x.shape[1] * args.step;
  args.of_token = divisor_of(std::max<int64_t>(x.shape[1], 1));
  if (const hipops_tensor* map = c.expert_map.tensor)
    args.expert_map = static_cast<const int32_t*>(map->data), args.map_step = step_of(*map, 0);
  args.sorted_ids = static_cast<int32_t*>(sorted.data), args.sorted_step = step_of(sorted, 0);
  args.expert_ids = static_cast<int32_t*>(of_blocks.data), args.expert_step = step_of(of_blocks, 0);
  args.count = static_cast<int32_t*>(c.count.tensor->data);
  args.total = static_cast<uint32_t>(c.total());
  args.places = static_cast<uint32_t>(sorted.shape[0]);
  args.expert_places = static_cast<uint32_t>(of_blocks.shape[0]);
  args.block_size = static_cast<uint32_t>(c.block_size);
  args.experts = static_cast<int32_t>(c.experts);
  while (c.experts > int64_t{1} << args.bits) ++args.bits;
  return args;
}

}  // namespace

Op op_moe_align_block_size = {kName, kKernels, std::size(kKernels), supports};

}  // namespace hipops

hipops_status hipops_moe_align_block_size(const hipops_tensor* sorted_ids, const hipops_tensor* expert_ids,
                                          const hipops_tensor* count, const hipops_tensor* x,
                                          const hipops_tensor* expert_map, int64_t experts, int64_t block_size,
                                          void* stream) {
  using namespace hipops;
  const Call call{{kName, "sorted_ids", sorted_ids}, {kName, "expert_ids", expert_ids}, {kName, "count", count},
                  {kName, "x", x},                   {kName, "expert_map", expert_map}, experts, block_size};
  if (hipops_status status = check(call)) return status;

  AlignArgs args = arguments_of(call);
  const PlanOptions options = plan_options();
  constexpr int64_t kBatch = kAlignBlock * kAlignDepth;
  const int64_t batches = std::max<int64_t>(divided_up(call.total(), kBatch), 1);
  const int64_t blocks = options.within_most(std::min(batches, AlignLimits::kMostBlocks));
  args.of_block = static_cast<uint32_t>(divided_up(batches, blocks) * kBatch);
  // expert_ids has room for the counts of some chunks, of 16 bits each.
  const int64_t room = args.expert_places / divided_up(experts, 2), of_chunk = divided_up(blocks, std::max<int64_t>(room, 1));
  const bool has_chunks = (options.small_apart ? batches > AlignLimits::kMostUncounted && room > 1 : room > 0) &&
                          of_chunk * args.of_block <= UINT16_MAX;
  const auto launch_blocks = [&](Kernel kernel, int64_t grid) {
    args.blocks = static_cast<uint32_t>(grid);
    return launch(op_moe_align_block_size, kernel, args.blocks, kAlignBlock, &args, sizeof args, stream);
  };
  if (has_chunks) {
    args.of_chunk = static_cast<uint32_t>(of_chunk) * args.of_block;
    args.chunks = static_cast<uint32_t>(divided_up(blocks, of_chunk));
    if (hipops_status status = launch_blocks(kCount, args.chunks)) return status;
  }
  if (hipops_status status = launch_blocks(kIds, blocks)) return status;
  return has_chunks ? launch_blocks(kExperts, options.grid_for(args.expert_places, kAlignBlock)) : HIPOPS_SUCCESS;
}
