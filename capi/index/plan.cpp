#include "index/plan.h"

#include <algorithm>
#include <iterator>

#include "tensor/divisor.h"
#include "variant_list.h"

namespace hipops {
namespace {

struct Variant {
  hipops_dtype dtype;
  bool wide;
  SumsWay way;
};

#define VARIANT(name, dtype, bytes, mode) {dtype, bytes != 0, SumsWay::mode},
constexpr Variant kVariants[] = {HIPOPS_INDEX_ADD_SUM_KERNELS(VARIANT)};
#undef VARIANT
#define ONE(...) +1
static_assert(kSortKernels + sizeof(kVariants) / sizeof(kVariants[0]) == 0 HIPOPS_INDEX_ADD_KERNELS(ONE),
              "all kernels are one or the other");
#undef ONE

// Of the list. -1: not every dtype goes all ways, as the library would grow past its size.
int find_kernel(hipops_dtype dtype, bool wide, SumsWay way) {
  const auto is_it = [=](const Variant& v) { return v.dtype == added_as(dtype) && v.wide == wide && v.way == way; };
  const auto at = std::find_if(std::begin(kVariants), std::end(kVariants), is_it);
  return at == std::end(kVariants) ? -1 : kSortKernels + static_cast<int>(at - kVariants);
}

bool shares_long_segments(hipops_dtype dtype) {
#define IS_IT(T) || dtype == T
  return false HIPOPS_INDEX_ADD_SHARING(IS_IT);
#undef IS_IT
}

bool is_wide(const SumsProblem& p, SumsWay way) {
  if (way == SumsWay::deep) return false;
  return way == SumsWay::list ? p.wide_rows : p.wide_row;
}

int64_t vector_of(const SumsProblem& p, bool wide) { return wide ? kWideAccess / dtype_bytes(p.dtype) : 1; }

int64_t few_parts(const SumsProblem& p, const DeviceNumbers& device) {
  return (p.row_elements / vector_of(p, p.wide_row) + device.wave_size - 1) / device.wave_size;
}

}  // namespace

int64_t few_blocks(int64_t indices, int64_t parts, int wave_size) {
  constexpr int64_t kMostBlocks = 1 << 22;
  const int64_t waves = kFewBlock / wave_size;
  if (indices > kFewIndices || parts > kMostBlocks * waves) return 0;
  const int64_t blocks = (indices * parts + waves - 1) / waves;
  return blocks <= kMostBlocks ? blocks : 0;
}

bool can_be_few(const SumsProblem& p, const DeviceNumbers& device) {
  if (p.indices > kFewIndices || find_kernel(p.dtype, false, SumsWay::few) < 0) return false;
  const int64_t blocks = few_blocks(p.indices, few_parts(p, device), device.wave_size);
  return blocks != 0 && within_grid_limit(blocks) == blocks;
}

bool can_be_joined(const SumsProblem& p, const SortPlan& sort) {
  if (sort.passes != 1 || sort.pass[0].low_bits > kJoinedDigitBits || p.indices >> kJoinedIndexBits != 0) return false;
  if (!p.wide_row || find_kernel(p.dtype, true, SumsWay::joined) < 0) return false;
  return p.row_elements / vector_of(p, true) << sort.pass[0].low_bits < int64_t{1} << 31;  // places have 32 bits
}

SumsPlan resolve(const SumsChoice& choice, const SumsProblem& p, const DeviceNumbers& device) {
  const bool wide = is_wide(p, choice.way);
  SumsPlan plan{};
  plan.choice = choice;
  plan.kernel = find_kernel(p.dtype, wide, choice.way);
  plan.vector = vector_of(p, wide);
  const int64_t vectors = p.row_elements / plan.vector;
  switch (choice.way) {
    case SumsWay::few:
      plan.parts = few_parts(p, device);
      plan.grid = few_blocks(p.indices, plan.parts, device.wave_size);
      break;
    case SumsWay::scan:
      plan.lane_bits = log2_up(std::clamp<int64_t>(vectors, 1, device.wave_size));
      plan.parts = (vectors + (int64_t{1} << plan.lane_bits) - 1) >> plan.lane_bits;
      break;
    case SumsWay::joined:  // blocks behind those that join help with long segments
      plan.grid = (int64_t{1} << choice.sort.pass[0].high_bits) + (shares_long_segments(p.dtype) ? device.units : 0);
      break;
    case SumsWay::list:
    case SumsWay::deep:
      plan.grid = grid_for(vectors * choice.sort.segments, kListBlock);
      break;
  }
  return plan;
}

}  // namespace hipops
