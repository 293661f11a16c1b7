#include "parity/choices.h"

#include <algorithm>

#include "parity/generator.h"

namespace hipops::parity {
namespace {

uint32_t low(uint64_t value) { return static_cast<uint32_t>(value); }
uint32_t high(uint64_t value) { return static_cast<uint32_t>(value >> 32); }

}  // namespace

uint64_t SeededChoices::next(uint64_t bound) {
  const auto words = parity::philox4x32({low(made_++), 0, low(number_), high(number_)}, {low(seed_), high(seed_)});
  return (words[0] | uint64_t{words[1]} << 32) % bound;
}

uint64_t GivenChoices::next(uint64_t bound) {
  return at_ < given_.size() ? std::min(given_[at_++], bound - 1) : 0;
}

uint64_t ByteChoices::next(uint64_t bound) {
  uint64_t value = 0;
  for (size_t n = bound <= 256 ? 1 : 4; n > 0 && left_ > 0; --n, --left_) value = value << 8 | *bytes_++;
  return value % bound;
}

}  // namespace hipops::parity
