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
constexpr int32_t kNowhere = INT32_MAX / 2;  // the place of a vector that a lane does not have

// A line's elements in one tile, in vectors that are aligned in y. They are counted from a multiple of 16 bytes on.
template <class T>
struct CumsumTile {
  static constexpr int kLength = kCumsumVector<T>;
  const T* x;          // of element 0
  int64_t y;           // the offset of element 0
  int32_t begin, end;  // the tile has the elements begin to end - 1

  // A vector that is inside of the line.
  HIPOPS_METHOD int32_t whole() const { return begin & (kLength - 1) ? kLength : 0; }
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

  HIPOPS_METHOD CumsumLine(const CumsumArgs& a, const Offsets<kCumsumOperands>& at) {
    const int64_t place = at.of[kCumsumY] + int64_t(uintptr_t(a.y) / (a.is_widened ? sizeof(u64) : sizeof(T)));
    shift = a.are_whole ? 0 : int32_t(place) & (kLength - 1);
    x = static_cast<const T*>(a.x) + at.of[kCumsumX] - shift;
    y = at.of[kCumsumY] - shift;
  }
  // The tile at `base` of a line that ends at `end`. If it is not the first, its element 0 is a vector before `base`.
  HIPOPS_METHOD CumsumTile<T> tile(int64_t base, int64_t end) const {
    constexpr int64_t kTile = kCumsumBlock * kCumsumDepth * kLength;
    const int32_t before = base == 0 ? 0 : kLength;
    return {x + (base - before), y + (base - before), base == 0 ? shift : kLength,
            int32_t(end - base < kTile ? end - base : kTile) + before};
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

  // Scans the sums of vectors over groups of lanes.
  HIPOPS_METHOD void scan(const CumsumArgs& a, int lanes, Scanned<Number> (&s)[kCumsumDepth]) const {
#pragma unroll
    for (int i = 0; i < kCumsumDepth; ++i) {
      Number sum = number_of(a, vector_[i][0]);
#pragma unroll
      for (int e = 1; e < kLength; ++e) sum += number_of(a, vector_[i][e]);
      s[i] = {Number(0), sum};
    }
    scan_over_lanes(s, lanes);
  }

  // Stores the results of all vectors. before[i]: the sum of all elements before vector i.
  HIPOPS_METHOD void store(const CumsumArgs& a, const CumsumTile<T> (&tile)[kCumsumDepth], const int32_t (&place)[kCumsumDepth],
                           const Number (&before)[kCumsumDepth]) {
    int32_t at[kCumsumDepth];  // comparisons are made again: registers would keep the results of load()
#pragma unroll
    for (int i = 0; i < kCumsumDepth; ++i) at[i] = int32_t(hide_origin(uint32_t(place[i])));
#pragma unroll
    for (int i = 0; i < kCumsumDepth; ++i) {
      if (sizeof(T) == 2) vector_[i].recompute_derived_by(uint32_t(a.units >> 63));  // a 0 that no compiler knows
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
      if (sizeof(T) != 2) vector_[i].recompute_derived_by(uint32_t(a.units >> 63));
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
    return element_at(tile.x, tile.has_vector(at) ? at : tile.whole());
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
    for (int e = 0; e < kLength; ++e) element[e] = tile.x[tile.has(at + e) ? at + e : tile.whole()];
#pragma unroll
    for (int e = 0; e < kLength; ++e)
      if (!tile.has(at + e)) element[e] = T{};
    return packed_of(element);
  }

  Packed<T, kLength> vector_[kCumsumDepth];
};

// Short lines: a lane has one or two vectors of each line, and four vectors together.
template <class T>
HIPOPS_FN void scan_short_lines(const CumsumArgs& args) {
  using Number = number_t<T>;
  const int32_t lanes = args.lanes, lane = int32_t(thread_index()) & (lanes - 1);
  for (int64_t first = int64_t(block_index()) * args.rows; first < reload_arguments(args).units;
       first += reload_arguments(args).step) {
    const CumsumArgs& a = reload_arguments(args);
    // If x is y, other waves store other lines. So a lane without a line loads from the first line of its wave.
    int64_t line_of_wave = first + int32_t(thread_index()) / wave_size * wave_size / lanes;
    if (line_of_wave >= a.units) line_of_wave = a.units - 1;
    int64_t unit[kCumsumDepth];
    int32_t at[kCumsumDepth];
#pragma unroll
    for (int i = 0; i < kCumsumDepth; ++i) {
      const int32_t turn = a.has_pairs ? i / 2 : i;
      unit[i] = first + int32_t(thread_index()) / lanes + turn * (kCumsumBlock / lanes);
      const bool is_live = turn < a.deep && unit[i] < a.units;
      at[i] = is_live ? (lane + (a.has_pairs ? i % 2 * kCumsumLanes : 0)) * kCumsumVector<T> : kNowhere;
      if (!is_live) unit[i] = line_of_wave;
    }
    Offsets<kCumsumOperands> offset[kCumsumDepth];
    locate_in_loop(a.lines, unit, offset);
    CumsumTile<T> tile[kCumsumDepth];
#pragma unroll
    for (int i = 0; i < kCumsumDepth; ++i) {
      const CumsumLine<T> line(a, offset[i]);
      tile[i] = line.tile(0, line.shift + a.length);
    }
    CumsumVectors<T> vectors;
    vectors.load(a, tile, at);
    Scanned<Number> s[kCumsumDepth];
    vectors.scan(a, lanes, s);
    Number before[kCumsumDepth];
#pragma unroll
    for (int i = 0; i < kCumsumDepth; ++i)
      before[i] = i % 2 != 0 && a.has_pairs ? s[i - 1].total + s[i].before : s[i].before;
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

// The vectors of a lane in a step: four of 32 lanes, counted from the tile at `base` on.
template <class T>
HIPOPS_FN void place_step(const CumsumTile<T>& own, int64_t base, int32_t step, CumsumTile<T> (&tile)[kCumsumDepth],
                          int32_t (&at)[kCumsumDepth]) {
  const int32_t lane = int32_t(thread_index()) % kCumsumLanes;
#pragma unroll
  for (int i = 0; i < kCumsumDepth; ++i) {
    tile[i] = own;
    at[i] = (((step * kCumsumDepth + i) * kCumsumLanes + lane) + (base == 0 ? 0 : 1)) * kCumsumVector<T>;
  }
}

// Stores sums of chunks, in the order of scan_long_lines(). A block has a chunk.
template <class T>
HIPOPS_FN void sum_chunks(const CumsumArgs& args, const Shared<CumsumRoom>& room) {
  using Number = number_t<T>;
  using Wide = wide_t<T>;
  constexpr int kTile = kCumsumBlock * kCumsumDepth * kCumsumVector<T>;
  const Shared<Number> of_group = room.as<Number>();
  const int32_t group = int32_t(thread_index()) / kCumsumLanes;
  int turn = 0;
  for (int64_t unit = block_index(); unit < reload_arguments(args).units; unit += reload_arguments(args).step) {
    const CumsumArgs& a = reload_arguments(args);
    const int64_t number = divide(unit, a.parts, a.parts_divisor), chunk = unit - number * a.parts;
    const CumsumLine<T> line(a, locate_in_loop(a.lines, number));
    Wide sum = Wide::of(Number(0));
    for (int64_t base = chunk * a.chunk; base < (chunk + 1) * a.chunk; base += kTile) {
      const CumsumArgs& a = reload_arguments(args);
      CumsumTile<T> tile[kCumsumDepth];
      int32_t at[kCumsumDepth];
      place_step(line.tile(base, line.shift + a.length), base, group, tile, at);
      CumsumVectors<T> vectors;
      vectors.load(a, tile, at);
      Scanned<Number> s[kCumsumDepth];
      vectors.scan(a, kCumsumLanes, s);
      const Number total = Number(0) + s[0].total + s[1].total + s[2].total + s[3].total;
      if (thread_index() % kCumsumLanes == 0) of_group[turn * kCumsumGroups + group] = total;
      barrier();
      Number of_steps = Number(0);
      for (int g = 0; g < kCumsumGroups; ++g) of_steps += Number(of_group[turn * kCumsumGroups + g]);
      sum = sum + Wide::of(of_steps);
      turn ^= 1;  // the next sums are elsewhere: late lanes still read these
    }
    const CumsumArgs& b = reload_arguments(args);
    if (thread_index() == 0) static_cast<Wide*>(b.sums)[number * b.line_step + chunk] = sum;
  }
}

// Longer lines: one or more groups of 32 lanes have a line, or a chunk of one. A step is four vectors of a lane. A tile
// is eight steps, which the groups share. How many share them changes no order.
template <class T>
HIPOPS_FN void scan_long_lines(const CumsumArgs& args, const Shared<CumsumRoom>& room) {
  using Number = number_t<T>;
  using Wide = wide_t<T>;
  constexpr int kLength = kCumsumVector<T>, kStep = kCumsumLanes * kCumsumDepth * kLength, kTile = kCumsumGroups * kStep;
  const Shared<Number> of_group = room.as<Number>();
  const int32_t lane = int32_t(thread_index()) % kCumsumLanes, group = int32_t(thread_index()) / kCumsumLanes;
  const int32_t groups = args.lanes / kCumsumLanes, group_of_line = group & (groups - 1);
  int turn = 0;
  for (int64_t first = int64_t(block_index()) * args.rows; first < reload_arguments(args).units;
       first += reload_arguments(args).step) {
    const CumsumArgs& a = reload_arguments(args);
    int64_t unit = first + group / groups;
    const bool is_live = unit < a.units;
    if (!is_live) unit = a.units - 1;
    // The last chunks that the first launch has read are still in a cache.
    if (a.sums != nullptr) unit = a.units - 1 - unit;
    const int64_t number = a.parts == 1 ? unit : divide(unit, a.parts, a.parts_divisor);
    const int64_t chunk = unit - number * a.parts;
    const CumsumLine<T> line(a, locate_in_loop(a.lines, number));
    ChunkSums<Wide, Number> chunks;
    if (a.sums != nullptr)
      chunks.groups = sum_of_chunks<T>(static_cast<Wide*>(a.sums) + number * a.line_step, int32_t(chunk), room);
    Wide before_tile = Wide::of(Number(0));
    int32_t tiles = 0;  // of this chunk
    int64_t end = a.length + (a.are_whole ? 0 : kLength - 1), base = chunk * a.chunk;
    if (a.sums != nullptr && base + a.chunk < end) end = base + a.chunk;
    for (; base < end; base += kTile) {
      const CumsumArgs& a = reload_arguments(args);
      const Number from = (chunks.sum() + before_tile).value();
      Number of_steps = Number(0);  // of this tile
      const CumsumTile<T> own = line.tile(base, line.shift + a.length);
      for (int32_t step = 0; step < kCumsumGroups && base + step * kStep < end; step += groups) {
        CumsumTile<T> tile[kCumsumDepth];
        int32_t at[kCumsumDepth];
        place_step(own, base, step + group_of_line, tile, at);
        CumsumVectors<T> vectors;
        vectors.load(a, tile, at);
        Scanned<Number> s[kCumsumDepth];
        vectors.scan(a, kCumsumLanes, s);
        Number before[kCumsumDepth], total = Number(0);
#pragma unroll
        for (int i = 0; i < kCumsumDepth; ++i) {
          before[i] = total + s[i].before;
          total += s[i].total;
        }
        Number before_step = of_steps;
        if (groups == 1) {
          of_steps += total;
        } else {
          if (lane == 0) of_group[turn * kCumsumGroups + group] = total;
          barrier();
#pragma unroll 4
          for (int g = 0; g < kCumsumGroups; ++g) {
            if (((g ^ group) & -groups) != 0) continue;
            const Number of_one = of_group[turn * kCumsumGroups + g];
            if (g < group) before_step += of_one;
            of_steps += of_one;
          }
          turn ^= 1;  // the next step's sums are elsewhere: late lanes still read these
        }
#pragma unroll
        for (int i = 0; i < kCumsumDepth; ++i) before[i] = from + (before_step + before[i]);
        if (is_live) vectors.store(reload_arguments(args), tile, at, before);
      }
      before_tile = before_tile + Wide::of(of_steps);
      if (++tiles * kTile < a.chunk && base + kTile < end) continue;
      chunks.add(before_tile);
      before_tile = Wide::of(Number(0));
      tiles = 0;
    }
  }
}

}  // namespace
}  // namespace hipops
