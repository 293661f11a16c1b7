// strided_copy: y = x, from any strides to any strides. copy2d is one of its layouts.
//
//   x, y     one shape of rank 0 to 8; elements of 1, 2, 4 or 8 bytes, moved as bits
//   bytes    2 * elements * sizeof(element) must move; less is read where x repeats elements (strides of 0)
//
// The launcher brings the dimensions into the order in which they lie in y, so that y is written from its first byte to
// its last as far as there are no gaps, and takes those as one that are one in both. Then
//
//   any    moves units, each by one access on both sides: of 16 bytes (b128) where memory is contiguous and aligned
//          along the innermost dimension of both, of 8, 4 or 2 where that is all that lengths and alignment allow; else
//          elements. A copy without any gaps is one run of units, with up to 15 bytes before and after.
//   rows   moves units, too, in rows of 16 or more of them.
//   square, tile   are for transposes: where what is innermost in y is not what is innermost in x, lanes that follow
//          the one would scatter over the other. square turns squares of 16 bytes by as many elements over in
//          registers, where both are contiguous and aligned; 64 work-items share lines of 128 bytes on both sides, and
//          the loads of a square are all under way together. tile goes through shared memory by elements, at any
//          strides.
//
// Alone: hipcc --genco --offload-arch=gfx942 -O3 -std=c++17 -I kernels kernels/strided_copy.hip -o strided_copy.co
#include "strided_copy.h"

#include "device/strided.h"
#include "device/vector.h"

namespace hipops {
namespace {

template <class T>
HIPOPS_FN void copy_any(const StridedCopyArgs& a) {
  const T* x = static_cast<const T*>(a.x);
  T* y = static_cast<T*>(a.y);
  for (int64_t first = int64_t(block_index()) * (kCopyBlock * kCopyDepth); first < a.walk.count; first += a.step) {
    // Places past the end read the last unit, and forget it: without a branch all loads are under way before the first
    // is waited for.
    int64_t i[kCopyDepth];
    Offsets<kCopyOperands> at[kCopyDepth];
    T value[kCopyDepth];
#pragma unroll
    for (int n = 0; n < kCopyDepth; ++n) {
      i[n] = first + n * kCopyBlock + thread_index();
      at[n] = locate(a.walk, i[n] < a.walk.count ? i[n] : a.walk.count - 1);
    }
#pragma unroll
    for (int n = 0; n < kCopyDepth; ++n) value[n] = x[at[n].of[kCopyX]];
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

// Rows of many units: offsets are found once for those that a work-item takes of a row, a step of as many as share it
// apart.
template <class T>
HIPOPS_FN void copy_rows(const StridedCopyArgs& a) {
  constexpr int depth = sizeof(T) == kWideBytes ? kCopyDepth : kCopyElementsDepth;
  const int32_t lane = int32_t(thread_index() % (1u << a.lanes)), cols = int32_t(a.cols);
  for (int64_t w = int64_t(block_index()) * kCopyBlock + thread_index(); w < a.count; w += a.step) {
    const int64_t piece = w >> a.lanes;
    const int64_t r = a.walk.small ? int64_t(divide(uint32_t(piece), a.parts_divisor)) : piece / a.parts;
    const int32_t first = ((int32_t(piece - r * a.parts) * depth) << a.lanes) + lane;
    const Offsets<kCopyOperands> at = locate(a.walk, r);
    const T* x = static_cast<const T*>(a.x) + at.of[kCopyX];
    T* y = static_cast<T*>(a.y) + at.of[kCopyY];
    T value[depth];
#pragma unroll
    for (int n = 0; n < depth; ++n) {
      const int32_t col = first + (n << a.lanes);  // past the end, the last unit, which is forgotten
      value[n] = x[(col < cols ? col : cols - 1) * a.stride[kCopyX][0]];
    }
#pragma unroll
    for (int n = 0; n < depth; ++n) {
      const int32_t col = first + (n << a.lanes);
      if (col < cols) y[col * a.stride[kCopyY][0]] = value[n];
    }
  }
}

// Where in the two dimensions tile t is. (The launcher sees to it that the divisors may be used.)
struct CopyTilePlace {
  uint32_t at[2];
};

HIPOPS_FN CopyTilePlace copy_tile_place(const Walk<kCopyOperands>& walk, int64_t t) {
  uint32_t beyond = divide(uint32_t(t), walk.divisor[0]), rest = divide(beyond, walk.divisor[1]);
  return {{uint32_t(t) - beyond * uint32_t(walk.size[0]), beyond - rest * uint32_t(walk.size[1])}};
}

// A tile in shared memory, of lines as they come from x, and read across. What is added to a line spreads the elements
// of a column over the banks.
template <class T>
struct CopyTile {
  static constexpr int kEdge = copy_tile_edge(8 * int(sizeof(T)));
  static constexpr int kPitch = kEdge + (sizeof(T) >= 4 ? 1 : 4 / int(sizeof(T)));
  static constexpr int kLines = kCopyBlock / kEdge;  // lines that the block takes at a time
  static constexpr int kRounds = kEdge / kLines;
};

template <class T>
HIPOPS_FN void copy_tile(const StridedCopyArgs& a) {
  using Tile = CopyTile<T>;
  HIPOPS_SHARED(T, tile, Tile::kEdge * Tile::kPitch);
  const int lane = int(thread_index() % Tile::kEdge), line = int(thread_index() / Tile::kEdge);
  for (int64_t t = block_index(); t < a.walk.count; t += a.step) {
    Offsets<kCopyOperands> at = locate(a.walk, t);
    const T* x = static_cast<const T*>(a.x) + at.of[kCopyX];
    T* y = static_cast<T*>(a.y) + at.of[kCopyY];

    // The elements from the tile's beginning on, of which the tile may hold all.
    CopyTilePlace place = copy_tile_place(a.walk, t);
    int left[2];
#pragma unroll
    for (int d = 0; d < 2; ++d) {
      int64_t rest = a.size[d] - int64_t(place.at[d]) * Tile::kEdge;
      left[d] = rest < Tile::kEdge ? int(rest) : Tile::kEdge;
    }

    // Lines and elements past the end read the last ones, and nothing reads them from the tile.
    T value[Tile::kRounds];
#pragma unroll
    for (int r = 0; r < Tile::kRounds; ++r) {
      int i = line + r * Tile::kLines, j = lane;
      i = i < left[0] ? i : left[0] - 1;
      j = j < left[1] ? j : left[1] - 1;
      value[r] = x[i * a.stride[kCopyX][0] + j * a.stride[kCopyX][1]];
    }
#pragma unroll
    for (int r = 0; r < Tile::kRounds; ++r) tile[(line + r * Tile::kLines) * Tile::kPitch + lane] = value[r];
    barrier();
#pragma unroll
    for (int r = 0; r < Tile::kRounds; ++r) {
      int i = lane, j = line + r * Tile::kLines;
      if (i < left[0] && j < left[1])
        y[i * a.stride[kCopyY][0] + j * a.stride[kCopyY][1]] = tile[i * Tile::kPitch + j];
    }
    barrier();  // before the next tile takes the place of this one
  }
}

// Each work-item turns a square of vectors over in its registers. Its place in the tile is made so that of 64
// work-items 8 by 8 squares, as far as there are so many, meet in lines of 128 bytes on both sides.
template <class T>
HIPOPS_FN void copy_square(const StridedCopyArgs& a) {
  constexpr int n = kWideBytes / int(sizeof(T));
  const uint32_t thread = thread_index(), low = a.across < 3 ? a.across : 3, along = 8 - a.across;
  const uint32_t inside = thread % 8 | ((thread >> (3 + low)) % (1u << (along - 3))) << 3;
  const uint32_t inside_across = (thread >> 3) % (1u << low) | (thread >> (along + low)) << low;
  for (int64_t t = block_index(); t < a.tiles; t += a.step) {
    const uint32_t beyond = divide(uint32_t(t), a.divisor[0]), outer = divide(beyond, a.divisor[1]);
    const uint32_t tile = uint32_t(t) - (beyond - outer) * uint32_t(a.size[0]);
    const int64_t square = int64_t(tile) << along | inside;
    const int32_t across = int32_t((beyond - outer * uint32_t(a.size[1])) << a.across | inside_across);
    if (square >= a.walk.count || across >= a.line) continue;
    const Offsets<kCopyOperands> at = locate(a.walk, square);
    const T* x = static_cast<const T*>(a.x) + at.of[kCopyX] + across * n;
    T* y = static_cast<T*>(a.y) + at.of[kCopyY] + int64_t(across) * n * a.stride[kCopyY][1];
    Vector<T, n> from[n];
#pragma unroll
    for (int r = 0; r < n; ++r) from[r] = load_vector<n>(x + r * a.stride[kCopyX][0]);
#pragma unroll
    for (int r = 0; r < n; ++r) {
      Vector<T, n> to;
#pragma unroll
      for (int e = 0; e < n; ++e) to.element[e] = from[e].element[r];
      store_vector_at_once<n>(y + r * a.stride[kCopyY][1], to);
    }
  }
}

}  // namespace

#define KERNEL(name, bits, mode) \
  HIPOPS_KERNEL(kCopyBlock) name(HIPOPS_ARGS(StridedCopyArgs) a) { copy_##mode<b##bits>(a); }
HIPOPS_STRIDED_COPY_KERNELS(KERNEL)

HIPOPS_KERNEL_TABLE(strided_copy, StridedCopyArgs, HIPOPS_STRIDED_COPY_KERNELS)

}  // namespace hipops
