// Cumulative sums of lines of any layout: a lane has a vector of neighbouring lines, or a line, and walks along them. It adds
// eight elements one after another: a piece. Eight pieces are an octet. Sums of pieces are added in order, with twice the
// digits, and then sums of octets. So the block's shape changes no order.
#pragma once

#include "device/core/strided.h"
#include "device/reduce/cumsum.h"

namespace hipops {
namespace {

// Loads a piece of each of Length neighbouring lines. It has `rows` elements, and then more: see clear_rest().
template <class T, int Length>
HIPOPS_FN void load_piece(const T* x, int64_t x_step, int32_t rows, Packed<T, Length> (&v)[kCumsumRows]) {
#pragma unroll
  for (int i = 0; i < kCumsumRows; ++i) {
    v[i] = load_packed_once<Length>(x);
    x += i + 1 < rows ? x_step : 0;
  }
  issue_before_use(v);
}
template <class T, int Length>
HIPOPS_FN void clear_rest(int32_t rows, Packed<T, Length> (&v)[kCumsumRows]) {
#pragma unroll
  for (int i = 0; i < kCumsumRows; ++i)
    if (i >= rows) v[i] = zeros<Length, T>();
}

template <class T, int Length>
HIPOPS_FN void scan_columns(const CumsumArgs& args, const Shared<CumsumRoom>& room) {
  using Number = number_t<T>;
  using Wide = wide_t<T>;
  const Shared<Wide> sums = room.as<Wide>();  // of pieces, then of the pieces before each in its octet
  constexpr int kOctets = kCumsumBlock * Length;  // behind them, sums of octets, then of all before each
  const Wide none = Wide::of(Number(0));
  const int32_t lanes = 1 << args.result_bits, groups = kCumsumBlock >> args.result_bits, lines = lanes * Length;
  const int32_t of_octet = groups < kCumsumRows ? groups : kCumsumRows, octets = groups / of_octet;
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

    // A work-item adds the sums of pieces of an octet. The first work-items add a line's sums of octets.
    Wide before_chunk = none;
    const auto line_of_sums = [&](const CumsumArgs& a) {  // null: none
      const int64_t line = (tile << a.result_bits) * Length + thread;
      return a.sums == nullptr || thread >= lines || line >= a.lines.count * Length ? nullptr : static_cast<Wide*>(a.sums) + line;
    };
    if (const Wide* sum_of = line_of_sums(a); sum_of != nullptr && !a.only_sums) {
      for (int64_t c = 0; c < chunk; c += kChunksLoaded) {
        Wide some[kChunksLoaded];
#pragma unroll
        for (int i = 0; i < kChunksLoaded; ++i) some[i] = sum_of[(c + i < chunk ? c + i : chunk - 1) * a.chunk_step];
#pragma unroll
        for (int i = 0; i < kChunksLoaded; ++i)
          if (c + i < chunk) before_chunk = before_chunk + some[i];
      }
    }

    for (const int64_t last = a.sums != nullptr ? chunk : a.chunks - 1; chunk <= last; ++chunk) {
      const CumsumArgs& a = reload_arguments(args);
      Wide before = none, octet = none;  // of this chunk: all octets before, and the pieces of this one
      const int64_t begin = chunk * a.chunk, end = begin + a.chunk < a.length ? begin + a.chunk : a.length;
      const auto rows_of = [&](int64_t base) {  // of the lane's piece
        const int64_t left = end - base - group * kCumsumRows;
        return int32_t(left < 0 ? 0 : left < kCumsumRows ? left : kCumsumRows);
      };
      const auto load = [&](int64_t base, Packed<T, Length> (&v)[kCumsumRows]) {
        const int32_t rows = rows_of(base);
        load_piece<T>(x + (base + (rows > 0 ? group * kCumsumRows : 0)) * a.x_step, a.x_step, rows, v);
      };
      Packed<T, Length> next[kCumsumRows];
      load(begin, next);
      for (int64_t base = begin; base < end; base += int64_t(groups) * kCumsumRows) {
        const CumsumArgs& a = reload_arguments(args);
        Packed<T, Length> own[kCumsumRows];
#pragma unroll
        for (int i = 0; i < kCumsumRows; ++i) own[i] = next[i];
        clear_rest(rows_of(base), own);
#pragma unroll
        for (int e = 0; e < Length; ++e) {
          Number sum = number_of(a, own[0][e]);
#pragma unroll
          for (int i = 1; i < kCumsumRows; ++i) sum += number_of(a, own[i][e]);
          sums[thread * Length + e] = Wide::of(sum);
        }
        const int64_t next_base = base + int64_t(groups) * kCumsumRows;
        if (next_base < end) load(next_base, next);
        barrier();
        if (thread < lines * octets) {
          const int32_t first = thread / lines * of_octet * lines + thread % lines;
#pragma unroll 1
          for (int32_t g = 0; g < of_octet; ++g) {
            const Wide sum = sums[first + g * lines];
            sums[first + g * lines] = octet;
            octet = octet + sum;
          }
          if (octets > 1) sums[kOctets + thread] = octet;
        }
        if (octets > 1) barrier();
        if (thread < lines) {
          if (octets == 1) sums[kOctets + thread] = before_chunk + before;
          for (int32_t i = 0; i < octets && octets > 1; ++i) {
            const Wide sum = sums[kOctets + i * lines + thread];
            sums[kOctets + i * lines + thread] = before_chunk + before;
            before = before + sum;
          }
        }
        if (octets > 1) {
          octet = none;
        } else if ((next_base - begin) % (kCumsumRows * kCumsumRows) == 0) {
          before = before + octet;
          octet = none;
        }
        barrier();
        if (a.only_sums || !is_live) continue;
        int64_t at_y = at.of[kCumsumY] + (base + group * kCumsumRows) * a.y_step;
        const int32_t rows = rows_of(base);
        Number from[Length], sum[Length];
#pragma unroll
        for (int e = 0; e < Length; ++e) {
          const Wide before_octet = sums[kOctets + group / of_octet * lines + lane * Length + e];
          from[e] = (before_octet + Wide(sums[thread * Length + e])).value();
          sum[e] = number_of(a, own[0][e]);
        }
#pragma unroll
        for (int i = 0; i < kCumsumRows; ++i) {
          Number result[Length];
#pragma unroll
          for (int e = 0; e < Length; ++e) {
            if (i > 0) sum[e] += number_of(a, own[i][e]);
            result[e] = from[e] + sum[e];
          }
          if (i < rows) store_results<T>(a, at_y, result);
          at_y += a.y_step;
        }
      }
      before_chunk = before_chunk + (before + octet);
    }
    const CumsumArgs& b = reload_arguments(args);
    if (!b.only_sums) continue;
    if (Wide* sum_of = line_of_sums(b)) sum_of[(chunk - 1) * b.chunk_step] = before_chunk;
  }
}

}  // namespace
}  // namespace hipops
