// Short rows without gaps in them or between them, as they lie in shared memory: a block reads and writes many of them as
// one piece, in vectors from aligned addresses.
#pragma once

#include "device/core/aligned_span.h"
#include "device/rows/row_contract.h"

namespace hipops {
namespace {

template <class Shape>
class Stage {
 public:
  using T = typename Shape::Element;

  HIPOPS_METHOD Stage() : vectors_(storage()), elements_(vectors_.template as<T>()) {}

  HIPOPS_METHOD auto operator[](int i) const { return elements_[shift_ + i]; }
  HIPOPS_METHOD void set(int i, T value) const { elements_[shift_ + i] = value; }

  // Asks for `count` elements, which are at [0], [1] .. after await(). Work-items meet there.
  HIPOPS_METHOD void ask(const T* from, int count) {
    const Span span(misplaced_by(from), count);
#pragma unroll
    for (int n = 0; n < kEach; ++n)
      if (span.has(vector(n))) whole_[n] = load_packed<kLength>(from - span.shift + vector(n) * kLength);
    const int edge = span.edge();
    if (edge >= 0) edge_ = from[edge - span.shift];
  }
  HIPOPS_METHOD void await(const T* from, int count) {
    shift_ = misplaced_by(from);
    const Span span(shift_, count);
#pragma unroll
    for (int n = 0; n < kEach; ++n)
      if (span.has(vector(n))) vectors_[vector(n)] = bit_cast<Vector<T, kLength>>(whole_[n]);
    const int edge = span.edge();
    if (edge >= 0) elements_[edge] = edge_;
    barrier();
  }

  // Writes them, after all have set theirs. Work-items meet before, and after.
  HIPOPS_METHOD void write(T* to, int count) const {
    barrier();
    if (misplaced_by(to) == shift_) {
      const Span span(shift_, count);
#pragma unroll
      for (int n = 0; n < kEach; ++n)
        if (span.has(vector(n)))
          store_vector_at_once<kLength>(to - shift_ + vector(n) * kLength, Vector<T, kLength>(vectors_[vector(n)]));
      const int edge = span.edge();
      if (edge >= 0) to[edge - shift_] = elements_[edge];
    } else {
#pragma unroll 1
      for (int i = thread_index(); i < count; i += Shape::kBlock) to[i] = elements_[shift_ + i];
    }
    barrier();
  }

 private:
  using Span = AlignedSpan<T>;
  static constexpr int kLength = Span::kLength;
  static constexpr int kElements = stage_elements(int(sizeof(T)));
  static_assert(Shape::kBlock * Shape::kVectors <= kElements, "a round of the block has room");
  static constexpr int kEach = (kElements / kLength + Shape::kBlock - 1) / Shape::kBlock;  // vectors of a work-item

  // The work-item's n-th vector.
  static HIPOPS_METHOD int vector(int n) { return int(thread_index()) + n * Shape::kBlock; }

  static HIPOPS_METHOD Shared<Vector<T, kLength>> storage() {
    using Wide = Vector<T, kLength>;
    HIPOPS_SHARED(Wide, vectors, kElements / kLength + 1);  // one more, as the first may be used in part
    return vectors;
  }

  Shared<Vector<T, kLength>> vectors_;
  Shared<T> elements_;
  Packed<T, kLength> whole_[kEach];
  T edge_;
  int shift_ = 0;
};

}  // namespace
}  // namespace hipops
