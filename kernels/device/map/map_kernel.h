// The kernels of maps: y = f(x, ...), element by element, for inputs and an output of one type. An op is a struct.
// `Args` is the argument struct, with `MapStreams<1 + kInputs> map`. `kInputs` is the number of inputs.
// `apply<T>(args, x[kInputs][n], y[n])` computes the results of n neighbours, in f32.
#pragma once

#include "device/core/cache.h"
#include "device/core/strided.h"
#include "device/core/unaligned.h"
#include "device/map/contract.h"

namespace hipops {
namespace {

template <class T, int n, class Op>
HIPOPS_FN Vector<T, n> apply_map(const typename Op::Args& a, float (&x)[Op::kInputs][n]) {
  float y[n];
  Op::template apply<T>(a, x, y);
  Vector<T, n> result;
#pragma unroll
  for (int i = 0; i < n; ++i) result.element[i] = narrow<T>(y[i]);
  return result;
}

// The same of single elements.
template <class T, class Op>
HIPOPS_FN void map_element(const typename Op::Args& a, const Offsets<Op::kInputs + 1>& at, int64_t i) {
  float x[Op::kInputs][1];
#pragma unroll
  for (int k = 0; k < Op::kInputs; ++k) x[k][0] = widen(static_cast<const T*>(a.map.data[k + 1])[at.of[k + 1] + i]);
  static_cast<T*>(a.map.data[0])[at.of[0] + i] = apply_map<T, 1, Op>(a, x).element[0];
}

// Makes the vectors of two inputs of the 2 * n elements x[0], x[1], in which they alternate.
template <class T, int n>
HIPOPS_FN void separate(Packed<T, n> (&x)[2]) {
  Vector<T, n> apart[2];
#pragma unroll
  for (int i = 0; i < n; ++i) {
    apart[0].element[i] = x[2 * i / n][2 * i % n];
    apart[1].element[i] = x[2 * i / n][2 * i % n + 1];
  }
  x[0] = apart[0], x[1] = apart[1];
}

// A round loads the vectors of the next round before it computes. There is one copy of the code that computes, which is
// large. Past the end, the loads are repeated and ignored. No branch: loads stay in flight over the stores.
template <class T, class Op>
HIPOPS_FN void map_wide(const typename Op::Args& a) {
  constexpr int kInputs = Op::kInputs, n = kWideBytes / int(sizeof(T));
  const MapStreams<kInputs + 1>& map = a.map;
  load_walk_arguments(map.walk, map.data[0], map.data[1], map.data[kInputs], map.step);
  T* const y = static_cast<T*>(map.data[0]);
  int64_t i = int64_t(block_index()) * kMapBlock + thread_index();
  Offsets<kInputs + 1> at{};
  Packed<T, n> next[kInputs];
  const auto issue_loads = [&] {
#pragma unroll
    for (int k = 0; k < kInputs; ++k)
      next[k] = load_packed_evict_last<n>(static_cast<const T*>(map.data[k + 1]) + at.of[k + 1]);
  };
  if (i < map.walk.count) {
    at = locate(map.walk, i);
    issue_loads();
  }
#pragma unroll 1
  while (i < map.walk.count) {
    const int64_t at_y = at.of[0];
    Packed<T, n> now[kInputs];
#pragma unroll
    for (int k = 0; k < kInputs; ++k) now[k] = next[k];
    i += map.step;
    const bool is_last = i >= map.walk.count;
    if (map.advances) {
#pragma unroll
      for (int k = 0; k < kInputs + 1; ++k) at.of[k] += is_last ? 0 : map.advance[k];
    } else {
      at = locate(map.walk, is_last ? i - map.step : i);
    }
    issue_loads();
    if constexpr (kInputs == 2) {
      if (map.alternate) separate(now);
    }
    float x[kInputs][n];
#pragma unroll
    for (int k = 0; k < kInputs; ++k) {
#pragma unroll
      for (int e = 0; e < n; ++e) x[k][e] = widen(now[k][e]);
    }
    store_vector_as_one<n>(y + at_y, apply_map<T, n, Op>(reload_arguments(a), x));
  }
  if ((map.head | map.tail) == 0 || block_index() != 0) return;
  const int32_t thread = int32_t(thread_index());
  if (thread < map.head) map_element<T, Op>(a, {}, thread - map.head);
  if (thread < map.tail) map_element<T, Op>(a, {}, map.walk.count * n + thread);
}

static_assert(kMapDepth == 2, "the loop over a piece's vectors keeps one vector for the next round");

// Vectors are at multiples of 16 in y, and anywhere in the inputs.
template <class T, class Op>
HIPOPS_FN void map_shifted(const typename Op::Args& a) {
  constexpr int kInputs = Op::kInputs, n = kWideBytes / int(sizeof(T));
  const MapStreams<kInputs + 1>& map = a.map;
  for_each_row_piece<kMapBlock, kMapDepth>(map, [&](int64_t, const Offsets<kInputs + 1>& at, int32_t first) {
    T* const y = static_cast<T*>(map.data[0]) + at.of[0];
    const T* x[kInputs];
#pragma unroll
    for (int k = 0; k < kInputs; ++k) x[k] = static_cast<const T*>(map.data[k + 1]) + at.of[k + 1];
    const ShiftedRow<T> row(x, y, int32_t(map.rows.cols));
    const int32_t lanes = 1 << map.rows.lane_bits;
    Packed<T, n> loaded[kInputs][kMapDepth]{};
    if (first < row.vectors) {
      IncomingVectors<T, kMapDepth, false> in[kInputs];
#pragma unroll
      for (int k = 0; k < kInputs; ++k)
        in[k].issue_loads(x[k], [&](int d) { return row.vector(first + d * lanes < row.vectors ? first + d * lanes : first); });
#pragma unroll
      for (int k = 0; k < kInputs; ++k) {
#pragma unroll
        for (int d = 0; d < kMapDepth; ++d) in[k].issue_before_use(d);
      }
#pragma unroll
      for (int k = 0; k < kInputs; ++k) {
        in[k].shift();
#pragma unroll
        for (int d = 0; d < kMapDepth; ++d) loaded[k][d] = in[k].value(d);
      }
    }
#pragma unroll 1
    for (int d = 0; d < kMapDepth; ++d) {
      const int32_t v = first + d * lanes;
      if (v < row.vectors) {
        float values[kInputs][n];
#pragma unroll
        for (int k = 0; k < kInputs; ++k) {
#pragma unroll
          for (int e = 0; e < n; ++e) values[k][e] = widen(loaded[k][0][e]);
          loaded[k][0] = loaded[k][1];
        }
        store_vector_as_one<n>(y + row.vector(v), apply_map<T, n, Op>(reload_arguments(a), values));
      } else if (v - row.vectors < row.others) {
        map_element<T, Op>(reload_arguments(a), at, row.other(v - row.vectors));
      }
    }
  }, map.data[0], map.data[1], map.data[kInputs]);
}

template <class T, class Op>
HIPOPS_FN void map_any(const typename Op::Args& a) {
  constexpr int kInputs = Op::kInputs;
  const MapStreams<kInputs + 1>& map = a.map;
  load_walk_arguments(map.walk, map.data[0], map.data[1], map.data[kInputs], map.apart, map.step);
  for (int64_t i = int64_t(block_index()) * kMapBlock + thread_index(); i < map.walk.count; i += map.step) {
    int64_t place[kMapElements];
    Offsets<kInputs + 1> at[kMapElements];
    T in[kInputs][kMapElements];
    float x[kInputs][kMapElements];
#pragma unroll
    for (int d = 0; d < kMapElements; ++d) place[d] = i + d * map.apart < map.walk.count ? i + d * map.apart : i;
    locate(map.walk, place, at);
#pragma unroll
    for (int d = 0; d < kMapElements; ++d) {
#pragma unroll
      for (int k = 0; k < kInputs; ++k)
        in[k][d] = load_evict_last(static_cast<const T*>(map.data[k + 1]) + at[d].of[k + 1]);
    }
#pragma unroll
    for (int d = 0; d < kMapElements; ++d) {
#pragma unroll
      for (int k = 0; k < kInputs; ++k) x[k][d] = widen(in[k][d]);
    }
    const Vector<T, kMapElements> result = apply_map<T, kMapElements, Op>(reload_arguments(a), x);
#pragma unroll
    for (int d = 0; d < kMapElements; ++d) {
      if (d == 0 || place[d] != i) static_cast<T*>(map.data[0])[at[d].of[0]] = result.element[d];
    }
  }
}

template <class T, class Op, MapMode mode>
HIPOPS_FN void run_map(const typename Op::Args& a) {
  if constexpr (mode == MapMode::wide) map_wide<T, Op>(a);
  else if constexpr (mode == MapMode::shifted) map_shifted<T, Op>(a);
  else map_any<T, Op>(a);
}

}  // namespace
}  // namespace hipops

#define HIPOPS_MAP_KERNEL(Op, Args, name, T, mode)     \
  HIPOPS_KERNEL(kMapBlock) name(HIPOPS_ARGS(Args) a) { \
    follow_launch_before();                            \
    run_map<T, Op, MapMode::mode>(a);                  \
  }
