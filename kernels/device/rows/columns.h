// Weights: what all rows have in common, an element for each column, in the rows' type or in f32.
#pragma once

#include "device/core/unaligned.h"
#include "device/rows/shape.h"

namespace hipops {
namespace {

// Kept in registers from ask() on, or, where that is not called, loaded when get() wants them, as are those of another type
// than the rows', f32.
template <class Shape, bool kKept>
class ColumnsOf {
 public:
  using W = typename Shape::Element;
  using C = typename Shape::Compute;
  static constexpr int kLength = Shape::kLength;

  HIPOPS_METHOD ColumnsOf(const void* data, int64_t step, C otherwise, bool is_f32)
      : data_(static_cast<const W*>(data)), step_(step), otherwise_(otherwise), is_f32_(is_f32),
        is_own_(data != nullptr && !is_other()) {}

  template <class Rows>
  HIPOPS_METHOD void ask(const Rows& rows) {
    if constexpr (kKept) {
#pragma unroll
      for (int v = 0; v < Shape::kVectors; ++v) ask(rows, rows.there_or_last(rows.column(0, v)), &kept_[v]);
    }
  }
  // As Tile's.
  HIPOPS_METHOD void widen_anew() {
    if constexpr (kKept && sizeof(W) < sizeof(C)) {
#pragma unroll
      for (int v = 0; v < Shape::kVectors; ++v) kept_[v].keep_packed();
    }
  }
  template <class Rows>
  HIPOPS_METHOD void get(const Rows& rows, [[maybe_unused]] int v, typename Rows::Column col, C (&out)[kLength]) const {
    if (__builtin_expect(kKept ? is_other() : !is_own_, 0)) {
      get_other(rows.there_or_last(col), out);
    } else if constexpr (kKept) {
      widen_all(kept_[v], out);
    } else {
      Wanted one;
      load(rows.there_or_last(col), &one);
      widen_all(one, out);
    }
  }
  // Of n columns from `col` on, as far as there are so many.
  template <int n>
  HIPOPS_METHOD void neighbours(int col, int cols, C (&out)[n]) const {
#pragma unroll
    for (int i = 0; i < n; ++i) {
      const int at = col + i < cols ? col + i : cols - 1;
      out[i] = this->at(at * step_);
    }
  }
  HIPOPS_METHOD C at(int64_t place) const {
    if (data_ == nullptr) return otherwise_;
    return is_other() ? C(reinterpret_cast<const f32*>(data_)[place]) : C(widen(data_[place]));
  }

 private:
  HIPOPS_METHOD bool is_other() const { return sizeof(W) != sizeof(f32) && is_f32_; }
  template <class Column>
  HIPOPS_METHOD void get_other(Column col, C (&out)[kLength]) const {
    const f32* const data = reinterpret_cast<const f32*>(data_);
    Packed<f32, kLength> all = Packed<f32, kLength>::filled(f32(otherwise_));
    if constexpr (Shape::kLayout == RowLayout::aligned) {
      if (data_ != nullptr) all = load_packed<kLength>(data + col);
    } else if constexpr (Shape::kByElement) {
      if (data_ != nullptr) all = Vector<f32, 1>{{data[col * step_]}};
    } else {
      if (data_ != nullptr) all = load_vector_anywhere<kLength>(data + col);
    }
#pragma unroll
    for (int i = 0; i < kLength; ++i) out[i] = C(all[i]);
  }

  static constexpr bool kShifted = Shape::kLayout == RowLayout::unaligned;
  using Wanted = typename Choose<kShifted, IncomingVector<W>, Packed<W, kLength>>::type;

  template <class Rows>
  HIPOPS_METHOD void ask(const Rows&, typename Rows::Column col, Wanted* to) const {
    if constexpr (kShifted) {
      if (data_ != nullptr) load(col, to);
    } else {
      *to = Packed<W, kLength>::filled(narrow<W>(compute_t<W>(otherwise_)));
      if (data_ != nullptr) load(col, to);
    }
  }
  template <class Column>
  HIPOPS_METHOD void load(Column col, Wanted* to) const {
    if constexpr (kShifted) to->ask(data_ + col);
    else if constexpr (Shape::kLayout == RowLayout::aligned) *to = load_packed<kLength>(data_ + col);
    else *to = Vector<W, 1>{{data_[col * step_]}};
  }
  HIPOPS_METHOD void widen_all(const Wanted& wanted, C (&out)[kLength]) const {
    if constexpr (kShifted) {
      const Packed<W, kLength> raw = wanted.get();
#pragma unroll
      for (int i = 0; i < kLength; ++i) out[i] = !kKept || data_ != nullptr ? C(widen(raw[i])) : otherwise_;
    } else {
#pragma unroll
      for (int i = 0; i < kLength; ++i) out[i] = C(widen(wanted[i]));
    }
  }

  const W* data_;
  int64_t step_;
  C otherwise_;
  bool is_f32_, is_own_;
  Wanted kept_[kKept ? Shape::kVectors : 1];
};

// All of an op's weights.
template <class Op, class Shape, bool kKept>
class AllColumns {
 public:
  using C = typename Shape::Compute;

  template <class Args>
  explicit HIPOPS_METHOD AllColumns(const Args& a) : AllColumns(a, Indices<Op::kColumns>()) {}

  template <class Rows>
  HIPOPS_METHOD void ask(const Rows& rows) {
#pragma unroll
    for (int i = 0; i < Op::kColumns; ++i) column_[i].ask(rows);
  }
  HIPOPS_METHOD void widen_anew() {
#pragma unroll
    for (int i = 0; i < Op::kColumns; ++i) column_[i].widen_anew();
  }
  template <class Rows>
  HIPOPS_METHOD void get(const Rows& rows, int v, typename Rows::Column col, C (&out)[Op::kColumns + 1][Shape::kLength]) const {
#pragma unroll
    for (int i = 0; i < Op::kColumns; ++i) column_[i].get(rows, v, col, out[i]);
  }
  template <int n>
  HIPOPS_METHOD void neighbours(int col, int cols, C (&out)[Op::kColumns + 1][n]) const {
#pragma unroll
    for (int i = 0; i < Op::kColumns; ++i) column_[i].neighbours(col, cols, out[i]);
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
      : column_{{a.columns[i].data, a.columns[i].step, C(Op::absent_column(i)), a.columns_are_f32 != 0}...} {}

  ColumnsOf<Shape, kKept> column_[Op::kColumns];
};

struct NoColumns {
  template <class Args> explicit HIPOPS_METHOD NoColumns(const Args&) {}
  template <class... All> HIPOPS_METHOD void ask(const All&...) const {}
  HIPOPS_METHOD void widen_anew() const {}
  template <class... All> HIPOPS_METHOD void get(const All&...) const {}
  template <class... All> HIPOPS_METHOD void neighbours(const All&...) const {}
  template <class... All> HIPOPS_METHOD void at(const All&...) const {}
};
template <class Op, class Shape, bool kKept>
using OwnColumns = typename Choose<Op::kColumns == 0, NoColumns, AllColumns<Op, Shape, kKept>>::type;

}  // namespace
}  // namespace hipops
