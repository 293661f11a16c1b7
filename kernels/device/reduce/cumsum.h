// Sums, and elements, of cumulative sums.
//
// A line is divided into chunks of a length that follows from the line's length alone. Sums inside of a chunk begin at
// 0. The sums of chunks are added in order, 32 chunks at a time. A launch before may have stored these sums. Then each
// block adds the sums before its chunk. Otherwise one block has all chunks of a line. The order is the same.
#pragma once

#include "device/core/cache.h"
#include "device/core/reduce.h"
#include "device/reduce/cumsum_contract.h"

namespace hipops {
namespace {

// The sum of integers wraps, in every order.
struct WideInteger {
  uint64_t sum;
  static HIPOPS_METHOD WideInteger of(uint64_t v) { return {v}; }
  HIPOPS_METHOD uint64_t value() const { return sum; }
  friend HIPOPS_METHOD WideInteger operator+(const WideInteger& a, const WideInteger& b) { return {a.sum + b.sum}; }
};

// Number: the type of an element's sum. Wide: a sum with about twice the digits.
template <class T>
struct Summed {
  static constexpr bool kIsInteger = false;
  using Number = compute_t<T>;
  using Wide = WideSum<Number>;
};
struct SummedInteger {
  static constexpr bool kIsInteger = true;
  using Number = uint64_t;
  using Wide = WideInteger;
};
template <> struct Summed<u8> : SummedInteger {};
template <> struct Summed<u32> : SummedInteger {};
template <> struct Summed<u64> : SummedInteger {};
template <class T> using number_t = typename Summed<T>::Number;
template <class T> using wide_t = typename Summed<T>::Wide;

template <class T>
HIPOPS_FN number_t<T> number_of(const CumsumArgs& a, T v) {
  if constexpr (!Summed<T>::kIsInteger) return widen(v);
  else return uint64_t(v) - 2 * (uint64_t(v) & a.sign);
}

// Neighbouring elements. Bytes are joined by shifts: nvcc would keep an array of them in memory.
template <int N, class T>
HIPOPS_FN Packed<T, N> packed_of(const T (&element)[N]) {
  if constexpr (sizeof(T) == 1 && N == 4) {
    return bit_cast<Vector<T, N>>(element[0] | uint32_t(element[1]) << 8 | uint32_t(element[2]) << 16 | uint32_t(element[3]) << 24);
  } else {
    Vector<T, N> v;
#pragma unroll
    for (int i = 0; i < N; ++i) v.element[i] = element[i];
    return v;
  }
}
template <int N, class T>
HIPOPS_FN Packed<T, N> zeros() {
  const T none[N] = {};
  return packed_of(none);
}

// Stores N neighbouring results, the first at y[at].
template <class T, int N>
HIPOPS_FN void store_results(const CumsumArgs& a, int64_t at, const number_t<T> (&result)[N]) {
  if constexpr (Summed<T>::kIsInteger) {
    if (a.is_widened) {
      Vector<u64, N> wide;
#pragma unroll
      for (int i = 0; i < N; ++i) wide.element[i] = result[i];
      return store_vector<N>(static_cast<u64*>(a.y) + at, wide);
    }
  }
  T element[N];
#pragma unroll
  for (int i = 0; i < N; ++i) {
    if constexpr (Summed<T>::kIsInteger) element[i] = T(result[i]);
    else element[i] = narrow<T>(result[i]);
  }
  if constexpr (N == 1) static_cast<T*>(a.y)[at] = element[0];
  else store_vector<N>(static_cast<T*>(a.y) + at, packed_of(element));
}

// The sum of a line's first chunks.
template <class Wide, class Number>
struct ChunkSums {
  Wide groups = Wide::of(Number(0)), group = Wide::of(Number(0));
  int32_t count = 0;

  HIPOPS_METHOD void add(const Wide& chunk) {
    group = group + chunk;
    if (++count % kChunkGroup != 0) return;
    groups = groups + group;
    group = Wide::of(Number(0));
  }
  HIPOPS_METHOD Wide sum() const { return groups + group; }
};

constexpr int kChunksLoaded = 8;  // sums of chunks that a lane loads together

// Shared memory for numbers of any type. All types of a kernel use the same.
struct alignas(16) CumsumRoom {
  uint32_t word[4];
};

}  // namespace
}  // namespace hipops
