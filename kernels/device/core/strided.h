// Offsets of the elements of a walk (strided_contract.h).
#pragma once

#include "device/core/divide.h"
#include "device/core/strided_contract.h"
#include "device/core/types.h"

namespace hipops {
namespace {

template <int K>
struct Offsets {
  int64_t of[K];  // of each operand, in elements
};

// Loads the arguments that a walk's first load depends on, together with `more`.
template <int K, class... T>
HIPOPS_FN void load_walk_arguments(const Walk<K>& w, T... more) {
  const WalkDimension<K>& d = w.dim[0];
  load_arguments_together(w.count, w.rank, w.fits_int32, d.size, d.divisor.multiplier, d.divisor.shift, d.stride[0], d.stride[1],
                    d.stride[2 % K], d.stride[3 % K], w.outermost[0], w.outermost[1], w.outermost[2 % K], w.outermost[3 % K],
                    more...);
}

template <int K>
HIPOPS_FN uint32_t quotient(uint32_t n, const WalkDimension<K>& dim) { return divide(n, dim.divisor); }
template <int K>
HIPOPS_FN int64_t quotient(int64_t n, const WalkDimension<K>& dim) { return divide(n, dim.size, dim.wide_divisor); }

// Four ways to find offsets. locate(): where the path to the first load is most of the time. locate_in_loop(): in loops
// that compute more between loads. locate_compact(): in the fewest instructions. locate_as(): a step of
// locate_in_loop(), for positions of type I. First: the number of dimensions before the loop, 0 or 1.
template <int First, class I, int N, int K>
HIPOPS_FN void locate_as(const Walk<K>& w, const int64_t (&i)[N], Offsets<K> (&at)[N]) {
  I rest[N];
#pragma unroll
  for (int n = 0; n < N; ++n) at[n] = {}, rest[n] = I(i[n]);
  const auto step = [&](const WalkDimension<K>& dim) {
#pragma unroll
    for (int n = 0; n < N; ++n) {
      const I next = quotient(rest[n], dim), position = rest[n] - next * I(dim.size);
#pragma unroll
      for (int k = 0; k < K; ++k) at[n].of[k] += int64_t(position) * dim.stride[k];
      rest[n] = next;
    }
  };
  if (First == 1 && w.rank > 1) step(w.dim[0]);
  for (int d = First; d + 1 < w.rank; ++d) step(w.dim[d]);
#pragma unroll
  for (int n = 0; n < N; ++n) {
#pragma unroll
    for (int k = 0; k < K; ++k) at[n].of[k] += int64_t(rest[n]) * w.outermost[k];
  }
}

// The offsets of elements `i` of the walk, 0 <= i < count. The walk's arguments are read once for all N. The branch is
// uniform, and only large walks divide in 64 bits.
template <int First = 0, int N, int K>
HIPOPS_FN void locate_in_loop(const Walk<K>& w, const int64_t (&i)[N], Offsets<K> (&at)[N]) {
  if (w.fits_int32) locate_as<First, uint32_t>(w, i, at);
  else locate_as<First, int64_t>(w, i, at);
}

// Adds `steps` steps along dimension d.
template <class I, int K>
HIPOPS_FN void add_steps(const Walk<K>& w, int d, I steps, Offsets<K>* at) {
#pragma unroll
  for (int k = 0; k < K; ++k) at->of[k] += int64_t(steps) * w.dim[d].stride[k];
}

// The offsets of element i, in the fewest instructions. I may be a 32-bit type only if the walk fits.
template <class I, int K>
HIPOPS_FN Offsets<K> locate_compact(const Walk<K>& w, I i) {
  Offsets<K> at{};
#pragma unroll 1
  for (int d = 0; d < w.rank; ++d) {
    const I next = quotient(i, w.dim[d]);
    add_steps(w, d, I(i - next * I(w.dim[d].size)), &at);
    i = next;
  }
  return at;
}

// The offsets of elements `i`, with a shorter path to the first load. NVIDIA: instructions read arguments in place, and
// dimensions are unrolled. AMD: the first dimension's arguments are loaded before the rank is known, which needs more
// scalar registers. Not for tiles, which compute more between loads: transposes became up to 12 % slower on an H200.
template <int N, int K>
HIPOPS_FN void locate(const Walk<K>& w, const int64_t (&i)[N], Offsets<K> (&at)[N]) {
  if constexpr (!arguments_are_operands) return locate_in_loop<1>(w, i, at);
  uint32_t rest[N];
#pragma unroll
  for (int n = 0; n < N; ++n) at[n] = {}, rest[n] = uint32_t(i[n]);
  if (__builtin_expect(!w.fits_int32, 0)) {
#pragma unroll
    for (int n = 0; n < N; ++n) at[n] = locate_compact(w, i[n]);
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

template <int K>
HIPOPS_FN Offsets<K> locate(const Walk<K>& w, int64_t i) {
  Offsets<K> at[1];
  locate(w, {i}, at);
  return at[0];
}
template <int K>
HIPOPS_FN Offsets<K> locate_in_loop(const Walk<K>& w, int64_t i) {
  Offsets<K> at[1];
  locate_in_loop(w, {i}, at);
  return at[0];
}

// For walks over rows, in which `1 << lane_bits` work-items share a piece of a row. Calls f(row, offsets, n): the
// work-item moves Depth accesses from access n on, `1 << lane_bits` apart. `more`: arguments that f needs soon.
template <int Block, int Depth, class Args, class F, class... T>
HIPOPS_FN void for_each_row_piece(const Args& a, F f, T... more) {
  constexpr int kOperands = sizeof a.walk.outermost / sizeof(int64_t);
  const RowPieces& rows = a.rows;
  load_walk_arguments(a.walk, rows.count, rows.lane_bits, rows.pieces, rows.cols, rows.pieces_divisor.multiplier,
                      rows.pieces_divisor.shift, more...);
  for (int64_t w = int64_t(block_index()) * Block + thread_index(); w < rows.count; w += a.step) {
    const int64_t piece = w >> rows.lane_bits;
    const int64_t row = a.walk.fits_int32 ? int64_t(divide(uint32_t(piece), rows.pieces_divisor))
                                          : divide(piece, rows.pieces, reload_arguments(a).rows.wide_pieces_divisor);
    const auto& walk = kOperands > 4 ? reload_arguments(a).walk : a.walk;  // otherwise it needs too many scalar registers
    f(row, locate(walk, row),
      ((int32_t(piece - row * rows.pieces) * Depth) << rows.lane_bits) + int32_t(w - (piece << rows.lane_bits)));
  }
}

}  // namespace
}  // namespace hipops
