// The kernels of maps: y = f(x, ...), element by element, for inputs and outputs of one type. An op is a struct.
// `Args` is the argument struct, with `MapStreams<kOutputs + kInputs> map`. `kOutputs` and `kInputs` count its tensors.
// `apply<T>(args, x[kInputs][n], y[kOutputs][n])` computes the results of n neighbours, in f32.
#pragma once

#include "device/core/cache.h"
#include "device/core/strided.h"
#include "device/core/unaligned.h"
#include "device/map/contract.h"

namespace hipops {
namespace {

// Makes the vectors of two inputs of the 2 * n elements x[0], x[1], in which they alternate.
template <class T, int n>
HIPOPS_FN void separate(Packed<T, n>* x) {
  Vector<T, n> apart[2];
#pragma unroll
  for (int i = 0; i < n; ++i) {
    apart[0].element[i] = x[2 * i / n][2 * i % n];
    apart[1].element[i] = x[2 * i / n][2 * i % n + 1];
  }
  x[0] = apart[0], x[1] = apart[1];
}

// The reverse, for two outputs.
template <class T, int n>
HIPOPS_FN void alternate(Vector<T, n> (&y)[2]) {
  const Vector<T, n> apart[2] = {y[0], y[1]};
#pragma unroll
  for (int i = 0; i < 2 * n; ++i) y[i / n].element[i % n] = apart[i % 2].element[i / 2];
}

template <class Op> constexpr int operands_of = Op::kOutputs + Op::kInputs;

template <class T, class Op>
HIPOPS_FN const T* input_of(const typename Op::Args& a, int k) {
  return static_cast<const T*>(a.map.data[Op::kOutputs + k]);
}

// Computes the results, and calls store(memory of the output, its number, its results) for each output that is present.
template <class T, int n, class Op, class Store>
HIPOPS_FN void apply_map(const typename Op::Args& a, float (&x)[Op::kInputs][n], Store store) {
  float y[Op::kOutputs][n];
  Op::template apply<T>(a, x, y);
  Vector<T, n> results[Op::kOutputs];
#pragma unroll
  for (int k = 0; k < Op::kOutputs; ++k) {
#pragma unroll
    for (int i = 0; i < n; ++i) results[k].element[i] = narrow<T>(y[k][i]);
  }
  if constexpr (Op::kOutputs == 2) {
    const auto& map = reload_arguments(a).map;
    if (map.alternate & kAlternateOutputs) alternate(results);
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      if (map.present >> k & 1) store(static_cast<T*>(map.data[k]), k, results[k]);
    }
  } else {
    store(static_cast<T*>(a.map.data[0]), 0, results[0]);
  }
}

// The same of single elements.
template <class T, class Op>
HIPOPS_FN void map_element(const typename Op::Args& a, const Offsets<operands_of<Op>>& at, int64_t i) {
  float x[Op::kInputs][1];
#pragma unroll
  for (int k = 0; k < Op::kInputs; ++k) x[k][0] = widen(input_of<T, Op>(a, k)[at.of[Op::kOutputs + k] + i]);
  apply_map<T, 1, Op>(a, x, [&](T* y, int k, const Vector<T, 1>& v) { y[at.of[k] + i] = v.element[0]; });
}

// A round loads the vectors of the next round before it computes. There is one copy of the code that computes, which is
// large. Past the end, the loads are repeated and ignored. No branch: loads stay in flight over the stores.
template <class T, class Op>
HIPOPS_FN void map_wide(const typename Op::Args& a) {
  constexpr int kInputs = Op::kInputs, kOutputs = Op::kOutputs, n = kWideBytes / int(sizeof(T));
  const MapStreams<operands_of<Op>>& map = a.map;
  load_walk_arguments(map.walk, map.data[0], map.data[1], map.data[operands_of<Op> - 1], map.step);
  int64_t i = int64_t(block_index()) * kMapBlock + thread_index();
  Offsets<operands_of<Op>> at{};
  Packed<T, n> next[kInputs];
  const auto issue_loads = [&] {
#pragma unroll
    for (int k = 0; k < kInputs; ++k)
      next[k] = load_packed_evict_last<n>(input_of<T, Op>(a, k) + at.of[kOutputs + k]);
  };
  if (i < map.walk.count) {
    at = locate(map.walk, i);
    issue_loads();
  }
#pragma unroll 1
  while (i < map.walk.count) {
    const Offsets<operands_of<Op>> here = at;
    Packed<T, n> now[kInputs];
#pragma unroll
    for (int k = 0; k < kInputs; ++k) now[k] = next[k];
    i += map.step;
    const bool is_last = i >= map.walk.count;
    // Strides of five operands need too many scalar registers.
    const MapStreams<operands_of<Op>>& again = kOutputs == 2 ? reload_arguments(a).map : map;
    if (again.advances) {
#pragma unroll
      for (int k = 0; k < operands_of<Op>; ++k) at.of[k] += is_last ? 0 : again.advance[k];
    } else {
      at = locate(again.walk, is_last ? i - map.step : i);
    }
    issue_loads();
    if constexpr (kInputs >= 2) {
      if (map.alternate & kAlternateInputs) separate(now + kInputs - 2);
    }
    float x[kInputs][n];
#pragma unroll
    for (int k = 0; k < kInputs; ++k) {
#pragma unroll
      for (int e = 0; e < n; ++e) x[k][e] = widen(now[k][e]);
    }
    apply_map<T, n, Op>(reload_arguments(a), x,
                        [&](T* y, int k, const Vector<T, n>& v) { store_vector_as_one<n>(y + here.of[k], v); });
  }
  if ((map.head | map.tail) == 0 || block_index() != 0) return;
  const int32_t thread = int32_t(thread_index());
  if (thread < map.head) map_element<T, Op>(a, {}, thread - map.head);
  if (thread < map.tail) map_element<T, Op>(a, {}, map.walk.count * n + thread);
}

static_assert(kMapDepth == 2, "the loop over a piece's vectors keeps one vector for the next round");

// Vectors are at multiples of 16 in the outputs, and anywhere in the inputs.
template <class T, class Op>
HIPOPS_FN void map_shifted(const typename Op::Args& a) {
  constexpr int kInputs = Op::kInputs, kOutputs = Op::kOutputs, n = kWideBytes / int(sizeof(T));
  const MapStreams<operands_of<Op>>& map = a.map;
  for_each_row_piece<kMapBlock, kMapDepth>(map, [&](int64_t, const Offsets<operands_of<Op>>& at, int32_t first) {
    const T* x[kInputs];
    const typename Op::Args& again = kOutputs == 2 ? reload_arguments(a) : a;
#pragma unroll
    for (int k = 0; k < kInputs; ++k) x[k] = input_of<T, Op>(again, k) + at.of[kOutputs + k];
    const ShiftedRow<T> row(x, static_cast<const T*>(again.map.data[0]) + at.of[0], int32_t(again.map.rows.cols));
    const int32_t lanes = 1 << again.map.rows.lane_bits;
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
        apply_map<T, n, Op>(reload_arguments(a), values, [&](T* y, int k, const Vector<T, n>& results) {
          store_vector_as_one<n>(y + at.of[k] + row.vector(v), results);
        });
      } else if (v - row.vectors < row.others) {
        map_element<T, Op>(reload_arguments(a), at, row.other(v - row.vectors));
      }
    }
  }, map.data[0], map.data[1], map.data[operands_of<Op> - 1]);
}

template <class T, class Op>
HIPOPS_FN void map_any(const typename Op::Args& a) {
  constexpr int kInputs = Op::kInputs;
  const MapStreams<operands_of<Op>>& map = a.map;
  load_walk_arguments(map.walk, map.data[0], map.data[1], map.data[operands_of<Op> - 1], map.apart, map.step);
  for (int64_t i = int64_t(block_index()) * kMapBlock + thread_index(); i < map.walk.count; i += map.step) {
    int64_t place[kMapElements];
    Offsets<operands_of<Op>> at[kMapElements];
    T in[kInputs][kMapElements];
    float x[kInputs][kMapElements];
#pragma unroll
    for (int d = 0; d < kMapElements; ++d) place[d] = i + d * map.apart < map.walk.count ? i + d * map.apart : i;
    locate(map.walk, place, at);
#pragma unroll
    for (int d = 0; d < kMapElements; ++d) {
#pragma unroll
      for (int k = 0; k < kInputs; ++k)
        in[k][d] = load_evict_last(input_of<T, Op>(a, k) + at[d].of[Op::kOutputs + k]);
    }
#pragma unroll
    for (int d = 0; d < kMapElements; ++d) {
#pragma unroll
      for (int k = 0; k < kInputs; ++k) x[k][d] = widen(in[k][d]);
    }
    apply_map<T, kMapElements, Op>(reload_arguments(a), x, [&](T* y, int k, const Vector<T, kMapElements>& results) {
#pragma unroll
      for (int d = 0; d < kMapElements; ++d) {
        if (d == 0 || place[d] != i) y[at[d].of[k]] = results.element[d];
      }
    });
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
