// strided_copy: y = x, from any strides to any strides. copy2d is one of its layouts.
//
//   x, y     one shape of rank 0 to 8; elements of 1, 2, 4 or 8 bytes, moved as bits
//   bytes    2 * elements * sizeof(element) must move; less is read if x repeats elements (strides of 0).
//
// The launcher orders dimensions by y's strides, so y is written from its first byte to its last, and merges dimensions
// that are one in both tensors. The kernels:
//
//   any      one access on each side: of 16 bytes (b128) if memory is contiguous and aligned along the innermost
//            dimension of both tensors; of 8, 4 or 2 bytes if lengths and alignment allow no more; otherwise of one
//            element. A copy without gaps is one run of accesses, with up to 15 bytes before and after.
//   few      the same for up to 65536 accesses (32768 if lanes scatter), one for each work-item. The path to the first
//            load is most of the launch.
//   rows     the same accesses in rows of 16 accesses or more.
//   shifted  rows that begin anywhere. It stores 16 bytes at multiples of 16, and loads 16 bytes at any address. NVIDIA
//            loads at multiples only, so it shifts the two loads around an address into one.
//
// The others are for transposes: the innermost dimension of y is not innermost in x. Lanes that follow one tensor would
// scatter over the other.
//
//   square   transposes squares of 16 bytes by the same number of elements in registers, if both tensors are contiguous
//            and aligned. 64 work-items share lines of 128 bytes on both sides, and all loads of a square are in flight
//            together.
//   staged   moves 16 bytes at a time through shared memory, if both tensors are contiguous and lines begin anywhere.
//            Each line has y's misalignment there. It also moves aligned elements of 2 bytes.
//   tile     moves elements at any strides through shared memory.
//
// Alone: hipcc --genco --offload-arch=gfx942 -O3 -std=c++17 -I kernels kernels/strided_copy.hip -o strided_copy.co
#include "strided_copy.h"

#include "device/move/shifted.h"
#include "device/core/cache.h"
#include "device/core/strided.h"
#include "device/core/vector.h"

namespace hipops {
namespace {

template <class T>
HIPOPS_FN void copy_any(const StridedCopyArgs& a) {
  const T* x = static_cast<const T*>(a.x);
  T* y = static_cast<T*>(a.y);
  load_walk_arguments(a.walk, a.x, a.y, a.step);
  for (int64_t first = int64_t(block_index()) * (kCopyBlock * kCopyDepth); first < a.walk.count; first += a.step) {
    // Past the end, the last access is repeated and ignored. No branch: all loads are issued before a wait.
    int64_t i[kCopyDepth];
    Offsets<kCopyOperands> at[kCopyDepth];
    T value[kCopyDepth];
#pragma unroll
    for (int n = 0; n < kCopyDepth; ++n) {
      i[n] = first + n * kCopyBlock + thread_index();
      at[n] = locate(a.walk, i[n] < a.walk.count ? i[n] : a.walk.count - 1);
    }
#pragma unroll
    for (int n = 0; n < kCopyDepth; ++n) value[n] = load_evict_last(x + at[n].of[kCopyX]);
#pragma unroll
    for (int n = 0; n < kCopyDepth; ++n)
      if (i[n] < a.walk.count) y[at[n].of[kCopyY]] = value[n];
  }
  if ((a.head | a.tail) == 0 || block_index() != 0) return;
  const uint8_t* x_bytes = static_cast<const uint8_t*>(a.x);
  uint8_t* y_bytes = static_cast<uint8_t*>(a.y);
  int32_t thread = int32_t(thread_index());
  int64_t end = a.walk.count * int64_t(sizeof(T));
  if (thread < a.head) y_bytes[thread - a.head] = x_bytes[thread - a.head];
  if (thread < a.tail) y_bytes[end + thread] = x_bytes[end + thread];
}

template <class T>
HIPOPS_FN void copy_few(const StridedCopyArgs& a) {
  load_walk_arguments(a.walk, a.x, a.y);
  const int32_t i = int32_t(block_index() * kCopyFewBlock + thread_index());
  if (i >= a.walk.count) return;
  const Offsets<kCopyOperands> at = locate(a.walk, i);
  static_cast<T*>(a.y)[at.of[kCopyY]] = load_evict_last(static_cast<const T*>(a.x) + at.of[kCopyX]);
}

// For rows of many accesses: a work-item computes offsets once, for all its accesses of a row.
template <class T>
HIPOPS_FN void copy_rows(const StridedCopyArgs& a) {
  constexpr int depth = sizeof(T) == kWideBytes ? kCopyDepth : kCopyElementsDepth;
  const int32_t cols = int32_t(a.rows.cols);
  for_each_row_piece<kCopyRowsBlock, depth>(a, [&](int64_t, const Offsets<kCopyOperands>& at, int32_t first) {
    const T* x = static_cast<const T*>(a.x) + at.of[kCopyX];
    T* y = static_cast<T*>(a.y) + at.of[kCopyY];
    T value[depth];
#pragma unroll
    for (int n = 0; n < depth; ++n) {
      const int32_t col = first + (n << a.rows.lane_bits);  // past the end: the last access, which is ignored
      value[n] = load_evict_last(x + (col < cols ? col : cols - 1) * a.row_stride[kCopyX]);
    }
#pragma unroll
    for (int n = 0; n < depth; ++n) {
      const int32_t col = first + (n << a.rows.lane_bits);
      if (col < cols) y[col * a.row_stride[kCopyY]] = value[n];
    }
  }, a.x, a.row_stride[kCopyX]);
}

// The place of tile t in the two dimensions, and the offsets of its first element. (The launcher has checked that
// 32-bit divisors are enough.)
struct CopyTilePlace {
  uint32_t at[2];
  Offsets<kCopyOperands> offsets;
};

HIPOPS_FN CopyTilePlace copy_tile_place(const Walk<kCopyOperands>& walk, int64_t t) {
  CopyTilePlace place{};
  const auto divide_along = [&](int d, uint32_t i, uint32_t* at) {
    const uint32_t next = divide(i, walk.dim[d].divisor);
    *at = i - next * uint32_t(walk.dim[d].size);
    add_steps(walk, d, *at, &place.offsets);
    return next;
  };
  uint32_t further, rest = divide_along(1, divide_along(0, uint32_t(t), &place.at[0]), &place.at[1]);
  for (int d = 2; rest != 0; ++d) rest = divide_along(d, rest, &further);
  return place;
}

template <class T>
HIPOPS_FN void copy_shifted(const StridedCopyArgs& a) {
  for_each_row_piece<kCopyBlock, kShiftedDepth>(a, [&](int64_t, const Offsets<kCopyOperands>& at, int32_t first) {
    copy_shifted_row(static_cast<const T*>(a.x) + at.of[kCopyX], static_cast<T*>(a.y) + at.of[kCopyY],
                     int32_t(a.rows.cols), first, a.rows.lane_bits, false);
  }, a.x);
}

// A tile in shared memory. Lines are written as they are in x, and columns are read. A line's padding spreads columns
// over banks.
template <class T>
struct CopyTile {
  static constexpr int kEdge = copy_tile_edge(8 * int(sizeof(T)));
  static constexpr int kPitch = kEdge + (sizeof(T) >= 4 ? 1 : 4 / int(sizeof(T)));
  static constexpr int kLines = kCopyBlock / kEdge;  // lines that the block loads at a time
  static constexpr int kRounds = kEdge / kLines;
};

template <class T>
HIPOPS_FN void copy_tile(const StridedCopyArgs& a) {
  const CopyTiles& tiled = a.tiled;
  load_walk_arguments(a.walk, a.x, a.y, tiled.size[0], tiled.size[1], tiled.stride[kCopyX][0], tiled.stride[kCopyX][1]);
  using Tile = CopyTile<T>;
  HIPOPS_SHARED(T, tile, Tile::kEdge * Tile::kPitch);
  const int lane = int(thread_index() % Tile::kEdge), line = int(thread_index() / Tile::kEdge);
  for (int64_t t = block_index(); t < a.walk.count; t += a.step) {
    const CopyTilePlace place = copy_tile_place(a.walk, t);
    const T* x = static_cast<const T*>(a.x) + place.offsets.of[kCopyX];
    T* y = static_cast<T*>(a.y) + place.offsets.of[kCopyY];

    // The elements from the tile's beginning to the end of each dimension.
    int left[2];
#pragma unroll
    for (int d = 0; d < 2; ++d) {
      int64_t rest = tiled.size[d] - int64_t(place.at[d]) * Tile::kEdge;
      left[d] = rest < Tile::kEdge ? int(rest) : Tile::kEdge;
    }

    // Past the end, the last lines and elements are loaded again. The tile's copies of them are never read.
    T value[Tile::kRounds];
#pragma unroll
    for (int r = 0; r < Tile::kRounds; ++r) {
      int i = line + r * Tile::kLines, j = lane;
      i = i < left[0] ? i : left[0] - 1;
      j = j < left[1] ? j : left[1] - 1;
      value[r] = load_evict_last(x + (i * tiled.stride[kCopyX][0] + j * tiled.stride[kCopyX][1]));
    }
#pragma unroll
    for (int r = 0; r < Tile::kRounds; ++r) tile[(line + r * Tile::kLines) * Tile::kPitch + lane] = value[r];
    barrier();
#pragma unroll
    for (int r = 0; r < Tile::kRounds; ++r) {
      int i = lane, j = line + r * Tile::kLines;
      if (i < left[0] && j < left[1])
        y[i * tiled.stride[kCopyY][0] + j * tiled.stride[kCopyY][1]] = tile[i * Tile::kPitch + j];
    }
    barrier();  // before the next tile overwrites this one
  }
}

// Each work-item transposes a square of vectors in its registers. Its place in the tile is chosen for lines of 128
// bytes: of 64 work-items, 8 by 8 squares are neighbours on both sides, if there are that many.
template <class T>
HIPOPS_FN void copy_square(const StridedCopyArgs& a) {
  const CopySquares& s = a.squares;
  load_walk_arguments(a.walk, a.x, s.across, s.tiles, s.divisor[0].multiplier, s.divisor[0].shift,
                      s.divisor[1].multiplier, s.divisor[1].shift, s.extent[0], s.extent[1], s.line);
  constexpr int n = kWideBytes / int(sizeof(T));
  const uint32_t thread = thread_index(), low = s.across < 3 ? s.across : 3, along = 8 - s.across;
  const uint32_t inside = thread % 8 | ((thread >> (3 + low)) % (1u << (along - 3))) << 3;
  const uint32_t inside_across = (thread >> 3) % (1u << low) | (thread >> (along + low)) << low;
  for (int64_t t = block_index(); t < s.tiles; t += a.step) {
    const uint32_t beyond = divide(uint32_t(t), s.divisor[0]), outer = divide(beyond, s.divisor[1]);
    const uint32_t tile = uint32_t(t) - (beyond - outer) * uint32_t(s.extent[0]);
    const int64_t square = int64_t(tile) << along | inside;
    const int32_t across = int32_t((beyond - outer * uint32_t(s.extent[1])) << s.across | inside_across);
    if (square >= a.walk.count || across >= s.line) continue;
    const Offsets<kCopyOperands> at = locate_in_loop(a.walk, square);
    const T* x = static_cast<const T*>(a.x) + at.of[kCopyX] + across * n;
    T* y = static_cast<T*>(a.y) + at.of[kCopyY] + int64_t(across) * n * s.y_stride;
    Vector<T, n> from[n];
#pragma unroll
    for (int r = 0; r < n; ++r) from[r] = load_vector_evict_last<n>(x + r * s.x_stride);
#pragma unroll
    for (int r = 0; r < n; ++r) {
      Vector<T, n> to;
#pragma unroll
      for (int e = 0; e < n; ++e) to.element[e] = from[e].element[r];
      store_vector_as_one<n>(y + r * s.y_stride, to);
    }
  }
}

// A tile of `staged`. Lines are as they are in y, with the same misalignment, so 16 bytes in y are 16 bytes here. The
// padding of a line, and after each kLength lines, spreads concurrent writes over the banks: 8 work-items write at a
// time, each of its own vector of x.
template <class T>
struct StagedTile {
  static constexpr int kLength = kWideBytes / int(sizeof(T));
  static constexpr int kLine = copy_staged_line(8 * int(sizeof(T))), kLines = copy_staged_lines(8 * int(sizeof(T)));
  static constexpr int kPitch = kLine + kLength;
  static constexpr int kSize = kLines * kPitch + kLines / kLength * kLength;
  static constexpr int kAcross = 8;                             // work-items that share 128 bytes of a line of x
  static constexpr int kPieces = kLines / (kAcross * kLength);  // pieces of 128 bytes in a line of x
  static constexpr int kLinesTogether = kCopyBlock / kAcross;   // lines of x that the block loads at a time
  static constexpr int kAlong = kLine / kLength;                // vectors in a line
  static constexpr int kRounds = kLines * kAlong / kCopyBlock;  // vectors of a work-item, of x and of y
  static_assert(kRounds >= 1 && kRounds % kPieces == 0 && kLine % kLinesTogether == 0, "every round is whole");
  static HIPOPS_METHOD int at(int line) { return line * kPitch + line / kLength * kLength; }

  // The place of this work-item's vector of x in round r, in the two dimensions.
  static HIPOPS_METHOD int along(int r) { return int(thread_index() / kAcross) + r / kPieces * kLinesTogether; }
  static HIPOPS_METHOD int across(int r) { return (int(thread_index() % kAcross) + r % kPieces * kAcross) * kLength; }
};

// Brings x's vectors to a tile. `left`: the tile's elements in each dimension. Past the end, the last line and vector
// are loaded again, without a branch. The tile's copies of them are never read.
template <bool kAligned, class T>
HIPOPS_FN void stage_vectors(const StridedCopyArgs& a, const T* x, int32_t y_misplaced, const int (&left)[2],
                             const Shared<T>& tile) {
  using Tile = StagedTile<T>;
  constexpr int n = Tile::kLength;
  const int32_t y_step = int32_t(a.tiled.stride[kCopyY][1] & (n - 1)), last = (left[1] - 1) / n * n;
  LineVector<T, kAligned> loaded[Tile::kRounds];
#pragma unroll
  for (int r = 0; r < Tile::kRounds; ++r) {
    const int i = Tile::along(r), j = Tile::across(r);
    loaded[r] = LineVector<T, kAligned>(
        x + ((i < left[0] ? i : left[0] - 1) * a.tiled.stride[kCopyX][0] + (j < last ? j : last)));
  }
  Packed<T, n> value[Tile::kRounds];
#pragma unroll
  for (int r = 0; r < Tile::kRounds; ++r) value[r] = loaded[r].value();
#pragma unroll
  for (int e = 0; e < n; ++e) {
    const int32_t misplaced = (y_misplaced + e * y_step) & (n - 1);  // of line j + e; j is a multiple of n
#pragma unroll
    for (int r = 0; r < Tile::kRounds; ++r)
      tile[Tile::at(Tile::across(r)) + e * Tile::kPitch + misplaced + Tile::along(r)] = value[r][e];
  }
}

// The same by elements, for the few tiles next to memory that is not x's.
template <class T>
HIPOPS_FN void stage_elements(const StridedCopyArgs& a, const T* x, int32_t y_misplaced, const int (&left)[2],
                              const Shared<T>& tile) {
  using Tile = StagedTile<T>;
  constexpr int n = Tile::kLength, step = kCopyBlock / Tile::kLines;
  const int j = int(thread_index() % Tile::kLines);
  const int32_t misplaced = (y_misplaced + j * int32_t(a.tiled.stride[kCopyY][1] & (n - 1))) & (n - 1);
  const int64_t x_step = step * a.tiled.stride[kCopyX][0];
  int i = int(thread_index() / Tile::kLines);
  const T* from = x + (i * a.tiled.stride[kCopyX][0] + (j < left[1] ? j : left[1] - 1));
#pragma unroll 1
  while (i < left[0]) {
    T value[n];
#pragma unroll
    for (int e = 0; e < n; ++e) {
      value[e] = load_evict_last(from);
      if (i + (e + 1) * step < left[0]) from += x_step;
    }
#pragma unroll
    for (int e = 0; e < n; ++e, i += step) tile[Tile::at(j) + misplaced + i] = value[e];
  }
}

// Stores the elements of y's lines before the first and after the last vector, fewer than 2 * n in a line.
template <class T>
HIPOPS_FN void store_staged_ends(const StridedCopyArgs& a, const Shared<T>& tile, T* y, int32_t y_misplaced,
                                 const int (&left)[2]) {
  using Tile = StagedTile<T>;
  constexpr int n = Tile::kLength, step = kCopyBlock / n;
  const int64_t y_stride = a.tiled.stride[kCopyY][1];
  const int line = int(thread_index() / n);
  const int32_t misplaced = (y_misplaced + line * int32_t(y_stride & (n - 1))) & (n - 1), head = -misplaced & (n - 1);
  const int whole = left[0] > head ? (left[0] - head) / n * n : 0;
#pragma unroll 1
  for (int e = int(thread_index() % n); e < 2 * n; e += n) {
    const int i = e < head ? e : e + whole;
    if (i >= left[0]) return;
#pragma unroll
    for (int more = 0; more < Tile::kLines; more += step)
      if (line + more < left[1])
        y[(line + more) * y_stride + i] = tile[Tile::at(line) + Tile::at(more) + misplaced + i];
  }
}

// Stores y's lines of a tile: whole vectors, then the elements at both ends. A work-item's lines have one misalignment.
template <class T>
HIPOPS_FN void store_staged(const StridedCopyArgs& a, const Shared<b128>& vectors, const Shared<T>& tile, T* y,
                            int32_t y_misplaced, const int (&left)[2]) {
  using Tile = StagedTile<T>;
  constexpr int n = Tile::kLength, step = kCopyBlock / Tile::kAlong;
  static_assert(step % n == 0, "every n-th line has the same misalignment");
  const int64_t y_stride = a.tiled.stride[kCopyY][1];
  const int line = int(thread_index() / Tile::kAlong);
  const int32_t misplaced = (y_misplaced + line * int32_t(y_stride & (n - 1))) & (n - 1);
  const int first = int(thread_index() % Tile::kAlong) * n + (-misplaced & (n - 1));
  b128 value[Tile::kRounds];
#pragma unroll
  for (int r = 0; r < Tile::kRounds; ++r)
    value[r] = vectors[(Tile::at(line) + first + misplaced) / n + Tile::at(r * step) / n];
  issue_shared_loads_before_use();
#pragma unroll
  for (int r = 0; r < Tile::kRounds; ++r) {
    const int64_t j = line + r * step;
    if (first + n <= left[0] && j < left[1])
      store_vector_as_one<n>(y + (j * y_stride + first), bit_cast<Vector<T, n>>(value[r]));
  }
  if (!a.tiled.y_aligned || left[0] % n != 0) store_staged_ends(a, tile, y, y_misplaced, left);
}

template <class T>
HIPOPS_FN void copy_staged(const StridedCopyArgs& a) {
  const CopyTiles& tiled = a.tiled;
  load_walk_arguments(a.walk, a.x, a.y, tiled.size[0], tiled.size[1], tiled.stride[kCopyX][0], tiled.stride[kCopyX][1]);
  using Tile = StagedTile<T>;
  constexpr int n = Tile::kLength, lines = Tile::kLines;
  HIPOPS_SHARED(b128, vectors, Tile::kSize / n);
  const Shared<T> tile = vectors.template as<T>();
  for (int64_t t = block_index(); t < a.walk.count; t += a.step) {
    const CopyTilePlace place = copy_tile_place(a.walk, t);
    const T* x = static_cast<const T*>(a.x) + place.offsets.of[kCopyX];
    T* y = static_cast<T*>(a.y) + place.offsets.of[kCopyY];
    const int64_t rest[2] = {tiled.size[0] - int64_t(place.at[0]) * Tile::kLine,
                             tiled.size[1] - int64_t(place.at[1]) * lines};
    const int left[2] = {rest[0] < Tile::kLine ? int(rest[0]) : Tile::kLine, rest[1] < lines ? int(rest[1]) : lines};

    // The elements of x next to the tile in memory: before its first one, and from the beginning of its last line on.
    const bool is_dense = tiled.x_elements != 0;
    const int64_t before = is_dense ? place.offsets.of[kCopyX] : tiled.size[1] - rest[1];
    const int64_t after = is_dense ? tiled.x_elements - before - (left[0] - 1) * tiled.stride[kCopyX][0] : rest[1];
    const int width = (left[1] + n - 1) / n * n;
    const int32_t y_misplaced = misalignment(y);
    if (tiled.x_aligned && after >= width)
      stage_vectors<true>(a, x, y_misplaced, left, tile);
    else if (before >= kLeastEnd<T> && after >= width + kLeastEnd<T>)
      stage_vectors<false>(a, x, y_misplaced, left, tile);
    else
      stage_elements(a, x, y_misplaced, left, tile);
    barrier();
    store_staged(a, vectors, tile, y, y_misplaced, left);
    barrier();  // before the next tile overwrites this one
  }
}

}  // namespace

// NVIDIA: the blocks of `staged` for which a multiprocessor has room. With a larger number or none, nvcc waits for some
// of a work-item's loads before it issues the others. 0: no bound.
[[maybe_unused]] constexpr int kResident_any = 0, kResident_few = 0, kResident_rows = 0, kResident_tile = 0,
                               kResident_square = 0, kResident_staged = 4, kResident_shifted = 0;

#define KERNEL(name, bits, mode, block)                                          \
  HIPOPS_KERNEL(block, kResident_##mode) name(HIPOPS_ARGS(StridedCopyArgs) a) { \
    follow_launch_before();                                                      \
    copy_##mode<b##bits>(a);                                                     \
  }
HIPOPS_STRIDED_COPY_KERNELS(KERNEL)

HIPOPS_KERNEL_TABLE(strided_copy, StridedCopyArgs, HIPOPS_STRIDED_COPY_KERNELS)

}  // namespace hipops
