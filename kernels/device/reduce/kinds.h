// How results are computed. A kind K, for numbers of type K::Number, has these members.
//   Lane                The result of some elements. K() combines two of them, in any order.
//   Total               The result of many Lanes, without the rounding of their sum. K::add adds a Lane.
//   identity<T>()       The Lane or Total of no elements.
//   absent(a)           An element that changes no result.
//   reduce<N>(a, f, at) The Lane of the elements f(0) to f(N - 1). at(i) is the place of element i in the result's
//                       reduced elements, and rises with i.
//   over_row(lane, f)   The Lane of all lanes of a row. f(v, op) reduces a value over them.
//   finish(a, lane)     The result.
//   kHasRounds          Whether a lane may have several rounds of a part. They save calls of over_row(), but the loop
//                       costs registers.
#pragma once

#include "device/core/cache.h"
#include "device/core/math.h"
#include "device/core/reduce.h"
#include "device/core/vector.h"
#include "device/reduce/reduce_contract.h"

namespace hipops {
namespace {

// Elements in registers, as numbers: all elements of N vectors, an element of each vector, or one element.
template <class T, int Length, int N>
struct AllElements {
  Packed<T, Length> (&v)[N];
  HIPOPS_METHOD compute_t<T> operator()(int i) const { return widen(v[i / Length][i % Length]); }
  // Elements are converted again after this call. Numbers would need twice the registers of 16-bit elements.
  HIPOPS_METHOD void convert_again(uint32_t zero) const {
#pragma unroll
    for (int i = 0; i < N; ++i)
      if constexpr (sizeof(T) == 2) v[i].recompute_derived_by(zero);
  }
};
template <class T, int Length, int N>
struct ColumnElements {
  const Packed<T, Length> (&v)[N];
  int column;
  HIPOPS_METHOD compute_t<T> operator()(int i) const { return widen(v[i][column]); }
  HIPOPS_METHOD void convert_again(uint32_t) const {}
};
template <class T>
struct OneElement {
  T v;
  HIPOPS_METHOD compute_t<T> operator()(int) const { return widen(v); }
  HIPOPS_METHOD void convert_again(uint32_t) const {}
};

// The reduction of f(First) to f(First + N - 1), as a balanced tree: rounding errors grow with its depth.
template <int First, int N, class F, class Op>
HIPOPS_FN auto tree(const F& f, Op op) {
  if constexpr (N == 1) return f(First);
  else return op(tree<First, N / 2>(f, op), tree<First + N / 2, N - N / 2>(f, op));
}

template <class C>
struct SumOf : Sum {
  static constexpr bool kHasRounds = false;
  using Number = C;
  using Lane = C;
  using Total = WideSum<C>;
  static HIPOPS_METHOD C absent(const ReduceArgs&) { return C(0); }
  template <int N, class F, class At>
  static HIPOPS_METHOD Lane reduce(const ReduceArgs&, const F& f, At) { return tree<0, N>(f, Sum()); }
  static HIPOPS_METHOD Total add(const Total& total, Lane lane) { return total + Total::of(lane); }
  static HIPOPS_METHOD Lane rounded(const Total& total) { return total.value(); }
  template <class F>
  static HIPOPS_METHOD Lane over_row(Lane lane, F& f) { return f(lane, Sum()); }
  static HIPOPS_METHOD C finish(const ReduceArgs& a, Lane sum) { return sum / C(a.count); }
};

// Kinds whose combinations round nothing, or too little to show.
template <class Kind, class L>
struct PlainKind {
  static constexpr bool kHasRounds = true;
  using Lane = L;
  using Total = L;
  static HIPOPS_METHOD Total add(const Total& total, const Lane& lane) { return Kind()(total, lane); }
  static HIPOPS_METHOD Lane rounded(const Total& total) { return total; }
  template <class F>
  static HIPOPS_METHOD Lane over_row(const Lane& lane, F& f) { return f(lane, Kind()); }
};

HIPOPS_FN float magnitude_of(float v) { return fabsf(v); }
HIPOPS_FN double magnitude_of(double v) { return fabs(v); }

// The greatest number. A NaN is greater than all. A scale needs the greatest magnitude.
template <class C>
struct GreatestOf : PlainKind<GreatestOf<C>, C> {
  static constexpr bool kHasRounds = false;
  using Number = C;
  HIPOPS_METHOD C operator()(C a, C b) const { return b > a || b != b ? b : a; }
  template <class T> static HIPOPS_METHOD T identity() { return -T(INFINITY); }
  static HIPOPS_METHOD C absent(const ReduceArgs& a) { return a.sign == 0 ? C(0) : -C(INFINITY) * C(a.sign); }
  // One instruction for a number, and one for two comparisons with NaN.
  template <int N, class Op, class F>
  static HIPOPS_METHOD C reduce_by(Op op, const F& f) {
    bool has_nan = false;
    const auto pair = [&](int i) {
      const C a = f(2 * i), b = f(N == 1 ? 0 : 2 * i + 1);
      has_nan |= (a != a) | (b != b);
      return op(a, b);
    };
    const C greatest = tree<0, (N + 1) / 2>(pair, op);
    return has_nan ? C(NAN) : greatest;
  }
  template <int N, class F, class At>
  static HIPOPS_METHOD C reduce(const ReduceArgs& a, const F& f, At) {
    static_assert(N == 1 || N % 2 == 0, "pairs");
    if (a.sign > 0) return reduce_by<N>(Maximum(), f);  // a uniform branch
    f.convert_again(uint32_t(a.units >> 63));           // a 0 that no compiler knows
    if (a.sign == 0) return reduce_by<N>(Maximum(), [&](int i) { return magnitude_of(f(i)); });
    f.convert_again(uint32_t(a.units >> 63));
    return -reduce_by<N>(Minimum(), f);
  }
  static HIPOPS_METHOD C finish(const ReduceArgs& a, C greatest) {
    if (a.sign != 0) return greatest * C(a.sign);
    const C most = a.most_magnitude != nullptr ? C(load_uniform(a.most_magnitude)) : C(INFINITY);
    if (greatest > most) greatest = most;
    const C scale = greatest / C(a.count);
    return scale < C(a.least_scale) ? C(a.least_scale) : scale;
  }
};

HIPOPS_FN float exponential_of(float v) { return exp2_fast(v * 1.44269504f); }
HIPOPS_FN double exponential_of(double v) { return exponential(v); }

// The greatest number, NaNs left out, and the sum of e^(x - reference of the greatest number). A NaN makes the sum NaN.
template <class C>
struct PowerSum {
  C greatest, sum;
  // Not infinite: inf - inf would be NaN.
  static HIPOPS_METHOD C reference_of(C greatest) { return greatest - greatest == C(0) ? greatest : C(0); }
};
template <class C>
struct LogSumExpOf : PlainKind<LogSumExpOf<C>, PowerSum<C>> {
  using Number = C;
  using Lane = PowerSum<C>;
  HIPOPS_METHOD Lane operator()(const Lane& a, const Lane& b) const {
    const C greatest = Maximum()(a.greatest, b.greatest), reference = Lane::reference_of(greatest);
    return {greatest,
            a.sum * exponential_of(a.greatest - reference) + b.sum * exponential_of(b.greatest - reference)};
  }
  template <class T> static HIPOPS_METHOD T identity() { return {-C(INFINITY), C(0)}; }
  static HIPOPS_METHOD C absent(const ReduceArgs&) { return -C(INFINITY); }
  template <class F>
  struct Power {
    const F& f;
    C reference;
    HIPOPS_METHOD C operator()(int i) const { return exponential_of(f(i) - reference); }
  };
  template <int N, class F, class At>
  static HIPOPS_METHOD Lane reduce(const ReduceArgs& a, const F& f, At) {
    const C greatest = tree<0, N>(f, Maximum());
    f.convert_again(uint32_t(a.units >> 63));  // a 0 that no compiler knows
    return {greatest, tree<0, N>(Power<F>{f, Lane::reference_of(greatest)}, Sum())};
  }
  // Two reductions, and one exponential a lane.
  template <class F>
  static HIPOPS_METHOD Lane over_row(const Lane& lane, F& f) {
    const C greatest = f(lane.greatest, Maximum()), reference = Lane::reference_of(greatest);
    return {greatest, f(lane.sum * exponential_of(lane.greatest - reference), Sum())};
  }
  static HIPOPS_METHOD C finish(const ReduceArgs&, const Lane& lane) {
    return Lane::reference_of(lane.greatest) + logarithm(lane.sum);
  }
};

// The greatest number and its place. A NaN is greater than all. The first of equal numbers is the result.
template <class C>
struct Placed {
  C value;
  uint32_t low, high;  // of the place
  HIPOPS_METHOD uint64_t place() const { return uint64_t(high) << 32 | low; }
};
template <class C>
struct PositionOf : PlainKind<PositionOf<C>, Placed<C>> {
  using Number = C;
  using Lane = Placed<C>;
  static HIPOPS_METHOD bool is_greater(C a, C b) { return a > b || (a != a && b == b); }
  HIPOPS_METHOD Lane operator()(const Lane& a, const Lane& b) const {
    const bool takes_b = is_greater(b.value, a.value) || (!is_greater(a.value, b.value) && b.place() < a.place());
    return {takes_b ? b.value : a.value, takes_b ? b.low : a.low, takes_b ? b.high : a.high};
  }
  template <class T> static HIPOPS_METHOD T identity() { return {-C(INFINITY), UINT32_MAX, UINT32_MAX}; }
  static HIPOPS_METHOD C absent(const ReduceArgs& a) { return -C(INFINITY) * C(a.sign); }
  // Finds the greatest number, then the first element that equals it. If that is NaN, the first NaN.
  template <int N, class F, class At>
  static HIPOPS_METHOD Lane reduce(const ReduceArgs& a, const F& f, At at) {
    const C greatest = GreatestOf<C>::template reduce<N>(a, f, at), wanted = greatest * C(a.sign);
    f.convert_again(uint32_t(a.units >> 63));
    int first = N - 1;
    if (wanted == wanted) {
#pragma unroll
      for (int i = N - 2; i >= 0; --i) first = f(i) == wanted ? i : first;
    } else {
      f.convert_again(uint32_t(a.units >> 63));
#pragma unroll
      for (int i = N - 2; i >= 0; --i) first = f(i) != f(i) ? i : first;
    }
    const int64_t place = at(first);
    return {greatest, uint32_t(place), uint32_t(uint64_t(place) >> 32)};
  }
  static HIPOPS_METHOD int64_t finish(const ReduceArgs&, const Lane& lane) { return int64_t(lane.place()); }
};

// Runs the code for the launch's kind. The branch is uniform.
template <class C, class Code>
HIPOPS_FN void run_kind(const ReduceArgs& a, const Code& code) {
  if (a.kind == kReduceSum) code.template run<SumOf<C>>();
  else if (a.kind == kReduceGreatest) code.template run<GreatestOf<C>>();
  else if (a.kind == kReduceLogSumExp) code.template run<LogSumExpOf<C>>();
  else code.template run<PositionOf<C>>();
}

// Room for a Lane or a Total. All kinds of a kernel share its memory.
struct alignas(16) ReduceRoom {
  uint32_t word[4];
};

template <class T, class Args, class C>
HIPOPS_FN void store_as(const Args& a, int64_t at, C v) {
  static_cast<T*>(a.y)[at] = narrow<T>(with_plain_nan<T>(v));
}
HIPOPS_FN void store_result(const ReduceArgs& a, int64_t at, int64_t place) {
  if (a.output == kOutput64) static_cast<int64_t*>(a.y)[at] = place;
  else static_cast<uint32_t*>(a.y)[at] = uint32_t(place);
}
template <class Args, class C>
HIPOPS_FN void store_result(const Args& a, int64_t at, C result) {
  const C v = result == C(0) ? C(0) : result;  // a zero is +0, in every order
  if (a.output == kOutputF32) store_as<f32>(a, at, v);
  else if constexpr (sizeof(C) == sizeof(double)) store_as<f64>(a, at, v);
  else if (a.output == kOutputF16) store_as<f16>(a, at, v);
  else store_as<bf16>(a, at, v);
}

// Stores the Lane of a result's part, or the result.
template <class K>
HIPOPS_FN void store_lane(const ReduceArgs& a, int64_t result, int64_t part, int64_t at_y,
                          const typename K::Lane& lane) {
  if (a.partial != nullptr)
    static_cast<typename K::Lane*>(a.partial)[result * a.result_step + part * a.part_step] = lane;
  else
    store_result(a, at_y, K::finish(a, lane));
}

// Combines values[i] for all i that are equal modulo `results`, a power of two, into values[i % results]. All
// work-items of the block call it, after they stored `count` values, a power of two.
template <class K, class V>
HIPOPS_FN void combine_over_block(const Shared<V>& values, uint32_t count, uint32_t results) {
  barrier();
#pragma unroll 1
  for (uint32_t n = count / 2; n >= results; n /= 2) {
    for (uint32_t i = hide_origin(thread_index()); i < n; i += kReduceBlock) values[i] = V(K()(V(values[i]), V(values[i + n])));
    barrier();
  }
}

}  // namespace
}  // namespace hipops
