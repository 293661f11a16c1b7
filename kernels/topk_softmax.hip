// topk_softmax: the k best experts of each token, and their weights.
//
//   x        logits, [tokens, experts]; f32, f16, bf16; any strides, fastest if experts are neighbours
//   weights  [tokens, k], f32. ids, token_expert: [tokens, k], i32, u32 or i64
//   bytes    x is read once
//
//   few, many  1 to 64 neighbouring lanes have a token. A lane has up to 8, 16 or 32 neighbouring experts in
//              registers. An expert is chosen by one reduction over the lanes. The first of equal lanes has the lowest
//
// Alone: hipcc --genco --offload-arch=gfx942 -O3 -std=c++17 -I kernels kernels/topk_softmax.hip -o topk_softmax.co
#include "topk_softmax.h"

#include "device/core/math.h"
#include "device/core/reduce.h"
#include "device/core/vector.h"

namespace hipops {
namespace {

// The lanes that have a token: neighbours, a power of two.
class TokenLanes {
 public:
  explicit HIPOPS_METHOD TokenLanes(int bits)
      : lanes_(1 << bits), place_(lane_index() & uint32_t(lanes_ - 1)),
        own_((~LaneMask(0) >> (wave_size - lanes_)) << (lane_index() - place_)) {}

  HIPOPS_METHOD uint32_t place() const { return place_; }
  HIPOPS_METHOD bool is_first(bool condition) const {
    return condition & ((ballot(condition) & own_ & lanes_below()) == 0);
  }
  template <class T, class Op>
  HIPOPS_METHOD T reduce(T v, Op op) const {
    if (lanes_ == wave_size) return wave_reduce<wave_size>(v, op);
    return ReduceOverLanes(lanes_)(v, op);
  }

 private:
  int lanes_;
  uint32_t place_;
  LaneMask own_;
};

// Keys order numbers as unsigned integers. -0 has the key of +0, and every NaN the greatest key. The key of -inf is
// 0x007fffff, so smaller words are marks: 0 means that there is no element.
HIPOPS_FN uint32_t key_of(float v) {
  const uint32_t bits = bit_cast<uint32_t>(v + 0.0f);
  return v == v ? bits ^ (uint32_t(int32_t(bits) >> 31) | 1u << 31) : UINT32_MAX;
}
HIPOPS_FN float number_of(uint32_t key) { return bit_cast<float>(key >> 31 ? key ^ 1u << 31 : ~key); }
HIPOPS_FN uint32_t larger(uint32_t a, uint32_t b) { return a > b ? a : b; }

// Replaces the `count` greatest keys by the marks 1 to count, in order. The first of equal keys is greater.
template <int Depth>
HIPOPS_FN void mark_greatest(const TokenLanes& token, uint32_t count, uint32_t (&key)[Depth]) {
  uint32_t own = 0;
#pragma unroll
  for (int d = 0; d < Depth; ++d) own = larger(own, key[d]);
#pragma unroll 1
  for (uint32_t mark = 1; mark <= count; ++mark) {
    const uint32_t best = token.reduce(own, LargestWord());
    if (!token.is_first(own == best)) continue;
    bool is_marked = false;
    own = 0;
#pragma unroll
    for (int d = 0; d < Depth; ++d) {
      const bool is_best = key[d] == best && !is_marked;
      key[d] = is_best ? mark : key[d];
      is_marked |= is_best;
      own = larger(own, key[d]);
    }
  }
}

// Softmax is exp(x - most) / sum.
struct SoftmaxTerms {
  float most, sum;
};

HIPOPS_FN float sigmoid(float x) {
  const float power = exponential(-fabsf(x));
  return (x < 0 ? power : 1.0f) / (1.0f + power);
}
HIPOPS_FN float term_of(bool is_sigmoid, float x, float most) {
  return is_sigmoid ? sigmoid(x) : exp_difference(x, most);
}

// Over the token's logits for which is_in(d).
template <int Depth, class F>
HIPOPS_FN SoftmaxTerms terms_over(const TokenLanes& token, bool is_sigmoid, const float (&logit)[Depth], F is_in) {
  float most = -INFINITY, sum = 0;
#pragma unroll
  for (int d = 0; d < Depth; ++d) most = fmaxf(most, is_in(d) ? logit[d] : -INFINITY);
  if (!is_sigmoid) most = token.reduce(most, Maximum());
#pragma unroll
  for (int d = 0; d < Depth; ++d) sum += is_in(d) ? term_of(is_sigmoid, logit[d], most) : 0.0f;
  return {most, token.reduce(sum, Sum())};
}

template <class T, int Depth>
HIPOPS_FN void load_logits(const TopkSoftmaxArgs& a, int64_t token, int32_t first, float (&logit)[Depth]) {
  constexpr int kLength = kWideBytes / int(sizeof(T));
  const T* const row = static_cast<const T*>(a.x) + token * a.x_token;
  if (a.has_vectors) {
    Packed<T, kLength> v[Depth / kLength];
#pragma unroll
    for (int n = 0; n < Depth / kLength; ++n) {
      const int32_t place = first + n * kLength;
      v[n] = load_packed<kLength>(row + (place < a.experts ? place : 0));
    }
    issue_before_use(v);
#pragma unroll
    for (int d = 0; d < Depth; ++d) logit[d] = widen(v[d / kLength][d % kLength]);
  } else {
#pragma unroll
    for (int d = 0; d < Depth; ++d) logit[d] = widen(row[(first + d < a.experts ? first + d : 0) * a.x_expert]);
  }
}

// Removes the keys of all groups but the best. A group is as good as its best expert. With a bias it is as good as the
// sum of its two best. Lane g computes the score of group g.
template <int Depth>
HIPOPS_FN void keep_best_groups(const TopkSoftmaxArgs& a, const TokenLanes& token, uint32_t (&key)[Depth]) {
  HIPOPS_SHARED(uint32_t, room, kRouteBlock* Depth);
  const uint32_t place = token.place(), size = uint32_t(a.of_group), first = (thread_index() - place) * Depth;
#pragma unroll
  for (int d = 0; d < Depth; ++d) room[first + place * Depth + uint32_t(d)] = key[d];
  wave_barrier();
  uint32_t of_group[1] = {0}, second = 0;
  const bool has_group = place < uint32_t(a.groups);
  if (has_group) {
    uint32_t n = place % size;  // lanes begin at different banks of the memory
#pragma unroll 4
    for (uint32_t i = 0; i < size; ++i) {
      const uint32_t other = room[first + place * size + n];
      n = n + 1 == size ? 0 : n + 1;
      second = larger(second, other < of_group[0] ? other : of_group[0]);
      of_group[0] = larger(of_group[0], other);
    }
    if (a.bias != nullptr && size > 1) of_group[0] = key_of(number_of(of_group[0]) + number_of(second));
  }
  mark_greatest(token, uint32_t(a.kept_groups), of_group);
  wave_barrier();
  if (has_group) room[first + place] = of_group[0] <= kMostRoutedGroups;
  wave_barrier();
  uint32_t group = place * Depth / size, rest = place * Depth % size;
#pragma unroll
  for (int d = 0; d < Depth; ++d) {
    if (key[d] != 0 && room[first + group] == 0) key[d] = 0;
    rest = rest + 1 == size ? 0 : rest + 1;
    group += rest == 0;
  }
  wave_barrier();
}

HIPOPS_FN void store_id(void* ids, int64_t at, int32_t bytes, int64_t id) {
  if (bytes == 8) static_cast<int64_t*>(ids)[at] = id;
  else static_cast<uint32_t*>(ids)[at] = uint32_t(id);
}

template <class T, int Depth>
HIPOPS_FN void route_token(const TopkSoftmaxArgs& args, const TokenLanes& lanes, int64_t token) {
  const TopkSoftmaxArgs& a = reload_arguments(args);
  const bool has_token = token < a.tokens, is_sigmoid = a.is_sigmoid != 0;
  const int32_t first = int32_t(lanes.place()) * Depth, count = has_token ? a.experts - first : 0;
  float logit[Depth];
  load_logits<T>(a, has_token ? token : 0, first, logit);
  SoftmaxTerms terms{0, 1};
  if (!is_sigmoid && (a.bias != nullptr || !a.renormalizes))
    terms = terms_over(lanes, is_sigmoid, logit, [=](int d) { return d < count; });
  uint32_t key[Depth];
#pragma unroll
  for (int d = 0; d < Depth; ++d) {
    float choice = logit[d];
    if (a.bias != nullptr)
      choice = term_of(is_sigmoid, choice, terms.most) / terms.sum + a.bias[(d < count ? first + d : 0) * a.bias_step];
    key[d] = d < count ? key_of(choice) : 0;
  }
  const TopkSoftmaxArgs& b = reload_arguments(args);
  if (b.groups > 1) keep_best_groups(b, lanes, key);
  const uint32_t k = uint32_t(b.k);
  mark_greatest(lanes, k, key);
  if (b.renormalizes) {
    const float all = terms.sum;  // NaN if a logit is NaN or infinite, which may be one that is not chosen
    terms = terms_over(lanes, is_sigmoid, logit, [&](int d) { return key[d] - 1 < k; });
    terms.sum = all != all ? all : terms.sum == 0 ? 1.0f : terms.sum;
  }
#pragma unroll
  for (int d = 0; d < Depth; ++d) {
    const int64_t slot = int64_t(key[d]) - 1;
    if (!has_token || slot < 0 || slot >= int64_t(k)) continue;
    const float weight = term_of(is_sigmoid, logit[d], terms.most) / terms.sum;
    b.weights[token * b.weights_token + slot * b.weights_step] = weight * b.scale;
    store_id(b.ids, token * b.ids_token + slot * b.ids_step, b.id_bytes, first + d);
    if (b.token_expert == nullptr) continue;
    store_id(b.token_expert, token * b.slots_token + slot * b.slots_step, b.slot_bytes, slot * b.tokens + token);
  }
}

template <class T, int Depth>
HIPOPS_FN void route_tokens(const TopkSoftmaxArgs& args) {
  const TokenLanes lanes(args.lane_bits);
  const int64_t in_block = thread_index() >> args.lane_bits;
  for (int64_t token = int64_t(block_index()) * (kRouteBlock >> args.lane_bits); token < reload_arguments(args).tokens;
       token += reload_arguments(args).step)
    route_token<T, Depth>(args, lanes, token + in_block);
}

}  // namespace

#define KERNEL(name, T, is_many)                                                                         \
  HIPOPS_KERNEL(kRouteBlock) name(HIPOPS_ARGS(TopkSoftmaxArgs) a) {                                      \
    follow_launch_before();                                                                              \
    route_tokens<T, is_many ? kMostRoutedExperts / wave_size : kFewOfLane>(arguments_in_place(a)); \
  }
HIPOPS_TOPK_SOFTMAX_KERNELS(KERNEL)
#undef KERNEL

HIPOPS_KERNEL_TABLE(topk_softmax, TopkSoftmaxArgs, HIPOPS_TOPK_SOFTMAX_KERNELS)

}  // namespace hipops
