// What rows are multiplied by, and what is added: a work-item's part of it.
#pragma once

#include "device/rows/row_tile.h"

namespace hipops {
namespace {

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

  // Has the L2 cache load what at_use() will: the first rows would wait for memory a second time. One block does it, as
  // many that ask for the same lines are served one after the other.
  HIPOPS_METHOD void expect(const RowGeometry& geometry, bool are_f32) const {
    if (!has_expect_load || block_index() != 0 || data_ == nullptr) return;
    const Rows<Shape> rows(geometry, nullptr, nullptr);
    const int bytes = are_f32 ? sizeof(f32) : sizeof(T);
#pragma unroll 1
    for (int v = 0; v < kVectors; ++v)
      if (rows.column(v) < geometry.cols)
        expect_load(static_cast<const char*>(data_) + rows.column(v) * stride_ * bytes);
  }

  // Those of a staged row, all loads under way before the first is waited for.
  template <class W>
  HIPOPS_METHOD void widened(const Rows<Shape>& rows, C (&out)[kVectors]) const {
#pragma unroll
    for (int v = 0; v < kVectors; ++v) out[v] = otherwise_;
    const W* data = static_cast<const W*>(data_);
    if (data == nullptr) return;
    const int last = rows.left(0) - 1;
    Packed<W, 1> raw[kVectors];
#pragma unroll
    for (int v = 0; v < kVectors; ++v) raw[v] = vector_at<1>(data, rows.column(v) < last ? rows.column(v) : last);
#pragma unroll
    for (int v = 0; v < kVectors; ++v) out[v] = C(widen(raw[v][0]));
  }

  // Zeros where there are none. (Wide rows ask only where there are some.)
  HIPOPS_METHOD Tile tile(const Rows<Shape>& rows, int64_t base) const {
    const T* data = static_cast<const T*>(data_);
    Tile t{};
    if (!Shape::kWide && data == nullptr) return t;
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

  // The same of a wide row; where there are none, what is in their place.
  HIPOPS_METHOD Tile tile_or_otherwise(const Rows<Shape>& rows) const {
    if (data_ != nullptr) return tile(rows, 0);
    Vector<T, kLength> otherwise;
#pragma unroll
    for (T& element : otherwise.element) element = narrow<T>(otherwise_);
    Tile t{};
#pragma unroll
    for (auto& raw : t.raw) raw = otherwise;
    return t;
  }

  HIPOPS_METHOD T or_otherwise(T weight) const { return data_ == nullptr ? narrow<T>(otherwise_) : weight; }

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

// Whether weights of elements T are there, and in that type, of which they may stay in registers.
template <class T>
HIPOPS_FN bool weights_may_stay(const void* weights, bool are_f32) {
  return weights != nullptr && (sizeof(T) == sizeof(f32) || !are_f32);
}

// f(T()) or, for weights in f32, f(f32()): a branch once a row.
template <class T, class F>
HIPOPS_FN void with_weights_type(bool are_f32, F f) {
  if constexpr (sizeof(T) == sizeof(f32)) {
    f(T());
  } else {
    are_f32 ? f(f32()) : f(T());
  }
}

// Those of a staged row, which are few: in registers, as they are computed with, whatever they are.
template <class Shape>
class StagedWeights {
 public:
  using C = typename Shape::Compute;

  // From those of type W.
  template <class W>
  HIPOPS_METHOD void load(const Weights<Shape>& weights, const Rows<Shape>& rows) {
    weights.template widened<W>(rows, value_);
  }

  template <int v, int e>
  HIPOPS_METHOD void get(const Place<v, e>&, C (&out)[1]) const { out[0] = value_[v]; }

 private:
  C value_[Shape::kVectors];
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

// Those of rows that a work-item goes over: the same registers for all rows, but where rows don't lie alike.
template <class Shape>
class WeightsOfRows {
 public:
  HIPOPS_METHOD WeightsOfRows(const Weights<Shape>& weights, const RowGeometry& geometry)
      : weights_(weights), alike_(Shape::kEdges == 0 || has(geometry, rows_lie_alike)) {}

  // Once, before of(). Edged rows' weights are loaded by of(): which they are depends on where the row begins.
  HIPOPS_METHOD void load(const Rows<Shape>& rows) {
    if constexpr (Shape::kEdges == 0) tile_ = weights_.tile(rows, 0);
  }

  // The same, whether they are there or not.
  HIPOPS_METHOD void load_any(const Rows<Shape>& rows) {
    if constexpr (Shape::kWide) tile_ = weights_.tile_or_otherwise(rows);
  }

  // After all that is loaded for all rows. AMD's compiler waits for it here, and not in the loop over rows, where each
  // wait is for the next row as well.
  HIPOPS_METHOD void arrive() {
#pragma unroll
    for (int v = 0; v < Shape::kVectors; ++v) tile_.raw[v].ask_for_all();
  }

  HIPOPS_METHOD const typename Weights<Shape>::Tile& of(const Rows<Shape>& rows) {
    if constexpr (Shape::kEdges > 0) {
      if (!loaded_) {
        tile_ = weights_.tile(rows, 0);
        arrive();
      }
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

#if !defined(HIPOPS_AMD)
// The same of rows that all lie alike, in the shared memory that the launch brings: each work-item's own, so that they
// take no registers; ones or zeros where there are none. `which` tells those of one kernel apart.
template <class Shape, int which>
class WeightsAside {
 public:
  using T = typename Shape::Element;
  using C = typename Shape::Compute;

  HIPOPS_METHOD WeightsAside(const Weights<Shape>& weights, const RowGeometry& geometry)
      : weights_(weights), threads_(geometry.threads),
        kept_(launch_shared<Kept>(2 * Shape::kVectors * geometry.threads)) {}

  HIPOPS_METHOD void load(const Rows<Shape>&) {}
  HIPOPS_METHOD void load_any(const Rows<Shape>&) {}
  HIPOPS_METHOD void arrive() {}

  HIPOPS_METHOD const WeightsAside& of(const Rows<Shape>& rows) {
    if (loaded_) return *this;
    const auto tile = weights_.tile(rows, 0);
#pragma unroll
    for (int v = 0; v < Shape::kVectors; ++v) {
      Kept vector;
#pragma unroll
      for (int i = 0; i < Shape::kLength; ++i) vector.element[i] = weights_.or_otherwise(tile.raw[v][i]);
      kept_[place(v)] = vector;
    }
    edge_ = weights_.or_otherwise(tile.edge[0]);
    loaded_ = true;
    return *this;
  }

  template <int v, int e, int n>
  HIPOPS_METHOD void get(const Place<v, e>&, C (&out)[n]) const {
    if constexpr (v < 0) {
      out[0] = C(widen(edge_));
    } else {
      const Packed<T, n> raw = Kept(kept_[place(v)]);
#pragma unroll
      for (int i = 0; i < n; ++i) out[i] = C(widen(raw[i]));
    }
  }

 private:
  static_assert(Shape::kEdges == 1, "edge_ is all that a work-item has");
  using Kept = Vector<T, Shape::kLength>;

  HIPOPS_METHOD int place(int v) const { return (which * Shape::kVectors + v) * threads_ + int(thread_index()); }

  Weights<Shape> weights_;
  int64_t loaded_ = false;  // no bool: see Rows
  int threads_;
  Shared<Kept> kept_;
  T edge_{};
};
#else
template <class Shape, int> using WeightsAside = WeightsOfRows<Shape>;  // AMD's launches bring no shared memory
#endif

}  // namespace
}  // namespace hipops
