// Cumulative sums of lines of any layout: a lane has a vector of neighbouring lines, or a line, and walks along them. It adds
// eight elements one after another. The block adds such sums in order, with twice the digits, in shared memory.
#pragma once

#include "device/core/strided.h"
#include "device/reduce/cumsum.h"

namespace hipops {
namespace {

template <class T, int Length>
HIPOPS_FN void scan_columns(const CumsumArgs& args, const Shared<CumsumRoom>& room) {
  using Number = number_t<T>;
  using Wide = wide_t<T>;
  constexpr int kOwn = kCumsumColumns / kCumsumBlock;  // lines whose sums a work-item adds
  const Shared<Wide> sums = room.as<Wide>();
  const int32_t lanes = 1 << args.result_bits, groups = kCumsumBlock >> args.result_bits, lines = lanes * Length;
  const int32_t thread = int32_t(thread_index()), lane = thread & (lanes - 1), group = thread >> args.result_bits;

  for (int64_t index = block_index(); index < reload_arguments(args).units; index += reload_arguments(args).step) {
    const CumsumArgs& a = reload_arguments(args);
    // The last chunks that the first launch has read are still in a cache.
    const int64_t unit = a.sums != nullptr && !a.only_sums ? a.units - 1 - index : index;
    int64_t chunk = divide(unit, a.tiles, a.tiles_divisor);
    const int64_t tile = unit - chunk * a.tiles, place = (tile << a.result_bits) + lane;
    const bool is_live = place < a.lines.count;
    const Offsets<kCumsumOperands> at = locate_in_loop(a.lines, is_live ? place : tile << a.result_bits);
    const T* x = static_cast<const T*>(a.x) + at.of[kCumsumX];

    ChunkSums<Wide, Number> chunks[kOwn];
    Wide* sum_of[kOwn];
#pragma unroll
    for (int o = 0; o < kOwn; ++o) {
      const int32_t own = thread + o * kCumsumBlock;
      const int64_t line = (tile << a.result_bits) * Length + own;
      sum_of[o] = own < lines && line < a.lines.count * Length ? static_cast<Wide*>(a.sums) + line : nullptr;
      if (a.sums == nullptr || a.only_sums || sum_of[o] == nullptr) continue;
      for (int64_t c = 0; c < chunk; c += kChunksLoaded) {
        Wide some[kChunksLoaded];
#pragma unroll
        for (int i = 0; i < kChunksLoaded; ++i) some[i] = sum_of[o][(c + i < chunk ? c + i : chunk - 1) * a.chunk_step];
#pragma unroll
        for (int i = 0; i < kChunksLoaded; ++i)
          if (c + i < chunk) chunks[o].add(some[i]);
      }
    }

    for (const int64_t last = a.sums != nullptr ? chunk : a.chunks - 1; chunk <= last; ++chunk) {
      const CumsumArgs& a = reload_arguments(args);
      Wide before[kOwn];
#pragma unroll
      for (Wide& one : before) one = Wide::of(Number(0));
      const int64_t begin = chunk * a.chunk, end = begin + a.chunk < a.length ? begin + a.chunk : a.length;
      for (int64_t base = begin; base < end; base += int64_t(groups) * kCumsumRows) {
        const CumsumArgs& a = reload_arguments(args);
        const int64_t first = base + group * kCumsumRows;
        const int32_t rows = first < end ? int32_t(end - first < kCumsumRows ? end - first : kCumsumRows) : 0;
        const T* from_x = x + (rows > 0 ? first : base) * a.x_step;
        Packed<T, Length> v[kCumsumRows];
#pragma unroll
        for (int i = 0; i < kCumsumRows; ++i) {
          v[i] = load_packed_once<Length>(from_x);
          from_x += i + 1 < rows ? a.x_step : 0;
        }
        issue_before_use(v);
#pragma unroll
        for (int i = 0; i < kCumsumRows; ++i)
          if (i >= rows) v[i] = zeros<Length, T>();
#pragma unroll
        for (int e = 0; e < Length; ++e) {
          Number sum = number_of(a, v[0][e]);
#pragma unroll
          for (int i = 1; i < kCumsumRows; ++i) sum += number_of(a, v[i][e]);
          sums[thread * Length + e] = Wide::of(sum);
        }
        barrier();
#pragma unroll
        for (int o = 0; o < kOwn; ++o) {
          const int32_t own = thread + o * kCumsumBlock;
          if (own >= lines) break;
          const Wide before_chunk = chunks[o].sum();
          for (int32_t g = 0; g < groups; ++g) {
            const Wide sum = sums[g * lines + own];
            sums[g * lines + own] = before_chunk + before[o];
            before[o] = before[o] + sum;
          }
        }
        barrier();
        if (a.only_sums || !is_live) continue;
        int64_t at_y = at.of[kCumsumY] + first * a.y_step;
        Number from[Length], sum[Length];
#pragma unroll
        for (int e = 0; e < Length; ++e) {
          from[e] = Wide(sums[thread * Length + e]).value();
          sum[e] = number_of(a, v[0][e]);
        }
#pragma unroll
        for (int i = 0; i < kCumsumRows; ++i) {
          Number result[Length];
#pragma unroll
          for (int e = 0; e < Length; ++e) {
            if (i > 0) sum[e] += number_of(a, v[i][e]);
            result[e] = from[e] + sum[e];
          }
          if (i < rows) store_results<T>(a, at_y, result);
          at_y += a.y_step;
        }
      }
#pragma unroll
      for (int o = 0; o < kOwn; ++o) chunks[o].add(before[o]);
    }
    const CumsumArgs& b = reload_arguments(args);
    if (!b.only_sums) continue;
#pragma unroll
    for (int o = 0; o < kOwn; ++o)
      if (sum_of[o] != nullptr) sum_of[o][(chunk - 1) * b.chunk_step] = chunks[o].sum();
  }
}

}  // namespace
}  // namespace hipops
