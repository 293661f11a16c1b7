// Copies rows that begin anywhere, 16 bytes at a time: stores are at multiples of 16, loads at any address.
#pragma once

#include "device/core/strided_contract.h"
#include "device/core/unaligned.h"

namespace hipops {
namespace {

// A load of 16 bytes from a multiple of 16 or, if not kAligned, from any address. On NVIDIA the latter reads up to 16
// bytes before and after, and shifts without a branch: the misalignments of neighbouring lines differ.
template <class T, bool kAligned>
class LineVector {
 public:
  static constexpr int kLength = kWideBytes / int(sizeof(T));
  LineVector() = default;
  explicit HIPOPS_METHOD LineVector(const T* at) {
    if constexpr (has_unaligned_vectors) {
      low_ = bit_cast<VectorWords>(load_vector_anywhere<kLength>(at));
    } else {
      bytes_ = int(uint32_t(uintptr_t(at)) % kWideBytes);
      const auto low = keep_one_address(reinterpret_cast<const VectorWords*>(uintptr_t(at) / kWideBytes * kWideBytes));
      low_ = load_evict_last(low);
      if (!kAligned) high_ = load_evict_last(low + 1);
    }
  }
  HIPOPS_METHOD Packed<T, kLength> value() const {
    const VectorWords v = kAligned || has_unaligned_vectors ? low_ : funnel(low_, high_, bytes_);
    return Packed<T, kLength>(v.word[0], v.word[1], v.word[2], v.word[3]);
  }

 private:
  VectorWords low_, high_;
  int bytes_;  // of the first aligned vector that are before this one
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
