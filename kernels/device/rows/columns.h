// Columns: tensors with an element for each column that all rows share (weights, biases), in the rows' type or in f32.
#pragma once

#include "device/core/unaligned.h"
#include "device/rows/shape.h"

namespace hipops {
namespace {

// nvcc keeps single 16-bit elements in pairs.
template <class Shape>
constexpr int elements_of_pair = Shape::kLayout == RowLayout::packed && bounds_set_registers && sizeof(typename Shape::Element) == 2 ? 2 : 1;

template <class Shape>
class Column {
 public:
  using W = typename Shape::Element;
  using C = typename Shape::Compute;
  static constexpr int kLength = Shape::kLength;
  static constexpr bool kShifted = Shape::kLayout == RowLayout::unaligned;
  // n vectors of aligned rows, or n elements of strided rows, in flight.
  template <int n>
  struct Direct {
    Packed<W, kLength> vector[n];
    HIPOPS_METHOD void shift() const {}
    HIPOPS_METHOD Packed<W, kLength> value(int v) const { return vector[v]; }
  };
  template <int n>
  using Incoming = typename Choose<kShifted, IncomingVectors<W, n, true>, Direct<n>>::type;

  HIPOPS_METHOD Column(const void* data, int64_t step, C absent)
      : data_(static_cast<const W*>(data)), step_(step), absent_(absent) {}

  HIPOPS_METHOD bool is_present() const { return data_ != nullptr; }

  // Loads n vectors. at(v): the column where vector v begins.
  template <int n, class At>
  HIPOPS_METHOD void issue_loads(At at, Incoming<n>* in) const {
    if constexpr (kShifted) {
      in->issue_loads(data_, at);
    } else {
#pragma unroll
      for (int v = 0; v < n; ++v) {
        if constexpr (Shape::kByElement) in->vector[v] = Vector<W, 1>{{data_[place(at(v))]}};
        else in->vector[v] = load_packed<kLength>(data_ + at(v));
      }
    }
  }
  HIPOPS_METHOD Packed<W, kLength> absent_value() const { return Packed<W, kLength>::filled(narrow<W>(compute_t<W>(absent_))); }

  template <class Place>
  HIPOPS_METHOD Packed<W, kLength> load_row_type(Place col) const {
    if (data_ == nullptr) return absent_value();
    Incoming<1> in;
    issue_loads<1>([col](int) { return col; }, &in);
    in.shift();
    return in.value(0);
  }
  template <class Place>
  HIPOPS_METHOD Packed<f32, kLength> load_f32(Place col, bool may_be_absent) const {
    const f32* const data = reinterpret_cast<const f32*>(data_);
    if (may_be_absent && data == nullptr) return Packed<f32, kLength>::filled(f32(absent_));
    if constexpr (Shape::kLayout == RowLayout::aligned) return load_packed<kLength>(data + col);
    else if constexpr (Shape::kByElement) return Vector<f32, 1>{{data[place(col)]}};
    else return load_vector_anywhere<kLength>(data + col);
  }
  HIPOPS_METHOD int32_t misalignment_of_data() const { return misalignment(data_); }
  HIPOPS_METHOD C at(int64_t col, bool is_f32) const {
    if (data_ == nullptr) return absent_;
    return is_f32 ? with_plain_nan<W>(C(reinterpret_cast<const f32*>(data_)[place(col)])) : at_in_row_type(col);
  }
  HIPOPS_METHOD C at_in_row_type(int64_t col) const { return C(widen(data_[place(col)])); }

  static HIPOPS_METHOD void widen_all(const Packed<W, kLength>& all, C (&out)[kLength]) {
#pragma unroll
    for (int i = 0; i < kLength; ++i) out[i] = C(widen(all[i]));
  }
  template <class P>
  static HIPOPS_METHOD void widen_all(const P& all, C (&out)[kLength]) {
#pragma unroll
    for (int i = 0; i < kLength; ++i) out[i] = with_plain_nan<W>(C(all[i]));
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
  template <int n>
  using Incoming = typename Column<Shape>::template Incoming<n>;

  template <class Args>
  explicit HIPOPS_METHOD AllColumns(const Args& a) : AllColumns(a, Indices<kCount>()) {}

  template <class Rows>
  HIPOPS_METHOD void issue_loads(const Rows& rows, int64_t base = 0) {
    if constexpr (kKept) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        Incoming<Shape::kVectors> in;
#pragma unroll
        for (int v = 0; v < Shape::kVectors; v += kPair) kept_[v / kPair][i] = Kept::filled(narrow<W>(Op::absent_column(i)));
        if (!column_[i].is_present()) continue;
        column_[i].template issue_loads<Shape::kVectors>([&](int v) { return rows.clamp_to_row(rows.column(base, v)); }, &in);
        in.shift();
#pragma unroll
        for (int v = 0; v < Shape::kVectors; v += kPair) {
          if constexpr (kPair == 1) kept_[v][i] = in.value(v);
          else kept_[v / 2][i] = Vector<W, 2>{{in.value(v)[0], in.value(v + 1)[0]}};
        }
      }
    }
  }
  // Waits here, and not at the first use, when later loads are in flight.
  HIPOPS_METHOD void wait_for_loads() {
    if constexpr (kKept) {
#pragma unroll
      for (int v = 0; v < Shape::kVectors / kPair; ++v)
#pragma unroll
        for (int i = 0; i < kCount; ++i) kept_[v][i].wait_for_load_by(runtime_zero_);
    }
  }
  // Vectors are widened again after this call. AMD waits for all of them here: later, gfx9 would wait for stores, too.
  HIPOPS_METHOD void recompute_widened() {
    if constexpr (kKept) {
#pragma unroll
      for (int v = 0; v < Shape::kVectors / kPair; ++v)
#pragma unroll
        for (int i = 0; i < kCount; ++i) {
          if constexpr (Op::kUsual && is_f16<W>) kept_[v][i].recompute_derived_by(runtime_zero_);
          else sizeof(W) < sizeof(C) ? kept_[v][i].recompute_derived() : kept_[v][i].issue_before_use();
        }
    }
  }
  // NVIDIA loads the columns of kTogether vectors together, without a branch and before their results are stored. One branch
  // shifts those columns in unaligned rows. Registers limit the number.
  static constexpr bool kMayLoadTogether = !kKept && !Shape::kByElement && bounds_set_registers;
  static constexpr int kMostTogether = Shape::kLayout == RowLayout::aligned ? 4 / kCount
                                       : (Shape::kBody == RowBody::on_chip ? 2 : 4) / (kCount * Op::kInputs);
  static constexpr int kTogether = kMostTogether < 1 ? 1 : Shape::kVectors < kMostTogether ? Shape::kVectors : kMostTogether;
  using Together = Incoming<kTogether>[kCount];
  // Whether all columns are present, in the rows' type, and have one misalignment.
  HIPOPS_METHOD bool loads_together() const {
    bool all = all_in_row_type_;
#pragma unroll
    for (int i = 1; i < kCount; ++i) all = all && column_[i].misalignment_of_data() == column_[0].misalignment_of_data();
    return all;
  }
  // Reads vector v. The caller reads the vectors in order.
  template <class Rows>
  HIPOPS_METHOD void read_together(const Rows& rows, int64_t base, int v, Together& together, C (&out)[kCount + 1][kLength]) const {
    if (v % kTogether == 0) {
      const auto place = [&](int n) { return rows.clamp_to_row(rows.column(base, v + n)); };
#pragma unroll
      for (int i = 0; i < kCount; ++i) column_[i].template issue_loads<kTogether>(place, &together[i]);
      static_assert(kCount <= 2, "all columns are shifted");
      if constexpr (kCount == 2 && Column<Shape>::kShifted) Incoming<kTogether>::shift_all(together[0], together[1]);
      else together[0].shift();
    }
#pragma unroll
    for (int i = 0; i < kCount; ++i) Column<Shape>::widen_all(together[i].value(v % kTogether), out[i]);
  }
  // The same for columns in f32, if all are present and rows have 16 bits.
  HIPOPS_METHOD bool are_all_f32() const { return all_in_f32_; }
  template <class Rows>
  HIPOPS_METHOD void read_f32(const Rows& rows, typename Rows::Column col, C (&out)[kCount + 1][kLength]) const {
    load_now([&](int i) { return column_[i].load_f32(rows.clamp_to_row(col), false); }, out);
  }
  template <class Rows>
  HIPOPS_METHOD void read(const Rows& rows, [[maybe_unused]] int v, typename Rows::Column col, C (&out)[kCount + 1][kLength]) const {
    const auto place = rows.clamp_to_row(col);
    if (__builtin_expect(kKept ? are_f32_apart() : !all_in_row_type_, 0)) {
      if (kKept || are_f32_apart()) load_now([&](int i) { return column_[i].load_f32(place, true); }, out);
      else load_now([&](int i) { return column_[i].load_row_type(place); }, out);
    } else if constexpr (kKept) {
#pragma unroll
      for (int i = 0; i < kCount; ++i)
#pragma unroll
        for (int e = 0; e < kLength; ++e) out[i][e] = C(widen(kept_[v / kPair][i][v % kPair + e]));
    } else {
      Incoming<1> in[kCount];
#pragma unroll
      for (int i = 0; i < kCount; ++i) column_[i].template issue_loads<1>([place](int) { return place; }, &in[i]);
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        in[i].shift();
        Column<Shape>::widen_all(in[i].value(0), out[i]);
      }
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
  template <int...> struct List {};
  template <int n, int... more> struct Make : Make<n - 1, n - 1, more...> {};
  template <int... all> struct Make<0, all...> { using type = List<all...>; };
  template <int n> using Indices = typename Make<n>::type;

  template <class Args, int... i>
  HIPOPS_METHOD AllColumns(const Args& a, List<i...>)
      : column_{{a.columns[i].data, a.columns[i].step, C(Op::absent_column(i))}...}, is_f32_(a.columns_are_f32),
        all_in_row_type_((column_[i].is_present() && ...) && !are_f32_apart()),
        all_in_f32_((column_[i].is_present() && ...) && are_f32_apart()), runtime_zero_(uint32_t(a.rows.rows >> 63)) {}

  static constexpr bool kWaitsInBranch =
      !bounds_set_registers || Shape::kBody != RowBody::on_chip || prefetches_rows(Shape::kBody);
  // Loads all columns by load(i). The branch waits for them if loads of other rows or tiles may be in flight. Otherwise the
  // kernel would wait for those, too, at the first use.
  template <class Load>
  HIPOPS_METHOD void load_now(Load load, C (&out)[kCount + 1][kLength]) const {
    decltype(load(0)) all[kCount];
#pragma unroll
    for (int i = 0; i < kCount; ++i) all[i] = load(i);
    if constexpr (kWaitsInBranch) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) all[i].wait_for_load_by(runtime_zero_);
    }
#pragma unroll
    for (int i = 0; i < kCount; ++i) Column<Shape>::widen_all(all[i], out[i]);
  }
  HIPOPS_METHOD bool are_f32_apart() const { return sizeof(W) != sizeof(f32) && !Op::kUsual && is_f32_ != 0; }

  Column<Shape> column_[kCount];
  int32_t is_f32_, all_in_row_type_, all_in_f32_;  // all: present. Not bools: gfx9 keeps bools as lane masks
  uint32_t runtime_zero_;  // rows >> 63: always 0, but no compiler knows that
  static constexpr int kPair = elements_of_pair<Shape>;
  using Kept = Packed<W, kLength * kPair>;
  Kept kept_[kKept ? Shape::kVectors / kPair : 1][kCount];
};

struct NoColumns {
  template <class Args> explicit HIPOPS_METHOD NoColumns(const Args&) {}
  template <class... All> HIPOPS_METHOD void issue_loads(const All&...) const {}
  HIPOPS_METHOD void wait_for_loads() const {}
  HIPOPS_METHOD void recompute_widened() const {}
  static constexpr bool kMayLoadTogether = false;
  template <class... All> HIPOPS_METHOD void read(const All&...) const {}
  template <class... All> HIPOPS_METHOD void read_neighbours(const All&...) const {}
  template <class... All> HIPOPS_METHOD void read_edge(const All&...) const {}
};
template <class Op, class Shape, bool kKept>
using ColumnsOf = typename Choose<Op::kColumns == 0, NoColumns, AllColumns<Op, Shape, kKept>>::type;

}  // namespace
}  // namespace hipops
