// The generators that golden files name (parity/golden/README.md). Compile with -ffp-contract=off: the values are
// defined with each operation rounded by itself.
#pragma once

#include <array>
#include <cstdint>

namespace hipops::parity {

// Philox 4x32-10 of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC11.
std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

struct Generator {
  // The last two are for integer dtypes, the others for floats.
  enum class Kind { kUniform, kBell, kConstant, kBits, kIndex };
  Kind kind = Kind::kConstant;
  uint64_t seed = 0;
  double scale = 0;
  double shift = 0;
  uint64_t bound = 0;  // kIndex: one past the greatest value

  bool for_integers() const { return kind == Kind::kBits || kind == Kind::kIndex; }

  // Element `position` if for_integers(). The dtype keeps the low bits.
  uint64_t bits(uint64_t position) const;

  // Element `position` (row-major) of the other kinds, before it is rounded to the tensor's dtype.
  double value(uint64_t position) const;

  // No value differs from `shift` by more than this.
  double reach() const;
};

}  // namespace hipops::parity
