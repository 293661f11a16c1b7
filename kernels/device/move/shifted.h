// Copies rows that begin anywhere, 16 bytes at a time: stores are at multiples of 16, loads at any address.
#pragma once

#include "device/core/strided_contract.h"
#include "device/core/unaligned.h"

namespace hipops {
namespace {

// A load of 16 bytes from a multiple of 16.
template <class T>
class AlignedVector {
 public:
  static constexpr int kLength = kWideBytes / int(sizeof(T));
  AlignedVector() = default;
  explicit HIPOPS_METHOD AlignedVector(const T* at) : value_(load_vector_evict_last<kLength>(at)) {}
  HIPOPS_METHOD Vector<T, kLength> value() const { return value_; }

 private:
  Vector<T, kLength> value_;
};

// The same from any address.
template <class T>
class ShiftedVector {
 public:
  static constexpr int kLength = kWideBytes / int(sizeof(T));
  ShiftedVector() = default;
  explicit HIPOPS_METHOD ShiftedVector(const T* at) {
    vector_.issue_loads(at, [](int) { return 0; });
  }
  HIPOPS_METHOD Vector<T, kLength> value() const {
    auto shifted = vector_;
    shifted.shift();
    return bit_cast<Vector<T, kLength>>(shifted.words(0));
  }

 private:
  IncomingVectors<T, 1, false> vector_;
};

// Copies the row's vectors, then its other elements: numbers first, first + (1 << lane_bits), .. `zero`: stores zeros.
template <class T>
HIPOPS_FN void copy_shifted_row(const T* x, T* y, int32_t cols, int32_t first, int32_t lane_bits, bool zero) {
  constexpr int n = ShiftedRow<T>::kLength;
  const ShiftedRow<T> row({x}, y, cols);
  if (row.vectors > 0) {
    IncomingVectors<T, kShiftedDepth, false> loaded;
    loaded.issue_loads(x, [&](int d) {
      const int32_t i = first + (d << lane_bits);  // past the end: the last vector, which is ignored later
      return row.vector(i < row.vectors ? i : row.vectors - 1);
    });
    loaded.shift();
#pragma unroll
    for (int d = 0; d < kShiftedDepth; ++d) {
      const int32_t i = first + (d << lane_bits);
      if (i < row.vectors) {
        store_vector_as_one<n>(y + row.vector(i), bit_cast<Vector<T, n>>(zero ? VectorWords{} : loaded.words(d)));
      }
    }
  }
  if (first + ((kShiftedDepth - 1) << lane_bits) < row.vectors) return;
#pragma unroll 1
  for (int d = 0; d < kShiftedDepth; ++d) {
    const int32_t i = first + (d << lane_bits) - row.vectors;
    if (i >= 0 && i < row.others) y[row.other(i)] = zero ? T{} : x[row.other(i)];
  }
}

}  // namespace
}  // namespace hipops
