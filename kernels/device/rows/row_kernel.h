// The kernel of every row op. An op is a struct of a few functions (kernels/fused_add_rms_norm.hip is one):
//
//   Args                       with `rows`, a RowStreams<kInputs + kOutputs>, `columns`, Columns[kColumns], `columns_are_f32`
//   kInputs, kOutputs          streams of rows
//   kColumns                   weights; absent_column(i) is what one that is not there consists of
//   combine(args, in, out)     of several inputs: what the op works with, a vector at a time
//   row(args, view)            what a row comes to. view.reduce(op, f) reduces f(element) over all lanes of the row, and
//                              view.sum(f) adds; each may be used any number of times, by all lanes alike
//   apply(args, row, v, columns, out)   the results of a vector
//
// Flags of an op are uniform branches outside of the loops over elements.
#pragma once

#include "device/core/math.h"
#include "device/rows/columns.h"
#include "device/rows/tile.h"

namespace hipops {
namespace {

template <class Op, class Shape>
using RowsOf = Rows<RowStreams<Op::kInputs + Op::kOutputs>, Shape>;

// A row in registers.
template <class Op, class Shape, class Rows, class Reduction>
struct RowOnChip {
  using C = typename Shape::Compute;
  const Tile<Op, Shape>& tile;
  const Rows& rows;
  Reduction& reduction;

  template <class O, class F>
  HIPOPS_METHOD auto reduce(O op, F f) const { return reduction(tile.reduce(rows, 0, op, f), op); }
  template <class F>
  HIPOPS_METHOD C sum(F f) const { return reduce(Sum(), f); }
};

// A row in memory, of any length: sums of tiles are kept in twice the digits. Each pass finds the row again, as gfx9 has no
// scalar registers in which its place could wait.
template <class Op, class Shape, class Reduction>
struct RowInMemory {
  using C = typename Shape::Compute;
  const typename Op::Args& args;
  int64_t row;
  Reduction& reduction;

  // f(rows, tile, base)
  template <class F>
  HIPOPS_METHOD void for_each_tile(F f) const {
    const typename Op::Args& a = read_anew(args);
    RowsOf<Op, Shape> rows(a.rows);
    rows.select(row);
    Tile<Op, Shape> tile;
    for (int64_t base = 0; rows.more_at(base); base = rows.next_base(base)) {
      tile.load(a, rows, base, [] {});
      f(rows, tile, base);
    }
  }
  template <class O, class F>
  HIPOPS_METHOD auto reduce(O op, F f) const {
    auto all = O::template identity<decltype(f(C()))>();
    for_each_tile([&](const auto& rows, const auto& tile, int64_t base) { all = op(all, tile.reduce(rows, base, op, f)); });
    return reduction(all, op);
  }
  template <class F>
  HIPOPS_METHOD C sum(F f) const {
    auto all = WideSum<C>::of(0);
    for_each_tile([&](const auto& rows, const auto& tile, int64_t base) {
      all = all + WideSum<C>::of(tile.reduce(rows, base, Sum(), f));
    });
    return reduction(all, Sum()).value();
  }
};

// Stores what the op makes of a tile.
template <class Op, class Shape, class Args, class Rows, class Row, class Columns>
HIPOPS_FN void store_tile(const Args& a, const Tile<Op, Shape>& tile, const Rows& rows, int64_t base, const Row& row,
                          const Columns& columns) {
  using T = typename Shape::Element;
  using C = typename Shape::Compute;
  constexpr int n = Shape::kLength;
  OutgoingVectors<T, Shape::kRun> unaligned[Op::kOutputs];
  tile.for_each_vector(rows, base, [&](int v, typename Rows::Column col, const C (&elements)[n]) {
    const bool is_there = rows.live() && rows.there(col);
    if (Shape::kLayout != RowLayout::unaligned && !is_there) return;
    C weight[Op::kColumns + 1][n], out[Op::kOutputs][n];
    columns.get(rows, v, col, weight);
    Op::apply(a, row, elements, weight, out);
#pragma unroll
    for (int i = 0; i < Op::kOutputs; ++i) {
      const int stream = Op::kInputs + i;
      if (!rows.has(stream)) continue;
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
    if (base != 0 || col < 0 || !rows.live()) return;
    C element[1] = {tile.edge()}, weight[Op::kColumns + 1][1], out[Op::kOutputs][1];
    columns.at(col, weight);
    Op::apply(a, row, element, weight, out);
#pragma unroll
    for (int i = 0; i < Op::kOutputs; ++i)
      if (rows.has(Op::kInputs + i)) rows.stream(Op::kInputs + i)[col] = narrow<T>(out[i][0]);
  }
}

// All of an op's weights.
template <class Op, class Shape, class W, bool kKept>
class AllColumns {
 public:
  using C = typename Shape::Compute;

  template <class Args>
  explicit HIPOPS_METHOD AllColumns(const Args& a) : AllColumns(a, Indices<Op::kColumns>()) {}

  template <class Rows>
  HIPOPS_METHOD void ask(const Rows& rows) {
#pragma unroll
    for (auto& column : column_) column.ask(rows);
  }
  template <class Rows>
  HIPOPS_METHOD void get(const Rows& rows, int v, typename Rows::Column col, C (&out)[Op::kColumns + 1][Shape::kLength]) const {
#pragma unroll
    for (int i = 0; i < Op::kColumns; ++i) column_[i].get(rows, v, col, out[i]);
  }
  HIPOPS_METHOD void at(int64_t col, C (&out)[Op::kColumns + 1][1]) const {
#pragma unroll
    for (int i = 0; i < Op::kColumns; ++i) out[i][0] = column_[i].at(col);
  }

 private:
  template <int...> struct List {};
  template <int n, int... more> struct Make : Make<n - 1, n - 1, more...> {};
  template <int... all> struct Make<0, all...> { using type = List<all...>; };
  template <int n> using Indices = typename Make<n>::type;

  template <class Args, int... i>
  HIPOPS_METHOD AllColumns(const Args& a, List<i...>)
      : column_{{a.columns[i].data, a.columns[i].step, C(Op::absent_column(i))}...} {}

  ColumnsOf<Shape, W, kKept> column_[Op::kColumns];
};

template <class Op, class Shape, class W>
HIPOPS_FN void take_rows_on_chip(const typename Op::Args& args) {
  // Weights in the rows' type wait in registers for the row's result. In f32, or shifted, they would take twice as many; and
  // which are a work-item's then follows from how each row lies.
  constexpr bool kShifted = Shape::kLayout == RowLayout::unaligned && !has_unaligned_vectors;
  constexpr bool kKept = sizeof(W) == sizeof(typename Shape::Element) && Shape::kVectors <= 4 && !kShifted;
  AllColumns<Op, Shape, W, kKept> columns(args);
  typename Shape::template Reduction<typename Op::Largest> reduction(args.rows.threads);
  int64_t first = RowsOf<Op, Shape>(args.rows).begin();
  bool are_kept = false;
  do {
    const typename Op::Args& a = read_anew(args);
    RowsOf<Op, Shape> rows(a.rows);
    rows.select(first);
    Tile<Op, Shape> tile;
    tile.load(a, rows, 0, [&] {
      if (!are_kept) columns.ask(rows);
      are_kept = true;
    });
    const auto row = Op::row(a, RowOnChip<Op, Shape, RowsOf<Op, Shape>, decltype(reduction)>{tile, rows, reduction});
    store_tile<Op, Shape>(read_anew(args), tile, rows, 0, row, columns);
    first = rows.next(first);
  } while (first < args.rows.rows);
}

template <class Op, class Shape, class W>
HIPOPS_FN void take_rows_in_memory(const typename Op::Args& args) {
  typename Shape::template Reduction<WideSum<typename Shape::Compute>> reduction(args.rows.threads);
  int64_t first = RowsOf<Op, Shape>(args.rows).begin();
  do {
    const RowInMemory<Op, Shape, decltype(reduction)> view{args, first, reduction};
    const auto row = Op::row(args, view);
    view.for_each_tile([&](const auto& rows, const auto& tile, int64_t base) {
      store_tile<Op, Shape>(args, tile, rows, base, row, AllColumns<Op, Shape, W, false>(args));
    });
    first += args.rows.row_step;
  } while (first < args.rows.rows);
}

template <class Op, class Shape, class W>
HIPOPS_FN void take_rows(const typename Op::Args& a) {
  if constexpr (Shape::kBody == RowBody::streamed) take_rows_in_memory<Op, Shape, W>(a);
  else if constexpr (Shape::kInCluster && few_registers) take_rows_in_memory<Op, typename Shape::Streamed, W>(a);
  else take_rows_on_chip<Op, Shape, W>(a);
}

template <class Op, class Shape>
HIPOPS_FN void row_kernel(const typename Op::Args& a) {
  using T = typename Shape::Element;
  // First what is not jumped to: what most calls do.
  if (__builtin_expect(sizeof(T) != sizeof(f32) && a.columns_are_f32, 0)) take_rows<Op, Shape, f32>(a);
  else take_rows<Op, Shape, T>(a);
}

// Work-items for which a kernel is to have registers: those of its largest block, and on NVIDIA of unaligned rows half as
// many again, of the several blocks that a unit is to run.
constexpr int work_items(int block, RowLayout layout, RowBody body) {
  if (on_nvidia && layout == RowLayout::unaligned && body == RowBody::on_chip) return block < 512 ? block : 768;
  return body == RowBody::cluster ? blocks_in_one * block : block;
}

}  // namespace
}  // namespace hipops

// The kernels of an op's list; `Op` is a template of the element type.
#define HIPOPS_ROW_KERNEL(Op, Args, name, T, lanes, vectors, block, layout, body)                                \
  HIPOPS_KERNEL_UP_TO(work_items(block, RowLayout::layout, RowBody::body))                                       \
  name(HIPOPS_ARGS(Args) a) {                                                                                    \
    follow_launch_before();                                                                                      \
    row_kernel<Op<T>, RowShape<T, lanes, vectors, block, RowLayout::layout, RowBody::body>>(a);                   \
  }
