// A work-item's part of a row, in registers, and of the weights that belong to it.
#pragma once

#include "device/row.h"

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

// A weight or bias vector: in the element type or f32, or not there.
template <class Shape>
class Weights {
 public:
  using T = typename Shape::Element;
  using C = typename Shape::Compute;
  static constexpr int kVectors = Shape::kVectors, kLength = Shape::kLength, kEdges = Shape::kEdges;

  HIPOPS_METHOD Weights(const void* data, int64_t stride, C otherwise)
      : data_(data), stride_(stride), otherwise_(otherwise) {}

  // Those of one tile, which are there, and in the element type: in f32 they would take twice the registers of the row.
  // They are loaded at once, well before they are needed, and nothing is done to them that would wait for them.
  struct Tile {
    Packed<T, kLength> raw[kVectors];
    T edge[kEdges + 1];

    template <int v, int e, int n>
    HIPOPS_METHOD void get(const Place<v, e>&, C (&out)[n]) const {
#pragma unroll
      for (int i = 0; i < n; ++i) {
        if constexpr (v < 0) {
          out[i] = C(widen(edge[e]));
        } else {
          out[i] = C(widen(raw[v][i]));
        }
      }
    }
  };

  // Those of type W, each loaded when it is asked for, without a branch around it.
  template <class W>
  struct AtUse {
    Weights weights;

    template <int v, int e, int n>
    HIPOPS_METHOD void get(const Place<v, e>& place, C (&out)[n]) const {
      Vector<W, n> otherwise;
#pragma unroll
      for (int i = 0; i < n; ++i) otherwise.element[i] = narrow<W>(compute_t<W>(weights.otherwise_));
      Packed<W, n> raw = otherwise;
      const W* data = static_cast<const W*>(weights.data_);
      if (data != nullptr) raw = weights.template vector_at<n>(data, place.col);
#pragma unroll
      for (int i = 0; i < n; ++i) out[i] = C(widen(raw[i]));
    }
  };
  template <class W>
  HIPOPS_METHOD AtUse<W> at_use() const { return {*this}; }

  HIPOPS_METHOD Tile tile(const Rows<Shape>& rows, int64_t base) const {
    const T* data = static_cast<const T*>(data_);
    Tile t{};
    int left = rows.left(base);
    if (Shape::kEdges == 0 || left > 0) {
#pragma unroll
      for (int v = 0; v < kVectors; ++v) {
        int col = rows.column(v);
        if (col >= left) col = left - kLength;
        t.raw[v] = vector_at<kLength>(data, rows.first_column(base) + col);
      }
    }
#pragma unroll
    for (int e = 0; e < kEdges; ++e) t.edge[e] = base == 0 && rows.edge(e) >= 0 ? data[rows.edge(e)] : T{};
    return t;
  }

 private:
  template <int n, class W>
  HIPOPS_METHOD Packed<W, n> vector_at(const W* data, int64_t col) const {
    const W* at = data + (kLength == 1 ? col * stride_ : col);
    if constexpr (Shape::kWide) return load_packed<n>(at);
    return load_vector_anywhere<n>(at);
  }

  const void* data_;
  int64_t stride_;
  C otherwise_;
};

// In place of those that are not there.
template <class Shape>
struct NoWeights {
  using C = typename Shape::Compute;
  C value;

  template <int v, int e, int n>
  HIPOPS_METHOD void get(const Place<v, e>&, C (&out)[n]) const {
#pragma unroll
    for (int i = 0; i < n; ++i) out[i] = value;
  }
};

// f(T()) or, for weights in f32, f(f32()): a branch once a row.
template <class T, class F>
HIPOPS_FN void with_weights_type(bool are_f32, F f) {
  if constexpr (sizeof(T) == sizeof(f32)) {
    f(T());
  } else {
    are_f32 ? f(f32()) : f(T());
  }
}

// The work-item's part of one tile of a row, as Stored: as elements, which take the fewest registers, or in the type
// that they are computed in. The first tile (base 0) has the row's edges, too.
template <class Shape, class Stored = typename Shape::Element>
class RowTile {
 public:
  using T = typename Shape::Element;
  using C = typename Shape::Compute;
  static constexpr int kVectors = Shape::kVectors, kLength = Shape::kLength, kEdges = Shape::kEdges;

  // Vectors past the row's end load its last one instead, and are left out of everything after: without a branch all
  // loads are under way before the first is waited for.
  HIPOPS_METHOD void load(const Rows<Shape>& rows, int64_t base) {
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
#pragma unroll
    for (int e = 0; e < kEdges; ++e) edge_[e] = base == 0 && rows.edge(e) >= 0 ? rows.load_edge(rows.edge(e)) : T{};
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
  // number of values. With a second function, what op makes of a vector goes through that, as from C to SplitSum<C>,
  // before vectors meet.
  template <class Op, class F, class G>
  HIPOPS_METHOD auto reduce(const Rows<Shape>& rows, int64_t base, Op op, F f, G of_vector) const {
    using Result = decltype(of_vector(f(C())));
    Result part[kVectors];
    int left = rows.left(base);
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      decltype(f(C())) tree[kLength];
#pragma unroll
      for (int i = 0; i < kLength; ++i) tree[i] = f(C(widen(value_[v][i])));
      fold(tree, op);
      part[v] = of_vector(tree[0]);
      if (rows.column(v) >= left) part[v] = Op::template identity<Result>();
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

// f(rows, tile) for each row that the work-item's group takes, with all of the row in the tile: what resident variants
// do.
template <class Shape, class F>
HIPOPS_FN void for_each_row(const RowGeometry& geometry, const void* x, void* y, F f) {
  Rows<Shape> rows(geometry, x, y);
  for (int64_t first = rows.begin(); rows.more(first); first = rows.next(first)) {
    rows.select(first);
    RowTile<Shape> tile;
    tile.load(rows, 0);
    if constexpr (Shape::kWide || Shape::kEdged) tile.ask_for_all();
    f(rows, tile);
    rows.finish();
  }
}

// The same, with the next row on its way while f works on one: for an f that works long enough for a unit's few blocks
// to leave the memory idle. The launcher then makes as many blocks as run at a time. Rows in shared memory leave that
// to other blocks.
template <class Shape, class F>
HIPOPS_FN void for_each_row_ahead(const RowGeometry& geometry, const void* x, void* y, F f) {
  if constexpr (Shape::kStaged) {
    for_each_row<Shape>(geometry, x, y, f);
  } else {
    Rows<Shape> rows(geometry, x, y);
    int64_t first = rows.begin();
    if (!rows.more(first)) return;
    rows.select(first);
    RowTile<Shape> tile;
    tile.load(rows, 0);
    while (true) {
      first = rows.next(first);
      const bool more = rows.more(first);
      Rows<Shape> next_rows = rows;
      RowTile<Shape> next_tile = tile;
      if (more) {
        next_rows.select(first);
        next_tile.load(next_rows, 0);
      }
      f(rows, tile);
      if (!more) return;
      rows = next_rows;
      tile = next_tile;
    }
  }
}

// The weights that go with that: the same registers for all rows, but where rows don't lie alike.
template <class Shape>
class WeightsOfRows {
 public:
  HIPOPS_METHOD WeightsOfRows(const Weights<Shape>& weights, const RowGeometry& geometry)
      : weights_(weights), alike_(Shape::kEdges == 0 || geometry.alike) {
    if constexpr (Shape::kEdges == 0) tile_ = weights_.tile(Rows<Shape>(geometry, nullptr, nullptr), 0);
  }

  HIPOPS_METHOD const typename Weights<Shape>::Tile& of(const Rows<Shape>& rows) {
    if constexpr (Shape::kEdges > 0) {
      if (!loaded_) tile_ = weights_.tile(rows, 0);
      loaded_ = alike_;
    }
#pragma unroll
    for (int v = 0; v < Shape::kVectors; ++v) tile_.raw[v].keep_packed();
    return tile_;
  }

 private:
  Weights<Shape> weights_;
  int64_t alike_, loaded_ = false;  // no bool: see Rows
  typename Weights<Shape>::Tile tile_{};
};

}  // namespace
}  // namespace hipops
