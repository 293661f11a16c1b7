// A typed input: its element type is an argument of the launch. And the scalars that a caller passes for each row.
#pragma once

#include "device/core/unaligned.h"
#include "device/rows/shape.h"

namespace hipops {
namespace {

struct AbsentElement {};
template <class E> constexpr bool is_absent = false;
template <> [[maybe_unused]] constexpr bool is_absent<AbsentElement> = true;

// Calls f(an element of the type). The branch is uniform.
template <class T, class F>
HIPOPS_FN void with_type(ElementType type, F f) {
  if (type == ElementType::absent) f(AbsentElement());
  else if (type == ElementType::boolean) f(u8());
  else if (sizeof(T) == sizeof(f32) || type == ElementType::f32) f(f32());
  else f(T());
}

template <class Op, class T, class E>
HIPOPS_FN compute_t<T> widen_typed(E e) {
  if constexpr (sizeof(E) == sizeof(u8)) return Op::of_boolean(e != 0);
  else return with_plain_nan<T>(compute_t<T>(widen(e)));
}

// The typed input's vector at the columns of a vector of x. NVIDIA loads an unaligned one by elements.
template <class Op, class Shape, class E>
class TypedVector {
 public:
  using T = typename Shape::Element;
  static constexpr int kLength = Shape::kLength;

  template <class Rows, class Column>
  HIPOPS_METHOD void issue_load(const Rows& rows, Column col) {
    const char* const row = rows.typed(0);
    if constexpr (Shape::kByElement) vector_ = Vector<E, 1>{{*reinterpret_cast<const E*>(row + col * rows.typed_step(0))}};
    else if constexpr (kInWords) vector_ = load_packed<kLength / 4>(reinterpret_cast<const uint32_t*>(row + col));
    else if constexpr (Shape::kLayout == RowLayout::aligned) vector_ = load_packed<kLength>(reinterpret_cast<const E*>(row) + col);
    else vector_ = load_vector_anywhere<kLength>(reinterpret_cast<const E*>(row) + col);
  }
  HIPOPS_METHOD void issue_before_use() {
    if constexpr (!Shape::kByElement) vector_.issue_before_use();
  }
  HIPOPS_METHOD void widen(compute_t<T> (&out)[kLength]) const {
#pragma unroll
    for (int i = 0; i < kLength; ++i) {
      if constexpr (kInWords) out[i] = Op::of_boolean((vector_[i / 4] & 0xffu << i % 4 * 8) != 0);
      else out[i] = widen_typed<Op, T>(vector_[i]);
    }
  }

 private:
  // Booleans as words: one instruction tests a byte of a word. A byte of a vector of bytes needs three.
  static constexpr bool kInWords = sizeof(E) == sizeof(u8) && Shape::kLayout == RowLayout::aligned;
  typename Choose<kInWords, Packed<uint32_t, (kLength + 3) / 4>, Packed<E, kLength>>::type vector_;
};
template <class Op, class Shape>
class TypedVector<Op, Shape, AbsentElement> {
 public:
  template <class Rows, class Column> HIPOPS_METHOD void issue_load(const Rows&, Column) {}
  HIPOPS_METHOD void issue_before_use() {}
  template <class C, int n>
  HIPOPS_METHOD void widen(C (&out)[n]) const {
#pragma unroll
    for (int i = 0; i < n; ++i) out[i] = Op::absent_typed();
  }
};

template <class Op, class T, class E, class Rows, class Column>
HIPOPS_FN compute_t<T> typed_element(const Rows& rows, Column col) {
  if constexpr (is_absent<E>) return Op::absent_typed();
  else return widen_typed<Op, T>(*reinterpret_cast<const E*>(rows.typed(0) + col * int64_t(sizeof(E))));
}

// The scalars that the caller gives for a row.
template <class Op>
struct GivenScalars {
  typename Op::C value[Op::kGiven + 1];

  template <class Rows>
  explicit HIPOPS_METHOD GivenScalars(const Rows& rows) {
#pragma unroll
    for (int i = 0; i < Op::kGiven; ++i) value[i] = rows.given(i, Op::absent_given(i));
  }
};

}  // namespace
}  // namespace hipops
