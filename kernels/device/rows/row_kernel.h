// The kernel of every row op. An op is a struct of a few functions, for example kernels/rms_norm.hip:
//
//   Args                       has `rows`, a RowStreams<kInputs + kOutputs>; `columns`, RowColumns[kColumns], at least
//                              one; `columns_are_f32`
//   C, Part                    the type of all computation; the result of part(), up to kMostPartBytes
//   kInputs, kOutputs          streams of rows
//   kColumns                   weights. absent_column(i) is the value of weight i if the caller passes none
//   kMaps                      whether part() replaces elements by f(element). mapped(row, x) then computes f of one
//                              element
//   Largest                    the largest type that a reduction returns: sizes the slots in shared memory (reduce.h)
//   combine(args, in, out)     only if kInputs > 1: makes one vector of the inputs' vectors.
//   part(args, view)           reduces a row on chip, or the lane's elements of a tile. view.reduce(op, f) reduces
//                              f(element). view.map(f) replaces each element by f(element). view.second_pass() is a
//                              view for a further reduction that few rows need. view.kIsRow: the view is the whole row.
//                              kKeepsMapped: apply() gets the mapped elements. kSharedByWaves: several waves share the
//                              row.
//   merge(args, parts)         merges parts. parts.reduce(op, f) reduces f(part, number of its elements).
//                              parts.kInOrder: there are two parts, a and b, and b follows a in the row.
//   finalize(args, part)       makes the constants of a row.
//   apply(args, row, v, columns, out)   computes the results of some elements.
//   kHasExtremes               whether apply() fails for some rows: is_extreme(row). If a wave has such a row, it runs
//                              apply_extreme(), with the arguments of apply(), for all its rows. Only vectors v for
//                              which may_lift(args, row, v) is false get apply().
//   kHasLeast                  whether apply() has a last argument `C* least`, and lowers it to the smallest magnitude
//                              of a value before its weight. If that is denormal, loses_digits(args, row, v) decides
//                              for each vector whether apply_extreme() must compute it
//
// An op's flags are uniform branches outside of loops over elements. All lanes call the same reductions in one order.
#pragma once

#include "device/core/math.h"
#include "device/rows/columns.h"
#include "device/rows/parts.h"
#include "device/rows/tile.h"
#include "device/rows/packed.h"

namespace hipops {
namespace {

template <class Op>
using StreamsOf = RowStreams<Op::kInputs + Op::kOutputs>;
template <class Op, class Shape>
using RowsOf = Rows<StreamsOf<Op>, Shape>;

// Loads the arguments of a row's first load together. Not in cluster kernels: it needs too many registers there.
template <class Op, class Shape>
HIPOPS_FN void load_row_arguments(const typename Op::Args& a) {
  constexpr int n = StreamsOf<Op>::kStreams;
  const StreamsOf<Op>& r = a.rows;
  if constexpr (!Shape::kInCluster)
    load_arguments_together(r.rows, r.cols, r.lanes, r.dimensions, a.columns[0].data, a.columns_are_f32, r.data[0], r.data[1],
                      r.data[2 % n], r.data[3 % n], r.outer[0].stride[0], r.outer[0].stride[1], r.outer[0].stride[2 % n],
                      r.outer[0].stride[3 % n], Shape::kByElement ? r.step[0] : r.cols);
}

template <class Shape>
constexpr bool prefetches = may_prefetch_rows && prefetches_rows(Shape::kLayout, Shape::kBody);

// A row in registers. Its reductions return the result of the whole row to every lane.
template <class Op, class Shape, class Reduction, bool kSecondPass = false>
struct RowView {
  static constexpr bool kIsRow = true, kKeepsMapped = true, kSharedByWaves = Shape::kRowsPerBlock == 1;
  Tile<Op, Shape>& tile;
  const RowsOf<Op, Shape>& rows;
  Reduction& reduction;

  HIPOPS_METHOD RowView<Op, Shape, Reduction, true> second_pass() const { return {tile, rows, reduction}; }
  template <class O, class F, class G = Identity>
  HIPOPS_METHOD auto reduce(O op, F f, G g = {}) const {
    tile.recompute_widened();
    return reduction(tile.template reduce<kSecondPass>(rows, 0, op, f, g), op);
  }
  template <class F>
  HIPOPS_METHOD void map(F f) const { tile.map(f); }
};

// The elements of a tile that one lane has. Its reductions need no other lane.
template <class Op, class Shape, bool kSecondPass = false>
struct LaneView {
  static constexpr bool kIsRow = false, kKeepsMapped = false, kSharedByWaves = false;
  Tile<Op, Shape>& tile;
  const RowsOf<Op, Shape>& rows;
  int64_t base;

  HIPOPS_METHOD int64_t elements() const { return tile.elements(rows, base); }
  HIPOPS_METHOD LaneView<Op, Shape, true> second_pass() const { return {tile, rows, base}; }
  template <class O, class F, class G = Identity>
  HIPOPS_METHOD auto reduce(O op, F f, G g = {}) const {
    tile.recompute_widened();
    return tile.template reduce<kSecondPass>(rows, base, op, f, g);
  }
};

// Computes results by apply(), or by apply_extreme(). `least`: see kHasLeast.
template <class Op, bool kExtreme, class Args, class Row, class C, int n>
HIPOPS_FN void apply_to(const Args& a, const Row& row, const C (&x)[n], C (&columns)[Op::kColumns + 1][n],
                        C (&out)[Op::kOutputs][n], C* least) {
  if constexpr (kExtreme) Op::apply_extreme(a, row, x, columns, out);
  else if constexpr (Op::kHasLeast) Op::apply(a, row, x, columns, out, least);
  else Op::apply(a, row, x, columns, out);
}

// Whether store_tile() has only the copy of the code that runs apply_extreme(). gfx9 has no registers for two copies.
template <class Shape>
constexpr bool has_one_copy = !Shape::kOnChip && !bounds_set_registers;
// Whether apply_to_row() calls may_lift(): lanes of a wave have different rows, or one copy computes all rows. In the
// second case, with kHasLeast, apply_extreme() computes every element: a wave has one row, so bits depend on no other.
template <class Op, class Shape>
constexpr bool mixes_rows =
    Shape::kLanes < wave_size || Shape::kLanesAsNeeded || (has_one_copy<Shape> && !Op::kHasLeast);
template <class Op, class Shape, bool kExtreme, class Args, class Row, class C, int n>
HIPOPS_FN void apply_to_row(const Args& a, const Row& row, const C (&x)[n], C (&columns)[Op::kColumns + 1][n],
                            C (&out)[Op::kOutputs][n], C* least) {
  if constexpr (kExtreme && mixes_rows<Op, Shape>) {
    if (!Op::may_lift(a, row, x)) return apply_to<Op, false>(a, row, x, columns, out, least);
  }
  apply_to<Op, kExtreme>(a, row, x, columns, out, least);
}

// Computes and stores the results of a tile. Returns `least` (kHasLeast).
template <class Op, class Shape, bool kExtreme, class Args, class Rows, class Row, class Columns>
HIPOPS_FN auto store_results(const Args& a, const Tile<Op, Shape>& tile, const Rows& rows, int64_t base, const Row& row,
                             const Columns& columns) {
  using T = typename Shape::Element;
  using C = typename Shape::Compute;
  constexpr int n = Shape::kLength;
  OutgoingVectors<T, Shape::kRun> unaligned[Op::kOutputs];
  C least = C(INFINITY);
  const auto store_edge = [&] {
    const auto col = rows.edge();
    if (base != 0 || col < 0 || !rows.has_row()) return;
    C element[1] = {tile.edge()}, weight[Op::kColumns + 1][1], out[Op::kOutputs][1];
    columns.read_edge(col, weight);
    apply_to_row<Op, Shape, kExtreme>(a, row, element, weight, out, &least);
#pragma unroll
    for (int i = 0; i < Op::kOutputs; ++i)
      if (Op::kOutputs == 1 || rows.has_stream(Op::kInputs + i)) rows.stream(Op::kInputs + i)[col] = narrow<T>(out[i][0]);
  };
  // AMD: the edge comes first. After the vectors' stores, the edge's weights would wait for the stores on gfx9.
  if constexpr (Rows::kHasEdges && has_unaligned_vectors) store_edge();
  tile.for_each_vector(rows, base, [&](int v, typename Rows::Column col, const C (&elements)[n]) {
    const bool is_present = rows.has_row() && rows.contains(col);
    C weight[Op::kColumns + 1][n], out[Op::kOutputs][n];
    columns.read(rows, v, col, weight);
    apply_to_row<Op, Shape, kExtreme>(a, row, elements, weight, out, &least);
#pragma unroll
    for (int i = 0; i < Op::kOutputs; ++i) {
      const int stream = Op::kInputs + i;
      if (Op::kOutputs > 1 && !rows.has_stream(stream)) continue;
      Vector<T, n> narrowed;
#pragma unroll
      for (int e = 0; e < n; ++e) narrowed.element[e] = narrow<T>(out[i][e]);
      if constexpr (Shape::kLayout == RowLayout::aligned) {
        if (is_present) store_vector<n>(rows.stream(stream) + col, narrowed);
      } else if constexpr (Shape::kLayout == RowLayout::strided) {
        if (is_present) rows.stream(stream)[col * rows.step(stream)] = narrowed.element[0];
      } else {
        unaligned[i].store(rows.stream(stream) + col, is_present, rows.has_next(col), v == 0, v == Shape::kVectors - 1, narrowed);
      }
    }
  });
  if constexpr (Rows::kHasEdges && !has_unaligned_vectors) store_edge();
  return least;
}

// Whether Op::loses_digits() holds in the wave: then store_tile() stores the tile again. `least` is 0 if an x is 0.
template <class Op, class Shape, class Args, class Rows, class Row>
HIPOPS_FN bool loses_digits(const Args& a, Tile<Op, Shape>& tile, const Rows& rows, int64_t base, const Row& row) {
  using C = typename Shape::Compute;
  bool loses = false;
  tile.recompute_derived(a);
  tile.for_each_vector(rows, base, [&](int, typename Rows::Column col, const C (&elements)[Shape::kLength]) {
    if (rows.contains(col)) loses |= Op::loses_digits(a, row, elements);
  });
  const C edge[1] = {tile.edge()};
  if (Rows::kHasEdges && base == 0 && rows.edge() >= 0) loses |= Op::loses_digits(a, row, edge);
  return ballot(loses) != 0;
}

// Stores the results of a tile. apply_extreme() serves waves with extreme rows or lost digits.
template <class Op, class Shape, class Args, class Rows, class Row, class Columns>
HIPOPS_FN void store_tile(const Args& a, Tile<Op, Shape>& tile, const Rows& rows, int64_t base, const Row& row,
                          const Columns& columns) {
  using C = typename Shape::Compute;
  if constexpr (!Op::kHasExtremes) {
    store_results<Op, Shape, false>(a, tile, rows, base, row, columns);
  } else if constexpr (has_one_copy<Shape>) {
    store_results<Op, Shape, true>(a, tile, rows, base, row, columns);
  } else {
    tile.recompute_widened();
    if (__builtin_expect(ballot(Op::is_extreme(row)) == 0, 1)) {
      const C least = store_results<Op, Shape, false>(a, tile, rows, base, row, columns);
      if constexpr (!Op::kHasLeast) return;
      else if (__builtin_expect(ballot(least < FloatFormat<C>::kLeastNormal) == 0, 1)) return;
      else if (!loses_digits(a, tile, rows, base, row)) return;
    }
    tile.recompute_derived(a);
    store_results<Op, Shape, true>(a, tile, rows, base, row, columns);
  }
}

template <class Op, class Shape, class Columns, class Reduction>
HIPOPS_FN void finish_row(const typename Op::Args& a, const RowsOf<Op, Shape>& rows, Tile<Op, Shape>& tile,
                          Columns& columns, Reduction& reduction) {
  const auto part = Op::part(a, RowView<Op, Shape, Reduction>{tile, rows, reduction});
  columns.recompute_widened();
  const typename Op::Args& b = reload_arguments(a);
  store_tile<Op, Shape>(b, tile, rows, 0, Op::finalize(b, part), columns);
}

// Whether weights are loaded together with x and kept in registers: up to 8 vectors; NVIDIA on chip without prefetch,
// of tiles of up to 2 vectors. gfx9 completes accesses in order: a later load would wait for the stores before it.
template <class Op, class Shape>
constexpr bool keeps_columns() {
  if (sizeof(typename Shape::Element) > sizeof(f32) || Shape::kByElement) return false;
  if (bounds_set_registers && Shape::kBody == RowBody::on_chip && !prefetches<Shape>) return Shape::kVectors <= 2;
  return Shape::kVectors * Op::kColumns <= 8;
}
template <class Op, class Shape>
using ColumnsOnChip = ColumnsOf<Op, Shape, keeps_columns<Op, Shape>()>;
template <class Op, class Shape>
using ColumnsAtUse = ColumnsOf<Op, Shape, false>;

template <class Op, class Shape>
HIPOPS_FN void run_rows_on_chip(const typename Op::Args& args) {
  load_row_arguments<Op, Shape>(args);
  typename Shape::template Reduction<typename Op::Largest> reduction(args.rows.lanes);
  ColumnsOnChip<Op, Shape> columns(args);
  RowsOf<Op, Shape> rows(args.rows);
  int64_t first = rows.begin();
  rows.select(first);
  Tile<Op, Shape> tile;
  tile.issue_loads(rows, 0);
  columns.issue_loads(rows);
  if constexpr (prefetches<Shape>) columns.wait_for_loads();
  while (true) {
    const typename Op::Args& a = reload_arguments(args);
    const int64_t next = first + a.rows.row_step;
    tile.wait(a, rows, 0);
    RowsOf<Op, Shape> ahead(a.rows);
    if constexpr (prefetches<Shape>) {
      if (next < a.rows.rows) {
        ahead.select(next);
        tile.issue_loads(ahead, 0);
      }
    }
    columns.reload_if_moved(rows);
    finish_row<Op, Shape>(a, rows, tile, columns, reduction);
    first = next;
    if (first >= args.rows.rows) return;
    if constexpr (prefetches<Shape>) {
      rows = ahead;
    } else {
      rows = RowsOf<Op, Shape>(reload_arguments(args).rows);
      rows.select(first);
      tile.issue_loads(rows, 0);
    }
  }
}

template <class Op, class Shape>
HIPOPS_FN void run_packed_rows(const typename Op::Args& args) {
  constexpr int n = Shape::kVectors;
  using C = typename Shape::Compute;
  StagedRows<Op, Shape> staged;
  load_arguments_together(args.rows.rows, args.rows.per_block);
  for (int64_t first = int64_t(block_index()) * args.rows.per_block; first < args.rows.rows;
       first += reload_arguments(args).rows.row_step) {
    const typename Op::Args& a = reload_arguments(args);
    load_arguments_together(a.rows.rows, a.rows.cols, a.rows.per_block, a.rows.data[0], a.rows.data[Op::kInputs - 1]);
    const int64_t left = a.rows.rows - first;
    const int rows = int(left < a.rows.per_block ? left : a.rows.per_block), cols = int(a.rows.cols), count = rows * cols;
    staged.load(a.rows, first * cols, count);
#pragma unroll 1
    for (int begin = 0; begin < count; begin += Shape::kBlock * cols) {
      // A lane without a row runs the same code on 0 elements: ballots in part() need every lane.
      const int of_lane = begin + int(thread_index()) * cols, own = of_lane < count ? cols : 0, place = own > 0 ? of_lane : 0;
      const typename Op::Args& b = reload_arguments(args);
      const auto part = Op::part(b, StagedRow<Op, Shape>{b, staged, place, own});
      const auto result = Op::finalize(reload_arguments(args), part);
#pragma unroll 1
      for (int col = 0; col < own; col += n) {
        const typename Op::Args& again = reload_arguments(args);
        C x[n], weight[Op::kColumns + 1][n], out[Op::kOutputs][n];
        ColumnsAtUse<Op, Shape>(again).read_neighbours(col, cols, weight);
        staged.read(again, place + col, cols - col, x);
        if constexpr (Op::kMaps) {
#pragma unroll
          for (int i = 0; i < n; ++i) x[i] = Op::mapped(result, x[i]);
        }
        C same[Op::kColumns + 1][n], least = C(INFINITY);  // apply() may change weights
        __builtin_memcpy(same, weight, sizeof same);
        apply_to<Op, false>(again, result, x, weight, out, &least);
        if constexpr (Op::kHasExtremes) {
          bool extreme = Op::is_extreme(result);
          if constexpr (Op::kHasLeast) extreme |= least < FloatFormat<C>::kLeastNormal && Op::loses_digits(again, result, x);
          if (__builtin_expect(extreme, 0)) apply_to<Op, true>(again, result, x, same, out, &least);
        }
        staged.write(place + col, cols - col, out);
      }
    }
    staged.store(reload_arguments(args).rows, first * cols, count);
  }
}

// Iterates once over the tiles of a row that begin in [base, end). NVIDIA prefetches the next tile. Each step locates
// the row again: gfx9 has no scalar registers to keep its place.
template <class Op, class Shape>
class Tiles {
 public:
  using Rows = RowsOf<Op, Shape>;

  HIPOPS_METHOD Tiles(int64_t row, int64_t base, int64_t end) : row_(row), next_(base), end_(end) {}

  // Issues the loads of the first tile, before the caller does other work.
  HIPOPS_METHOD void issue_loads(const typename Op::Args& args) {
    if constexpr (may_prefetch_rows) tile_.issue_loads(rows(args), next_);
  }
  // Calls f(args, rows, base, tile) for each tile, with the loads of the next one in flight.
  template <class F>
  HIPOPS_METHOD void for_each(const typename Op::Args& args, F f) {
    do {
      const typename Op::Args& a = reload_arguments(args);
      const Rows all = rows(a);
      const int64_t base = next_;
      if constexpr (!may_prefetch_rows) tile_.issue_loads(all, base);
      tile_.wait(a, all, base);
      next_ = all.next_base(base);
      if (!all.has_vectors_at(next_)) next_ = end_;
      if constexpr (may_prefetch_rows) {
        if (next_ < end_) tile_.issue_loads(all, next_);
      }
      f(a, all, base, tile_);
    } while (next_ < end_);
  }

 private:
  HIPOPS_METHOD Rows rows(const typename Op::Args& args) const {
    load_row_arguments<Op, Shape>(args);
    Rows all(args.rows);
    all.select(row_);
    return all;
  }

  Tile<Op, Shape> tile_;
  int64_t row_, next_, end_;
};

// The part of all tiles. Each lane reduces its own elements first: waves wait for each other only in the last merge().
template <class Op, class Shape, class Reduction>
HIPOPS_FN auto part_of(Tiles<Op, Shape>& tiles, const typename Op::Args& args, Reduction& reduction) {
  typename Op::Part of_lane{};
  int64_t in_lane = 0;
  tiles.for_each(args, [&](const typename Op::Args& a, const RowsOf<Op, Shape>& rows, int64_t base, Tile<Op, Shape>& tile) {
    const LaneView<Op, Shape> view{tile, rows, base};
    const int64_t elements = view.elements();
    const auto part = Op::part(a, view);
    if (in_lane == 0) of_lane = part;
    else if (elements > 0) of_lane = Op::merge(reload_arguments(args), two_parts(of_lane, in_lane, part, elements));
    in_lane += elements;
  });
  return Op::merge(reload_arguments(args), LaneParts<typename Op::Part, Reduction>{of_lane, in_lane, reduction});
}

template <class Op, class Shape, class Row>
HIPOPS_FN void store_all(Tiles<Op, Shape>& tiles, const typename Op::Args& args, const Row& result) {
  tiles.for_each(args, [&](const typename Op::Args& a, const RowsOf<Op, Shape>& rows, int64_t base, Tile<Op, Shape>& tile) {
    if constexpr (Op::kMaps) tile.map([&](typename Shape::Compute x) { return Op::mapped(result, x); });
    ColumnsOnChip<Op, Shape> columns(a);
    columns.issue_loads(rows, base);
    store_tile<Op, Shape>(a, tile, rows, base, result, columns);
  });
}

template <class Op, class Shape>
HIPOPS_FN void run_streamed_rows(const typename Op::Args& args) {
  typename Shape::template Reduction<typename Op::Largest> reduction(args.rows.lanes);
  int64_t first = RowsOf<Op, Shape>(args.rows).begin();
  do {
    Tiles<Op, Shape> tiles(first, 0, args.rows.cols), again(first, 0, args.rows.cols);
    tiles.issue_loads(reload_arguments(args));
    const auto part = part_of(tiles, args, reduction);
    again.issue_loads(reload_arguments(args));
    store_all(again, args, Op::finalize(reload_arguments(args), part));
    first += args.rows.row_step;
  } while (first < args.rows.rows);
}

template <class Op, class Shape>
HIPOPS_FN void run_spans(const typename Op::Args& args) {
  typename Shape::template Reduction<typename Op::Largest> reduction(args.rows.lanes);
  const int64_t all = args.rows.rows * args.rows.spans;
  for (int64_t i = block_index(); i < all; i += args.rows.row_step) {
    const typename Op::Args& a = reload_arguments(args);
    // The second launch iterates backward: the first launch has left the end of x in the cache.
    const Span<Op, Shape> span(a.rows, Shape::kBody == RowBody::parts ? i : all - 1 - i);
    Tiles<Op, Shape> tiles(span.row, span.begin, span.end);
    tiles.issue_loads(a);
    if constexpr (Shape::kBody == RowBody::parts) {
      span.publish(part_of(tiles, args, reduction));
    } else {
      const auto part = Op::merge(a, span.parts(reduction));
      store_all(tiles, args, Op::finalize(reload_arguments(args), part));
    }
  }
}

template <class Op, class Shape>
HIPOPS_FN void run_rows(const typename Op::Args& a) {
  if constexpr (Shape::kBody == RowBody::streamed) run_streamed_rows<Op, Shape>(a);
  else if constexpr (!Shape::kOnChip) run_spans<Op, Shape>(a);
  else if constexpr (Shape::kInCluster && few_registers) run_streamed_rows<Op, typename Shape::Streamed>(a);
  else if constexpr (Shape::kLayout == RowLayout::packed) run_packed_rows<Op, Shape>(a);
  else run_rows_on_chip<Op, Shape>(a);
}

// The number of work-items that decides a kernel's registers.
constexpr int work_items(int block, RowBody body, int resident) {
  if (bounds_set_registers) return resident;
  return body == RowBody::cluster ? blocks_in_one * block : block;
}

}  // namespace
}  // namespace hipops

// The kernels of an op's list. `Op` is a template of the element type.
#define HIPOPS_ROW_KERNEL(Op, Args, name, T, lanes, vectors, block, layout, body, resident)     \
  HIPOPS_KERNEL_UP_TO(work_items(block, RowBody::body, resident)) name(HIPOPS_ARGS(Args) a) {   \
    follow_launch_before();                                                                    \
    run_rows<Op<T>, RowShape<T, lanes, vectors, block, RowLayout::layout, RowBody::body>>(a); \
  }
