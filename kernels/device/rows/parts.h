// Merging parts of a row: two in order (streamed rows), all lanes' parts, all waves' parts, and all spans' parts.
//
// A split row needs two launches. Between them y holds the parts, so no other memory is needed. In the first launch,
// each block stores a copy of its part in every span of y. In the second, each block reads all parts from its own span,
// and then overwrites the span with results. The shape alone decides the spans, and so the results.
#pragma once

#include "device/core/reduce.h"
#include "device/rows/shape.h"

namespace hipops {
namespace {

template <class Part>
struct TwoParts {
  static constexpr bool kInOrder = true;  // b follows a in the row
  const Part &a, &b;
  int64_t in_a, in_b;

  HIPOPS_METHOD int64_t elements() const { return in_a + in_b; }
  template <class O, class F>
  HIPOPS_METHOD auto reduce(O op, F f) const { return op(f(a, in_a), f(b, in_b)); }
};
template <class Part>
HIPOPS_FN TwoParts<Part> two_parts(const Part& a, int64_t in_a, const Part& b, int64_t in_b) { return {a, b, in_a, in_b}; }

template <class Part, class Reduction>
struct LaneParts {
  static constexpr bool kInOrder = false;
  const Part& part;
  int64_t in_lane;  // elements
  Reduction& reduction;

  HIPOPS_METHOD int64_t elements() const { return reduction(in_lane, Sum()); }
  template <class O, class F>
  HIPOPS_METHOD auto reduce(O op, F f) const {
    auto own = f(part, in_lane);
    if (in_lane == 0) own = O::template identity<decltype(own)>();
    return reduction(own, op);
  }
};

// The parts of all waves that share a row, after their exchange. f gets 0 elements: waves do not exchange that number.
template <class Part, class Reduction>
struct WaveParts {
  Reduction& reduction;
  int first;  // slot

  template <class O, class F>
  HIPOPS_METHOD auto reduce(O op, F f) const {
    return reduction.template fold<Part>(first, [&f](const Part& p) { return f(p, 0); }, op);
  }
};

// A part, stored as elements of a tensor in a place of kBytes.
template <class T, class Part, int kBytes>
struct PartInTensor {
  static constexpr int kVectorBytes = kBytes < kWideBytes ? kBytes : kWideBytes, kLength = kVectorBytes / int(sizeof(T));
  static constexpr int kVectors = (sizeof(Part) + kVectorBytes - 1) / kVectorBytes;
  static_assert(sizeof(Part) <= kBytes && sizeof(Part) % sizeof(T) == 0, "a part fits into its place");

  static HIPOPS_METHOD void store(const Part& part, T* to) {
    Vector<T, kLength> vector[kVectors]{};
    __builtin_memcpy(vector, &part, sizeof part);
#pragma unroll
    for (int i = 0; i < kVectors; ++i) store_vector<kLength>(to + i * kLength, vector[i]);
  }
  static HIPOPS_METHOD Part load(const T* from) {
    Vector<T, kLength> vector[kVectors];
#pragma unroll
    for (int i = 0; i < kVectors; ++i) vector[i] = load_vector<kLength>(from + i * kLength);
    Part part;
    __builtin_memcpy(&part, vector, sizeof part);
    return part;
  }
};

// A span of a row of `Op`.
template <class Op, class Shape>
class Span {
 public:
  using T = OutputOf<Op, typename Shape::Element>;
  using Part = typename Op::Part;
  using Rows = RowsOf<Op, Shape>;
  int64_t row, begin, end;

  HIPOPS_METHOD Span(const StreamsOf<Op>& s, int64_t i) : s_(&s) {
    row = uint32_t(i) / uint32_t(s.spans);
    index_ = int(i) - int(row) * s.spans;
    longer_ = int((s.cols - kWideBytes) / kUnit - s.per_block * s.spans);
    begin = begin_of(index_);
    end = end_of(index_);
  }

  HIPOPS_METHOD void publish(const Part& part) const {
    Rows rows(*s_);
    rows.select(row);
    for (int to = thread_index(); to < s_->spans; to += s_->lanes)
      InTensor::store(part, area_of(rows, begin_of(to)) + index_ * kPartElements);
  }

  template <class Reduction>
  struct Parts {
    static constexpr bool kInOrder = false;
    const Span& span;
    const T* from;
    int64_t in_vectors;  // elements of the row that are not its edge
    Reduction& reduction;

    HIPOPS_METHOD int64_t elements() const { return span.s_->cols; }
    template <class O, class F>
    HIPOPS_METHOD auto reduce(O op, F f) const {
      auto all = O::template identity<decltype(f(Part(), int64_t()))>();
      for (int i = thread_index(); i < span.s_->spans; i += span.s_->lanes) {
        const int64_t last = span.end_of(i), end = last < in_vectors ? last : in_vectors;
        const int64_t count = end - span.begin_of(i) + (i == 0 ? elements() - in_vectors : 0);
        all = op(all, f(InTensor::load(from + i * kPartElements), count));
      }
      return reduction(all, op);
    }
  };
  // Reads all parts. Work-items may overwrite the area after the reduction, which has a barrier.
  template <class Reduction>
  HIPOPS_METHOD Parts<Reduction> parts(Reduction& reduction) const {
    Rows rows(*s_);
    rows.select(row);
    return {*this, area_of(rows, begin), rows.elements_in_vectors(), reduction};
  }

 private:
  static constexpr int kPartBytes = sizeof(Part) <= 8 && sizeof(T) == 1 ? 8 : kMostPartBytes;
  static constexpr int kPartElements = kPartBytes / int(sizeof(T));  // of y, for one part
  static constexpr int kInWide = kWideBytes / int(sizeof(T));
  using InTensor = PartInTensor<T, Part, kPartBytes>;
  static constexpr int kUnit = kSpanVectors * Shape::kLength;
  static_assert(kPartsAUnit * kPartElements <= kUnit && kInWide <= 2 * kPartElements, "the launcher leaves room for parts");

  HIPOPS_METHOD int64_t begin_of(int span) const { return (span * s_->per_block + (span < longer_ ? span : longer_)) * kUnit; }
  HIPOPS_METHOD int64_t end_of(int span) const { return span + 1 < s_->spans ? begin_of(span + 1) : s_->cols; }
  // The area for parts in the span of y at `base`, from a multiple of 16 bytes on.
  static HIPOPS_METHOD T* area_of(const Rows& rows, int64_t base) {
    T* const at = rows.template stream_of<T>(Op::kInputs) + rows.first_column(base);
    return at + (kInWide - misalignment(at)) % kInWide;
  }

  const StreamsOf<Op>* s_;
  int index_, longer_;  // longer_: spans that have a unit more
};

}  // namespace
}  // namespace hipops
