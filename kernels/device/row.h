// A row, spread over the work-items that share it. The norms and softmax are written with these.
#pragma once

#include "device/math.h"
#include "device/reduce.h"
#include "device/row_contract.h"
#include "device/vector.h"

namespace hipops {
namespace {

// A variant of the list in row_contract.h, for one element type.
template <class T, int kThreads_, int kVectors_, int kBlock_, RowAccess kAccess>
struct RowShape {
  using Element = T;
  using Compute = compute_t<T>;
  static constexpr int kThreads = kThreads_;
  static constexpr int kVectors = kVectors_;
  static constexpr int kBlock = kBlock_;
  static constexpr bool kWide = kAccess == wide;
  static constexpr bool kAny = kAccess == any;
  static constexpr int kLength = kAny ? 1 : kWideBytes / int(sizeof(T));  // elements of a vector
  static constexpr int kTile = kThreads * kVectors * kLength;                 // elements that a group holds at once
  static constexpr int kRowsPerBlock = kBlock / kThreads;
  // Single elements that a work-item takes beside its vectors, of those before the first and after the last vector.
  static constexpr int kEdges = kAccess == edged ? (2 * kLength + kThreads - 1) / kThreads : 0;

  static HIPOPS_METHOD int rank() { return int(thread_index() % kThreads); }  // of the work-item in its group
};

struct Identity {
  template <class C> HIPOPS_METHOD C operator()(C v) const { return v; }
};

// One work-item's view of the rows that its group takes.
//
// Vectors are read from aligned addresses. Where a row of an edged variant begins between two of them, its first elements, `head` of them,
// are taken one by one, and so are those that are left after its last whole vector.
template <class Shape>
class Rows {
 public:
  using T = typename Shape::Element;

  HIPOPS_METHOD Rows(const RowGeometry& g, const void* x, void* y)
      : g_(g), x_(static_cast<const T*>(x)), y_(static_cast<T*>(y)) {}

  // The block's first row; the group's row is that plus its place in the block. All work-items of a block go through the same
  // number of rounds, also where a group has no row left: it takes part in the reductions, and stores nothing.
  HIPOPS_METHOD int64_t begin() const { return int64_t(block_index()) * Shape::kRowsPerBlock; }
  HIPOPS_METHOD bool more(int64_t first) const { return first < g_.rows; }
  HIPOPS_METHOD int64_t next(int64_t first) const { return first + g_.row_step; }

  HIPOPS_METHOD void select(int64_t first) {
    int64_t row = Shape::kRowsPerBlock == 1 ? first : first + thread_index() / Shape::kThreads;
    live_ = row < g_.rows;
    if (!live_) row = g_.rows - 1;  // reads what is there
    x_row_ = x_, y_row_ = y_;
    for (int d = 0; d + 1 < g_.outer_rank; ++d) {
      int64_t quotient = row / g_.outer_size[d];
      int64_t position = row - quotient * g_.outer_size[d];
      x_row_ += position * g_.outer_x_stride[d];
      y_row_ += position * g_.outer_y_stride[d];
      row = quotient;
    }
    x_row_ += row * g_.outer_x_stride[g_.outer_rank - 1];
    y_row_ += row * g_.outer_y_stride[g_.outer_rank - 1];
    if constexpr (Shape::kEdges > 0) {
      int beyond = int(uintptr_t(x_row_) % kWideBytes / sizeof(T));  // the boundary before the row
      head_ = beyond == 0 ? 0 : Shape::kLength - beyond;
      if (head_ > g_.cols) head_ = int(g_.cols);
      tail_ = head_ + (g_.cols - head_) / Shape::kLength * Shape::kLength;
    }
  }

  HIPOPS_METHOD const T* x_row() const { return x_row_; }
  HIPOPS_METHOD T* y_row() const { return y_row_; }
  HIPOPS_METHOD bool live() const { return live_; }
  HIPOPS_METHOD int64_t cols() const { return g_.cols; }
  HIPOPS_METHOD int64_t x_stride() const { return g_.x_stride; }
  HIPOPS_METHOD int64_t y_stride() const { return g_.y_stride; }

  // The columns from `head` to `tail` - 1 are in vectors.
  HIPOPS_METHOD int head() const { return Shape::kEdges > 0 ? head_ : 0; }
  HIPOPS_METHOD int64_t tail() const { return Shape::kEdges > 0 ? tail_ : g_.cols; }

  // The column of the work-item's edge `e`, or -1.
  HIPOPS_METHOD int64_t edge(int e) const {
    int i = e * Shape::kThreads + Shape::rank();
    if (i < Shape::kLength) return i < head_ ? i : -1;
    int64_t col = tail_ + (i - Shape::kLength);
    return col < g_.cols ? col : -1;
  }

 private:
  const RowGeometry& g_;
  const T* x_;
  T* y_;
  const T* x_row_ = nullptr;
  T* y_row_ = nullptr;
  int head_ = 0;
  int64_t tail_ = 0;
  bool live_ = false;
};

// A weight or bias vector: in the element type or f32, or not there.
template <class Shape>
class Weights {
 public:
  using T = typename Shape::Element;
  using C = typename Shape::Compute;

  HIPOPS_METHOD Weights(const void* data, bool is_f32, int64_t stride, C otherwise)
      : data_(data), is_f32_(is_f32), stride_(stride), otherwise_(otherwise) {}

  // The n ones from column `col` on.
  template <int n>
  HIPOPS_METHOD void load(int64_t col, C (&out)[n]) const {
    if (data_ == nullptr) {
#pragma unroll
      for (int i = 0; i < n; ++i) out[i] = otherwise_;
    } else if (is_f32_) {
      load_as(static_cast<const f32*>(data_), col, out);
    } else {
      load_as(static_cast<const T*>(data_), col, out);
    }
  }

 private:
  template <class W, int n>
  HIPOPS_METHOD void load_as(const W* data, int64_t col, C (&out)[n]) const {
    const W* at = data + (Shape::kAny ? col * stride_ : col);
    auto v = Shape::kWide ? load_vector<n>(at) : load_vector_anywhere<n>(at);
#pragma unroll
    for (int i = 0; i < n; ++i) out[i] = C(widen(v.element[i]));
  }

  const void* data_;
  bool is_f32_;
  int64_t stride_;
  C otherwise_;
};

// The work-item's part of one tile of a row, in the type that it is computed in. The first tile (base 0) has the row's edges, too.
template <class Shape>
class RowTile {
 public:
  using T = typename Shape::Element;
  using C = typename Shape::Compute;
  static constexpr int kVectors = Shape::kVectors, kLength = Shape::kLength, kEdges = Shape::kEdges;

  // Takes the tile that begins `base` columns after the row's first vector; what is not in the row gets `fill`. Vectors past its end
  // load its last one instead, and forget it: without a branch all loads are under way before the first is waited for.
  HIPOPS_METHOD void load(const Rows<Shape>& rows, int64_t base, C fill) {
    Vector<T, kLength> raw[kVectors] = {};
    T edge[kEdges + 1] = {};
    const T* x = rows.x_row();
    if (Shape::kEdges == 0 || rows.tail() > rows.head()) {
#pragma unroll
      for (int v = 0; v < kVectors; ++v) {
        int64_t col = column(rows, base, v);
        if (col >= rows.tail()) col = rows.tail() - kLength;
        raw[v] = load_vector<kLength>(x + (Shape::kAny ? col * rows.x_stride() : col));
      }
    }
#pragma unroll
    for (int e = 0; e < kEdges; ++e)
      if (base == 0 && rows.edge(e) >= 0) edge[e] = x[rows.edge(e)];
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      bool inside = column(rows, base, v) < rows.tail();
#pragma unroll
      for (int i = 0; i < kLength; ++i) {
        // Widened outside of the choice: an element that is used on one side of it only would be split off from the vector's load.
        C value = C(widen(raw[v].element[i]));
        value_[v][i] = inside ? value : fill;
      }
    }
#pragma unroll
    for (int e = 0; e < kEdges; ++e) edge_[e] = base == 0 && rows.edge(e) >= 0 ? C(widen(edge[e])) : fill;
  }

  // Replaces each value in the row by f(value); what is not in the row stays as it is.
  template <class F>
  HIPOPS_METHOD void transform(const Rows<Shape>& rows, int64_t base, F f) {
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      bool inside = column(rows, base, v) < rows.tail();
#pragma unroll
      for (int i = 0; i < kLength; ++i) value_[v][i] = inside ? f(value_[v][i]) : value_[v][i];
    }
#pragma unroll
    for (int e = 0; e < kEdges; ++e) edge_[e] = base == 0 && rows.edge(e) >= 0 ? f(edge_[e]) : edge_[e];
  }

  // The same for every place, also outside of the row.
  template <class F>
  HIPOPS_METHOD void transform_all(F f) {
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
#pragma unroll
      for (int i = 0; i < kLength; ++i) value_[v][i] = f(value_[v][i]);
    }
#pragma unroll
    for (int e = 0; e < kEdges; ++e) edge_[e] = f(edge_[e]);
  }

  // op over f(value) of all values, as a tree: the error of a sum grows with the tree's depth, not with the number of values. With a
  // second function, what op makes of a vector goes through that, as from C to SplitSum<C>, before vectors meet.
  template <class Op, class F, class G>
  HIPOPS_METHOD auto reduce(Op op, F f, G of_vector) const {
    decltype(of_vector(f(C()))) part[kVectors];
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      decltype(f(C())) tree[kLength];
#pragma unroll
      for (int i = 0; i < kLength; ++i) tree[i] = f(value_[v][i]);
      fold(tree, op);
      part[v] = of_vector(tree[0]);
    }
    fold(part, op);
#pragma unroll
    for (int e = 0; e < kEdges; ++e) part[0] = op(part[0], of_vector(f(edge_[e])));
    return part[0];
  }
  template <class Op, class F>
  HIPOPS_METHOD auto reduce(Op op, F f) const { return reduce(op, f, Identity()); }

  // Calls f(column, values, results) for each vector, and for each edge as a vector of one, and stores the results.
  template <class F>
  HIPOPS_METHOD void store(const Rows<Shape>& rows, int64_t base, F f) const {
    if (!rows.live()) return;
    T* y = rows.y_row();
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      int64_t col = column(rows, base, v);
      if (col < rows.tail()) store_rounded(y + (Shape::kAny ? col * rows.y_stride() : col), col, value_[v], f);
    }
#pragma unroll
    for (int e = 0; e < kEdges; ++e) {
      C value[1] = {edge_[e]};
      if (base == 0 && rows.edge(e) >= 0) store_rounded(y + rows.edge(e), rows.edge(e), value, f);
    }
  }

 private:
  static HIPOPS_METHOD int64_t column(const Rows<Shape>& rows, int64_t base, int v) {
    return rows.head() + base + (v * Shape::kThreads + Shape::rank()) * kLength;
  }

  template <int n, class F>
  static HIPOPS_METHOD void store_rounded(T* at, int64_t col, const C (&values)[n], F f) {
    C out[n];
    f(col, values, out);
    Vector<T, n> rounded;
#pragma unroll
    for (int i = 0; i < n; ++i) rounded.element[i] = narrow<T>(out[i]);
    Shape::kWide ? store_vector<n>(at, rounded) : store_vector_anywhere<n>(at, rounded);
  }

  template <class V, int N, class Op>
  static HIPOPS_METHOD void fold(V (&tree)[N], Op op) {
#pragma unroll
    for (int width = N / 2; width >= 1; width /= 2) {
#pragma unroll
      for (int i = 0; i < width; ++i) tree[i] = op(tree[i], tree[i + width]);
    }
  }

  C value_[kVectors][kLength];
  C edge_[kEdges + 1];
};

}  // namespace
}  // namespace hipops
