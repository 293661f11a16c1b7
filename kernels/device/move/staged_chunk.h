// A part of x in shared memory, for ops that take elements of it from anywhere.
#pragma once

#include "device/core/aligned_span.h"

namespace hipops {
namespace {

// By blocks of Most work-items, or of Least, each of which has kInFlight vectors on their way to it.
template <class T, int Most, int kInFlight, int Least = Most>
class StagedChunk {
 public:
  explicit HIPOPS_METHOD StagedChunk(Shared<b128> vectors, int32_t block = Most)
      : vectors_(vectors), elements_(vectors.as<T>()), block_(block) {}

  HIPOPS_METHOD T operator[](int32_t i) const { return elements_[i]; }

  // `count` neighbours, which are a vector at least and begin anywhere: in vectors from aligned addresses, but for what
  // is before the first of those and after the last, and placed as in memory. Returns where the first one is.
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

  // Of `lines` rows, `step` elements apart, 1 << line_bits vectors each.
  HIPOPS_METHOD void load_columns(const T* x, int32_t lines, int32_t step, int32_t line_bits) const {
    load(0, lines << line_bits, [&](int32_t v) {
      const int32_t line = v >> line_bits;
      return x + line * step + (v - (line << line_bits)) * kLength;
    });
  }

 private:
  static constexpr int kLength = kWideBytes / int(sizeof(T));

  // Vectors `first` to `last` - 1, each from where `at` says. There is no branch around loads: what is not wanted is the
  // last one once more.
  template <class At>
  HIPOPS_METHOD void load(int32_t first, int32_t last, At at) const {
    Least != Most && block_ == Least ? load_by<Least>(first, last, at) : load_by<Most>(first, last, at);
  }
  // nvcc's code is up to 3 % faster where it knows how many they are.
  template <int Block, class At>
  HIPOPS_METHOD void load_by(int32_t first, int32_t last, At at) const {
#pragma unroll 1
    for (int32_t v = first + int32_t(thread_index()); v < last; v += kInFlight * Block) {
      b128 value[kInFlight];
#pragma unroll
      for (int n = 0; n < kInFlight; ++n) {
        const int32_t i = v + n * Block;
        value[n] = *reinterpret_cast<const b128*>(at(i < last ? i : last - 1));
      }
#pragma unroll
      for (int n = 0; n < kInFlight; ++n)
        if (v + n * Block < last) vectors_[v + n * Block] = value[n];
    }
  }

  Shared<b128> vectors_;
  Shared<T> elements_;
  int32_t block_;
};

}  // namespace
}  // namespace hipops
