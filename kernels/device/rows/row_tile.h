// A work-item's part of a row, in registers.
#pragma once

#include "device/rows/row.h"

namespace hipops {
namespace {

// Where some of a work-item's elements are: its vector v, or (v is -1) its edge e. Known when compiled, as registers
// have no index.
template <int v_, int e_>
struct Place {
  static constexpr int v = v_, e = e_;
  int64_t col;  // of the first of them, in the row
};

// f(Index<0>()), f(Index<1>()) .. f(Index<n - 1>()).
template <int i> struct Index {
  static constexpr int value = i;
};
template <int n, class F>
HIPOPS_FN void for_each_index(F f) {
  if constexpr (n > 0) {
    for_each_index<n - 1>(f);
    f(Index<n - 1>());
  }
}

struct Square {
  template <class C> HIPOPS_METHOD C operator()(C v) const { return v * v; }
};

// The work-item's part of one tile of a row, as Stored: as elements, which take the fewest registers, or in the type
// that they are computed in. The first tile (base 0) has the row's edges, too.
template <class Shape, class Stored = typename Shape::Element>
class RowTile {
 public:
  using T = typename Shape::Element;
  using C = typename Shape::Compute;
  static constexpr int kVectors = Shape::kVectors, kLength = Shape::kLength, kEdges = Shape::kEdges;

  HIPOPS_METHOD void load(const Rows<Shape>& rows, int64_t base) {
    load_vectors(rows, base);
    load_edges(rows, base);
  }

  // Those past the row's end load its last one instead, and are left out of everything after: without a branch all loads
  // are under way before the first is waited for.
  HIPOPS_METHOD void load_vectors(const Rows<Shape>& rows, int64_t base) {
    int left = rows.left(base);
    if (rows.has_vectors(left)) {
#pragma unroll
      for (int v = 0; v < kVectors; ++v) {
        int col = rows.column(v);
        // In shared memory the last one may be written by then, by the lane that it belongs to.
        if (Shape::kStaged && col >= left) continue;
        if (col >= left) col = left - kLength;
        value_[v] = rows.load(base, col);
      }
    }
  }
  HIPOPS_METHOD void load_edges(const Rows<Shape>& rows, int64_t base) {
#pragma unroll
    for (int e = 0; e < kEdges; ++e) edge_[e] = base == 0 && rows.edge(e) >= 0 ? rows.load_edge(rows.edge(e)) : T{};
  }
  // load_edges() of a row whose edges have come already: f(column) is the one there.
  template <class F>
  HIPOPS_METHOD void fill_edge(const Rows<Shape>& rows, F f) {
    static_assert(kEdges == 1, "of blocks that have no more edges than work-items");
    edge_[0] = rows.edge(0) >= 0 ? f(rows.edge(0)) : T{};
  }

  // load_vectors() of wide rows in two steps: f(v, its address) for each vector, and f(v), which is the vector.
  template <class F>
  static HIPOPS_METHOD void for_each_vector(const Rows<Shape>& rows, F f) {
    const int left = rows.left(0);
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      const int col = rows.column(v);
      f(v, reinterpret_cast<const Vector<T, kLength>*>(rows.x_at(0, col < left ? col : left - kLength)));
    }
  }
  template <class F>
  HIPOPS_METHOD void fill(F f) {
#pragma unroll
    for (int v = 0; v < kVectors; ++v) value_[v] = f(v);
  }

  // See Packed.
  HIPOPS_METHOD void keep_packed() {
#pragma unroll
    for (int v = 0; v < kVectors; ++v) value_[v].keep_packed();
  }
  HIPOPS_METHOD void ask_for_all() {
#pragma unroll
    for (int v = 0; v < kVectors; ++v) value_[v].ask_for_all();
  }

  // f(value) of all values.
  template <class F>
  HIPOPS_METHOD RowTile<Shape, C> map(F f) const {
    RowTile<Shape, C> to;
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      Vector<C, kLength> mapped;
#pragma unroll
      for (int i = 0; i < kLength; ++i) mapped.element[i] = f(C(widen(value_[v][i])));
      to.value_[v] = mapped;
    }
#pragma unroll
    for (int e = 0; e < kEdges; ++e) to.edge_[e] = f(C(widen(edge_[e])));
    return to;
  }

  // op over f(value) of all values in the row, as a tree: the error of a sum grows with the tree's depth, not with the
  // number of values. With a second function, what op makes of a vector goes through that, as from C to WideSum<C>,
  // before vectors meet.
  template <class Op, class F, class G>
  HIPOPS_METHOD auto reduce(const Rows<Shape>& rows, int64_t base, Op op, F f, G of_vector) const {
    using Value = decltype(f(C()));
    using Result = decltype(of_vector(f(C())));
    const int left = rows.left(base);
    constexpr bool kSingle = kLength == 1;  // a work-item's elements are as good as a vector then
    constexpr int kTree = kSingle ? kVectors : kLength, kTrees = kSingle ? 1 : kVectors;
    Result part[kTrees];
#pragma unroll
    for (int v = 0; v < kTrees; ++v) {
      Value tree[kTree];
#pragma unroll
      for (int i = 0; i < kTree; ++i) {
        tree[i] = f(C(widen(value_[kSingle ? i : v][kSingle ? 0 : i])));
        if (kSingle && rows.column(i) >= left) tree[i] = Op::template identity<Value>();
      }
      fold(tree, op);
      part[v] = of_vector(tree[0]);
      if (!kSingle && rows.column(v) >= left) part[v] = Op::template identity<Result>();
    }
    fold(part, op);
#pragma unroll
    for (int e = 0; e < kEdges; ++e)
      if (base == 0 && rows.edge(e) >= 0) part[0] = op(part[0], of_vector(f(C(widen(edge_[e])))));
    return part[0];
  }
  template <class Op, class F>
  HIPOPS_METHOD auto reduce(const Rows<Shape>& rows, int64_t base, Op op, F f) const {
    return reduce(rows, base, op, f, Identity());
  }

  // Calls f(place, values, results) for each vector in the row, and for each edge as a vector of one, and stores the
  // results.
  template <class F>
  HIPOPS_METHOD void store(const Rows<Shape>& rows, int64_t base, F f) const {
    if (!rows.live()) return;
    int left = rows.left(base);
    for_each_index<kVectors>([&](auto index) {
      constexpr int v = decltype(index)::value;
      int col = rows.column(v);
      if (col < left) rows.store(base, col, rounded(Place<v, -1>{rows.first_column(base) + col}, value_[v], f));
    });
    for_each_index<kEdges>([&](auto index) {
      constexpr int e = decltype(index)::value;
      int64_t col = base == 0 ? rows.edge(e) : -1;
      if (col >= 0)
        rows.store_edge(col,
                        rounded(Place<-1, e>{col}, Packed<Stored, 1>(Vector<Stored, 1>{{edge_[e]}}), f).element[0]);
    });
  }

 private:
  template <class, class> friend class RowTile;

  template <int n, class At, class F>
  static HIPOPS_METHOD Vector<T, n> rounded(const At& place, const Packed<Stored, n>& values, F f) {
    C in[n], out[n];
#pragma unroll
    for (int i = 0; i < n; ++i) in[i] = C(widen(values[i]));
    f(place, in, out);
    Vector<T, n> result;
#pragma unroll
    for (int i = 0; i < n; ++i) result.element[i] = narrow<T>(out[i]);
    return result;
  }

  template <class V, int N, class Op>
  static HIPOPS_METHOD void fold(V (&tree)[N], Op op) {
#pragma unroll
    for (int n = N; n > 1; n = (n + 1) / 2) {
#pragma unroll
      for (int i = 0; i < n / 2; ++i) tree[i] = op(tree[i], tree[i + (n + 1) / 2]);
    }
  }

  Packed<Stored, kLength> value_[kVectors] = {};
  Stored edge_[kEdges + 1];
};

}  // namespace
}  // namespace hipops
