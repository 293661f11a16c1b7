// Where the elements of a walk are (strided_contract.h).
#pragma once

#include "device/strided_contract.h"
#include "device/types.h"

namespace hipops {
namespace {

HIPOPS_FN uint32_t high_half(uint32_t a, uint32_t b) { return uint32_t((uint64_t(a) * b) >> 32); }

HIPOPS_FN uint32_t divide(uint32_t n, Divisor d) { return (high_half(n, d.multiplier) + n) >> d.shift; }

// Offsets in elements of K operands.
template <int K>
struct Offsets {
  int64_t of[K];
};

// The offsets of element `i` of the walk, 0 <= i < count.
template <int K>
HIPOPS_FN Offsets<K> locate(const Walk<K>& w, int64_t i) {
  Offsets<K> at{};
  // The branch is the same for all work-items; 64-bit division, some hundred instructions, is left to walks that need it.
  if (w.small) {
    uint32_t rest = uint32_t(i);
    for (int d = 0; d + 1 < w.rank; ++d) {
      uint32_t quotient = divide(rest, w.divisor[d]);
      uint32_t position = rest - quotient * uint32_t(w.size[d]);
#pragma unroll
      for (int k = 0; k < K; ++k) at.of[k] += int64_t(position) * w.stride[k][d];
      rest = quotient;
    }
#pragma unroll
    for (int k = 0; k < K; ++k) at.of[k] += int64_t(rest) * w.stride[k][w.rank - 1];
  } else {
    int64_t rest = i;
    for (int d = 0; d + 1 < w.rank; ++d) {
      int64_t quotient = rest / w.size[d];
      int64_t position = rest - quotient * w.size[d];
#pragma unroll
      for (int k = 0; k < K; ++k) at.of[k] += position * w.stride[k][d];
      rest = quotient;
    }
#pragma unroll
    for (int k = 0; k < K; ++k) at.of[k] += rest * w.stride[k][w.rank - 1];
  }
  return at;
}

}  // namespace
}  // namespace hipops
