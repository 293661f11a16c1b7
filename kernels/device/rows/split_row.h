// Rows that are split over blocks, tile by tile, where there are too few of them for one block each: three launches, and
// no memory but y. Each block leaves what its tile comes to in the tile's own place in y; a block for each row makes the
// row's result of that, and puts it in all those places; each tile's block takes it from there before it overwrites it.
// Tiles follow from the shape alone, so that results depend on nothing else.
#pragma once

#include "device/rows/row_tile.h"

namespace hipops {
namespace {

template <class Shape>
constexpr int64_t tile_columns = int64_t(Shape::kThreads) * Shape::kVectors * Shape::kLength;

// f(rows, base), a tile of one of the rows being at vector column `base`, for each tile that is this block's. The last
// pass goes backward, over what the first one has left in the cache.
template <class Shape, class F>
HIPOPS_FN void for_each_tile(const RowGeometry& geometry, const void* x, void* y, bool backward, F f) {
  for (int64_t i = block_index(); i < geometry.rows * geometry.tiles; i += geometry.row_step) {
    const RowGeometry& g = read_anew(geometry);
    const int64_t tiles = g.rows * g.tiles;
    Rows<Shape> rows(g, x, y);
    const int64_t at = backward ? tiles - 1 - i : i, inner = g.rows_first ? g.rows : g.tiles;
    const int64_t quotient = divide(at, inner, g.tiles_divisor), rest = at - quotient * inner;
    const int64_t base = (g.rows_first ? quotient : rest) * tile_columns<Shape>;
    rows.select(g.rows_first ? rest : quotient);
    if (rows.has_tile(base)) f(rows, base);  // the last one may be of an edge alone, which is the first one's
  }
}

// f(rows) for each row that is this block's, and f(base) for each of a row's tiles that is this work-item's.
template <class Shape, class F>
HIPOPS_FN void for_each_split_row(const RowGeometry& g, const void* x, void* y, F f) {
  Rows<Shape> rows(g, x, y);
  for (int64_t row = rows.begin(); rows.more(row); row = rows.next(row)) {
    rows.select(row);
    f(rows);
  }
}
template <class Shape, class F>
HIPOPS_FN void for_each_place(const Rows<Shape>& rows, F f) {
  for (int64_t tile = thread_index(); tile == 0 || rows.has_tile(tile * tile_columns<Shape>); tile += Shape::kThreads)
    f(tile * tile_columns<Shape>);
}

// Elements of a tile.
template <class Shape>
HIPOPS_FN int elements_of(const Rows<Shape>& rows, int64_t base) {
  const int left = rows.left(base), most = int(tile_columns<Shape>);
  return (left < most ? left : most) + (base == 0 ? rows.edges() : 0);
}

// A value of up to 16 bytes, or 32 in f64, in elements of y.
template <class T, class V>
HIPOPS_FN void leave_in(T* y, const V& value) {
  static_assert(sizeof(V) <= (sizeof(T) == 8 ? 2 : 1) * kWideBytes && sizeof(V) % sizeof(T) == 0,
                "each tile has room for a vector, or two");
  T part[sizeof(V) / sizeof(T)];
  __builtin_memcpy(part, &value, sizeof value);
#pragma unroll
  for (unsigned i = 0; i < sizeof(V) / sizeof(T); ++i) y[i] = part[i];
}
// Others may overwrite it after the next barrier.
template <class V, class T>
HIPOPS_FN V found_in(const T* y) {
  T part[sizeof(V) / sizeof(T)];
#pragma unroll
  for (unsigned i = 0; i < sizeof(V) / sizeof(T); ++i) part[i] = y[i];
  return arrived(bit_cast<V>(part));
}

}  // namespace
}  // namespace hipops
