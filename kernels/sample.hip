// sample: a token of each row, drawn by a uniform number of the caller.
//
//   x        logits, [rows, vocabulary]; f32, f16, bf16; any strides, fastest if tokens are neighbours
//   tokens   [rows], i32 or i64. uniform, temperature, top_p, min_p: [rows], f32. top_k: [rows], i32 or i64
//   bytes    at temperature 0 x is read once, and with a small top_k twice. Otherwise it is read up to ten times
//
// A block has a row. If rows are few, a cluster has one: its blocks share the first reads, and its first block
// does the rest alone. Weights are integers, so sums of any order are equal: no grid and no wave size changes a token.
// top_k and top_p are one search, for the key where a sum over greater keys reaches a bound. top_k counts tokens,
// and top_p sums weights. Digits of the key are found one after another, by sums for each digit.
//
// A small top_k of a long row: the k-th of the work-items' greatest keys is a lower bound of the k-th key. The few
// tokens that reach it are a list in shared memory, which then is the row: x is read twice.
//
// Alone: hipcc --genco --offload-arch=gfx942 -O3 -std=c++17 -I kernels kernels/sample.hip -o sample.co
#include "sample.h"

#include "device/core/math.h"
#include "device/core/reduce.h"
#include "device/core/vector.h"
#include "device/nvidia/cluster.h"
#include "device/select/keys.h"
#include "device/select/threshold.h"

namespace hipops {
namespace {

constexpr int kSumBits = 11, kSums = 1 << kSumBits;
constexpr uint32_t kMostListed = kSampleBlock;
constexpr int64_t kMostListedK = kMostListed / 4;  // the list mostly has less than 2 k tokens
constexpr uint32_t kMostWeight = 1u << 31;
constexpr float kLargestFloat = 0x1.fffffep127f;

struct LargestPair {
  HIPOPS_METHOD uint64_t operator()(uint64_t a, uint64_t b) const { return a > b ? a : b; }
  template <class T> static HIPOPS_METHOD T identity() { return 0; }
};
using ReduceBlock = Reduce<uint64_t, kSampleBlock>;
// Another type than ReduceBlock, because each type has shared memory of its own.
using ReduceCluster = ClusterReduce<WordRange, kSampleBlock / blocks_in_one>;

template <class T> constexpr uint32_t kInfinityBits = 0x7f800000;  // in the upper half of a word, if T has 16 bits
template <> [[maybe_unused]] constexpr uint32_t kInfinityBits<f16> = 0x7c000000;

// Keys of T, and numbers of keys.
template <class T>
struct Logits {
  using Bits = typename BitsOf<int(sizeof(T))>::type;
  static constexpr int kShift = 32 - 8 * int(sizeof(T));
  static constexpr uint32_t kNanKey = UINT32_MAX >> kShift;
  static HIPOPS_METHOD KeyRule rule() { return KeyRule(kInfinityBits<T>, 0, kNanKey); }
  static HIPOPS_METHOD float number_of(uint32_t key) {
    const uint32_t wide = key << kShift;
    return widen(bit_cast<T>(Bits((wide & kSign ? wide ^ kSign : ~wide) >> kShift)));
  }
};

// How a row's logits become weights.
struct WeightRule {
  float most, scale;  // the greatest logit; log2(e) / temperature

  // 2^31 * e^((x - most) / temperature), rounded. All devices round sums, products and fused operations in the same
  // way, so they compute the same integer. No function of a device's library is used.
  HIPOPS_METHOD uint32_t weight_of(float x) const {
    const float below = fminf(most - x, kLargestFloat), power = below * scale;
    if (x == most) return kMostWeight;
    if (!(power < 32.0f) || x == -INFINITY) return 0;
    const int n = int(power);
    const float f = fused_multiply_add(below, scale, -float(n));
    float v = 0x1.c946c8p-14f;  // 2^-f for f from 0 to 1, within 1.5e-7 of it
    v = fused_multiply_add(v, f, -0x1.4e2ae8p-10f);
    v = fused_multiply_add(v, f, 0x1.39e3fcp-7f);
    v = fused_multiply_add(v, f, -0x1.c6948ep-5f);
    v = fused_multiply_add(v, f, 0x1.ebfac0p-3f);
    v = fused_multiply_add(v, f, -0x1.62e42cp-1f);
    v = fused_multiply_add(v, f, 1.0f);
    return (uint32_t(v * float(kMostWeight)) + (1u << n >> 1)) >> n;
  }
};

// The tokens that are left, and the number of each that is summed.
struct Survivors {
  uint32_t least, most;    // keys
  uint32_t last_of_least;  // of the key `least`, the last column
  uint32_t least_weight;
  bool are_counted;        // 1 for each token, not its weight
};

template <class T>
class Row {
 public:
  using Bits = typename Logits<T>::Bits;
  static constexpr int kLength = Window<Bits>::kLength, kFew = 1, kMany = 2;  // vectors loaded together
  static constexpr int64_t kFewColumns = kSampleBlock * kFew * kLength, kManyColumns = kSampleBlock * kMany * kLength;
  WeightRule weights;
  Survivors left;

  // The block's columns of a row.
  HIPOPS_METHOD Row(const SampleArgs& a, int64_t row, ReduceBlock& reduce, ReduceCluster& reduce_cluster)
      : window_(static_cast<const Bits*>(a.x) + row * a.x_row, a.x_step, cluster_rank() * a.part,
                cluster_rank() + 1 < cluster_size() ? (cluster_rank() + 1) * a.part : a.columns),
        reduce_(reduce), reduce_cluster_(reduce_cluster) {}

  // The greatest key of the cluster's row, and in the lower half ~ its first column. `own` becomes the greatest of the
  // work-item's keys.
  HIPOPS_METHOD uint64_t largest(uint32_t* own) const {
    uint64_t best = 0;
    float most = -INFINITY;
#pragma unroll 1
    for (int64_t tile = window_.first; tile < window_.end; tile += kManyColumns) {
      if (is_inside(tile)) {
        int at = -1;
        uint32_t widest = 0;  // without signs: a NaN is the widest
        for_each_number(tile, [&](int n, float x) {
          widest = LargestWord()(widest, bit_cast<uint32_t>(x) << 1);
          if (x > most) most = x, at = n;
        });
        const Keys<kMany> none = {{}, first_column(tile)};
        if (ballot(widest > kInfinityBits<f32> << 1) == 0) {
          const uint32_t key = Logits<T>::rule().key_of(bit_cast<Bits>(narrow<T>(most)));
          if (at >= 0 || best == 0) best = uint64_t{key} << 32 | ~none.column(at < 0 ? 0 : at);
          continue;
        }
      }
      const Keys<kMany> keys = load<kMany>(tile);
#pragma unroll
      for (int n = 0; n < kMany * kLength; ++n)  // columns of a work-item ascend
        if (keys.key[n] > uint32_t(best >> 32)) best = uint64_t{keys.key[n]} << 32 | ~keys.column(n);
      if (best != 0) most = Logits<T>::number_of(uint32_t(best >> 32));
    }
    *own = uint32_t(best >> 32);
    return uniform(reduce_cluster_(best, LargestPair()));
  }

  // Makes a list of the tokens that may be among the k with the greatest keys, if they are few, in the cluster's first
  // block. Each work-item has a key, and `own` is its greatest. The first bound assumes an equal part of the k in each block.
  HIPOPS_METHOD void make_list(uint32_t k, uint32_t own) {
    const uint32_t keys[1] = {own}, of_block = (k + cluster_size() - 1) / cluster_size();
    uint32_t listed = gather(~over_cluster(~find_threshold(reduce_, keys, kSampleBlock, of_block, of_block / 2).key));
    if (listed > kMostListed && cluster_size() > 1)
      listed = gather(over_cluster(find_threshold(reduce_, keys, kSampleBlock, k, k / 2).key));
    if (listed > kMostListed || cluster_rank() != 0) return;
    const Shared<SortEntry> unordered = room(), list = list_memory();
    if (thread_index() < listed) {
      const SortEntry entry = unordered[thread_index()];
      uint32_t rank = 0;
#pragma unroll 4
      for (uint32_t i = 0; i < listed; ++i) rank += SortEntry(unordered[i]).value < entry.value;
      list[rank] = entry;
    }
    barrier();
    window_.first = 0;
    window_.end = listed_ = listed;
  }

  // Without a list, the first block reads the whole row.
  HIPOPS_METHOD void use_whole_row(int64_t columns) {
    if (listed_ == 0) window_.end = columns;
  }

  // The row's column, of a column of the list if there is one.
  HIPOPS_METHOD uint32_t column_in_row(uint32_t column) const {
    return listed_ == 0 ? column : SortEntry(list_memory()[column]).value;
  }

  HIPOPS_METHOD uint64_t total() const {
    uint64_t sum = 0;
#pragma unroll 1
    for (int64_t tile = window_.first; tile < window_.end; tile += kFewColumns)
      sum += sum_of(left, load<kFew>(tile));
    return uniform(reduce_(sum, Sum()));
  }

  // The first column at which the sum over survivors, in the order of columns, is above `bound`.
  HIPOPS_METHOD uint32_t find(const Survivors& among, uint64_t bound) const {
    HIPOPS_SHARED(uint32_t, found, 1);
    uint64_t before = 0;
#pragma unroll 1
    for (int64_t tile = window_.first; tile < window_.end; tile += kFewColumns) {
      const Keys<kFew> keys = load<kFew>(tile);
      const uint64_t own = sum_of(among, keys), sum = uniform(reduce_(own, Sum()));
      if (before + sum <= bound) {
        before += sum;
        continue;
      }
      before += block_scan<kSampleBlock>(own).before;
#pragma unroll
      for (int n = 0; n < kFew * kLength; ++n) {
        const uint64_t next = before + amount_of(among, keys.key[n], keys.column(n));
        if (before <= bound && bound < next) found[0] = keys.column(n);
        before = next;
      }
      barrier();
      break;
    }
    return uniform(uint32_t(found[0]));
  }

  // Keeps the fewest survivors with the greatest keys whose sum reaches `bound`. True if more than are needed have the
  // last key: `ties` are then the survivors with that key, and `bound` becomes a bound for find().
  HIPOPS_METHOD bool keep_greatest(uint64_t* bound, Survivors* ties) {
    HIPOPS_SHARED(Digit, found, 1);
    const Shared<uint32_t> sum = room().template as<uint32_t>();
    uint32_t prefix = 0;
    Digit digit{0, 0, 0, 0};
#pragma unroll 1
    for (int bits = 8 * int(sizeof(T)); bits > 0;) {  // bits of the key that are not known
      const int shift = bits > kSumBits ? bits - kSumBits : 0;
      for (uint32_t d = thread_index(); d < kSums; d += kSampleBlock) sum[d] = 0, sum[kSums + d] = 0;
      barrier();
#pragma unroll 1
      for (int64_t tile = window_.first; tile < window_.end; tile += kFewColumns) {
        const Keys<kFew> keys = load<kFew>(tile);
#pragma unroll
        for (int n = 0; n < kFew * kLength; ++n) {
          if (uint64_t{keys.key[n]} >> bits != prefix) continue;
          const uint32_t amount = amount_of(left, keys.key[n], keys.column(n));
          if (amount == 0) continue;
          const uint32_t at = keys.key[n] >> shift & ((1u << (bits - shift)) - 1);
          if (sum.fetch_add(at, amount) > UINT32_MAX - amount) sum.fetch_add(kSums + at, 1u);
        }
      }
      barrier();
      find_digit(sum, *bound, digit.above, found);
      barrier();
      digit = uniform(Digit(found[0]));
      prefix = prefix << (bits - shift) | digit.digit;
      bits = shift;
    }
    if (left.least != prefix) left.last_of_least = UINT32_MAX;
    left.least = prefix;
    *ties = left;
    ties->most = prefix;
    const bool has_more = digit.above + digit.sum >= *bound + uniform(amount_of(left, prefix, 0));
    *bound -= digit.above + 1;
    return has_more;
  }

 private:
  struct Digit {
    uint64_t above, sum;  // over greater digits, and over this digit
    uint32_t digit, unused;
  };

  // The keys of a work-item in a tile.
  template <int Vectors>
  struct Keys {
    uint32_t key[Vectors * kLength], first;  // `first`: the column of key[0]
    HIPOPS_METHOD uint32_t column(int n) const {
      return first + uint32_t(n / kLength) * kSampleBlock * kLength + uint32_t(n % kLength);
    }
  };
  template <int Vectors>
  HIPOPS_METHOD Keys<Vectors> load(int64_t tile) const {
    Keys<Vectors> keys;
    const uint32_t thread = hide_origin(thread_index());  // no address is kept over other steps
    if (Vectors == kFew && listed_ != 0) {  // one tile, and a key of each work-item
      keys.first = thread;
#pragma unroll
      for (int n = 0; n < Vectors * kLength; ++n) keys.key[n] = 0;
      if (thread < listed_) keys.key[0] = SortEntry(list_memory()[thread]).key;
      return keys;
    }
    load_keys<kSampleBlock>(Logits<T>::rule(), window_, tile, thread, keys.key);
    keys.first = first_column(tile);
    return keys;
  }
  static HIPOPS_METHOD uint32_t first_column(int64_t tile) { return uint32_t(tile) + hide_origin(thread_index()) * kLength; }

  // Most tiles have all their columns, as whole vectors. Most of their keys need not be computed: numbers are compared.
  HIPOPS_METHOD bool is_inside(int64_t tile) const {
    return window_.step == 1 && tile >= window_.begin && tile + kManyColumns <= window_.end;
  }
  // The greatest of the blocks' bounds.
  HIPOPS_METHOD uint32_t over_cluster(uint32_t bound) const {
    return cluster_size() == 1 ? bound : uint32_t(uniform(reduce_cluster_(uint64_t{bound}, LargestPair())));
  }

  // Stores the tokens whose keys reach the bound to the room of the cluster's first block. Returns their number. If it is
  // too large, some are not stored.
  HIPOPS_METHOD uint32_t gather(uint32_t bound) const {
    HIPOPS_SHARED(uint32_t, count, 1);
    const Shared<uint32_t> counter = of_first_block(count);
    const Shared<SortEntry> own = room(), gathered = of_first_block(own);
    if (thread_index() == 0) count[0] = 0;
    cluster_barrier();
#pragma unroll 1
    for (int64_t tile = window_.first; tile < window_.end; tile += kManyColumns) {
      if (is_inside(tile)) {
        float most = -INFINITY;
        for_each_number(tile, [&](int, float x) { most = fmaxf(most, x); });
        if (ballot(!(most < Logits<T>::number_of(bound))) == 0) continue;
      }
      const Keys<kMany> keys = load<kMany>(tile);
#pragma unroll
      for (int n = 0; n < kMany * kLength; ++n) {
        if (keys.key[n] < bound) continue;
        const uint32_t place = counter.fetch_add(0, 1u);
        if (place < kMostListed) gathered[place] = {keys.key[n], keys.column(n)};
        else bound = UINT32_MAX;  // no key reaches it: there will be no list
      }
    }
    cluster_barrier();
    const uint32_t listed = uniform(uint32_t(counter[0]));
    cluster_barrier();  // before the first block changes or leaves it
    return listed;
  }

  // Calls f(n, number) for the elements whose keys load<kMany>() makes.
  template <class F>
  HIPOPS_METHOD void for_each_number(int64_t tile, F f) const {
    const T* const from = reinterpret_cast<const T*>(window_.row) + tile + hide_origin(thread_index()) * kLength;
    Packed<T, kLength> v[kMany];
#pragma unroll
    for (int n = 0; n < kMany; ++n) v[n] = load_packed_once<kLength>(from + n * kSampleBlock * kLength);
    issue_before_use(v);
#pragma unroll
    for (int n = 0; n < kMany * kLength; ++n) f(n, widen(v[n / kLength][n % kLength]));
  }
  HIPOPS_METHOD uint32_t amount_of(const Survivors& among, uint32_t key, uint32_t column) const {
    key = hide_origin(key);  // one after another: the registers of several weights would not fit
    const bool is_in_range = key >= among.least && key <= among.most;
    const bool is_left = is_in_range && (key != among.least || column <= among.last_of_least);
    uint32_t amount = among.are_counted ? 1 : weights.weight_of(Logits<T>::number_of(key));
    amount = !is_left || amount < among.least_weight ? 0 : amount;
    return hide_origin(amount);
  }
  HIPOPS_METHOD uint64_t sum_of(const Survivors& among, const Keys<kFew>& keys) const {
    uint64_t sum = 0;
#pragma unroll
    for (int n = 0; n < kFew * kLength; ++n) sum += amount_of(among, keys.key[n], keys.column(n));
    return sum;
  }
  // The digit with which the sum from the greatest digit on reaches `bound`. `above` is the sum over greater keys.
  static HIPOPS_METHOD void find_digit(Shared<uint32_t> sums, uint64_t bound, uint64_t above, Shared<Digit> found) {
    constexpr uint32_t kOfEach = kSums / kSampleBlock;
    const uint32_t first = kSums - 1 - thread_index() * kOfEach;
    uint64_t sum[kOfEach], own = 0;
#pragma unroll
    for (uint32_t n = 0; n < kOfEach; ++n) own += sum[n] = uint64_t{sums[kSums + first - n]} << 32 | sums[first - n];
    uint64_t before = above + block_scan<kSampleBlock>(own).before;
#pragma unroll
    for (uint32_t n = 0; n < kOfEach; ++n) {
      if (before < bound && bound <= before + sum[n]) found[0] = {before, sum[n], first - n, 0};
      before += sum[n];
    }
  }

  // Memory of 64-bit sums of digits: the lower words, and then the upper words. And of a list before it is in order.
  static HIPOPS_METHOD Shared<SortEntry> room() {
    HIPOPS_SHARED(SortEntry, entries, kSums);
    return entries;
  }
  static HIPOPS_METHOD Shared<SortEntry> list_memory() {
    HIPOPS_SHARED(SortEntry, entries, kMostListed);
    return entries;
  }

  Window<Bits> window_;
  ReduceBlock& reduce_;
  ReduceCluster& reduce_cluster_;
  uint32_t listed_ = 0;  // the tokens of the list
};

enum Step { kTopK, kTopP, kDraw };

// A part of a sum, from 0 to 1. top_p: rounded up, and at least 1.
HIPOPS_FN uint64_t bound_of(uint64_t sum, float part, int step) {
  const uint32_t v = uint32_t(fminf(fmaxf(part, 0.0f), 0x1.fffffep-1f) * 0x1p32f);
  const uint64_t bound = (sum >> 32) * v + (((sum & UINT32_MAX) * v + (step == kTopP ? UINT32_MAX : 0)) >> 32);
  return bound == 0 && step == kTopP ? 1 : bound;
}

HIPOPS_FN uint32_t least_weight_of(float min_p) {
  return uint32_t(ceilf(fminf(fmaxf(min_p, 0.0f), 1.0f) * float(kMostWeight)));
}

HIPOPS_FN float given(const float* numbers, int64_t at, float absent) {
  return numbers == nullptr ? absent : uniform(numbers[at]);
}

template <class T>
HIPOPS_FN int64_t token_of(const SampleArgs& args, int64_t at, ReduceBlock& reduce, ReduceCluster& reduce_cluster) {
  const SampleArgs& a = reload_arguments(args);
  Row<T> row(a, at, reduce, reduce_cluster);
  uint32_t own;
  const uint64_t best = row.largest(&own);
  const uint32_t most = uint32_t(best >> 32);
  if (most == Logits<T>::kNanKey || Logits<T>::number_of(most) == -INFINITY) return -1;
  int64_t k = 0;
  if (a.top_k != nullptr) k = uniform(number_of_row(a.top_k, at * a.top_k_step, a.top_k_is_64, a.columns));
  const float temperature = given(a.temperature, at * a.temperature_step, 1);
  if (!(temperature > 0) || k == 1) return uint32_t(~best);

  row.weights = {Logits<T>::number_of(most), uniform(fminf(1.44269504f / temperature, kLargestFloat))};
  if (row.weights.most == INFINITY) row.weights.scale = kLargestFloat;  // only infinite logits have weights
  row.left = {1, UINT32_MAX, UINT32_MAX, 0, false};
  const bool is_long = reload_arguments(args).columns >= Row<T>::kFewColumns;  // each work-item has a key
  if (k > 0 && k <= kMostListedK && is_long) row.make_list(uint32_t(k), own);
  if (cluster_rank() != 0) return -1;  // only the first block's token is stored
  row.use_whole_row(reload_arguments(args).columns);
#pragma unroll 1
  for (int step = kTopK;; ++step) {
    const SampleArgs& b = reload_arguments(args);
    const float top_p = given(b.top_p, at * b.top_p_step, 1);
    if (step == kTopK ? k <= 0 || k >= b.columns : step == kTopP && !(top_p < 1)) continue;
    if (step == kDraw) row.left.least_weight = uniform(least_weight_of(given(b.min_p, at * b.min_p_step, 0)));
    row.left.are_counted = step == kTopK;
    const float part = step == kTopP ? top_p : given(b.uniform, at * b.uniform_step, 0);
    uint64_t bound = step == kTopK ? uint64_t(k) : uniform(bound_of(row.total(), part, step));
    Survivors among = row.left;
    if (step != kDraw && !row.keep_greatest(&bound, &among)) continue;
    const uint32_t column = row.find(among, bound);
    if (step == kDraw) return row.column_in_row(column);
    row.left.last_of_least = column;
  }
}

template <class T>
HIPOPS_FN void sample_rows(const SampleArgs& args) {
  ReduceBlock reduce(kSampleBlock);
  ReduceCluster reduce_cluster(kSampleBlock);
  for (int64_t row = cluster_index(); row < reload_arguments(args).rows; row += reload_arguments(args).step) {
    const int64_t token = token_of<T>(args, row, reduce, reduce_cluster);
    const SampleArgs& a = reload_arguments(args);
    if (thread_index() == 0 && cluster_rank() == 0) {
      if (a.tokens_are_64) static_cast<int64_t*>(a.tokens)[row * a.tokens_step] = token;
      else static_cast<int32_t*>(a.tokens)[row * a.tokens_step] = int32_t(token);
    }
    barrier();
  }
}

}  // namespace

#define KERNEL(name, T)                                         \
  HIPOPS_KERNEL(kSampleBlock) name(HIPOPS_ARGS(SampleArgs) a) { \
    follow_launch_before();                                     \
    sample_rows<T>(arguments_in_place(a));                      \
  }
HIPOPS_SAMPLE_KERNELS(KERNEL)
#undef KERNEL

HIPOPS_KERNEL_TABLE(sample, SampleArgs, HIPOPS_SAMPLE_KERNELS)

}  // namespace hipops
