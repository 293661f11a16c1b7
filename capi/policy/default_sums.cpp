// The default choice for sums by an index (index_add, scatter_add). It uses only numbers that every device reports.
#include <algorithm>

#include "index/plan.h"
#include "move/scatter_plan.h"
#include "tensor/tensor.h"

namespace hipops {
namespace {

// A scan saves the launches of a sort. But a wave adds all sources of its part of a row, so they must be few.
bool pays_to_scan(const SumsProblem& p) {
  constexpr int64_t kMost = 1 << 14, kBytes = 1 << 24, kPairs = 1 << 17;
  return p.indices <= kMost && p.x_elements <= kBytes / dtype_bytes(p.dtype) &&
         p.indices * p.indices <= kPairs * std::min(p.rows, kMost);
}

}  // namespace

SumsChoice choose_sums(PlanOptions options, const SumsProblem& p, const SortPlan& sort, const DeviceNumbers& device,
                       bool has_workspace) {
  const SumsPolicy& policy = options.sums;
  if (policy.few && can_be_few(options, p, device)) return {SumsWay::few, 0};
  if (has_workspace && sort.passes != 0 && !(policy.scan && pays_to_scan(p))) return {SumsWay::sorted, 0};
  // For small sums, half the number of blocks read the index half as often, and their sources stay in the L1 caches.
  constexpr int64_t kLittle = 1 << 20;
  return {SumsWay::scan, p.x_elements <= kLittle / dtype_bytes(p.dtype) ? 1 : 2};
}

// For fewer elements, or shorter rows, atomics are faster than a sort.
constexpr int64_t kManyKnown = 1 << 20, kRowBytes = 128, kRowBytesOf16Bits = 32, kManyIndices = 1 << 13;

bool sorts_instead_of_atomics(const SumsProblem& p, const SortPlan& sort, bool is_16_bit) {
  // Without a sort of 16-bit elements, f32 sums of all of y are stored and loaded.
  const bool is_sorted = sort.passes != 0 || p.indices <= kFewIndices;
  if (is_16_bit && is_sorted && p.y_elements / 32768 >= p.indices) return true;
  const int64_t row_bytes = p.row_elements * dtype_bytes(p.dtype);
  const bool is_large = row_bytes >= kRowBytes && p.x_elements >= kManyKnown;
  return ((is_16_bit && row_bytes >= kRowBytesOf16Bits) || is_large) && p.wide_row && sort.passes != 0 &&
         p.indices >= kManyIndices;
}

bool compares_indices(const SumsProblem& p, bool in_order) {
  return in_order && p.row_elements * dtype_bytes(p.dtype) >= kRowBytes;
}

bool pays_to_be_sparse(PlanOptions options, int64_t sources, int64_t reachable, bool in_vectors) {
  // A source costs up to three trips to y and three to its sum, each a sector of memory, which vectors share. A copy
  // costs 14 bytes for each element. Few copies cost less than two more launches.
  constexpr int64_t kElementsOfSource = 12, kElementsOfSourceInVectors = 4, kFewCopies = 1 << 21;
  return reachable / (in_vectors ? kElementsOfSourceInVectors : kElementsOfSource) >= sources &&
         (!options.small_apart || reachable >= kFewCopies);
}

ScatterAtomics choose_atomics(PlanOptions options, const DeviceNumbers& device) {
  constexpr int64_t kLeastForVectors = 1 << 16;  // below this, many sources add to one element, and vectors wait longer
  // Each block adds each element to y once. With fewer sources, these atomics would be a large part of all. They add
  // whole sectors of memory, so they are cheap compared with atomics on single elements.
  constexpr int64_t kSourcesOfFew = 768, kScatteredSourcesOfFew = 64, kLeastScattered = 1 << 20, kElementsOfSector = 8;
  // Tests without small_apart choose `few` and kept vectors for small tensors, too.
  constexpr int64_t kSourcesOfFewInTests = 4, kSourcesOfKeptInTests = 1;
  ScatterAtomics a{};
  a.vectors_from = !device.adds_vectors ? INT64_MAX : options.small_apart ? kLeastForVectors : 0;
  a.launch_has_shared_memory = device.launch_shared_bytes > 0;
  a.few_elements = a.launch_has_shared_memory
                       ? std::min<int64_t>(kFewSums, device.launch_shared_bytes / int64_t{sizeof(float)})
                       : std::min<int64_t>(kFewSumsWords, device.own_shared_bytes / int64_t{sizeof(float)});
  a.sources_of_few = options.small_apart ? kSourcesOfFew : kSourcesOfFewInTests;
  a.scattered_sources_of_few = options.small_apart ? kScatteredSourcesOfFew : kSourcesOfFewInTests;
  a.past_scattered_row = kElementsOfSector;
  a.least_scattered = kLeastScattered;
  a.blocks_of_few = device.units;
  // With fewer sources, atomics on the element with most of them do not last much longer than the others.
  constexpr int64_t kSourcesOfKept = 8, kLeastOfKept = 1 << 22, kBlocksOfKept = 3;
  a.kept_vectors = a.launch_has_shared_memory ? kKeptVectors : 0;
  a.sources_of_kept = options.small_apart ? kSourcesOfKept : kSourcesOfKeptInTests;
  a.least_of_kept = options.small_apart ? kLeastOfKept : kSourcesOfKeptInTests;
  a.blocks_of_kept = kBlocksOfKept * device.units;
  return a;
}

}  // namespace hipops
