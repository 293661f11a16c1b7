// The default choice for sums by an index (index_add, scatter_add). It uses only numbers that every device reports.
#include <algorithm>

#include "index/plan.h"
#include "move/scatter_plan.h"
#include "policy/limits.h"
#include "tensor/tensor.h"

namespace hipops {
namespace {

using Limits = SumLimits;

// A scan saves the launches of a sort. But a wave adds all sources of its part of a row, so they must be few.
bool pays_to_scan(const SumsProblem& p) {
  return p.indices <= Limits::kMostScanned && p.x_elements <= Limits::kMostScannedBytes / dtype_bytes(p.dtype) &&
         p.indices * p.indices <= Limits::kMostPairsARow * std::min(p.rows, Limits::kMostScanned);
}

}  // namespace

SumsChoice choose_sums(PlanOptions options, const SumsProblem& p, const SortPlan& sort, const DeviceNumbers& device,
                       bool has_workspace) {
  const SumsPolicy& policy = options.sums;
  if (policy.few && can_be_few(options, p, device)) return {SumsWay::few, 0};
  if (has_workspace && sort.passes != 0 && !(policy.scan && pays_to_scan(p))) return {SumsWay::sorted, 0};
  // For small sums, half the number of blocks read the index half as often, and their sources stay in the L1 caches.
  return {SumsWay::scan, p.x_elements <= Limits::kLittleBytes / dtype_bytes(p.dtype) ? 1 : 2};
}

bool sorts_instead_of_atomics(const SumsProblem& p, const SortPlan& sort, bool is_16_bit) {
  // Without a sort of 16-bit elements, f32 sums of all of y are stored and loaded.
  const bool is_sorted = sort.passes != 0 || p.indices <= kFewIndices;
  if (is_16_bit && is_sorted && p.y_elements / Limits::kElementsOfIndex >= p.indices) return true;
  const int64_t row_bytes = p.row_elements * dtype_bytes(p.dtype);
  const bool is_large = row_bytes >= Limits::kRowBytes && p.x_elements >= Limits::kManyElements;
  return ((is_16_bit && row_bytes >= Limits::kRowBytesOf16Bits) || is_large) && p.wide_row && sort.passes != 0 &&
         p.indices >= Limits::kManyIndices;
}

bool compares_indices(const SumsProblem& p, bool in_order) {
  return in_order && p.row_elements * dtype_bytes(p.dtype) >= Limits::kRowBytes;
}

bool pays_to_be_sparse(PlanOptions options, int64_t sources, int64_t reachable, bool in_vectors) {
  return reachable / (in_vectors ? Limits::kElementsOfSourceInVectors : Limits::kElementsOfSource) >= sources &&
         (!options.small_apart || reachable >= Limits::kFewCopies);
}

ScatterAtomics choose_atomics(PlanOptions options, const DeviceNumbers& device) {
  constexpr int64_t kSourcesInTests = 1, kSourcesOfFewInTests = 4;  // without small_apart, for tests of small tensors
  ScatterAtomics a{};
  a.vectors_from = !device.adds_vectors ? INT64_MAX : options.small_apart ? Limits::kLeastForVectors : 0;
  a.launch_has_shared_memory = device.launch_shared_bytes > 0;
  a.few_elements = a.launch_has_shared_memory
                       ? std::min<int64_t>(kFewSums, device.launch_shared_bytes / int64_t{sizeof(float)})
                       : std::min<int64_t>(kFewSumsWords, device.own_shared_bytes / int64_t{sizeof(float)});
  a.sources_of_few = options.small_apart ? Limits::kSourcesOfFew : kSourcesOfFewInTests;
  a.scattered_sources_of_few = options.small_apart ? Limits::kScatteredSourcesOfFew : kSourcesOfFewInTests;
  a.past_scattered_row = Limits::kElementsOfSector;
  a.least_scattered = Limits::kLeastScattered;
  a.blocks_of_few = device.units;
  a.kept_vectors = a.launch_has_shared_memory ? kKeptVectors : 0;
  a.sources_of_kept = options.small_apart ? Limits::kSourcesOfKept : kSourcesInTests;
  a.least_of_kept = options.small_apart ? Limits::kLeastOfKept : kSourcesInTests;
  a.blocks_of_kept = Limits::kBlocksOfKept * device.units;
  return a;
}

}  // namespace hipops
