// Weights: what all rows have in common, an element for each column, in the rows' type or in f32.
#pragma once

#include "device/core/unaligned.h"
#include "device/rows/shape.h"

namespace hipops {
namespace {

// One of them.
template <class Shape>
class Column {
 public:
  using W = typename Shape::Element;
  using C = typename Shape::Compute;
  static constexpr int kLength = Shape::kLength;
  static constexpr bool kShifted = Shape::kLayout == RowLayout::unaligned;
  // A vector on its way, in the rows' type.
  using Incoming = typename Choose<kShifted, IncomingVector<W>, Packed<W, kLength>>::type;

  HIPOPS_METHOD Column(const void* data, int64_t step, C otherwise)
      : data_(static_cast<const W*>(data)), step_(step), otherwise_(otherwise) {}

  HIPOPS_METHOD bool is_there() const { return data_ != nullptr; }

  template <class Place>
  HIPOPS_METHOD void ask(Place col, Incoming* in) const {
    if constexpr (kShifted) in->ask(data_ + col);
    else if constexpr (Shape::kByElement) *in = Vector<W, 1>{{data_[place(col)]}};
    else *in = load_packed<kLength>(data_ + col);
  }
  static HIPOPS_METHOD Packed<W, kLength> get(const Incoming& in) {
    if constexpr (kShifted) return in.get();
    else return in;
  }
  HIPOPS_METHOD Packed<W, kLength> none() const { return Packed<W, kLength>::filled(narrow<W>(compute_t<W>(otherwise_))); }

  // Where there may be none. Words are changed by a 0 that the compiler does not know, which waits for the load here, and
  // not after the branch, when the next row's loads are under way.
  template <class Place>
  HIPOPS_METHOD void get_own(Place col, uint32_t nothing, C (&out)[kLength]) const {
    Packed<W, kLength> all = none();
    if (data_ != nullptr) {
      Incoming in;
      ask(col, &in);
      all = get(in);
    }
    all.change_by(nothing);
    widen_all(all, out);
  }
  template <class Place>
  HIPOPS_METHOD void get_f32(Place col, uint32_t nothing, C (&out)[kLength]) const {
    const f32* const data = reinterpret_cast<const f32*>(data_);
    Packed<f32, kLength> all = Packed<f32, kLength>::filled(f32(otherwise_));
    if (data_ == nullptr) {
    } else if constexpr (Shape::kLayout == RowLayout::aligned) {
      all = load_packed<kLength>(data + col);
    } else if constexpr (Shape::kByElement) {
      all = Vector<f32, 1>{{data[place(col)]}};
    } else {
      all = load_vector_anywhere<kLength>(data + col);
    }
    all.change_by(nothing);
#pragma unroll
    for (int i = 0; i < kLength; ++i) out[i] = with_plain_nan<W>(C(all[i]));
  }
  HIPOPS_METHOD C at(int64_t col, bool is_f32) const {
    if (data_ == nullptr) return otherwise_;
    return is_f32 ? with_plain_nan<W>(C(reinterpret_cast<const f32*>(data_)[place(col)])) : own_at(col);
  }
  HIPOPS_METHOD C own_at(int64_t col) const { return C(widen(data_[place(col)])); }

  template <class P>
  static HIPOPS_METHOD void widen_all(const P& all, C (&out)[kLength]) {
#pragma unroll
    for (int i = 0; i < kLength; ++i) out[i] = C(widen(all[i]));
  }

 private:
  HIPOPS_METHOD int64_t place(int64_t col) const { return Shape::kLayout == RowLayout::strided ? col * step_ : col; }

  const W* data_;
  int64_t step_;
  C otherwise_;
};

// All of an op's weights: kept in registers from ask() on, or loaded when get() wants them, as are those of another type than
// the rows', f32.
template <class Op, class Shape, bool kKept>
class AllColumns {
 public:
  using W = typename Shape::Element;
  using C = typename Shape::Compute;
  static constexpr int kCount = Op::kColumns, kLength = Shape::kLength;

  template <class Args>
  explicit HIPOPS_METHOD AllColumns(const Args& a) : AllColumns(a, Indices<kCount>()) {}

  template <class Rows>
  HIPOPS_METHOD void ask(const Rows& rows, int64_t base = 0) {
    if constexpr (kKept) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        Incoming in[Shape::kVectors];
#pragma unroll
        for (int v = 0; v < Shape::kVectors; ++v) kept_[v][i] = column_[i].none();
        if (!column_[i].is_there()) continue;
#pragma unroll
        for (int v = 0; v < Shape::kVectors; ++v) column_[i].ask(rows.there_or_last(rows.column(base, v)), &in[v]);
#pragma unroll
        for (int v = 0; v < Shape::kVectors; ++v) kept_[v][i] = Column<Shape>::get(in[v]);
      }
      kept_from_ = int(rows.first_column(0));
    }
  }
  // As get_own() waits for what it loads.
  HIPOPS_METHOD void wait_for_loads() {
    if constexpr (kKept) {
#pragma unroll
      for (int v = 0; v < Shape::kVectors; ++v)
#pragma unroll
        for (int i = 0; i < kCount; ++i) kept_[v][i].change_by(runtime_zero_);
    }
  }
  // Unaligned rows may begin otherwise beside multiples of 16 bytes: then a lane's vectors have other columns.
  template <class Rows>
  HIPOPS_METHOD void reload_if_moved(const Rows& rows) {
    if constexpr (kKept && Rows::kHasEdges && !has_unaligned_vectors) {
      if (__builtin_expect(int(rows.first_column(0)) == kept_from_, 1)) return;
      ask(rows);
      wait_for_loads();
    }
  }
  // As Tile's. On AMD all are waited for here, before the first store: gfx9 would wait for stores, too.
  HIPOPS_METHOD void widen_anew() {
    if constexpr (kKept) {
#pragma unroll
      for (int v = 0; v < Shape::kVectors; ++v)
#pragma unroll
        for (int i = 0; i < kCount; ++i) sizeof(W) < sizeof(C) ? kept_[v][i].keep_packed() : kept_[v][i].ask_for_all();
    }
  }
  template <class Rows>
  HIPOPS_METHOD void get(const Rows& rows, [[maybe_unused]] int v, typename Rows::Column col, C (&out)[kCount + 1][kLength]) const {
    const auto place = rows.there_or_last(col);
    if (__builtin_expect(kKept ? is_other() : !are_plain_, 0)) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        if (kKept || is_other()) column_[i].get_f32(place, runtime_zero_, out[i]);
        else column_[i].get_own(place, runtime_zero_, out[i]);
      }
    } else if constexpr (kKept) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) Column<Shape>::widen_all(kept_[v][i], out[i]);
    } else {
      Incoming in[kCount];
#pragma unroll
      for (int i = 0; i < kCount; ++i) column_[i].ask(place, &in[i]);
#pragma unroll
      for (int i = 0; i < kCount; ++i) Column<Shape>::widen_all(Column<Shape>::get(in[i]), out[i]);
    }
  }
  // Of n columns from `col` on, as far as there are so many; without gaps.
  template <int n>
  HIPOPS_METHOD void neighbours(int col, int cols, C (&out)[kCount + 1][n]) const {
    const auto each = [&](auto get) {
#pragma unroll
      for (int i = 0; i < kCount; ++i)
#pragma unroll
        for (int e = 0; e < n; ++e) out[i][e] = get(column_[i], col + e < cols ? col + e : cols - 1);
    };
    if (__builtin_expect(are_plain_, 1)) each([](const Column<Shape>& column, int at) { return column.own_at(at); });
    else each([this](const Column<Shape>& column, int at) { return column.at(at, is_other()); });
  }
  HIPOPS_METHOD void at(int64_t col, C (&out)[kCount + 1][1]) const {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      out[i][0] = column_[i].at(col, is_other());
      if constexpr (sizeof(C) == sizeof(uint32_t)) out[i][0] = bit_cast<C>(opaque(bit_cast<uint32_t>(out[i][0])));  // comes now
    }
  }

 private:
  using Incoming = typename Column<Shape>::Incoming;

  template <int...> struct List {};
  template <int n, int... more> struct Make : Make<n - 1, n - 1, more...> {};
  template <int... all> struct Make<0, all...> { using type = List<all...>; };
  template <int n> using Indices = typename Make<n>::type;

  template <class Args, int... i>
  HIPOPS_METHOD AllColumns(const Args& a, List<i...>)
      : column_{{a.columns[i].data, a.columns[i].step, C(Op::absent_column(i))}...}, is_f32_(a.columns_are_f32),
        are_plain_((column_[i].is_there() && ...) && !is_other()), runtime_zero_(uint32_t(a.rows.rows >> 63)) {}

  HIPOPS_METHOD bool is_other() const { return sizeof(W) != sizeof(f32) && is_f32_ != 0; }

  Column<Shape> column_[kCount];
  int32_t is_f32_, are_plain_;  // plain: all there, and in the rows' type. No bools: gfx9 keeps those as masks of lanes
  uint32_t runtime_zero_;        // see get_own
  Packed<W, kLength> kept_[kKept ? Shape::kVectors : 1][kCount];
  int kept_from_ = 0;  // column of kept ones
};

struct NoColumns {
  template <class Args> explicit HIPOPS_METHOD NoColumns(const Args&) {}
  template <class... All> HIPOPS_METHOD void ask(const All&...) const {}
  template <class... All> HIPOPS_METHOD void reload_if_moved(const All&...) const {}
  HIPOPS_METHOD void wait_for_loads() const {}
  HIPOPS_METHOD void widen_anew() const {}
  template <class... All> HIPOPS_METHOD void get(const All&...) const {}
  template <class... All> HIPOPS_METHOD void neighbours(const All&...) const {}
  template <class... All> HIPOPS_METHOD void at(const All&...) const {}
};
template <class Op, class Shape, bool kKept>
using OwnColumns = typename Choose<Op::kColumns == 0, NoColumns, AllColumns<Op, Shape, kKept>>::type;

}  // namespace
}  // namespace hipops
