#include "tensor/overlap.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "tensor/tensor.h"

namespace hipops {
namespace {

__extension__ typedef __int128 Wide;  // products of a shape and a stride

struct Dimension {
  int64_t step;   // bytes, positive
  int64_t count;  // how many steps there can be
};

// The bytes of a view: all sums `lowest + step_0 * i_0 + step_1 * i_1 + ..`, 0 <= i_d <= count_d. The bytes within an
// element are a dimension, too.
struct ByteSet {
  uintptr_t lowest;
  Dimension dims[HIPOPS_MAX_RANK + 1];
  int rank = 0;
};

ByteSet byte_set(const hipops_tensor& t) {
  int64_t bytes = dtype_bytes(t.dtype);
  ByteSet set{reinterpret_cast<uintptr_t>(t.data), {}, 0};
  for (int d = 0; d < t.rank; ++d) {
    if (t.shape[d] <= 1 || t.stride[d] == 0) continue;
    int64_t step = t.stride[d] * bytes;
    if (step < 0) set.lowest += static_cast<uintptr_t>(step * (t.shape[d] - 1)), step = -step;
    set.dims[set.rank++] = {step, t.shape[d] - 1};
  }
  if (bytes > 1) set.dims[set.rank++] = {1, bytes - 1};
  return set;
}

// Searches for i_d such that the sum of step_d * i_d is `target`, from the largest step down. It skips a branch if the
// smaller steps cannot reach the rest, or if their common divisor does not divide it. If the strides of both views
// nest, as is usual, each level has at most two branches.
class Search {
 public:
  Search(const Dimension* dims, int rank) : dims_(dims), rank_(rank) {
    reach_[rank] = 0, divisor_[rank] = 0;
    for (int d = rank - 1; d >= 0; --d) {
      reach_[d] = reach_[d + 1] + Wide(dims[d].step) * dims[d].count;
      divisor_[d] = std::gcd(divisor_[d + 1], dims[d].step);
    }
  }

  bool reaches(Wide target, int d = 0) {
    if (target < 0 || target > reach_[d] || ++work_ > kMostWork) return false;
    if (target == 0) return true;
    if (d == rank_ || target % divisor_[d] != 0) return false;
    Wide most = std::min<Wide>(target / dims_[d].step, dims_[d].count);
    Wide rest = target - reach_[d + 1];
    Wide least = rest <= 0 ? 0 : (rest + dims_[d].step - 1) / dims_[d].step;
    for (Wide i = most; i >= least && work_ <= kMostWork; --i)
      if (reaches(target - i * dims_[d].step, d + 1)) return true;
    return false;
  }

 private:
  static constexpr int kMostWork = 10000;
  const Dimension* dims_;
  int rank_;
  int work_ = 0;
  Wide reach_[2 * HIPOPS_MAX_RANK + 3];
  int64_t divisor_[2 * HIPOPS_MAX_RANK + 3];
};

// A separate function, because most calls do not need its arrays on the stack.
__attribute__((noinline)) bool share_a_byte(const hipops_tensor& a, const hipops_tensor& b) {
  // A common byte is lowest_a + p = lowest_b + q, where p and q are sums of steps. If q counts down from b's end, the
  // sum of all steps must equal a fixed distance.
  ByteSet set_a = byte_set(a), set_b = byte_set(b);
  Dimension dims[2 * HIPOPS_MAX_RANK + 2];
  std::copy(set_a.dims, set_a.dims + set_a.rank, dims);
  std::copy(set_b.dims, set_b.dims + set_b.rank, dims + set_a.rank);
  int rank = set_a.rank + set_b.rank;
  Wide target = Wide(set_b.lowest) - Wide(set_a.lowest);
  for (int d = 0; d < set_b.rank; ++d) target += Wide(set_b.dims[d].step) * set_b.dims[d].count;
  std::sort(dims, dims + rank, [](const Dimension& x, const Dimension& y) { return x.step > y.step; });

  int merged = 0;
  for (int d = 0; d < rank; ++d) {
    if (merged > 0 && dims[merged - 1].step == dims[d].step) dims[merged - 1].count += dims[d].count;
    else dims[merged++] = dims[d];
  }
  return Search(dims, merged).reaches(target);
}

}  // namespace

bool byte_range(const hipops_tensor& t, ByteRange* range) {
  int64_t lowest = 0, highest = 0;  // offsets from data, first in elements, then in bytes
  for (int d = 0; d < t.rank; ++d) {
    int64_t span;
    if (__builtin_mul_overflow(t.stride[d], t.shape[d] - 1, &span)) return false;
    if (__builtin_add_overflow(lowest, std::min<int64_t>(span, 0), &lowest)) return false;
    if (__builtin_add_overflow(highest, std::max<int64_t>(span, 0), &highest)) return false;
  }
  const int64_t bytes = dtype_bytes(t.dtype), data = static_cast<int64_t>(reinterpret_cast<uintptr_t>(t.data));
  if (__builtin_mul_overflow(lowest, bytes, &lowest) || __builtin_mul_overflow(highest, bytes, &highest)) return false;
  if (__builtin_add_overflow(highest, bytes, &highest)) return false;
  // User space ends far below 2^63, so addresses fit in an int64_t.
  if (data < 0 || data + lowest < 0 || __builtin_add_overflow(data, highest, &highest)) return false;
  *range = {static_cast<uintptr_t>(data + lowest), static_cast<uintptr_t>(highest)};
  return true;
}

bool elements_are_distinct(const hipops_tensor& t) {
  Dimension dims[HIPOPS_MAX_RANK];  // sorted by step
  int rank = 0;
  for (int d = t.rank - 1; d >= 0; --d) {  // the last dimension mostly has the smallest stride
    if (t.shape[d] <= 1) continue;
    Dimension next{std::abs(t.stride[d]), t.shape[d]};
    int at = rank++;
    for (; at > 0 && dims[at - 1].step > next.step; --at) dims[at] = dims[at - 1];
    dims[at] = next;
  }
  Wide spanned = 1;
  for (int d = 0; d < rank; ++d) {
    if (dims[d].step < spanned) return false;
    spanned += Wide(dims[d].step) * (dims[d].count - 1);
  }
  return true;
}

bool same_view(const hipops_tensor& a, const hipops_tensor& b) {
  if (a.data != b.data || a.dtype != b.dtype || a.rank != b.rank) return false;
  for (int d = 0; d < a.rank; ++d) {
    if (a.shape[d] != b.shape[d]) return false;
    if (a.shape[d] > 1 && a.stride[d] != b.stride[d]) return false;
  }
  return true;
}

bool overlap(const hipops_tensor& a, const hipops_tensor& b) {
  ByteRange range_a, range_b;
  if (!byte_range(a, &range_a) || !byte_range(b, &range_b)) return true;
  return !are_apart(range_a, range_b) && share_a_byte(a, b);
}

}  // namespace hipops
