// `staged` and `large` of gather and index_select: a block copies a chunk of x to shared memory, and reads elements
// there. A scattered read costs one access of a bank there, but a whole cache line in global memory. A chunk is
//
//   rows     one or several rows of x, if dim is innermost
//   columns  otherwise: 16 to 64 bytes of each row along dim, as they fit into shared memory, or more if rows are few
#pragma once

#include "device/index/indices.h"
#include "device/move/staged_chunk.h"
#include "device/core/cache.h"
#include "device/core/strided.h"
#include "device/move/take_contract.h"

namespace hipops {
namespace {

// Count times N neighbouring indices of any type, kept as they are in memory. find_places() waits for them.
template <int N, int Count>
class IndexVectors {
 public:
  HIPOPS_METHOD void load(const IndexArgs& index, int64_t begin, const int32_t (&offset)[Count]) {
    switch (index.type) {
      case kIndexU8: return load_as<uint8_t>(index, begin, offset);
      case kIndexI16: return load_as<int16_t>(index, begin, offset);
      case kIndexI32:
      case kIndexU32: return load_as<uint32_t>(index, begin, offset);
      default: return load_as<uint64_t>(index, begin, offset);
    }
  }

  // The places along dim, or -1 for an invalid index. (dim is short: no mark of 32 or 64 bits is in range.)
  HIPOPS_METHOD void find_places(const IndexArgs& index, int32_t (&place)[Count][N]) const {
    switch (index.type) {
      case kIndexU8: return find_as<uint8_t>(index, UINT8_MAX, place);
      case kIndexI16: return find_as<int16_t>(index, INT16_MAX, place);
      case kIndexI32:
      case kIndexU32: return find_as<uint32_t>(index, UINT32_MAX, place);
      default: return find_as<uint64_t>(index, UINT64_MAX, place);
    }
  }

 private:
  template <class I>
  HIPOPS_METHOD void load_as(const IndexArgs& index, int64_t begin, const int32_t (&offset)[Count]) {
    const I* from = static_cast<const I*>(index.data) + begin;
#pragma unroll
    for (int n = 0; n < Count; ++n) {
      const Vector<I, N> v = load_vector<N>(from + offset[n]);
      if constexpr (sizeof v % sizeof word_[n][0] == 0) __builtin_memcpy(word_[n], &v, sizeof v);
      else word_[n][0] = uint16_t(v.element[0]);
    }
  }

  template <class I>
  HIPOPS_METHOD void find_as(const IndexArgs& index, I mark, int32_t (&place)[Count][N]) const {
#pragma unroll
    for (int n = 0; n < Count; ++n) {
      Vector<I, N> v;
      __builtin_memcpy(&v, word_[n], sizeof v);
#pragma unroll
      for (int e = 0; e < N; ++e) {
        const I value = v.element[e];
        bool inside = false;
        if constexpr (sizeof value > sizeof(int32_t)) inside = value < uint64_t(index.size);
        else inside = uint32_t(int32_t(value)) < uint32_t(index.size);
        place[n][e] = inside && value != mark ? int32_t(value) : -1;
      }
    }
  }

  uint32_t word_[Count][2 * N];
};

// The chunk of x that a block handles, and the lines of y that read it (TakeStaged).
struct Chunk {
  int64_t number;  // of its first row, or of its panel
  int64_t index;   // the offset of the first index
  int32_t rows;    // of y
  int32_t lines;   // lines that are moved together; row r has the indices of line r % lines
  int32_t count;   // of elements in the lines, `cols` in each
  int32_t overlap;  // columns at the beginning that belong to another panel, too
};

HIPOPS_FN bool is_last_panel(const TakeStaged& s, int64_t number) {
  return number - divide(number, s.panels, s.panels_divisor) * s.panels == s.panels - 1;
}

// The row-major position of the chunk's element i in the index tensor.
HIPOPS_FN int64_t index_position(const TakeArgs& a, const Chunk& chunk, int32_t i) {
  const TakeStaged& s = a.staged;
  if (s.lines == 0) return chunk.number * s.cols + i;
  const int64_t outer = divide(chunk.number, s.panels, s.panels_divisor), panel = chunk.number - outer * s.panels;
  const int32_t line = int32_t(divide(uint32_t(i), s.cols_divisor)), col = i - line * int32_t(s.cols);
  return (outer * s.lines + line) * (s.panels * s.cols - s.overlap) + panel * s.cols - chunk.overlap + col;
}

// Work-items of a block: Most, or the launch's number if that may be smaller.
template <int Most> constexpr int least_block = has_launch_shared && Most == kStagedBlock ? kSmallBlock : Most;
template <int Most>
HIPOPS_FN int32_t block_of(const TakeArgs& a) { return least_block<Most> == Most ? Most : a.staged.block; }

constexpr int kVectorsInFlight = 4;  // vectors of x for each work-item
template <class T, int Most>
using ChunkOfX = StagedChunk<T, Most, kVectorsInFlight, least_block<Most>, (Most > kStagedBlock)>;

// Counts the work-item's indices that are out of range. If all chunks have the same indices (`run`), the first counts.
template <int N, int Most>
HIPOPS_FN void report_indices(const TakeArgs& a, const Chunk& chunk) {
  const TakeStaged& s = a.staged;
  if (a.shared.run != 0 && chunk.number != 0) return;
#pragma unroll 1
  for (int32_t vector = int32_t(thread_index()) * N; vector < chunk.count; vector += block_of<Most>(a) * N) {
#pragma unroll 1
    for (int32_t i = vector; i < vector + N; ++i) {
      const int32_t line = int32_t(divide(uint32_t(i), s.cols_divisor)), col = i - line * int32_t(s.cols);
      int64_t value[1];
      const int64_t mark = load_indices(a.index, {chunk.index + line * s.index_line + col}, value);
      const int32_t rows_of_line = (chunk.rows - line + chunk.lines - 1) / chunk.lines;  // line, line + lines, ..
      const bool counts = col >= chunk.overlap && (a.shared.run == 0 || line == 0);
      const uint64_t count = !counts ? 0 : a.shared.run != 0 ? 1 : uint64_t(rows_of_line);
      checked_index(a.index, value[0], mark, index_position(a, chunk, i), count);
    }
  }
}

// Moves N elements at a time. `once`: each index is used by one row of y. Returns whether an index was invalid.
template <int N, bool once, int Most, class T>
HIPOPS_FN bool take_chunk(const TakeArgs& a, const ChunkOfX<T, Most>& staged, const Chunk& chunk, const T* x, T* y) {
  const TakeStaged& s = a.staged;
  // Vectors of indices in flight.
  constexpr int kAhead = Most > kStagedBlock ? 2 : (N > 1 ? 2 : 4);
  const int32_t apart = block_of<Most>(a) * N, step = apart * kAhead;
  const int32_t begin = int32_t(thread_index()) * N, cols = int32_t(s.cols), size = int32_t(a.index.size);
  IndexVectors<N, kAhead> next;
  int32_t next_line[kAhead], next_col[kAhead];
  auto issue = [&](int32_t tile) {
    int32_t offset[kAhead];
#pragma unroll
    for (int n = 0; n < kAhead; ++n) {
      // Past the end, the last vector is repeated.
      const int32_t at = tile + begin + n * apart, i = at < chunk.count ? at : chunk.count - N;
      next_line[n] = int32_t(divide(uint32_t(i), s.cols_divisor));
      next_col[n] = i - next_line[n] * cols;
      offset[n] = next_line[n] * s.index_line + next_col[n];
    }
    next.load(a.index, chunk.index, offset);
  };

  issue(0);
  int32_t shift = 0, least = 0;
  if (s.lines != 0) staged.load_columns(x, size, s.x_line, s.line_bits);
  else shift = staged.load_rows(x, chunk.rows * size);
  barrier();
#pragma unroll 1
  for (int32_t tile = 0; tile < chunk.count; tile += step) {
    const IndexVectors<N, kAhead> now = next;
    int32_t line[kAhead], col[kAhead];
#pragma unroll
    for (int n = 0; n < kAhead; ++n) line[n] = next_line[n], col[n] = next_col[n];
    if (tile + step < chunk.count) issue(tile + step);
    int32_t place[kAhead][N];
    now.find_places(a.index, place);
    auto read_vector = [&](int n, int32_t base) {
      Vector<T, N> moved;
#pragma unroll
      for (int e = 0; e < N; ++e) {
        const T found = staged[place[n][e] < 0 ? 0 : base + place[n][e] * s.place_step + e * s.neighbour_step];
        moved.element[e] = place[n][e] < 0 ? T(0) : found;
      }
      return moved;
    };
    int32_t base[kAhead], to[kAhead];
#pragma unroll
    for (int n = 0; n < kAhead; ++n) {
      base[n] = s.lines != 0 ? col[n] : shift + line[n] * size;
      to[n] = line[n] * s.y_line + col[n];
#pragma unroll
      for (int e = 0; e < N; ++e) least = place[n][e] < least ? place[n][e] : least;
    }
    if constexpr (once) {
      Vector<T, N> moved[kAhead];
#pragma unroll
      for (int n = 0; n < kAhead; ++n) moved[n] = read_vector(n, base[n]);
#pragma unroll
      for (int n = 0; n < kAhead; ++n)
        if (tile + begin + n * apart < chunk.count) store_vector_as_one<N>(y + to[n], moved[n]);
    } else {
#pragma unroll
      for (int n = 0; n < kAhead; ++n) {
        if (tile + begin + n * apart >= chunk.count) break;
#pragma unroll 1
        for (int32_t row = line[n]; row < chunk.rows; row += chunk.lines) {
          store_vector_as_one<N>(y + to[n], read_vector(n, base[n]));
          base[n] += chunk.lines * size;
          to[n] += chunk.lines * s.y_line;
        }
      }
    }
  }
  return least < 0;
}

template <int N, bool once, int Most, class T>
HIPOPS_FN void take_chunks(const TakeArgs& args, const ChunkOfX<T, Most>& staged) {
  for (int64_t r = int64_t(block_index()) * args.staged.group; r < args.walk.count; r += args.step) {
    const TakeArgs& a = reload_arguments(args);
    const TakeStaged& s = a.staged;
    const Offsets<kTakeOperands> at = locate_in_loop(a.walk, r);
    // The last panel of a position begins early, so that it ends where the columns end (TakeStaged).
    const int32_t overlap = s.overlap != 0 && is_last_panel(s, r) ? s.overlap : 0;
    const T* x = static_cast<const T*>(a.x) + at.of[kTakeX] - overlap;
    T* y = static_cast<T*>(a.y) + at.of[kTakeY] - overlap;
    const int32_t rows = a.walk.count - r < s.group ? int32_t(a.walk.count - r) : s.group;
    const int32_t lines = s.lines != 0 ? s.lines : s.together < rows ? s.together : rows;
    const Chunk chunk{
        r, at.of[kTakeIndex] - overlap, s.lines != 0 ? lines : rows, lines, lines * int32_t(s.cols), overlap};
    const bool any = take_chunk<N, once, Most>(a, staged, chunk, x, y);
    // Valid indices never reach this code.
    if (any && a.index.report != nullptr) report_indices<N, Most>(reload_arguments(args), chunk);
    barrier();  // before the next chunk overwrites this one
  }
}

template <class T, int Most>
HIPOPS_FN void take_from_chunks(const TakeArgs& a, Shared<b128> storage) {
  const ChunkOfX<T, Most> staged(storage, block_of<Most>(a));
  const bool once = a.staged.lines != 0 || a.staged.together == a.staged.group;
  if (a.staged.vectors && once) take_chunks<kStagedVector, true, Most>(a, staged);
  else if (a.staged.vectors) take_chunks<kStagedVector, false, Most>(a, staged);
  else if (once) take_chunks<1, true, Most>(a, staged);
  else take_chunks<1, false, Most>(a, staged);
}

// For blocks that share a compute unit.
template <class T>
HIPOPS_FN void take_staged(const TakeArgs& a) {
  const auto vectors = a.staged.copy_bytes / kWideBytes;
  take_from_chunks<T, kStagedBlock>(a, static_or_launch_shared<b128, kStagedBytes / kWideBytes>(vectors));
}

// For a block that fills a compute unit.
template <class T>
HIPOPS_FN void take_large(const TakeArgs& a) {
  const auto vectors = a.staged.copy_bytes / kWideBytes;
  take_from_chunks<T, kLargeBlock>(a, static_or_launch_shared<b128, kStaticSharedBytes / kWideBytes>(vectors));
}

}  // namespace
}  // namespace hipops
