// A chunk of x in shared memory, for ops that read its elements in any order.
#pragma once

#include "device/core/aligned_span.h"
#include "device/core/cache.h"

namespace hipops {
namespace {

// The launch chooses blocks of Most or of Least work-items. Each work-item issues kInFlight loads at a time. A block
// that is alone on a unit has all of them in flight, if the target can copy in the background.
template <class T, int Most, int kInFlight, int Least = Most, bool kAlone = false>
class StagedChunk {
 public:
  explicit HIPOPS_METHOD StagedChunk(Shared<b128> vectors, int32_t block = Most)
      : vectors_(vectors), elements_(vectors.as<T>()), block_(block) {}

  HIPOPS_METHOD T operator[](int32_t i) const { return elements_[i]; }

  // Loads `count` neighbours, at least a vector, that begin anywhere. Whole vectors come from aligned addresses, edges
  // by elements, and the chunk keeps x's misalignment. Returns the place of the first element.
  HIPOPS_METHOD int32_t load_rows(const T* x, int32_t count) const {
    const int32_t shift = misalignment(x);
    const AlignedSpan<T> span(shift, count);
    const T* from = x - shift;
    const int32_t edge = span.edge();
    const T at_edge = from[edge < 0 ? shift : edge];
    load(span.first, span.last, [&](int32_t v) { return from + v * kLength; });
    if (edge >= 0) elements_[edge] = at_edge;
    return shift;
  }

  // Loads `lines` rows, `step` elements apart, of 1 << line_bits vectors each.
  HIPOPS_METHOD void load_columns(const T* x, int32_t lines, int32_t step, int32_t line_bits) const {
    load(0, lines << line_bits, [&](int32_t v) {
      const int32_t line = v >> line_bits;
      return x + line * step + (v - (line << line_bits)) * kLength;
    });
  }

 private:
  static constexpr int kLength = kWideBytes / int(sizeof(T));

  // Loads vectors `first` to `last` - 1 from at(v), without a branch: past the end, the last vector is loaded again.
  template <class At>
  HIPOPS_METHOD void load(int32_t first, int32_t last, At at) const {
    Least != Most && block_ == Least ? load_by<Least>(first, last, at) : load_by<Most>(first, last, at);
  }
  // A constant block size makes the code up to 3 % faster.
  template <int Block, class At>
  HIPOPS_METHOD void load_by(int32_t first, int32_t last, At at) const {
    constexpr bool copies = kAlone && has_background_copies;
    constexpr int depth = copies ? 1 : kInFlight;
#pragma unroll 1
    for (int32_t v = first + int32_t(thread_index()); v < last; v += depth * Block) {
      b128 value[depth];
#pragma unroll
      for (int n = 0; n < depth; ++n) {
        const int32_t i = v + n * Block;
        if constexpr (copies) copy_in_background(vectors_, i, at(i));
        else value[n] = *reinterpret_cast<const b128*>(at(i < last ? i : last - 1));
      }
#pragma unroll
      for (int n = 0; n < depth; ++n)
        if (!copies && v + n * Block < last) vectors_[v + n * Block] = value[n];
    }
    if (copies) wait_for_copies();
  }

  Shared<b128> vectors_;
  Shared<T> elements_;
  int32_t block_;
};

}  // namespace
}  // namespace hipops
