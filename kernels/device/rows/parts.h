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
    row = i / s.spans;
    index_ = int(i - row * s.spans);
    begin = begin_of(index_);
    end = index_ + 1 < s.spans ? begin_of(index_ + 1) : s.cols;
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
    const T* from;
    int spans, threads;
    int64_t in_each, in_last, edges;  // elements of each span but the last; of the last span; of the row's edge
    Reduction& reduction;

    HIPOPS_METHOD int64_t elements() const { return (spans - 1) * in_each + in_last + edges; }
    template <class O, class F>
    HIPOPS_METHOD auto reduce(O op, F f) const {
      auto all = O::template identity<decltype(f(Part(), int64_t()))>();
      for (int i = thread_index(); i < spans; i += threads) {
        const int64_t count = (i + 1 < spans ? in_each : in_last) + (i == 0 ? edges : 0);
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
    const int64_t in_vectors = rows.elements_in_vectors();
    return {area_of(rows, begin), s_->spans, s_->lanes, begin_of(1),
            in_vectors - begin_of(s_->spans - 1), s_->cols - in_vectors, reduction};
  }

 private:
  static constexpr int kPartBytes = sizeof(Part) <= 8 && sizeof(T) == 1 ? 8 : kMostPartBytes;
  static constexpr int kPartElements = kPartBytes / int(sizeof(T));  // of y, for one part
  static constexpr int kInWide = kWideBytes / int(sizeof(T));
  using InTensor = PartInTensor<T, Part, kPartBytes>;
  static constexpr int kTile = Shape::kBlock * Shape::kVectors * Shape::kLength;
  static_assert(kMostSpans * kPartElements + kInWide <= kTile, "a tile has a place for each span's part");

  HIPOPS_METHOD int64_t begin_of(int span) const { return span * s_->per_block * kTile; }
  // The area for parts in the tile of y at `base`, from a multiple of 16 bytes on.
  static HIPOPS_METHOD T* area_of(const Rows& rows, int64_t base) {
    T* const at = rows.template stream_of<T>(Op::kInputs) + rows.first_column(base);
    return at + (kInWide - misalignment(at)) % kInWide;
  }

  const StreamsOf<Op>* s_;
  int index_;
};

}  // namespace
}  // namespace hipops
