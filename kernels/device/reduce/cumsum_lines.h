// Cumulative sums of contiguous lines. A lane adds the elements of a vector. 32 lanes scan the sums of up to four
// vectors each, a block the sums of eight such groups. The next tile of the line begins with the sum of all tiles before.
#pragma once

#include "device/core/scan.h"
#include "device/core/strided.h"
#include "device/core/unaligned.h"
#include "device/reduce/cumsum.h"

namespace hipops {
namespace {

constexpr int kCumsumGroups = kCumsumBlock / kCumsumLanes;
// Shared memory for the sums of groups of lanes, in two sets, and behind them for kChunkGroup sums of chunks.
constexpr int kGroupRoom = 2 * kCumsumDepth * kCumsumGroups * int(sizeof(u64) / sizeof(u32)) / 4;
constexpr int kLineRoom = kGroupRoom + kChunkGroup;

// A line's elements in one tile, in vectors that are aligned in y. They are counted from a multiple of 16 bytes on.
template <class T>
struct CumsumTile {
  static constexpr int kLength = kCumsumVector<T>;
  const T* x;          // of element 0
  int64_t y;           // the offset of element 0
  int32_t begin, end;  // the tile has the elements begin to end - 1
  int32_t whole;       // a vector that is inside of the line

  HIPOPS_METHOD bool has_vector(int32_t at) const { return at >= begin && at + kLength <= end; }
  HIPOPS_METHOD bool has_some(int32_t at) const { return at + kLength > begin && at < end; }
  HIPOPS_METHOD bool has(int32_t at) const { return at >= begin && at < end; }
};

// A line. Elements are counted from the multiple of 16 bytes before its first element.
template <class T>
struct CumsumLine {
  static constexpr int kLength = kCumsumVector<T>;
  const T* x;     // of element 0, which does not exist if shift > 0
  int64_t y;      // the offset of element 0
  int32_t shift;  // the first element

  HIPOPS_METHOD CumsumLine(const CumsumArgs& a, int64_t line) {
    const Offsets<kCumsumOperands> at = locate_in_loop(a.lines, line);
    const int64_t place = at.of[kCumsumY] + int64_t(uintptr_t(a.y) / (a.is_widened ? sizeof(u64) : sizeof(T)));
    shift = a.are_whole ? 0 : int32_t(place) & (kLength - 1);
    x = static_cast<const T*>(a.x) + at.of[kCumsumX] - shift;
    y = at.of[kCumsumY] - shift;
  }
  // The tile at `base` ends at `end`. If it is not the first, its element 0 is a vector before `base`.
  HIPOPS_METHOD CumsumTile<T> tile(int64_t base, int64_t end) const {
    const int32_t before = base == 0 ? 0 : kLength;
    return {x + (base - before), y + (base - before), base == 0 ? shift : kLength, int32_t(end - base) + before,
            base == 0 && shift > 0 ? kLength : 0};
  }
};

// The vectors that a lane has: vector i is at at[i] of tile[i].
template <class T>
class CumsumVectors {
 public:
  static constexpr int kLength = kCumsumVector<T>;
  using Number = number_t<T>;

  HIPOPS_METHOD void load(const CumsumArgs& a, const CumsumTile<T> (&tile)[kCumsumDepth], const int32_t (&at)[kCumsumDepth]) {
    if (a.x_is_aligned) {
#pragma unroll
      for (int i = 0; i < kCumsumDepth; ++i) vector_[i] = load_packed_once<kLength>(address(tile[i], at[i]));
      issue_before_use(vector_);
    } else {
#pragma unroll
      for (int i = 0; i < kCumsumDepth; ++i) vector_[i] = load_anywhere(address(tile[i], at[i]));
      issue_before_use(vector_);
    }
#pragma unroll
    for (int i = 0; i < kCumsumDepth; ++i)
      if (!tile[i].has_vector(at[i])) vector_[i] = zeros<kLength, T>();
    if (a.are_whole) return;
#pragma unroll
    for (int i = 0; i < kCumsumDepth; ++i)
      if (!tile[i].has_vector(at[i]) && tile[i].has_some(at[i])) vector_[i] = load_edge(tile[i], at[i]);
  }

  // The sum of vector i.
  HIPOPS_METHOD Number sum(const CumsumArgs& a, int i) const {
    Number sum = number_of(a, vector_[i][0]);
#pragma unroll
    for (int e = 1; e < kLength; ++e) sum += number_of(a, vector_[i][e]);
    return sum;
  }

  // Stores the results of all vectors. before[i]: the sum of all elements before vector i.
  HIPOPS_METHOD void store(const CumsumArgs& a, const CumsumTile<T> (&tile)[kCumsumDepth], const int32_t (&place)[kCumsumDepth],
                           const Number (&before)[kCumsumDepth]) {
    int32_t at[kCumsumDepth];  // comparisons are made again: registers would keep the results of load()
#pragma unroll
    for (int i = 0; i < kCumsumDepth; ++i) at[i] = int32_t(hide_origin(uint32_t(place[i])));
#pragma unroll
    for (int i = 0; i < kCumsumDepth; ++i) {
      Number result[kLength], sum = number_of(a, vector_[i][0]);
      result[0] = before[i] + sum;
#pragma unroll
      for (int e = 1; e < kLength; ++e) {
        sum += number_of(a, vector_[i][e]);
        result[e] = before[i] + sum;
      }
      if (tile[i].has_vector(at[i])) store_results<T>(a, tile[i].y + at[i], result);
    }
    if (a.are_whole) return;
#pragma unroll
    for (int i = 0; i < kCumsumDepth; ++i) {
      if (tile[i].has_vector(at[i]) || !tile[i].has_some(at[i])) continue;
      vector_[i].recompute_derived_by(uint32_t(a.units >> 63));  // a 0 that no compiler knows
      Number sum = number_of(a, vector_[i][0]);
#pragma unroll
      for (int e = 0; e < kLength; ++e) {
        if (e > 0) sum += number_of(a, vector_[i][e]);
        const Number one[1] = {before[i] + sum};
        if (tile[i].has(at[i] + e)) store_results<T>(a, tile[i].y + at[i] + e, one);
      }
    }
  }

 private:
  static HIPOPS_METHOD const T* address(const CumsumTile<T>& tile, int32_t at) {
    return element_at(tile.x, tile.has_vector(at) ? at : tile.whole);
  }
  static HIPOPS_METHOD Packed<T, kLength> load_anywhere(const T* at) {
    if constexpr (has_unaligned_vectors) return load_vector_anywhere<kLength>(at);
    T element[kLength];
#pragma unroll
    for (int e = 0; e < kLength; ++e) element[e] = at[e];
    return packed_of(element);
  }
  static HIPOPS_METHOD Packed<T, kLength> load_edge(const CumsumTile<T>& tile, int32_t at) {
    T element[kLength];
#pragma unroll
    for (int e = 0; e < kLength; ++e) element[e] = tile.x[tile.has(at + e) ? at + e : tile.whole];
#pragma unroll
    for (int e = 0; e < kLength; ++e)
      if (!tile.has(at + e)) element[e] = T{};
    return packed_of(element);
  }

  Packed<T, kLength> vector_[kCumsumDepth];
};

// Short lines: a lane has one vector of each line, and up to four lines.
template <class T>
HIPOPS_FN void scan_short_lines(const CumsumArgs& args, const Shared<CumsumRoom>& room) {
  using Number = number_t<T>;
  const Shared<Number> of_group = room.as<Number>();
  const int32_t lanes = args.lanes, lane = int32_t(thread_index()) & (lanes - 1);
  const int32_t group = int32_t(thread_index()) / kCumsumLanes;
  int turn = 0;
  for (int64_t first = int64_t(block_index()) * args.rows; first < reload_arguments(args).units;
       first += reload_arguments(args).step) {
    const CumsumArgs& a = reload_arguments(args);
    // If x is y, other waves store other lines. So a lane without a line loads from the first line of its wave.
    int64_t line_of_wave = first + int32_t(thread_index()) / wave_size * wave_size / lanes;
    if (line_of_wave >= a.units) line_of_wave = a.units - 1;
    CumsumTile<T> tile[kCumsumDepth];
    int32_t at[kCumsumDepth];
#pragma unroll
    for (int i = 0; i < kCumsumDepth; ++i) {
      const int64_t unit = first + int32_t(thread_index()) / lanes + i * (kCumsumBlock / lanes);
      const bool is_live = i < a.deep && unit < a.units;
      const CumsumLine<T> line(a, is_live ? unit : line_of_wave);
      tile[i] = line.tile(0, line.shift + a.length);
      at[i] = is_live ? lane * kCumsumVector<T> : tile[i].end;
    }
    CumsumVectors<T> vectors;
    vectors.load(a, tile, at);
    Number before[kCumsumDepth];
#pragma unroll
    for (int i = 0; i < kCumsumDepth; ++i) {
      const Scanned<Number> s = scan_over_lanes(vectors.sum(a, i), lanes < kCumsumLanes ? lanes : kCumsumLanes);
      before[i] = s.before;
      if (lanes > kCumsumLanes && lane % kCumsumLanes == 0) of_group[(turn * kCumsumDepth + i) * kCumsumGroups + group] = s.total;
    }
    if (lanes > kCumsumLanes) {
      barrier();
#pragma unroll
      for (int i = 0; i < kCumsumDepth; ++i) {
        Number groups = Number(0);
        for (int g = group & -(lanes / kCumsumLanes); g < group; ++g)
          groups += Number(of_group[(turn * kCumsumDepth + i) * kCumsumGroups + g]);
        before[i] = groups + before[i];
      }
      turn ^= 1;  // the next line's sums are elsewhere: late lanes still read these
    }
    vectors.store(reload_arguments(args), tile, at, before);
  }
}

// The sum of the first `count` chunks, in the order of ChunkSums. All work-items of the block call it.
template <class T>
HIPOPS_FN wide_t<T> sum_of_chunks(const wide_t<T>* chunk, int32_t count, const Shared<CumsumRoom>& room) {
  using Wide = wide_t<T>;
  constexpr int kFirst = kGroupRoom * int(sizeof(CumsumRoom) / sizeof(Wide));
  const Shared<Wide> groups = room.as<Wide>();
  const Wide none = Wide::of(number_t<T>(0));
  if (count == 0) return none;
  const int32_t thread = int32_t(thread_index());
  if (thread < kChunkGroup) {
    Wide group = none;
#pragma unroll 1
    for (int32_t base = 0; base < kChunkGroup; base += kChunksLoaded) {
      Wide some[kChunksLoaded];
#pragma unroll
      for (int i = 0; i < kChunksLoaded; ++i) {
        const int32_t at = thread * kChunkGroup + base + i;
        some[i] = chunk[at < count ? at : count - 1];
      }
#pragma unroll
      for (int i = 0; i < kChunksLoaded; ++i)
        if (thread * kChunkGroup + base + i < count) group = group + some[i];
    }
    groups[kFirst + thread] = group;
  }
  barrier();
  Wide sum = none;
  for (int32_t g = 0; g < count / kChunkGroup; ++g) sum = sum + Wide(groups[kFirst + g]);
  sum = sum + Wide(groups[kFirst + count / kChunkGroup]);
  barrier();
  return sum;
}

// Longer lines: 32 or 128 lanes have a line, four vectors each. Or a block has a line, or a chunk of one, tile by tile.
template <class T>
HIPOPS_FN void scan_long_lines(const CumsumArgs& args, const Shared<CumsumRoom>& room) {
  using Number = number_t<T>;
  using Wide = wide_t<T>;
  constexpr int kLength = kCumsumVector<T>;
  const Shared<Number> of_group = room.as<Number>();
  const int32_t lane = int32_t(thread_index()) % kCumsumLanes, group = int32_t(thread_index()) / kCumsumLanes;
  const int32_t groups_of_line = args.lanes / kCumsumLanes, group_of_line = group & (groups_of_line - 1);
  int turn = 0;
  for (int64_t first = int64_t(block_index()) * args.rows; first < reload_arguments(args).units;
       first += reload_arguments(args).step) {
    const CumsumArgs& a = reload_arguments(args);
    int64_t unit = first + group / groups_of_line;
    const bool is_live = unit < a.units;
    if (!is_live) unit = a.units - 1;
    // The last chunks that the first launch has read are still in a cache.
    if (a.sums != nullptr && !a.only_sums) unit = a.units - 1 - unit;
    const int64_t number = a.parts == 1 ? unit : divide(unit, a.parts, a.parts_divisor);
    int64_t chunk = unit - number * a.parts;
    const CumsumLine<T> line(a, number);
    const int64_t line_end = line.shift + a.length;
    ChunkSums<Wide, Number> chunks;
    Wide* const sums = static_cast<Wide*>(a.sums) + number * a.line_step;
    if (a.sums != nullptr && !a.only_sums) chunks.groups = sum_of_chunks<T>(sums, int32_t(chunk), room);
    for (const int64_t last = a.sums != nullptr ? chunk : a.chunks - 1; chunk <= last; ++chunk) {
      const CumsumArgs& a = reload_arguments(args);
      Wide before_tile = Wide::of(Number(0));
      const int64_t begin = chunk * a.chunk, end = begin + a.chunk < line_end ? begin + a.chunk : line_end;
      const int32_t tile_length = a.lanes * kCumsumDepth * kLength;
      for (int64_t base = begin; base < end; base += tile_length) {
        const CumsumArgs& a = reload_arguments(args);
        CumsumTile<T> tile[kCumsumDepth];
        int32_t at[kCumsumDepth];
#pragma unroll
        for (int i = 0; i < kCumsumDepth; ++i) {
          tile[i] = line.tile(base, end - base > tile_length ? base + tile_length : end);
          at[i] = (base == 0 ? 0 : kLength) + ((group_of_line * kCumsumDepth + i) * kCumsumLanes + lane) * kLength;
        }
        CumsumVectors<T> vectors;
        vectors.load(a, tile, at);
        Number before[kCumsumDepth], total = Number(0);
#pragma unroll
        for (int i = 0; i < kCumsumDepth; ++i) {
          const Scanned<Number> s = scan_over_lanes(vectors.sum(a, i), kCumsumLanes);
          before[i] = total + s.before;
          total += s.total;
        }
        Number groups = Number(0);
        if (groups_of_line > 1) {
          if (lane == 0) of_group[turn * kCumsumGroups + group] = total;
          barrier();
          total = Number(0);
#pragma unroll
          for (int g = 0; g < kCumsumGroups; ++g) {
            if (((g ^ group) & -groups_of_line) != 0) continue;
            const Number of_one = of_group[turn * kCumsumGroups + g];
            if (g < group) groups += of_one;
            total += of_one;
          }
          turn ^= 1;
        }
        const Number from = (chunks.sum() + before_tile).value();
#pragma unroll
        for (int i = 0; i < kCumsumDepth; ++i) before[i] = from + (groups + before[i]);
        if (is_live && !a.only_sums) vectors.store(reload_arguments(args), tile, at, before);
        before_tile = before_tile + Wide::of(total);
      }
      chunks.add(before_tile);
    }
    if (reload_arguments(args).only_sums && thread_index() == 0) sums[chunk - 1] = chunks.sum();
  }
}

}  // namespace
}  // namespace hipops
