// The kernel of every row op. An op is a struct of a few functions (row_op.h), for example kernels/rms_norm.hip.
#pragma once

#include "device/core/math.h"
#include "device/rows/columns.h"
#include "device/rows/extreme_rows.h"
#include "device/rows/packed.h"
#include "device/rows/parts.h"

namespace hipops {
namespace {

// Loads the arguments of a row's first load together. Not in cluster kernels: it needs too many registers there.
template <class Op, class Shape>
HIPOPS_FN void load_row_arguments(const typename Op::Args& a) {
  constexpr int n = Op::kTyped > 0 ? StreamsOf<Op>::kAll : StreamsOf<Op>::kStreams;
  const StreamsOf<Op>& r = a.rows;
  if constexpr (!Shape::kInCluster)
    load_arguments_together(r.rows, r.cols, r.lanes, r.dimensions, a.columns[0].data, a.columns_are_f32, r.data[0], r.data[1],
                      r.data[2 % n], r.data[3 % n], r.outer[0].stride[0], r.outer[0].stride[1], r.outer[0].stride[2 % n],
                      r.outer[0].stride[3 % n], Shape::kByElement ? r.step[0] : r.cols);
}

template <class Shape>
constexpr bool prefetches = may_prefetch_rows && prefetches_rows(Shape::kBody);

// The numbers that a row names (kLooksUp), otherwise nothing.
struct NothingFound {};
template <class Op, class Rows>
HIPOPS_FN auto look_up([[maybe_unused]] const typename Op::Args& a, [[maybe_unused]] const Rows& rows) {
  if constexpr (Op::kLooksUp) return Op::look_up(reload_arguments(a), rows);
  else return NothingFound();
}
template <class Op, class Rows, class Found>
HIPOPS_FN void load_element([[maybe_unused]] const typename Op::Args& a, [[maybe_unused]] const Rows& rows,
                            [[maybe_unused]] int64_t first, [[maybe_unused]] Found& found) {
  if constexpr (Op::kLooksUp) Op::load_element(reload_arguments(a), rows, rows.number(first), found);
}
template <class Op, class Found>
HIPOPS_FN auto finalize(const typename Op::Args& a, const typename Op::Part& part, [[maybe_unused]] const Found& found) {
  if constexpr (Op::kLooksUp) return Op::finalize(a, part, found);
  else return Op::finalize(a, part);
}
template <class Op>
HIPOPS_FN bool stores_results([[maybe_unused]] const typename Op::Args& a) {
  if constexpr (Op::kLooksUp) return Op::stores(a);
  else return true;
}

// The first reduction of a row, a further one, and one that only extreme rows need (extreme_rows.h).
enum class Pass { first, second, extreme };

// ptxas would keep 16-bit elements as f32 from one reduction to the next, and has no registers for them.
template <class Op, class Shape>
constexpr bool converts_again = Op::kLooksUp && bounds_set_registers && sizeof(typename Shape::Element) == 2;

// A row in registers. Its reductions return the result of the whole row to every lane.
template <class Op, class Shape, class Reduction, Pass kPass = Pass::first>
struct RowView {
  static constexpr bool kIsRow = true, kKeepsMapped = true, kSharedByWaves = Shape::kRowsPerBlock == 1;
  // Waves that share a row reduce several sums with one barrier. For 16-bit rows of one wave, too, this saves a second
  // pass. f32 has too few digits: many short rows would need that pass.
  static constexpr bool kReducesTogether = kSharedByWaves || (bounds_set_registers && sizeof(typename Shape::Element) == 2);
  // nvcc would spill other values of unaligned rows to the stack if extreme rows stayed in registers.
  static constexpr bool kLoadsAgain = kPass == Pass::extreme && kSharedByWaves && bounds_set_registers &&
                                      Shape::kLayout == RowLayout::unaligned && !Op::kMaps && Op::kTyped == 0;
  static constexpr bool kConvertsAgain = kPass == Pass::second && converts_again<Op, Shape>;
  const typename Op::Args& args;
  Tile<Op, Shape>& tile;
  const RowsOf<Op, Shape>& rows;
  Reduction& reduction;

  HIPOPS_METHOD bool begins_row() const { return true; }
  HIPOPS_METHOD typename Shape::Compute given(int i) const { return rows.given(i, Op::absent_given(i)); }
  template <Pass kNext>
  using ViewOf = RowView<Op, Shape, Reduction, kPass == Pass::extreme ? kPass : kNext>;
  HIPOPS_METHOD ViewOf<Pass::second> second_pass() const { return {args, tile, rows, reduction}; }
  HIPOPS_METHOD ViewOf<Pass::extreme> extreme_pass() const { return {args, tile, rows, reduction}; }
  // h changes the lane's result before lanes are reduced.
  template <class O, class F, class G = Identity, class H = Identity>
  HIPOPS_METHOD auto reduce(O op, F f, G g = {}, H h = {}) const {
    if constexpr (kLoadsAgain) {
      return reduction(h(tile.reduce_again(args, rows, op, f, g)), op);
    } else {
      tile.recompute_widened();
      if constexpr (kConvertsAgain) tile.recompute_derived(args);
      return reduction(h(tile.template reduce<kPass != Pass::first>(rows, 0, op, f, g)), op);
    }
  }
  // The same for the wave's elements alone. exchange() gives the results of all waves (WaveParts).
  template <class O, class F, class H = Identity>
  HIPOPS_METHOD auto reduce_in_wave(O op, F f, H h = {}) const {
    tile.recompute_widened();
    if constexpr (kConvertsAgain) tile.recompute_derived(args);
    return wave_reduce<wave_size>(h(tile.template reduce<kPass != Pass::first>(rows, 0, op, f, Identity())), op);
  }
  template <class Part>
  HIPOPS_METHOD WaveParts<Part, Reduction> exchange(const Part& part) const { return {reduction, reduction.exchange(part)}; }
  template <class F>
  HIPOPS_METHOD void map(F f) const { tile.map(f); }
};

// The elements of a tile that one lane has. Its reductions need no other lane.
template <class Op, class Shape, bool kSecondPass = false>
struct LaneView {
  static constexpr bool kIsRow = false, kKeepsMapped = false, kSharedByWaves = false, kReducesTogether = false;
  const typename Op::Args& args;
  Tile<Op, Shape>& tile;
  const RowsOf<Op, Shape>& rows;
  int64_t base;

  HIPOPS_METHOD int64_t elements() const { return tile.elements(rows, base); }
  HIPOPS_METHOD bool begins_row() const { return base == 0 && rows.rank() == 0; }
  HIPOPS_METHOD typename Shape::Compute given(int i) const { return rows.given(i, Op::absent_given(i)); }
  HIPOPS_METHOD LaneView<Op, Shape, true> second_pass() const { return {args, tile, rows, base}; }
  HIPOPS_METHOD LaneView<Op, Shape, true> extreme_pass() const { return second_pass(); }
  template <class O, class F, class G = Identity>
  HIPOPS_METHOD auto reduce(O op, F f, G g = {}) const {
    tile.recompute_widened();
    if constexpr (kSecondPass && converts_again<Op, Shape>) tile.recompute_derived(args);
    return tile.template reduce<kSecondPass>(rows, base, op, f, g);
  }
};

template <class Op, class Shape, class Rows, class Row, class Columns>
HIPOPS_FN void store_tile(const typename Op::Args& a, Tile<Op, Shape>& tile, const Rows& rows, int64_t base, const Row& row,
                          const Columns& columns) {
  if constexpr (Op::kLooksUp) {
    ZeroResults zeros;
    if (__builtin_expect(row.target < 0, 0)) return store_results(a, tile, rows, base, row, columns, zeros);
  }
  PlainResults<Op> results;
  if constexpr (Op::Extremes::kExist) store_with_extremes(a, tile, rows, base, row, columns);
  else store_results(a, tile, rows, base, row, columns, results);
}

template <class Op, class Shape, class Columns, class Reduction, class Found>
HIPOPS_FN void finish_row(const typename Op::Args& a, const RowsOf<Op, Shape>& rows, Tile<Op, Shape>& tile,
                          Columns& columns, Reduction& reduction, int64_t first, Found& found) {
  const auto part = Op::part(a, RowView<Op, Shape, Reduction>{a, tile, rows, reduction});
  columns.recompute_widened();
  const typename Op::Args& b = reload_arguments(a);
  const auto row = finalize<Op>(b, part, found);
  // The order that needs fewer registers: before the results with nvcc, and after them with clang.
  if constexpr (bounds_set_registers) store_scalars_once<Op, Shape>(b, rows, first, row);
  // ptxas would keep powers that the reduction has computed, and has no registers for them.
  if constexpr (Op::kLooksUp && bounds_set_registers && !is_bf16<typename Shape::Element>) tile.recompute_derived(b);
  if (stores_results<Op>(b)) store_tile<Op, Shape>(b, tile, rows, 0, row, columns);
  if constexpr (!bounds_set_registers) store_scalars_once<Op, Shape>(b, rows, first, row);
}

// Whether weights are loaded together with x and kept in registers: up to 8 vectors. On gfx9, a later load would wait for
// the stores before it. NVIDIA keeps weights of tiles of up to 2 vectors, on chip without prefetch. It keeps none of
// unaligned rows: a lane's vectors may begin at another column in the next row.
template <class Op, class Shape>
constexpr bool keeps_columns() {
  if (sizeof(typename Shape::Element) > sizeof(f32) || Shape::kByElement) return false;
  if (Shape::kLayout == RowLayout::unaligned && !has_unaligned_vectors) return false;
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
  auto found = look_up<Op>(args, rows);
  if constexpr (prefetches<Shape>) columns.wait_for_loads();
  while (true) {
    const typename Op::Args& a = reload_arguments(args);
    const int64_t next = first + a.rows.row_step;
    load_element<Op>(a, rows, first, found);
    tile.wait(a, rows, 0);
    RowsOf<Op, Shape> ahead(a.rows);
    auto found_ahead = found;
    if constexpr (prefetches<Shape>) {
      if (next < a.rows.rows) {
        ahead.select(next);
        tile.issue_loads(ahead, 0);
        found_ahead = look_up<Op>(a, ahead);
      }
    }
    finish_row<Op, Shape>(a, rows, tile, columns, reduction, first, found);
    first = next;
    if (first >= args.rows.rows) return;
    if constexpr (prefetches<Shape>) {
      rows = ahead;
      found = found_ahead;
    } else {
      rows = RowsOf<Op, Shape>(reload_arguments(args).rows);
      rows.select(first);
      tile.issue_loads(rows, 0);
      found = look_up<Op>(args, rows);
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
        if constexpr (Op::Extremes::kExist) apply_with_extremes<Op>(again, result, x, weight, out);
        else PlainResults<Op>()(again, result, x, weight, out);
        staged.write(place + col, cols - col, out);
      }
      if constexpr (Op::kScalars > 0) {
        const typename Op::Args& again = reload_arguments(args);
        if (__builtin_expect(again.rows.has_scalars, 0) && own > 0) store_scalars<Op>(again, first + of_lane / cols, result);
      }
    }
    staged.store(reload_arguments(args).rows, first * cols, count);
  }
}

// Iterates once over the tiles of a row that begin in [base, end). `merged` iterates backward: the launch before has left
// the end in the cache. On AMD each step locates the row again: gfx9 has no scalar registers to keep its place.
template <class Op, class Shape>
class Tiles {
 public:
  using Rows = RowsOf<Op, Shape>;

  HIPOPS_METHOD Tiles(const typename Op::Args& args, int64_t row, int64_t base, int64_t end)
      : rows_(args.rows), row_(row), begin_(base), next_(base), end_(end) {
    constexpr int kTile = Shape::kBlock * Shape::kVectors * Shape::kLength;
    if constexpr (kBackward) next_ += (end - base - 1) / kTile * kTile;
  }

  // Issues the loads of the first tile, before the caller does other work.
  HIPOPS_METHOD void issue_loads(const typename Op::Args& args) {
    if constexpr (may_prefetch_rows) {
      locate(args, rows_);
      tile_.issue_loads(rows_, next_);
    }
  }
  // Calls f(args, rows, base, tile) for each tile, with the loads of the next one in flight.
  template <class F>
  HIPOPS_METHOD void for_each(const typename Op::Args& args, F f) {
    bool has_next;
    do {
      const typename Op::Args& a = reload_arguments(args);
      Rows all = may_prefetch_rows ? rows_ : Rows(a.rows);
      if constexpr (!may_prefetch_rows) locate(a, all);
      const int64_t base = next_, step = all.next_base(0);
      if constexpr (!may_prefetch_rows) tile_.issue_loads(all, base);
      tile_.wait(a, all, base);
      next_ = kBackward ? base - step : base + step;
      has_next = kBackward ? next_ >= begin_ : next_ < end_ && all.has_vectors_at(next_);
      if constexpr (may_prefetch_rows) {
        if (has_next) tile_.issue_loads(all, next_);
      }
      f(a, all, base, tile_);
    } while (has_next);
  }

 private:
  static constexpr bool kBackward = Shape::kBody == RowBody::merged;

  HIPOPS_METHOD void locate(const typename Op::Args& args, Rows& rows) const {
    load_row_arguments<Op, Shape>(args);
    rows.select(row_);
    rows.stop_at(end_);
  }

  Tile<Op, Shape> tile_;
  Rows rows_;
  int64_t row_, begin_, next_, end_;
};

// The part of all tiles. Each lane reduces its own elements first: waves wait for each other only in the last merge().
template <class Op, class Shape, class Reduction>
HIPOPS_FN auto part_of(Tiles<Op, Shape>& tiles, const typename Op::Args& args, Reduction& reduction) {
  typename Op::Part of_lane{};
  int64_t in_lane = 0;
  tiles.for_each(args, [&](const typename Op::Args& a, const RowsOf<Op, Shape>& rows, int64_t base, Tile<Op, Shape>& tile) {
    const LaneView<Op, Shape> view{a, tile, rows, base};
    const int64_t elements = view.elements();
    if constexpr (Op::kAdds) {
      Op::add(a, of_lane, in_lane, view);
    } else {
      const auto part = Op::part(a, view);
      if (in_lane == 0) of_lane = part;
      else if (elements > 0) of_lane = Op::merge(reload_arguments(args), two_parts(of_lane, in_lane, part, elements));
    }
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
HIPOPS_FN auto look_up_in_memory([[maybe_unused]] const typename Op::Args& args, [[maybe_unused]] int64_t first) {
  if constexpr (Op::kLooksUp) {
    const typename Op::Args& a = reload_arguments(args);
    RowsOf<Op, Shape> rows(a.rows);
    rows.select(first);
    auto found = look_up<Op>(a, rows);
    load_element<Op>(a, rows, first, found);
    return found;
  } else {
    return NothingFound();
  }
}

template <class Op, class Shape>
HIPOPS_FN void run_streamed_rows(const typename Op::Args& args) {
  typename Shape::template Reduction<typename Op::Largest> reduction(args.rows.lanes);
  int64_t first = RowsOf<Op, Shape>(args.rows).begin();
  do {
    Tiles<Op, Shape> tiles(args, first, 0, args.rows.cols), again(args, first, 0, args.rows.cols);
    tiles.issue_loads(reload_arguments(args));
    auto found = look_up_in_memory<Op, Shape>(args, first);
    const auto part = part_of(tiles, args, reduction);
    if (stores_results<Op>(args)) again.issue_loads(reload_arguments(args));
    const auto row = finalize<Op>(reload_arguments(args), part, found);
    if (stores_results<Op>(args)) store_all(again, args, row);
    store_scalars_once<Op, Shape>(reload_arguments(args), RowsOf<Op, Shape>(args.rows), first, row);
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
    Tiles<Op, Shape> tiles(a, span.row, span.begin, span.end);
    tiles.issue_loads(a);
    if constexpr (Shape::kBody == RowBody::parts) {
      span.publish(part_of(tiles, args, reduction));
    } else {
      wait_for_launch_before();  // for the parts. x is complete: the launch that stores the parts has waited for it
      const auto part = Op::merge(a, span.parts(reduction));
      const auto row = Op::finalize(reload_arguments(args), part);
      store_all(tiles, args, row);
      if (span.begin == 0) store_scalars_once<Op, Shape>(reload_arguments(args), RowsOf<Op, Shape>(args.rows), span.row, row);
    }
  }
}

// The fewest vectors of a lane for which a kernel has code of its own. Blocks have the waves that a row needs, so only their
// last vectors may be idle. With two weights, ptxas has no registers for such code there.
template <class Op, class Shape>
constexpr int fewest_vectors = Shape::kLanesAsNeeded ? (Shape::kVectors > 4 ? 5 : 1)
                               : Shape::kRowsPerBlock > 1 ? Shape::kVectors / 2
                                                          : Shape::kVectors - int(Op::kColumns < 2);
// A lane's last vectors may be past the end in all lanes of a row: the last of four with 768 columns of 16 bits, or one of
// two with 211. The same code for fewer vectors then has fewer loads and less arithmetic. The branch is uniform.
template <class Op, class Shape, int n>
HIPOPS_FN void run_fewest_vectors(const typename Op::Args& a) {
  constexpr int kEnds = Shape::kLayout == RowLayout::aligned ? 0 : 2 * kLeastEnd<typename Shape::Element>;  // not in vectors
  if constexpr (n == Shape::kVectors) run_rows_on_chip<Op, Shape>(reload_arguments(a));
  else if (int(a.rows.cols) - kEnds < (n * RowsOf<Op, Shape>(a.rows).lanes() + 1) * Shape::kLength)
    run_rows_on_chip<Op, typename Shape::template WithVectors<n>>(reload_arguments(a));
  else run_fewest_vectors<Op, Shape, n + 1>(a);
}

template <class Op, class Shape>
HIPOPS_FN void run_rows(const typename Op::Args& a) {
  if constexpr (Shape::kBody == RowBody::streamed) run_streamed_rows<Op, Shape>(a);
  // All vectors of a tile are in flight.
  else if constexpr (!Shape::kOnChip) run_spans<Op, typename Shape::template WithVectors<Tile<Op, Shape>::kInFlight>>(a);
  else if constexpr (Shape::kInCluster && few_registers) run_streamed_rows<Op, typename Shape::Streamed>(a);
  else if constexpr (Shape::kLayout == RowLayout::packed) run_packed_rows<Op, Shape>(a);
  else if constexpr (Shape::kBody == RowBody::on_chip && !Shape::kByElement)
    run_fewest_vectors<Op, Shape, fewest_vectors<Op, Shape>>(arguments_in_place(a));
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
    if constexpr (RowBody::body != RowBody::merged) follow_launch_before();                    \
    run_rows<Op<T>, RowShape<T, lanes, vectors, block, RowLayout::layout, RowBody::body>>(a); \
  }
