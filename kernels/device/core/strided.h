// Where the elements of a walk are (strided_contract.h).
#pragma once

#include "device/core/divide.h"
#include "device/core/strided_contract.h"
#include "device/core/types.h"

namespace hipops {
namespace {

// Offsets in elements of K operands.
template <int K>
struct Offsets {
  int64_t of[K];
};

// The offsets of elements `i` of the walk, 0 <= i < count: several, for which the walk's numbers are read but once.
template <int N, int K>
HIPOPS_FN void locate_in_loop(const Walk<K>& w, const int64_t (&i)[N], Offsets<K> (&at)[N]) {
#pragma unroll
  for (int n = 0; n < N; ++n) at[n] = {};
  // The branch is the same for all work-items; 64-bit products are left to walks that need them.
  if (w.small) {
    uint32_t rest[N];
#pragma unroll
    for (int n = 0; n < N; ++n) rest[n] = uint32_t(i[n]);
    for (int d = 0; d + 1 < w.rank; ++d) {
#pragma unroll
      for (int n = 0; n < N; ++n) {
        uint32_t quotient = divide(rest[n], w.dim[d].divisor);
        uint32_t position = rest[n] - quotient * uint32_t(w.dim[d].size);
#pragma unroll
        for (int k = 0; k < K; ++k) at[n].of[k] += int64_t(position) * w.dim[d].stride[k];
        rest[n] = quotient;
      }
    }
#pragma unroll
    for (int n = 0; n < N; ++n) {
#pragma unroll
      for (int k = 0; k < K; ++k) at[n].of[k] += int64_t(rest[n]) * w.dim[w.rank - 1].stride[k];
    }
  } else {
    int64_t rest[N];
#pragma unroll
    for (int n = 0; n < N; ++n) rest[n] = i[n];
    for (int d = 0; d + 1 < w.rank; ++d) {
#pragma unroll
      for (int n = 0; n < N; ++n) {
        int64_t quotient = divide(rest[n], w.dim[d].size, w.dim[d].wide_divisor);
        int64_t position = rest[n] - quotient * w.dim[d].size;
#pragma unroll
        for (int k = 0; k < K; ++k) at[n].of[k] += position * w.dim[d].stride[k];
        rest[n] = quotient;
      }
    }
#pragma unroll
    for (int n = 0; n < N; ++n) {
#pragma unroll
      for (int k = 0; k < K; ++k) at[n].of[k] += rest[n] * w.dim[w.rank - 1].stride[k];
    }
  }
}

// What so many steps along dimension d add.
template <int K>
HIPOPS_FN void add_steps(const Walk<K>& w, int d, uint32_t steps, Offsets<K>* at) {
#pragma unroll
  for (int k = 0; k < K; ++k) at->of[k] += int64_t(steps) * w.dim[d].stride[k];
}

// What the place of element i adds, whatever their count, in as few instructions as may be.
template <int K>
HIPOPS_FN void add_far_steps(const Walk<K>& w, int64_t i, Offsets<K>* at) {
#pragma unroll 1
  for (int d = 0; d < w.rank; ++d) {
    const int64_t quotient = divide(i, w.dim[d].size, w.dim[d].wide_divisor), position = i - quotient * w.dim[d].size;
#pragma unroll
    for (int k = 0; k < K; ++k) at->of[k] += position * w.dim[d].stride[k];
    i = quotient;
  }
}

// The place of element i of a small walk, in as few instructions as may be.
template <int K>
HIPOPS_FN Offsets<K> locate_small(const Walk<K>& w, uint32_t i) {
  Offsets<K> at{};
#pragma unroll 1
  for (int d = 0; d < w.rank; ++d) {
    const uint32_t quotient = divide(i, w.dim[d].divisor);
    add_steps(w, d, i - quotient * uint32_t(w.dim[d].size), &at);
    i = quotient;
  }
  return at;
}

// The same, and where instructions take arguments from where they are, the shorter way to the first load: dimensions are
// unrolled. (Not for tiles, which do more before the next one: transposes took up to 12 % longer on an H200.)
template <int N, int K>
HIPOPS_FN void locate(const Walk<K>& w, const int64_t (&i)[N], Offsets<K> (&at)[N]) {
  if constexpr (!arguments_are_operands) return locate_in_loop(w, i, at);
  uint32_t rest[N];
#pragma unroll
  for (int n = 0; n < N; ++n) at[n] = {}, rest[n] = uint32_t(i[n]);
  if (__builtin_expect(!w.small, 0)) {
#pragma unroll
    for (int n = 0; n < N; ++n) add_far_steps(w, i[n], &at[n]);
    return;
  }
#pragma unroll
  for (int d = 0; d < kMaxRank - 1; ++d) {
    if (d + 1 == w.rank) {
#pragma unroll
      for (int n = 0; n < N; ++n) add_steps(w, d, rest[n], &at[n]);
      return;
    }
#pragma unroll
    for (int n = 0; n < N; ++n) {
      const uint32_t quotient = divide(rest[n], w.dim[d].divisor);
      add_steps(w, d, rest[n] - quotient * uint32_t(w.dim[d].size), &at[n]);
      rest[n] = quotient;
    }
  }
#pragma unroll
  for (int n = 0; n < N; ++n) add_steps(w, kMaxRank - 1, rest[n], &at[n]);
}

// The same of one.
template <int K>
HIPOPS_FN Offsets<K> locate(const Walk<K>& w, int64_t i) {
  int64_t one[1] = {i};
  Offsets<K> at[1];
  locate(w, one, at);
  return at[0];
}
template <int K>
HIPOPS_FN Offsets<K> locate_in_loop(const Walk<K>& w, int64_t i) {
  int64_t one[1] = {i};
  Offsets<K> at[1];
  locate_in_loop(w, one, at);
  return at[0];
}

}  // namespace
}  // namespace hipops
