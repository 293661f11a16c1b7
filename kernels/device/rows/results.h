// Computes the results of a tile and stores them.
#pragma once

#include "device/core/float8.h"
#include "device/rows/columns.h"
#include "device/rows/row_op.h"
#include "device/rows/tile.h"

namespace hipops {
namespace {

template <class Op, class Element, class C, int n>
HIPOPS_FN void copy_input(const Element (&x)[n], C (&out)[Op::kOutputs][n]) {
  if constexpr (Op::kStoresInput) {
#pragma unroll
    for (int i = 0; i < n; ++i) out[Op::kOutputs - 1][i] = x[i];
  }
}
template <class Op>
struct PlainResults {
  static constexpr bool kAreRare = false;  // true: columns are read one by one, in less code

  template <class Args, class Row, class Element, class C, int n, int columns>
  HIPOPS_METHOD void operator()(const Args& a, const Row& row, const Element (&x)[n], C (&column)[columns][n],
                                C (&out)[Op::kOutputs][n]) const {
    copy_input<Op>(x, out);
    Op::apply(a, row, x, column, out);
  }
};

struct ZeroResults {
  static constexpr bool kAreRare = false;

  template <class Args, class Row, class Element, class C, int n, int columns, int outputs>
  HIPOPS_METHOD void operator()(const Args&, const Row&, const Element (&)[n], C (&)[columns][n], C (&out)[outputs][n]) const {
#pragma unroll
    for (int i = 0; i < n; ++i) out[0][i] = 0;
  }
};

// An output's elements, from the results.
template <class Op, class T, class C, int n>
HIPOPS_FN auto narrow_results([[maybe_unused]] const typename Op::Args& a, const C (&out)[n]) {
  if constexpr (Op::kQuantizes && n == 1) {
    return Vector<uint8_t, 1>{{narrow_to_eight_bits(a.to, a.format, out)[0]}};
  } else if constexpr (Op::kQuantizes) {
    return narrow_to_eight_bits(a.to, a.format, out);
  } else {
    Vector<T, n> narrowed;
#pragma unroll
    for (int e = 0; e < n; ++e) narrowed.element[e] = narrow<T>(out[e]);
    return narrowed;
  }
}

// Stores scalars of row `number`. One lane of the row calls it.
template <class Op, class Row>
HIPOPS_FN void store_scalars(const typename Op::Args& a, int64_t number, const Row& row) {
  constexpr int n = Op::kInputs + Op::kOutputs;
  typename Op::C out[Op::kScalars];
  Op::scalars(row, out);
  int64_t offset[Op::kScalars] = {}, rest = number;
  // clang would keep the address of outer[0] and the comparison of the rank over the loop of rows: four scalar registers.
#pragma unroll 1
  for (int d = int(hidden_zero()); d + 1 < a.rows.dimensions; ++d) {
    const int64_t quotient = divide(rest, a.rows.outer[d].size, a.rows.outer[d].divisor);
#pragma unroll
    for (int i = 0; i < Op::kScalars; ++i)
      offset[i] += (rest - quotient * a.rows.outer[d].size) * a.rows.outer[d].stride[n + i];
    rest = quotient;
  }
#pragma unroll
  for (int i = 0; i < Op::kScalars; ++i) {
    const int64_t at = offset[i] + rest * a.rows.outer[a.rows.dimensions - 1].stride[n + i];
    if (a.rows.data[n + i] != nullptr) static_cast<typename Op::C*>(a.rows.data[n + i])[at] = out[i];
  }
}
// Whether the lane has the named element in the tile at `base`.
template <class Rows>
HIPOPS_FN bool has_named(const Rows& rows, int64_t base, typename Rows::Column at) {
  return rows.has_row() && at >= 0 && (rows.has_in_vectors(at, base) || (base == 0 && rows.edge() == at));
}
// Stores the scalars of the row that the lanes of `rows` share, if the caller has passed any. The row's first lane stores
// them. Without a barrier of the block before results, the lane that has the named element does. Only that lane loads
// the element before it stores the element's result.
template <class Op, class Shape, class Row>
HIPOPS_FN void store_scalars_once(const typename Op::Args& a, const RowsOf<Op, Shape>& rows, int64_t first, const Row& row) {
  if constexpr (Op::kScalars > 0) {
    if (!__builtin_expect(a.rows.has_scalars, 0)) return;
    bool stores = rows.has_row() && hide_origin(uint32_t(rows.rank())) == 0;
    if constexpr (Op::kLooksUp && (Shape::kInCluster || Shape::kRowsPerBlock > 1)) {
      if (row.target >= 0) stores = has_named(rows, 0, row.target);
    }
    if (stores) store_scalars<Op>(a, rows.number(first), row);
  }
}

// Stores the results of a tile, which results(args, row, x, columns, out) computes.
template <class Op, class Shape, class Rows, class Row, class Columns, class Results>
HIPOPS_FN void store_results(const typename Op::Args& a, const Tile<Op, Shape>& tile, const Rows& rows, int64_t base,
                             const Row& row, const Columns& columns, Results& results) {
  using T = typename Shape::Element;
  using C = typename Shape::Compute;
  using Element = typename Tile<Op, Shape>::Element;
  using Out = OutputOf<Op, T>;
  constexpr int n = Shape::kLength;
  [[maybe_unused]] OutgoingVectors<T, Shape::kRun> unaligned[Op::kOutputs];
  const auto store_edge = [&] {
    const auto col = rows.edge();
    if (base != 0 || col < 0 || !rows.has_row()) return;
    const Element element[1] = {tile.edge()};
    C weight[Op::kColumns + 1][1], out[Op::kOutputs][1];
    columns.read_edge(col, weight);
    results(a, row, element, weight, out);
#pragma unroll
    for (int i = 0; i < Op::kOutputs; ++i) {
      const int stream = Op::kInputs + i;
      if (Op::kOutputs > 1 && !rows.has_stream(stream)) continue;
      rows.template stream_of<Out>(stream)[col] = narrow_results<Op, T>(a, out[i]).element[0];
    }
  };
  // AMD: the edge comes first. After the vectors' stores, the edge's weights would wait for the stores on gfx9.
  if constexpr (Rows::kHasEdges && has_unaligned_vectors) store_edge();
  const auto store_vector_of = [&](int v, typename Rows::Column col, const Element (&elements)[n],
                                   C (&weight)[Op::kColumns + 1][n]) {
    const bool is_present = rows.has_row() && rows.contains(col);
    C out[Op::kOutputs][n];
    results(a, row, elements, weight, out);
#pragma unroll
    for (int i = 0; i < Op::kOutputs; ++i) {
      const int stream = Op::kInputs + i;
      if (Op::kOutputs > 1 && !rows.has_stream(stream)) continue;
      const auto narrowed = narrow_results<Op, T>(a, out[i]);
      Out* const to = rows.template stream_of<Out>(stream);
      if constexpr (Shape::kLayout == RowLayout::aligned) {
        if (is_present) store_vector<n>(to + col, narrowed);
      } else if constexpr (Shape::kLayout == RowLayout::strided) {
        if (is_present) to[col * rows.step(stream)] = narrowed.element[0];
      } else if constexpr (Op::kQuantizes) {
        if (is_present) store_vector_anywhere<n>(to + col, narrowed);
      } else if (i == 0 && !has_unaligned_vectors) {  // the row is divided by this output
        if (is_present) store_vector<n>(to + col, narrowed);
      } else {
        unaligned[i].store(to + col, is_present, rows.has_next(col), v == 0, v == Shape::kVectors - 1, narrowed);
      }
    }
  };
  const auto store_vectors = [&](auto read) {
    tile.for_each_vector(rows, base, [&](int v, typename Rows::Column col, const Element (&elements)[n]) {
      C weight[Op::kColumns + 1][n];
      read(v, col, weight);
      store_vector_of(v, col, elements, weight);
    });
  };
  const auto read_apart = [&](int v, auto col, auto& weight) { columns.read(rows, v, col, weight); };
  if constexpr (Columns::kMayLoadTogether && !Results::kAreRare) {
    const bool is_plain = Op::is_plain(row);
    typename Columns::Together together;
    if (__builtin_expect(columns.loads_together() && is_plain, 1))
      store_vectors([&](int v, auto, auto& weight) { columns.read_together(rows, base, v, together, weight); });
    else if (sizeof(T) == 2 && columns.are_all_f32() && is_plain)
      store_vectors([&](int, auto col, auto& weight) { columns.read_f32(rows, col, weight); });
    else store_vectors(read_apart);
  } else {
    store_vectors(read_apart);
  }
  if constexpr (Rows::kHasEdges && !has_unaligned_vectors) store_edge();
  if constexpr (Op::kLooksUp) {  // the lane that has stored the named element's result replaces it
    const auto at = row.target;
    const C out[1] = {row.at_target};
    if (has_named(rows, base, at))
      rows.stream(Op::kInputs)[Rows::kByElement ? at * rows.step(Op::kInputs) : at] = narrow_results<Op, T>(a, out).element[0];
  }
}

}  // namespace
}  // namespace hipops
