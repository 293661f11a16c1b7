// Neighbouring elements in flight: several vectors of 16 bytes.
#pragma once

#include "device/core/cache.h"
#include "device/core/unaligned.h"

namespace hipops {
namespace {

template <class T, int n>
class IncomingElements {
 public:
  // `access`: the widest access, in bytes, that reaches the elements. AMD's accesses may begin anywhere.
  HIPOPS_METHOD void issue_load(const T* at, int32_t access) {
#pragma unroll
    for (int p = 0; p < kParts; ++p) {
      const T* const from = at + p * kLength;
      if constexpr (has_unaligned_vectors) part_[p] = load_vector_anywhere<kLength>(from);
      else if (access == kWideBytes) part_[p] = load_packed_evict_last<kLength>(from);
      else if (access == 8) part_[p] = load_pieces<b64>(from);
      else if (access == 4) part_[p] = load_pieces<b32>(from);
      else part_[p] = load_pieces<b16>(from);
    }
  }
  HIPOPS_METHOD void widen_all(float (&x)[n]) const {
#pragma unroll
    for (int i = 0; i < n; ++i) x[i] = widen(part_[i / kLength][i % kLength]);
  }

 private:
  static constexpr int kLength = kWideBytes / int(sizeof(T)), kParts = n / kLength;

  template <class Piece>
  static HIPOPS_METHOD Packed<T, kLength> load_pieces(const T* from) {
    struct Pieces { Piece piece[kWideBytes / sizeof(Piece)]; } pieces;
#pragma unroll
    for (int i = 0; i < int(kWideBytes / sizeof(Piece)); ++i)
      pieces.piece[i] = reinterpret_cast<const Piece*>(from)[i];
    const VectorWords words = bit_cast<VectorWords>(pieces);
    return Packed<T, kLength>(words.word[0], words.word[1], words.word[2], words.word[3]);
  }

  Packed<T, kLength> part_[kParts];
};

}  // namespace
}  // namespace hipops
