// The default choice for sums by an index (index_add, scatter_add). It uses only numbers that every device reports.
#include <algorithm>

#include "index/plan.h"
#include "move/scatter_plan.h"
#include "tensor/tensor.h"

namespace hipops {
namespace {

// The bits of a row's number that select the block that sorts and sums the row. 2^8 blocks are two for each unit of a
// large GPU. A small sum uses 2^6 blocks, which leave room for the launch that follows.
constexpr int kPartitionBits = 8, kPartitionBitsOfLittle = 6;

bool adds_less_than(const SumsProblem& p, int64_t bytes) { return p.x_elements < bytes / dtype_bytes(p.dtype); }

// A small sum uses few blocks only if each of them mostly has room for its sources.
bool is_little(const SumsProblem& p) { return adds_less_than(p, 1 << 22); }
bool few_blocks_have_room(const SumsProblem& p) {
  return p.indices <= int64_t{kJoinedBatch / 8 * 7} << kPartitionBitsOfLittle;
}

int partition_bits(const SumsProblem& p) {
  constexpr int64_t kMostRows = int64_t{1} << (kPartitionBitsOfLittle + kJoinedDigitBits);
  return is_little(p) && p.rows <= kMostRows && few_blocks_have_room(p) ? kPartitionBitsOfLittle : kPartitionBits;
}

// A scan saves the two launches of a sort. But a wave adds all sources of its part of a row, so they must be few.
bool pays_to_scan(const SumsProblem& p) {
  constexpr int64_t kFew = 1 << 13, kMost = 2 * kFew, kBytes = 1 << 24, kPairs = 1 << 17;
  const int64_t bytes = p.indices <= kFew ? kBytes : kBytes / 2;
  return p.indices <= kMost && p.x_elements <= bytes / dtype_bytes(p.dtype) &&
         p.indices * p.indices <= kPairs * std::min(p.rows, kMost);
}

// Returns false if blocks would have few bytes of sources, or a small sum too many indices for few blocks.
bool pays_to_join(const SumsProblem& p, const SortPlan& sort) {
  constexpr int64_t kLeastOfMore = 1 << 24, kManyIndices = 1 << 7;
  const int high_bits = sort.pass[0].high_bits, more = high_bits - kPartitionBits;
  if (more <= 0) return !is_little(p) || few_blocks_have_room(p);
  return !adds_less_than(p, p.indices >> high_bits >= kManyIndices ? kLeastOfMore : kLeastOfMore << more);
}

// If there are few rows with many sources each, vectors of 16 bytes give too few work-items to keep memory busy.
bool is_short_of_lanes(const SumsProblem& p) {
  constexpr int64_t kBytes = 1 << 19, kManySources = 128;
  return p.y_elements < kBytes / dtype_bytes(p.dtype) && p.indices / kManySources >= p.rows;
}

}  // namespace

SumsSorts plan_sorts(const SumsProblem& p) {
  constexpr int64_t kMostUnsorted = 256, kLeastToJoin = 1 << 13, kRowsOfBlock = 2;
  SumsSorts sorts{};
  if (p.x_elements == 0 || p.y_elements == 0 || p.indices <= kMostUnsorted) return sorts;
  sorts.apart = plan_sort(p.rows, p.indices);
  const int bits = partition_bits(p);
  const bool fills_blocks = p.indices >= kLeastToJoin && p.rows > kRowsOfBlock << bits;
  if (fills_blocks) sorts.joined = plan_joined_sort(p.rows, p.indices, bits);
  sorts.bytes = std::max(sorts.apart.bytes, sorts.joined.bytes);
  return sorts;
}

SumsChoice choose_sums(PlanOptions options, const SumsProblem& p, const SumsSorts& sorts, const DeviceNumbers& device,
                       bool has_workspace) {
  const SumsPolicy& policy = options.sums;
  if (policy.few && can_be_few(options, p, device)) return {SumsWay::few, {}, 0};
  if (!has_workspace || sorts.bytes == 0 || (policy.scan && pays_to_scan(p))) {
    // For small sums, half the number of blocks read the index half as often, and their sources stay in the L1 caches.
    constexpr int64_t kLittle = 1 << 20;
    return {SumsWay::scan, {}, p.x_elements <= kLittle / dtype_bytes(p.dtype) ? 1 : 2};
  }
  const SortPlan& sort = policy.always_join ? sorts.apart : sorts.joined;
  const bool may_join = !is_short_of_lanes(p) && can_be_joined(p, sort);
  if (may_join && (policy.always_join || pays_to_join(p, sort))) return {SumsWay::joined, sort, 0};
  return choose_apart(p, sorts.apart);
}

SumsChoice choose_apart(const SumsProblem& p, const SortPlan& sort) {
  return {is_short_of_lanes(p) ? SumsWay::deep : SumsWay::list, sort, 0};
}

// For fewer elements, or shorter rows, atomics are faster than a sort.
constexpr int64_t kManyKnown = 1 << 20, kManyToFindOut = 1 << 24, kRowBytes = 128;

bool sorts_instead_of_atomics(const SumsProblem& p, const SumsSorts& sorts, bool is_16_bit) {
  // A segment that one block adds is a chain of additions, each 0.1 us. Even one segment of all sources is faster than
  // f32 sums of y, if y has 32768 elements for each source.
  const bool is_sorted = sorts.bytes != 0 || p.indices <= kFewIndices;
  if (is_16_bit && is_sorted && p.y_elements / 32768 >= p.indices) return true;
  const bool is_large = p.row_elements * dtype_bytes(p.dtype) >= kRowBytes && p.x_elements >= kManyKnown;
  return (is_16_bit || is_large) && !is_short_of_lanes(p) && can_be_joined(p, sorts.joined) && pays_to_join(p, sorts.joined);
}

uint32_t longest_segment(const SumsProblem& p, bool in_order) {
  // If the order must be kept, the alternative is one work-item for each line, which is slower for any sorted size.
  const bool many = p.x_elements >= kManyToFindOut;
  if (p.row_elements * dtype_bytes(p.dtype) < kRowBytes || (!in_order && !many)) return 0;
  // A segment is a chain of additions, each 0.1 us. It must not last longer than half of the time of atomics for all
  // sources. If the average segment is already too long, the sort would be in vain.
  const int64_t longest = in_order ? UINT32_MAX : std::clamp<int64_t>(p.x_elements >> 16, 64, UINT32_MAX);
  return p.indices / p.rows >= longest ? 0 : static_cast<uint32_t>(longest);
}

int64_t vector_atomics_from(PlanOptions options, const DeviceNumbers& device) {
  constexpr int64_t kFewElements = 1 << 16;  // below this, many sources add to one element, and vectors wait longer
  if (!device.adds_vectors) return INT64_MAX;
  return options.small_apart ? kFewElements : 0;
}

}  // namespace hipops
