#include "parity/generator.h"

#include <cmath>

namespace hipops::parity {
namespace {

constexpr double kTwoToMinus32 = 1.0 / 4294967296.0;
constexpr double kSqrt3 = 1.7320508075688772;

uint32_t low(uint64_t value) { return static_cast<uint32_t>(value); }
uint32_t high(uint64_t value) { return static_cast<uint32_t>(value >> 32); }

std::array<uint32_t, 4> words_of(uint64_t position, uint64_t seed) {
  return philox4x32({low(position), high(position), 0, 0}, {low(seed), high(seed)});
}

double unit(uint32_t word) { return static_cast<double>(word) * kTwoToMinus32; }

}  // namespace

std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t product0 = uint64_t{0xD2511F53u} * counter[0];
    const uint64_t product1 = uint64_t{0xCD9E8D57u} * counter[2];
    counter = {high(product1) ^ counter[1] ^ key[0], low(product1), high(product0) ^ counter[3] ^ key[1],
               low(product0)};
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
  return counter;
}

uint64_t Generator::bits(uint64_t position) const {
  const auto words = words_of(position, seed);
  if (kind == Kind::kIndex) return (words[0] * bound) >> 32;
  return words[0] | uint64_t{words[1]} << 32;
}

double Generator::value(uint64_t position) const {
  if (kind == Kind::kConstant) return shift;
  const auto words = words_of(position, seed);
  if (kind == Kind::kUniform) return shift + scale * (unit(words[0]) * 2 - 1);
  return shift + scale * ((unit(words[0]) + unit(words[1]) + unit(words[2]) + unit(words[3]) - 2) * kSqrt3);
}

double Generator::reach() const {
  if (kind == Kind::kConstant) return 0;
  return std::fabs(scale) * (kind == Kind::kUniform ? 1 : 2 * kSqrt3);
}

}  // namespace hipops::parity
