// A row, spread over the work-items that share it. The norms and softmax are written with these.
#pragma once

#include "device/math.h"
#include "device/reduce.h"
#include "device/row_contract.h"
#include "device/vector.h"

namespace hipops {
namespace {

// A variant of the list in row_contract.h, for one element type.
template <class T, int kThreads_, int kVectors_, int kBlock_, int kBytes>
struct RowShape {
  using Element = T;
  using Compute = compute_t<T>;
  static constexpr int kThreads = kThreads_;
  static constexpr int kVectors = kVectors_;
  static constexpr int kBlock = kBlock_;
  static constexpr bool kWide = kBytes != 0;               // vectors of several elements, no gaps between them
  static constexpr int kLength = kWide ? kBytes / int(sizeof(T)) : 1;  // elements of a vector
  static constexpr int kTile = kThreads * kVectors * kLength;          // elements that a group holds at once
  static constexpr int kRowsPerBlock = kBlock / kThreads;
};

// One work-item's view of the rows that its group takes.
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
    if (g_.outer_rank == 1) {
      x_row_ = x_ + row * g_.outer_x_stride[0];
      y_row_ = y_ + row * g_.outer_y_stride[0];
      return;
    }
    x_row_ = x_, y_row_ = y_;
    for (int d = 0; d < g_.outer_rank; ++d) {
      bool last = d + 1 == g_.outer_rank;
      int64_t quotient = last ? 0 : row / g_.outer_size[d];
      int64_t position = row - quotient * g_.outer_size[d];
      x_row_ += position * g_.outer_x_stride[d];
      y_row_ += position * g_.outer_y_stride[d];
      row = quotient;
    }
  }

  HIPOPS_METHOD const T* x_row() const { return x_row_; }
  HIPOPS_METHOD T* y_row() const { return y_row_; }
  HIPOPS_METHOD bool live() const { return live_; }
  HIPOPS_METHOD int64_t cols() const { return g_.cols; }
  HIPOPS_METHOD int64_t x_stride() const { return g_.x_stride; }
  HIPOPS_METHOD int64_t y_stride() const { return g_.y_stride; }

 private:
  const RowGeometry& g_;
  const T* x_;
  T* y_;
  const T* x_row_ = nullptr;
  T* y_row_ = nullptr;
  bool live_ = false;
};

struct Identity {
  template <class C> HIPOPS_METHOD C operator()(C v) const { return v; }
};

// A weight or bias vector: in the element type or f32, or not there.
template <class Shape>
class Weights {
 public:
  using T = typename Shape::Element;
  using C = typename Shape::Compute;

  HIPOPS_METHOD Weights(const void* data, bool is_f32, int64_t stride, C otherwise)
      : data_(data), is_f32_(is_f32), stride_(stride), otherwise_(otherwise) {}

  // The kLength ones from column `col` on.
  HIPOPS_METHOD void load(int64_t col, C (&out)[Shape::kLength]) const {
    if (data_ == nullptr) {
#pragma unroll
      for (int i = 0; i < Shape::kLength; ++i) out[i] = otherwise_;
    } else if (is_f32_) {
      load_as(static_cast<const f32*>(data_), col, out);
    } else {
      load_as(static_cast<const T*>(data_), col, out);
    }
  }

 private:
  template <class W>
  HIPOPS_METHOD void load_as(const W* data, int64_t col, C (&out)[Shape::kLength]) const {
    auto v = load_vector<Shape::kLength>(data + (Shape::kWide ? col : col * stride_));
#pragma unroll
    for (int i = 0; i < Shape::kLength; ++i) out[i] = C(widen(v.element[i]));
  }

  const void* data_;
  bool is_f32_;
  int64_t stride_;
  C otherwise_;
};

// The work-item's part of one tile of a row, in the type that it is computed in.
template <class Shape>
class RowTile {
 public:
  using T = typename Shape::Element;
  using C = typename Shape::Compute;
  static constexpr int kVectors = Shape::kVectors, kLength = Shape::kLength;

  // Takes the tile of the row that begins at column `base`; places past the row's end get `fill`. Those load the row's last vector
  // instead, and forget it: without a branch all loads are under way before the first is waited for.
  HIPOPS_METHOD void load(const Rows<Shape>& rows, int64_t base, C fill) {
    Vector<T, kLength> raw[kVectors];
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      int64_t col = column(base, v);
      if (col >= rows.cols()) col = rows.cols() - kLength;
      raw[v] = load_vector<kLength>(rows.x_row() + (Shape::kWide ? col : col * rows.x_stride()));
    }
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      bool inside = column(base, v) < rows.cols();
#pragma unroll
      for (int i = 0; i < kLength; ++i) value_[v][i] = inside ? C(widen(raw[v].element[i])) : fill;
    }
  }

  // Replaces each value in the row by f(value); what lies past the row's end stays as it is.
  template <class F>
  HIPOPS_METHOD void transform(const Rows<Shape>& rows, int64_t base, F f) {
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      bool inside = column(base, v) < rows.cols();
#pragma unroll
      for (int i = 0; i < kLength; ++i) value_[v][i] = inside ? f(value_[v][i]) : value_[v][i];
    }
  }

  // The same for every place, also past the row's end.
  template <class F>
  HIPOPS_METHOD void transform_all(F f) {
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
#pragma unroll
      for (int i = 0; i < kLength; ++i) value_[v][i] = f(value_[v][i]);
    }
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
    return part[0];
  }
  template <class Op, class F>
  HIPOPS_METHOD auto reduce(Op op, F f) const { return reduce(op, f, Identity()); }

  // Calls f(column, values, results) for each vector in the row, and stores the results.
  template <class F>
  HIPOPS_METHOD void store(const Rows<Shape>& rows, int64_t base, F f) const {
    if (!rows.live()) return;
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      int64_t col = column(base, v);
      if (col < rows.cols()) {
        C out[kLength];
        f(col, value_[v], out);
        Vector<T, kLength> rounded;
#pragma unroll
        for (int i = 0; i < kLength; ++i) rounded.element[i] = narrow<T>(out[i]);
        store_vector<kLength>(rows.y_row() + (Shape::kWide ? col : col * rows.y_stride()), rounded);
      }
    }
  }

 private:
  static HIPOPS_METHOD int64_t column(int64_t base, int v) {
    return base + (v * Shape::kThreads + int(thread_index() % Shape::kThreads)) * kLength;
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
};

}  // namespace
}  // namespace hipops
