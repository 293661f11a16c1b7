// The kernels of ops with columns before the reduction and sums of columns, such as backward passes of norms.
//
// The inputs of a row stay apart, in their own type, until its results are computed. A block computes the rows of a
// chunk, one round after another, and stores the chunk's sums in the workspace. A second launch adds the chunks' sums.
// Shapes and alignment alone decide the chunks, so every grid gives the same bits.
//
//   on chip    a row is in registers: in lanes of a wave, or in a block. Lanes keep their columns' sums in registers
//   streamed   other rows: a block reads a row twice, tile by tile. A lane has the same columns in all rows, so it adds
//              its columns' sums in the workspace
#pragma once

#include "device/rows/row_kernel.h"

namespace hipops {
namespace {

// Whether a block loads the next row of its chunk before it reduces a row. If launch bounds set the number of
// registers, more blocks use them instead.
constexpr bool prefetches_chunk_rows = !bounds_set_registers && !few_registers;
// Whether the next row is prefetched to the L1 cache instead. The cache has no room for rows of all blocks in f32, nor for
// the many rows of blocks that have several.
template <class Shape>
constexpr bool prefetches_to_l1 =
    has_prefetch && !prefetches_chunk_rows && Shape::kRowsPerBlock == 1 && sizeof(typename Shape::Element) < sizeof(f32);
// Whether lanes keep their columns for all rows of a chunk.
constexpr bool keeps_columns_of_chunk = !few_registers;

// A work-item's elements of a tile.
template <class Op, class Shape>
class InputTile {
 public:
  using T = typename Shape::Element;
  using C = typename Shape::Compute;
  static constexpr int kVectors = Shape::kVectors, kLength = Shape::kLength, kInputs = Op::kInputs;

  template <class Rows>
  HIPOPS_METHOD void issue_loads(const Rows& rows, int64_t base) {
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      const auto col = rows.clamp_to_row(rows.column(base, v));
#pragma unroll
      for (int i = 0; i < kInputs; ++i) in_[v][i].issue_load(rows.stream(i) + (Shape::kByElement ? col * rows.step(i) : col));
    }
  }
  template <class Rows>
  static HIPOPS_METHOD void prefetch(const Rows& rows) {
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      const auto col = rows.clamp_to_row(rows.column(0, v));
#pragma unroll
      for (int i = 0; i < kInputs; ++i) prefetch_l1(rows.stream(i) + col);
    }
  }
  HIPOPS_METHOD void wait() {
#pragma unroll
    for (int v = 0; v < kVectors; ++v)
#pragma unroll
      for (int i = 0; i < kInputs; ++i) in_[v][i].issue_before_use();
#pragma unroll
    for (int v = 0; v < kVectors; ++v)
#pragma unroll
      for (int i = 0; i < kInputs; ++i) held_[v][i] = in_[v][i].value();
  }
  // Calls f(v, column of the first element, elements of each input, columns) for each vector. A second pass widens the
  // elements again: wide elements would need twice the registers.
  template <bool kSecondPass, class Rows, class Columns, class F>
  HIPOPS_METHOD void for_each_vector(const typename Op::Args& a, const Rows& rows, int64_t base, const Columns& columns, F f) {
    [[maybe_unused]] const uint32_t zero = uint32_t(a.rows.rows >> 63);  // rows >= 0, but no compiler knows that
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      const auto col = rows.column(base, v);
      C in[kInputs][kLength], column[Op::kColumns + 1][kLength];
#pragma unroll
      for (int i = 0; i < kInputs; ++i) {
        if constexpr (kSecondPass && sizeof(T) < sizeof(C)) held_[v][i].recompute_derived_by(zero);
#pragma unroll
        for (int e = 0; e < kLength; ++e) in[i][e] = C(widen(held_[v][i][e]));
      }
      columns.read(rows, v, col, column);
      Op::prepare_columns(a, column);
      f(v, col, in, column);
    }
  }
  // `center`: see kCenters in row_op.h.
  template <class Rows, class Columns>
  HIPOPS_METHOD typename Op::Part part(const typename Op::Args& a, const Rows& rows, int64_t base, const Columns& columns, C center) {
    typename Op::Part of_vector[kVectors];
    for_each_vector<Op::kCenters>(a, rows, base, columns, [&](int v, typename Rows::Column col, const C (&in)[kInputs][kLength],
                                                          const C (&column)[Op::kColumns + 1][kLength]) {
      if constexpr (Op::kCenters) of_vector[v] = rows.contains(col) ? Op::part(in, column, center) : typename Op::Part{};
      else of_vector[v] = rows.contains(col) ? Op::part(in, column) : typename Op::Part{};
    });
    fold(of_vector, Sum());
    return of_vector[0];
  }
  // The sum of the last input's elements. f32 has digits to spare for a vector's 16-bit elements.
  template <class Rows>
  HIPOPS_METHOD WideSum<C> sum(const Rows& rows, int64_t base) const {
    constexpr bool kPlain = sizeof(T) < sizeof(C);
    WideSum<C> of_vector[kVectors];
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      typename Choose<kPlain, C, WideSum<C>>::type tree[kLength];
#pragma unroll
      for (int e = 0; e < kLength; ++e) {
        const C x = C(widen(held_[v][kInputs - 1][e]));
        if constexpr (kPlain) tree[e] = x;
        else tree[e] = WideSum<C>::of(x);
      }
      fold(tree, Sum());
      if (!rows.contains(rows.column(base, v))) tree[0] = {};
      if constexpr (kPlain) of_vector[v] = WideSum<C>::of(tree[0]);
      else of_vector[v] = tree[0];
    }
    fold(of_vector, Sum());
    return of_vector[0];
  }

 private:
  AlignedIncoming<Shape> in_[kVectors][kInputs];
  Packed<T, kLength> held_[kVectors][kInputs];
};

// Computes and stores the results of a tile. add(v, col, terms) gets the terms of the column sums.
template <class Op, class Shape, class Rows, class Row, class Columns, class Add>
HIPOPS_FN void store_and_add(const typename Op::Args& a, InputTile<Op, Shape>& tile, const Rows& rows, int64_t base,
                             const Row& row, const Columns& columns, Add add) {
  using T = typename Shape::Element;
  using C = typename Shape::Compute;
  constexpr int n = Shape::kLength;
  tile.template for_each_vector<true>(a, rows, base, columns, [&](int v, typename Rows::Column col, const C (&in)[Op::kInputs][n],
                                                                const C (&column)[Op::kColumns + 1][n]) {
    if (!rows.has_row() || !rows.contains(col)) return;
    C out[n], terms[Op::kSums][n];
    Op::apply(a, row, in, column, out, terms);
    add(v, col, terms);
    Vector<T, n> narrowed;
#pragma unroll
    for (int e = 0; e < n; ++e) narrowed.element[e] = narrow<T>(out[e]);
    T* const to = rows.stream(Op::kInputs);
    if constexpr (Shape::kByElement) to[col * rows.step(Op::kInputs)] = narrowed.element[0];
    else store_vector<n>(to + col, narrowed);
  });
}

template <class Op, class Rows>
HIPOPS_FN void load_given(const Rows& rows, typename Op::C (&given)[Op::kGiven + Op::kCenters]) {
#pragma unroll
  for (int i = 0; i < Op::kGiven; ++i) given[i] = rows.given(i, Op::absent_given(i));
  if constexpr (Op::kCenters) given[Op::kGiven] = 0;
}

// The center of a row, which is its first given number, or computed from its sum(); then one more number is the rest of it.
// All lanes have the same arguments.
template <class Op, class Reduction, class F>
HIPOPS_FN void find_center(const typename Op::Args& a, Reduction& reduction, typename Op::C (&given)[Op::kGiven + Op::kCenters],
                           F sum) {
  if constexpr (Op::kCenters) {
    if (!Op::has_center(reload_arguments(a))) Op::find_center(reload_arguments(a), reduction(sum(), Sum()), given);
  }
}

// The sums of a work-item's columns.
template <class Op, class Shape>
class LaneSums {
 public:
  using C = typename Shape::Compute;
  static constexpr int n = Shape::kLength, kVectors = Shape::kVectors;

  HIPOPS_METHOD void add(int v, const C (&terms)[Op::kSums][n]) {
#pragma unroll
    for (int s = 0; s < Op::kSums; ++s)
#pragma unroll
      for (int e = 0; e < n; ++e) sum_[s][v].element[e] += terms[s][e];
  }
  // Stores the sums of a chunk. Lanes of several rows have the same columns: the block adds their sums in order, as a WideSum,
  // because equal terms would round a plain sum the same way each time.
  template <class Rows>
  HIPOPS_METHOD void store(const ColumnSums& to, const Rows& rows, int64_t chunk) {
#pragma unroll
    for (int s = 0; s < Op::kSums; ++s) {
      C* const partial = static_cast<C*>(to.partial) + (chunk * Op::kSums + s) * to.pitch;
      if constexpr (Shape::kRowsPerBlock == 1) {
#pragma unroll
        for (int v = 0; v < kVectors; ++v) {
          const auto col = rows.column(0, v);
          if (rows.contains(col)) store_vector<n>(partial + col, sum_[s][v]);
        }
      } else {
        const Shared<C> of_rows = shared_member<LaneSums, C, Shape::kBlock * kVectors * n>();
        const int in_row = rows.lanes() * kVectors * n, group = int(thread_index()) / rows.lanes();
#pragma unroll
        for (int v = 0; v < kVectors; ++v)
#pragma unroll
          for (int e = 0; e < n; ++e) of_rows[group * in_row + rows.column(0, v) + e] = sum_[s][v].element[e];
        barrier();
        for (int col = thread_index(); col < rows.cols(); col += Shape::kBlock) {
          WideSum<C> sum = WideSum<C>::of(of_rows[col]);
          for (int other = col + in_row; other < Shape::kBlock * kVectors * n; other += in_row) sum = sum + WideSum<C>::of(of_rows[other]);
          partial[col] = sum.value();
        }
        barrier();
      }
    }
  }

 private:
  Vector<C, n> sum_[Op::kSums][kVectors]{};
};

template <class Op, class Shape>
HIPOPS_FN void sum_rows_on_chip(const typename Op::Args& args) {
  using C = typename Shape::Compute;
  constexpr int n = Shape::kLength;
  load_row_arguments<Op, Shape>(args);
  typename Shape::template Reduction<typename Op::Largest> reduction(args.rows.lanes);
  ColumnsOf<Op, Shape, keeps_columns_of_chunk> columns(args);
  for (int64_t chunk = block_index(); chunk < reload_arguments(args).sums.chunks; chunk += reload_arguments(args).rows.row_step) {
    RowsOf<Op, Shape> rows(args.rows);
    int done = 0;  // rows of the chunk
    const auto first = [&] { return chunk * reload_arguments(args).rows.per_block + done; };
    const auto has_more = [&] {
      const typename Op::Args& a = reload_arguments(args);
      return done < a.rows.per_block && first() < a.rows.rows;
    };
    rows.select(first());
    InputTile<Op, Shape> tile;
    tile.issue_loads(rows, 0);
    columns.issue_loads(rows);
    LaneSums<Op, Shape> sums;
    while (true) {
      const typename Op::Args& a = reload_arguments(args);
      C given[Op::kGiven + Op::kCenters];
      load_given<Op>(rows, given);
      tile.wait();
      done += int(a.sums.rows_together);
      RowsOf<Op, Shape> ahead(a.rows);
      if constexpr (prefetches_chunk_rows || prefetches_to_l1<Shape>) {
        if (has_more()) {
          ahead.select(first());
          if constexpr (prefetches_chunk_rows) tile.issue_loads(ahead, 0);
          else tile.prefetch(ahead);
        }
      }
      find_center<Op>(a, reduction, given, [&] { return tile.sum(rows, 0); });
      const auto part = reduction(tile.part(a, rows, 0, columns, given[0]), Sum());
      columns.recompute_widened();
      const typename Op::Args& b = reload_arguments(args);
      const auto row = Op::finalize(b, part, given);
      store_and_add(b, tile, rows, 0, row, columns, [&](int v, int, const C (&terms)[Op::kSums][n]) { sums.add(v, terms); });
      if (!has_more()) break;
      if constexpr (prefetches_chunk_rows) {
        rows = ahead;
      } else {
        rows = RowsOf<Op, Shape>(reload_arguments(args).rows);
        rows.select(first());
        tile.issue_loads(rows, 0);
      }
    }
    const ColumnSums& to = reload_arguments(args).sums;
    if (to.partial != nullptr) sums.store(to, rows, chunk);
  }
}

template <class Op, class Shape>
HIPOPS_FN void sum_streamed_rows(const typename Op::Args& args) {
  using C = typename Shape::Compute;
  typename Shape::template Reduction<typename Op::Largest> reduction(args.rows.lanes);
  for (int64_t chunk = block_index(); chunk < reload_arguments(args).sums.chunks; chunk += reload_arguments(args).rows.row_step) {
    const int64_t begin = chunk * args.rows.per_block;
    for (int64_t number = begin; number < reload_arguments(args).rows.rows && number < begin + reload_arguments(args).rows.per_block;
         ++number) {
      typename Op::Part part{};
      // Calls f(args, rows, base, tile, columns) for each tile of the row.
      const auto for_each_tile = [&](auto f) {
        for (int64_t base = 0; base < reload_arguments(args).rows.cols;) {
          const typename Op::Args& a = reload_arguments(args);
          load_row_arguments<Op, Shape>(a);
          RowsOf<Op, Shape> rows(a.rows);
          rows.select(number);
          InputTile<Op, Shape> tile;
          tile.issue_loads(rows, base);
          tile.wait();
          f(a, rows, base, tile, ColumnsAtUse<Op, Shape>(a));
          base = rows.next_base(base);
        }
      };
      RowsOf<Op, Shape> of_given(reload_arguments(args).rows);
      of_given.select(number);
      C given[Op::kGiven + Op::kCenters];
      load_given<Op>(of_given, given);
      find_center<Op>(args, reduction, given, [&] {
        auto sum = WideSum<C>::of(0);
        for_each_tile([&](const auto&, const auto& rows, int64_t base, auto& tile, const auto&) { sum = sum + tile.sum(rows, base); });
        return sum;
      });
      for_each_tile([&](const auto& a, const auto& rows, int64_t base, auto& tile, const auto& columns) {
        part = part + tile.part(a, rows, base, columns, given[0]);
      });
      part = reduction(part, Sum());
      const auto row = Op::finalize(reload_arguments(args), part, given);
      for_each_tile([&](const auto& a, const auto& rows, int64_t base, auto& tile, const auto& columns) {
        store_and_add(a, tile, rows, base, row, columns, [&](int, int64_t col, const C (&terms)[Op::kSums][1]) {
          if (a.sums.partial == nullptr) return;
#pragma unroll
          for (int s = 0; s < Op::kSums; ++s) {
            C* const sum = static_cast<C*>(a.sums.partial) + (chunk * Op::kSums + s) * a.sums.pitch + col;
            *sum = number == begin ? terms[s][0] : *sum + terms[s][0];
          }
        });
      });
    }
  }
}

template <class Op, class Shape>
HIPOPS_FN void sum_rows(const typename Op::Args& a) {
  static_assert(Op::kColumnsInPart && Op::kOutputs == 1, "see row_op.h");
  if constexpr (Shape::kOnChip) sum_rows_on_chip<Op, Shape>(a);
  else sum_streamed_rows<Op, Shape>(a);
}

}  // namespace
}  // namespace hipops

// Like HIPOPS_ROW_KERNEL, for the list HIPOPS_SUMMED_ROW_KERNELS_OF.
#define HIPOPS_SUMMED_ROW_KERNEL(Op, Args, name, T, lanes, vectors, block, layout, body, resident) \
  HIPOPS_KERNEL_UP_TO(work_items(block, RowBody::body, resident)) name(HIPOPS_ARGS(Args) a) {       \
    follow_launch_before();                                                                        \
    sum_rows<Op<T>, RowShape<T, lanes, vectors, block, RowLayout::layout, RowBody::body>>(a);       \
  }
