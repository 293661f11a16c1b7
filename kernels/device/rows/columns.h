// Columns: tensors with an element for each column that all rows share (weights, biases), in the rows' type or in f32.
#pragma once

#include "device/core/unaligned.h"
#include "device/rows/shape.h"

namespace hipops {
namespace {

template <class Shape>
class Column {
 public:
  using W = typename Shape::Element;
  using C = typename Shape::Compute;
  static constexpr int kLength = Shape::kLength;
  static constexpr bool kShifted = Shape::kLayout == RowLayout::unaligned;
  using Incoming = typename Choose<kShifted, IncomingVector<W>, Packed<W, kLength>>::type;

  HIPOPS_METHOD Column(const void* data, int64_t step, C absent)
      : data_(static_cast<const W*>(data)), step_(step), absent_(absent) {}

  HIPOPS_METHOD bool is_present() const { return data_ != nullptr; }

  template <class Place>
  HIPOPS_METHOD void issue_load(Place col, Incoming* in) const {
    if constexpr (kShifted) in->issue_load(data_ + col);
    else if constexpr (Shape::kByElement) *in = Vector<W, 1>{{data_[place(col)]}};
    else *in = load_packed<kLength>(data_ + col);
  }
  static HIPOPS_METHOD Packed<W, kLength> value(const Incoming& in) {
    if constexpr (kShifted) return in.value();
    else return in;
  }
  HIPOPS_METHOD Packed<W, kLength> absent_value() const { return Packed<W, kLength>::filled(narrow<W>(compute_t<W>(absent_))); }

  // For a column that may be absent: its load is in a branch. Without wait_for_load_by(), the kernel would wait at the
  // first use, and then for the loads of the next row, too. `zero`: see runtime_zero_.
  template <class Place>
  HIPOPS_METHOD void load_row_type(Place col, uint32_t zero, C (&out)[kLength]) const {
    Packed<W, kLength> all = absent_value();
    if (data_ != nullptr) {
      Incoming in;
      issue_load(col, &in);
      all = value(in);
    }
    all.wait_for_load_by(zero);
    widen_all(all, out);
  }
  template <class Place>
  HIPOPS_METHOD void load_f32(Place col, uint32_t zero, C (&out)[kLength]) const {
    const f32* const data = reinterpret_cast<const f32*>(data_);
    Packed<f32, kLength> all = Packed<f32, kLength>::filled(f32(absent_));
    if (data_ == nullptr) {
    } else if constexpr (Shape::kLayout == RowLayout::aligned) {
      all = load_packed<kLength>(data + col);
    } else if constexpr (Shape::kByElement) {
      all = Vector<f32, 1>{{data[place(col)]}};
    } else {
      all = load_vector_anywhere<kLength>(data + col);
    }
    all.wait_for_load_by(zero);
#pragma unroll
    for (int i = 0; i < kLength; ++i) out[i] = with_plain_nan<W>(C(all[i]));
  }
  HIPOPS_METHOD C at(int64_t col, bool is_f32) const {
    if (data_ == nullptr) return absent_;
    return is_f32 ? with_plain_nan<W>(C(reinterpret_cast<const f32*>(data_)[place(col)])) : at_in_row_type(col);
  }
  HIPOPS_METHOD C at_in_row_type(int64_t col) const { return C(widen(data_[place(col)])); }

  template <class P>
  static HIPOPS_METHOD void widen_all(const P& all, C (&out)[kLength]) {
#pragma unroll
    for (int i = 0; i < kLength; ++i) out[i] = C(widen(all[i]));
  }

 private:
  HIPOPS_METHOD int64_t place(int64_t col) const { return Shape::kLayout == RowLayout::strided ? col * step_ : col; }

  const W* data_;
  int64_t step_;
  C absent_;
};

// All columns of an op. kKept: issue_loads() loads vectors in the rows' type into registers. read() loads others.
template <class Op, class Shape, bool kKept>
class AllColumns {
 public:
  using W = typename Shape::Element;
  using C = typename Shape::Compute;
  static constexpr int kCount = Op::kColumns, kLength = Shape::kLength;

  template <class Args>
  explicit HIPOPS_METHOD AllColumns(const Args& a) : AllColumns(a, Indices<kCount>()) {}

  template <class Rows>
  HIPOPS_METHOD void issue_loads(const Rows& rows, int64_t base = 0) {
    if constexpr (kKept) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        Incoming in[Shape::kVectors];
#pragma unroll
        for (int v = 0; v < Shape::kVectors; ++v) kept_[v][i] = column_[i].absent_value();
        if (!column_[i].is_present()) continue;
#pragma unroll
        for (int v = 0; v < Shape::kVectors; ++v) column_[i].issue_load(rows.clamp_to_row(rows.column(base, v)), &in[v]);
#pragma unroll
        for (int v = 0; v < Shape::kVectors; ++v) kept_[v][i] = Column<Shape>::value(in[v]);
      }
      kept_from_ = int(rows.first_column(0));
    }
  }
  // Waits here, and not at the first use, when later loads are in flight.
  HIPOPS_METHOD void wait_for_loads() {
    if constexpr (kKept) {
#pragma unroll
      for (int v = 0; v < Shape::kVectors; ++v)
#pragma unroll
        for (int i = 0; i < kCount; ++i) kept_[v][i].wait_for_load_by(runtime_zero_);
    }
  }
  // If the next row has another misalignment, the lane's vectors cover other columns.
  template <class Rows>
  HIPOPS_METHOD void reload_if_moved(const Rows& rows) {
    if constexpr (kKept && Rows::kHasEdges && !has_unaligned_vectors) {
      if (__builtin_expect(int(rows.first_column(0)) == kept_from_, 1)) return;
      issue_loads(rows);
      wait_for_loads();
    }
  }
  // Vectors are widened again after this call. AMD waits for all of them here: later, gfx9 would wait for stores, too.
  HIPOPS_METHOD void recompute_widened() {
    if constexpr (kKept) {
#pragma unroll
      for (int v = 0; v < Shape::kVectors; ++v)
#pragma unroll
        for (int i = 0; i < kCount; ++i) sizeof(W) < sizeof(C) ? kept_[v][i].recompute_derived() : kept_[v][i].issue_before_use();
    }
  }
  template <class Rows>
  HIPOPS_METHOD void read(const Rows& rows, [[maybe_unused]] int v, typename Rows::Column col, C (&out)[kCount + 1][kLength]) const {
    const auto place = rows.clamp_to_row(col);
    if (__builtin_expect(kKept ? are_f32_apart() : !all_in_row_type_, 0)) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        if (kKept || are_f32_apart()) column_[i].load_f32(place, runtime_zero_, out[i]);
        else column_[i].load_row_type(place, runtime_zero_, out[i]);
      }
    } else if constexpr (kKept) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) Column<Shape>::widen_all(kept_[v][i], out[i]);
    } else {
      Incoming in[kCount];
#pragma unroll
      for (int i = 0; i < kCount; ++i) column_[i].issue_load(place, &in[i]);
#pragma unroll
      for (int i = 0; i < kCount; ++i) Column<Shape>::widen_all(Column<Shape>::value(in[i]), out[i]);
    }
  }
  // The values of n columns from `col` on, for rows without gaps. Past the end it repeats the last column.
  template <int n>
  HIPOPS_METHOD void read_neighbours(int col, int cols, C (&out)[kCount + 1][n]) const {
    const auto each = [&](auto get) {
#pragma unroll
      for (int i = 0; i < kCount; ++i)
#pragma unroll
        for (int e = 0; e < n; ++e) out[i][e] = get(column_[i], col + e < cols ? col + e : cols - 1);
    };
    if (__builtin_expect(all_in_row_type_, 1)) each([](const Column<Shape>& column, int at) { return column.at_in_row_type(at); });
    else each([this](const Column<Shape>& column, int at) { return column.at(at, are_f32_apart()); });
  }
  HIPOPS_METHOD void read_edge(int64_t col, C (&out)[kCount + 1][1]) const {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      out[i][0] = wait_for_load(column_[i].at(col, are_f32_apart()));
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
        all_in_row_type_((column_[i].is_present() && ...) && !are_f32_apart()), runtime_zero_(uint32_t(a.rows.rows >> 63)) {}

  HIPOPS_METHOD bool are_f32_apart() const { return sizeof(W) != sizeof(f32) && is_f32_ != 0; }

  Column<Shape> column_[kCount];
  int32_t is_f32_, all_in_row_type_;  // all: present, in the rows' type. Not bools: gfx9 keeps bools as lane masks
  uint32_t runtime_zero_;  // rows >> 63: always 0, but no compiler knows that
  Packed<W, kLength> kept_[kKept ? Shape::kVectors : 1][kCount];
  int kept_from_ = 0;  // the first column in kept_
};

struct NoColumns {
  template <class Args> explicit HIPOPS_METHOD NoColumns(const Args&) {}
  template <class... All> HIPOPS_METHOD void issue_loads(const All&...) const {}
  template <class... All> HIPOPS_METHOD void reload_if_moved(const All&...) const {}
  HIPOPS_METHOD void wait_for_loads() const {}
  HIPOPS_METHOD void recompute_widened() const {}
  template <class... All> HIPOPS_METHOD void read(const All&...) const {}
  template <class... All> HIPOPS_METHOD void read_neighbours(const All&...) const {}
  template <class... All> HIPOPS_METHOD void read_edge(const All&...) const {}
};
template <class Op, class Shape, bool kKept>
using ColumnsOf = typename Choose<Op::kColumns == 0, NoColumns, AllColumns<Op, Shape, kKept>>::type;

}  // namespace
}  // namespace hipops
