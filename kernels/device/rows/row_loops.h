// How a work-item goes over rows.
#pragma once

#include "device/rows/row_tile.h"

namespace hipops {
namespace {

// What is loaded for all rows where there is nothing to load.
struct NothingForAll {
  template <class R> HIPOPS_METHOD void operator()(const R&) const {}
};

// f(rows, tile) for each row that the work-item's group takes, with all of the row in the tile: what resident variants
// do. Once the first row is on its way, load(rows) may load what all rows need.
template <class Shape, class Load, class F>
HIPOPS_FN void for_each_row(const RowGeometry& geometry, const void* x, void* y, Load load, F f) {
  Rows<Shape> rows(geometry, x, y);
  int64_t first = rows.begin();
  rows.select(first);
  RowTile<Shape> tile;
  tile.load(rows, 0);
  ask_in_order();
  load(rows);
  while (true) {
    if constexpr (Shape::kWide || Shape::kEdged) tile.ask_for_all();
    f(rows, tile);
    first = rows.next(first);
    if (!rows.more(first)) return;
    if constexpr (Shape::kEdged && sizeof(typename Shape::Compute) == 8)
      rows = Rows<Shape>(read_anew(geometry), x, y);  // softmax's constants take its registers
    rows.select(first);
    tile = RowTile<Shape>();
    tile.load(rows, 0);
  }
}

// The same of staged rows.
template <class Shape, class Load, class F>
HIPOPS_FN void for_each_staged_row(const RowGeometry& geometry, const void* x, void* y, Load load, F f) {
  Rows<Shape> rows(geometry, x, y);
  rows.ask_for(rows.begin());
  load(rows);
  for (int64_t first = rows.begin(); rows.more(first); first = rows.next(first)) {
    rows.stage(first);
    rows.ask_for(rows.next(first));
    const int staged = rows.staged(first);
    for (int i = 0; i < staged; i += Shape::kRowsPerBlock) {
      rows.select_staged(i, staged);
      RowTile<Shape> tile;
      tile.load(rows, 0);
      f(rows, tile);
    }
    rows.unstage(first, staged);
  }
}

// The same number, as one that the compiler knows nothing of: it makes anew what it has made of it before.
HIPOPS_FN int64_t forgotten(int64_t number) {
#if defined(HIPOPS_NVIDIA)
  asm volatile("" : "+l"(number));
#endif
  return number;
}

// Where the next row's edges wait for its turn: in its tile.
template <class Shape>
struct EdgesInTile {
  HIPOPS_METHOD void ask(const Rows<Shape>& rows, RowTile<Shape>* tile) { tile->load_edges(rows, 0); }
  // When its turn has come; `more`: the row after it has been asked for, too.
  HIPOPS_METHOD void take(const Rows<Shape>&, RowTile<Shape>*, [[maybe_unused]] bool more) {}
};

// for_each_row with the next row on its way while f works on one: for an f that works long enough for a unit's few
// blocks to leave the memory idle. The launcher then makes as many blocks as run at a time, and late ones. What a tile
// does not hold of a row goes by way of `rest`, an EdgesInTile or what keeps it elsewhere. Where registers are short,
// kFindTwice has the next row's place found again when its turn comes, instead of kept until then.
template <class Shape, bool kFindTwice = false, class Rest, class Load, class F>
HIPOPS_FN void for_each_row_ahead(const RowGeometry& geometry, const void* x, void* y, Rest& rest, Load load, F f) {
  Rows<Shape> rows(geometry, x, y);
  int64_t first = rows.begin();
  rows.select(first);
  RowTile<Shape> next;
  next.load_vectors(rows, 0);
  rest.ask(rows, &next);
  ask_in_order();
  load(rows);
  while (true) {
    // A copy, so that nvcc waits for this row before it asks for the next: asked for earlier, it would wait for both
    // here, as it can't tell them apart.
    RowTile<Shape> tile = next;
    Rows<Shape> row = rows;
    first = rows.next(first);
    const bool more = rows.more(first);
    if (more) {
      rows.select(first);
      next.load_vectors(rows, 0);
      rest.ask(rows, &next);
    }
    rest.take(row, &tile, more);
    f(row, tile);
    if (!more) return;
    if constexpr (kFindTwice) {
      first = forgotten(first);
      rows.select(first);
    }
  }
}
template <class Shape, bool kFindTwice = false, class Load, class F>
HIPOPS_FN void for_each_row_ahead(const RowGeometry& geometry, const void* x, void* y, Load load, F f) {
  EdgesInTile<Shape> edges;
  for_each_row_ahead<Shape, kFindTwice>(geometry, x, y, edges, load, f);
}

}  // namespace
}  // namespace hipops
