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
//   tile   is for transposes: where what is innermost in y is not what is innermost in x, lanes that follow the one
//          would scatter over the other. A block takes a tile of both dimensions through shared memory: it reads lines
//          along x's dimension and writes lines along y's. tile_wide does so by 16 bytes, where both are contiguous and
//          aligned; tile_any by elements, at any strides.
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

// A tile in shared memory, of lines as they come from x, and read across. What is added to a line spreads the elements
// of a column over the banks: a column is met without conflicts by words, and by bytes and halves with two lanes to a
// bank at most.
template <class T, int N>
struct CopyTile {
  static constexpr int kEdge = copy_tile_edge(8 * int(sizeof(T)), N > 1);
  static constexpr int kPitch = kEdge + (sizeof(T) >= 4 ? 1 : (N > 1 ? 2 : 4) / int(sizeof(T)));
  static constexpr int kLanes = kEdge / N;             // work-items that share a line, N elements each
  static constexpr int kLines = kCopyBlock / kLanes;   // lines that the block takes at a time
  static constexpr int kRounds = kEdge / kLines;
};

template <class T, int N>
HIPOPS_FN void copy_tile(const StridedCopyArgs& a) {
  using Tile = CopyTile<T, N>;
  HIPOPS_SHARED(T, tile, Tile::kEdge * Tile::kPitch);
  const int lane = int(thread_index() % Tile::kLanes) * N, line = int(thread_index() / Tile::kLanes);
  for (int64_t t = block_index(); t < a.walk.count; t += a.step) {
    Offsets<kCopyOperands> at = locate(a.walk, t);
    const T* x = static_cast<const T*>(a.x) + at.of[kCopyX];
    T* y = static_cast<T*>(a.y) + at.of[kCopyY];

    // The elements from the tile's beginning on, of which the tile may hold all. (The launcher sees to it that the
    // divisors may be used.)
    uint32_t beyond = divide(uint32_t(t), a.walk.divisor[0]);
    uint32_t place[2] = {uint32_t(t) - beyond * uint32_t(a.walk.size[0]),
                         beyond - divide(beyond, a.walk.divisor[1]) * uint32_t(a.walk.size[1])};
    int left[2];
#pragma unroll
    for (int d = 0; d < 2; ++d) {
      int64_t rest = a.size[d] - int64_t(place[d]) * Tile::kEdge;
      left[d] = rest < Tile::kEdge ? int(rest) : Tile::kEdge;
    }

    // Lines and elements past the end read the last ones, and nothing reads them from the tile.
    Vector<T, N> value[Tile::kRounds];
#pragma unroll
    for (int r = 0; r < Tile::kRounds; ++r) {
      int i = line + r * Tile::kLines, j = lane;
      i = i < left[0] ? i : left[0] - 1;
      j = j < left[1] ? j : left[1] - N;
      value[r] = load_vector<N>(x + i * a.stride[kCopyX][0] + j * a.stride[kCopyX][1]);
    }
#pragma unroll
    for (int r = 0; r < Tile::kRounds; ++r) {
#pragma unroll
      for (int e = 0; e < N; ++e) tile[(line + r * Tile::kLines) * Tile::kPitch + lane + e] = value[r].element[e];
    }
    barrier();
#pragma unroll
    for (int r = 0; r < Tile::kRounds; ++r) {
      int i = lane, j = line + r * Tile::kLines;
      if (i >= left[0] || j >= left[1]) continue;
      Vector<T, N> column;
#pragma unroll
      for (int e = 0; e < N; ++e) column.element[e] = tile[(i + e) * Tile::kPitch + j];
      store_vector<N>(y + i * a.stride[kCopyY][0] + j * a.stride[kCopyY][1], column);
    }
    barrier();  // before the next tile takes the place of this one
  }
}

template <class T>
HIPOPS_FN void copy_tile_any(const StridedCopyArgs& a) { copy_tile<T, 1>(a); }

template <class T>
HIPOPS_FN void copy_tile_wide(const StridedCopyArgs& a) { copy_tile<T, kWideBytes / int(sizeof(T))>(a); }

}  // namespace

#define KERNEL(name, bits, mode) \
  HIPOPS_KERNEL(kCopyBlock) name(HIPOPS_ARGS(StridedCopyArgs) a) { copy_##mode<b##bits>(a); }
HIPOPS_STRIDED_COPY_KERNELS(KERNEL)

HIPOPS_KERNEL_TABLE(strided_copy, StridedCopyArgs, HIPOPS_STRIDED_COPY_KERNELS)

}  // namespace hipops
