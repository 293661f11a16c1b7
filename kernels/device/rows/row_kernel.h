// The kernel of every row op. An op is a struct of a few functions (kernels/rms_norm.hip is one):
//
//   Args                       with `rows`, a RowStreams<kInputs + kOutputs>, `columns`, Columns[kColumns], `columns_are_f32`,
//                              kOnUnit, kShortOnUnit: work-items that a unit of NVIDIA's is to run, as registers allow
//   kInputs, kOutputs          streams of rows
//   kColumns                   weights; absent_column(i) is what one that is not there consists of
//   kMaps                      whether part() maps elements, and mapped(row, x) does the same to one
//   Largest                    the largest type that is reduced
//   combine(args, in, out)     of several inputs: what the op works with, a vector at a time
//   part(args, view)           what a row comes to, or a tile of one, where it is not on chip. view.reduce(op, f) reduces
//                              f(element) over it; view.map(f) puts f(element) in each element's place; view.again() is
//                              the same for a further reduction that few rows take
//   merge(args, parts)         what they come to together: parts.reduce(op, f) reduces f(part, its elements)
//   whole(args, part)          what apply() needs of a row
//   apply(args, row, v, columns, out)   the results of some elements
//   kHasExtremes               whether rows may leave the range that apply() is for: then it has `least` as well, and lowers
//                              it to the least magnitude of what has to keep its digits. is_extreme(row) and, where that is
//                              denormal, loses_digits(args, row, v) say of a row that it goes by apply_extreme(as apply)
//
// Flags of an op are uniform branches outside of the loops over elements. All lanes reduce alike, any number of times.
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

template <class Op, class Shape>
constexpr bool prefetches = may_prefetch_rows && prefetches_rows(Shape::kVectors, Shape::kLayout, Shape::kBody);

// A row, or a tile of one, in registers.
template <class Op, class Shape, class Reduction, bool kAgain = false>
struct RowView {
  using C = typename Shape::Compute;
  // Whether it is all of the row; whether elements stay mapped until apply(); and whether several waves share it.
  static constexpr bool kIsRow = Shape::kOnChip, kMapsStay = Shape::kOnChip, kByWaves = Shape::kRowsPerBlock == 1;
  Tile<Op, Shape>& tile;
  const RowsOf<Op, Shape>& rows;
  int64_t base;
  Reduction& reduction;

  HIPOPS_METHOD int64_t elements() const { return rows.elements(base); }
  HIPOPS_METHOD RowView<Op, Shape, Reduction, true> again() const { return {tile, rows, base, reduction}; }
  template <class O, class F, class G>
  HIPOPS_METHOD auto reduce(O op, F f, G g) const {
    tile.widen_anew();
    return reduction(tile.template reduce<kAgain>(rows, base, op, f, g), op);
  }
  template <class O, class F>
  HIPOPS_METHOD auto reduce(O op, F f) const { return reduce(op, f, Identity()); }
  template <class F>
  HIPOPS_METHOD void map(F f) const { tile.map(f); }
};

// The results of some elements; of a row without extremes the least magnitude, too, of what has to keep its digits.
template <class Op, bool kExtreme, class Args, class Row, class C, int n>
HIPOPS_FN void apply_to(const Args& a, const Row& row, const C (&x)[n], C (&columns)[Op::kColumns + 1][n],
                        C (&out)[Op::kOutputs][n], C* least) {
  if constexpr (!Op::kHasExtremes) Op::apply(a, row, x, columns, out);
  else if constexpr (kExtreme) Op::apply_extreme(a, row, x, columns, out);
  else Op::apply(a, row, x, columns, out, least);
}

// Stores what the op makes of a tile. Returns the least magnitude.
template <class Op, class Shape, bool kExtreme, class Args, class Rows, class Row, class Columns>
HIPOPS_FN auto store_results(const Args& a, const Tile<Op, Shape>& tile, const Rows& rows, int64_t base, const Row& row,
                             const Columns& columns) {
  using T = typename Shape::Element;
  using C = typename Shape::Compute;
  constexpr int n = Shape::kLength;
  OutgoingVectors<T, Shape::kRun> unaligned[Op::kOutputs];
  C least = C(INFINITY);
  tile.for_each_vector(rows, base, [&](int v, typename Rows::Column col, const C (&elements)[n]) {
    const bool is_there = rows.live() && rows.there(col);
    if (Shape::kLayout != RowLayout::unaligned && !is_there) return;
    C weight[Op::kColumns + 1][n], out[Op::kOutputs][n];
    columns.get(rows, v, col, weight);
    apply_to<Op, kExtreme>(a, row, elements, weight, out, &least);
#pragma unroll
    for (int i = 0; i < Op::kOutputs; ++i) {
      const int stream = Op::kInputs + i;
      if (Op::kOutputs > 1 && !rows.has(stream)) continue;
      Vector<T, n> narrowed;
#pragma unroll
      for (int e = 0; e < n; ++e) narrowed.element[e] = narrow<T>(out[i][e]);
      if constexpr (Shape::kLayout == RowLayout::aligned) {
        store_vector<n>(rows.stream(stream) + col, narrowed);
      } else if constexpr (Shape::kLayout == RowLayout::strided) {
        rows.stream(stream)[col * rows.step(stream)] = narrowed.element[0];
      } else {
        unaligned[i].put(rows.stream(stream) + col, is_there, rows.has_next(col), v == Shape::kVectors - 1, narrowed);
      }
    }
  });
  if constexpr (Rows::kHasEdges) {
    const auto col = rows.edge();
    if (base != 0 || col < 0 || !rows.live()) return least;
    C element[1] = {tile.edge()}, weight[Op::kColumns + 1][1], out[Op::kOutputs][1];
    columns.at(col, weight);
    apply_to<Op, kExtreme>(a, row, element, weight, out, &least);
#pragma unroll
    for (int i = 0; i < Op::kOutputs; ++i)
      if (rows.has(Op::kInputs + i)) rows.stream(Op::kInputs + i)[col] = narrow<T>(out[i][0]);
  }
  return least;
}

template <class Op, class Shape, class Args, class Rows, class Row, class Columns>
HIPOPS_FN void store_tile(const Args& a, Tile<Op, Shape>& tile, const Rows& rows, int64_t base, const Row& row,
                          const Columns& columns) {
  using C = typename Shape::Compute;
  if constexpr (!Op::kHasExtremes) {
    store_results<Op, Shape, false>(a, tile, rows, base, row, columns);
  } else if constexpr (!Shape::kOnChip) {  // one way: gfx9 has no scalar registers for two
    store_results<Op, Shape, true>(a, tile, rows, base, row, columns);
  } else {
    tile.widen_anew();
    if (__builtin_expect(ballot(Op::is_extreme(row)) == 0, 1)) {
      const C least = store_results<Op, Shape, false>(a, tile, rows, base, row, columns);
      if (__builtin_expect(ballot(least < FloatFormat<C>::kLeastNormal) == 0, 1)) return;
      tile.forget_made(a);
      bool loses = false;  // it may be the magnitude of a 0
      tile.for_each_vector(rows, base, [&](int, typename Rows::Column col, const C (&elements)[Shape::kLength]) {
        if (rows.there(col)) loses |= Op::loses_digits(a, row, elements);
      });
      const C edge[1] = {tile.edge()};
      if (Rows::kHasEdges) loses |= Op::loses_digits(a, row, edge);
      if (ballot(loses) == 0) return;
    }
    tile.forget_made(a);
    store_results<Op, Shape, true>(a, tile, rows, base, row, columns);
  }
}

// What a row's tile comes to, and its results.
template <class Op, class Shape, class Columns, class Reduction>
HIPOPS_FN void finish_row(const typename Op::Args& a, const RowsOf<Op, Shape>& rows, Tile<Op, Shape>& tile,
                          Columns& columns, Reduction& reduction) {
  const auto part = Op::part(a, RowView<Op, Shape, Reduction>{tile, rows, 0, reduction});
  columns.widen_anew();
  const typename Op::Args& again = read_anew(a);
  store_tile<Op, Shape>(again, tile, rows, 0, Op::whole(again, part), columns);
}

// Weights in the rows' type wait in registers for the row's result where a unit runs few blocks, or has few rows, but for
// shifted ones, as which are a work-item's follows from how each row lies. (They are asked for before it is known that they
// are in f32: there are as many bytes.)
template <class Op, class Shape>
constexpr bool keeps_columns() {
  if (sizeof(typename Shape::Element) > sizeof(f32)) return false;
  if (Shape::kLayout == RowLayout::unaligned && (Shape::kInCluster || !has_unaligned_vectors)) return false;
  return Shape::kInCluster ? Shape::kVectors * Op::kColumns <= 8 / blocks_in_one : Shape::kVectors <= 2;
}
template <class Op, class Shape>
using ColumnsOnChip = OwnColumns<Op, Shape, keeps_columns<Op, Shape>()>;
template <class Op, class Shape>
using ColumnsAtUse = OwnColumns<Op, Shape, false>;

template <class Op, class Shape>
HIPOPS_FN void take_rows_on_chip(const typename Op::Args& args) {
  typename Shape::template Reduction<typename Op::Largest> reduction(args.rows.lanes);
  ColumnsOnChip<Op, Shape> columns(args);
  RowsOf<Op, Shape> rows(args.rows);
  int64_t first = rows.begin();
  rows.select(first);
  Tile<Op, Shape> tile;
  tile.ask(rows, 0);
  columns.ask(rows);
  while (true) {
    const typename Op::Args& a = read_anew(args);
    const int64_t next = first + a.rows.row_step;
    tile.take(a, rows, 0);
    RowsOf<Op, Shape> ahead(a.rows);
    if constexpr (prefetches<Op, Shape>) {
      if (next < a.rows.rows) {
        ahead.select(next);
        tile.ask(ahead, 0);
      }
    }
    finish_row<Op, Shape>(a, rows, tile, columns, reduction);
    first = next;
    if (first >= args.rows.rows) return;
    if constexpr (prefetches<Op, Shape>) {
      rows = ahead;
    } else {
      rows = RowsOf<Op, Shape>(read_anew(args).rows);
      rows.select(first);
      tile.ask(rows, 0);
    }
  }
}

template <class Op, class Shape>
HIPOPS_FN void take_packed_rows(const typename Op::Args& args) {
  constexpr int n = Shape::kVectors;
  using C = typename Shape::Compute;
  StagedRows<Op, Shape> staged;
  for (int64_t first = int64_t(block_index()) * args.rows.per_block; first < args.rows.rows; first += args.rows.row_step) {
    const typename Op::Args& a = read_anew(args);
    const int64_t left = a.rows.rows - first;
    const int rows = int(left < a.rows.per_block ? left : a.rows.per_block), cols = int(a.rows.cols), count = rows * cols;
    staged.load(a.rows, first * cols, count);
#pragma unroll 1
    for (int begin = 0; begin < count; begin += Shape::kBlock * cols) {
      // What lanes do together they do without a row, too: as with one of no elements.
      const int of_lane = begin + int(thread_index()) * cols, own = of_lane < count ? cols : 0, place = own > 0 ? of_lane : 0;
      const typename Op::Args& b = read_anew(args);
      const auto part = Op::part(b, StagedRow<Op, Shape>{b, staged, place, own});
      const auto result = Op::whole(read_anew(args), part);
#pragma unroll 1
      for (int col = 0; col < own; col += n) {
        const typename Op::Args& again = read_anew(args);
        C x[n], weight[Op::kColumns + 1][n], out[Op::kOutputs][n];
        ColumnsAtUse<Op, Shape>(again).neighbours(col, cols, weight);
        staged.get(again, place + col, cols - col, x);
        if constexpr (Op::kMaps) {
#pragma unroll
          for (int i = 0; i < n; ++i) x[i] = Op::mapped(result, x[i]);
        }
        C same[Op::kColumns + 1][n], least = C(INFINITY);  // as apply() may change weights
        __builtin_memcpy(same, weight, sizeof same);
        apply_to<Op, false>(again, result, x, weight, out, &least);
        if constexpr (Op::kHasExtremes) {
          if (__builtin_expect(Op::is_extreme(result) || least < FloatFormat<C>::kLeastNormal, 0))
            apply_to<Op, true>(again, result, x, same, out, &least);
        }
        staged.set(place + col, cols - col, out);
      }
    }
    staged.store(read_anew(args).rows, first * cols, count);
  }
}

// What the tiles of a row come to that begin in [base, end). Each pass finds the row again, as gfx9 has no scalar registers
// in which its place could wait.
template <class Op, class Shape, class Reduction>
HIPOPS_FN auto part_of_span(const typename Op::Args& args, int64_t row, int64_t base, int64_t end, Reduction& reduction) {
  // Of the tile at `from`, with its elements, next tile, and whether there is one.
  struct Place { int64_t elements, next; bool has_next; };
  const auto part_at = [&](int64_t from, Place* place) {
    const typename Op::Args& a = read_anew(args);
    RowsOf<Op, Shape> rows(a.rows);
    rows.select(row);
    Tile<Op, Shape> tile;
    tile.load(a, rows, from);
    place->elements = rows.elements(from), place->next = rows.next_base(from);
    place->has_next = place->next < end && rows.more_at(place->next);
    return Op::part(a, RowView<Op, Shape, Reduction>{tile, rows, from, reduction});
  };
  Place place;
  auto all = part_at(base, &place);
  int64_t count = place.elements;
  while (place.has_next) {
    const auto part = part_at(place.next, &place);
    all = Op::merge(read_anew(args), two_parts(all, count, part, place.elements));
    count += place.elements;
  }
  return all;
}

template <class Op, class Shape, class Row>
HIPOPS_FN void apply_to_span(const typename Op::Args& args, int64_t row, int64_t base, int64_t end, const Row& result) {
  const typename Op::Args& a = read_anew(args);
  RowsOf<Op, Shape> rows(a.rows);
  rows.select(row);
  Tile<Op, Shape> tile;
  for (; base < end && rows.more_at(base); base = rows.next_base(base)) {
    tile.load(a, rows, base);
    if constexpr (Op::kMaps) tile.map([&](typename Shape::Compute x) { return Op::mapped(result, x); });
    store_tile<Op, Shape>(a, tile, rows, base, result, ColumnsAtUse<Op, Shape>(a));
  }
}

template <class Op, class Shape>
HIPOPS_FN void take_rows_in_memory(const typename Op::Args& args) {
  typename Shape::template Reduction<typename Op::Largest> reduction(args.rows.lanes);
  int64_t first = RowsOf<Op, Shape>(args.rows).begin();
  do {
    const auto part = part_of_span<Op, Shape>(args, first, 0, args.rows.cols, reduction);
    apply_to_span<Op, Shape>(args, first, 0, args.rows.cols, Op::whole(read_anew(args), part));
    first += args.rows.row_step;
  } while (first < args.rows.rows);
}

template <class Op, class Shape>
HIPOPS_FN void take_spans(const typename Op::Args& args) {
  typename Shape::template Reduction<typename Op::Largest> reduction(args.rows.lanes);
  const int64_t all = args.rows.rows * args.rows.spans;
  for (int64_t i = block_index(); i < all; i += args.rows.row_step) {
    const typename Op::Args& a = read_anew(args);
    // The second launch goes backward, over what the first one has left in the cache.
    const Span<Op, Shape> span(a.rows, Shape::kBody == RowBody::parts ? i : all - 1 - i);
    if constexpr (Shape::kBody == RowBody::parts) {
      const auto part = part_of_span<Op, Shape>(args, span.row, span.begin, span.end, reduction);
      span.leave(part);
    } else {
      const auto part = Op::merge(a, span.parts(reduction));
      apply_to_span<Op, Shape>(args, span.row, span.begin, span.end, Op::whole(read_anew(args), part));
    }
  }
}

template <class Op, class Shape>
HIPOPS_FN void take_rows(const typename Op::Args& a) {
  if constexpr (Shape::kBody == RowBody::streamed) take_rows_in_memory<Op, Shape>(a);
  else if constexpr (!Shape::kOnChip) take_spans<Op, Shape>(a);
  else if constexpr (Shape::kInCluster && few_registers) take_rows_in_memory<Op, typename Shape::Streamed>(a);
  else if constexpr (Shape::kLayout == RowLayout::packed) take_packed_rows<Op, Shape>(a);
  else take_rows_on_chip<Op, Shape>(a);
}

// Work-items for which a kernel is to have registers: those of its largest block, or, on NVIDIA, of the blocks that a unit
// is to run at a time: of short and of longer rows as many as the op says, and fewer where there are few rows.
template <class Args>
constexpr int work_items(int lanes, int vectors, int block, RowLayout layout, RowBody body) {
  if (!bounds_give_registers) return body == RowBody::cluster ? blocks_in_one * block : block;
  if (body == RowBody::cluster || body == RowBody::merged) return 512;
  if (body != RowBody::on_chip) return 1024;
  if (layout == RowLayout::unaligned || (layout == RowLayout::aligned && vectors < 4)) return 512;
  return lanes < block ? Args::kShortOnUnit : Args::kOnUnit;
}

}  // namespace
}  // namespace hipops

// The kernels of an op's list; `Op` is a template of the element type.
#define HIPOPS_ROW_KERNEL(Op, Args, name, T, lanes, vectors, block, layout, body)              \
  HIPOPS_KERNEL_UP_TO(work_items<Args>(lanes, vectors, block, RowLayout::layout, RowBody::body)) \
  name(HIPOPS_ARGS(Args) a) {                                                                  \
    follow_launch_before();                                                                    \
    take_rows<Op<T>, RowShape<T, lanes, vectors, block, RowLayout::layout, RowBody::body>>(a); \
  }
