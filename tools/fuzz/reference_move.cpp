// Upsampling and copies: where each element comes from.
#include <algorithm>
#include <cmath>

#include "fuzz/operand.h"

namespace hipops::fuzz {
namespace {

using parity::Case;

// Each operation is rounded in the rule's type.
template <class F>
int64_t source(int64_t i, int64_t from, int64_t to, double scale, F centre) {
  const F ratio = scale > 0 ? static_cast<F>(1 / scale) : static_cast<F>(from) / static_cast<F>(to);
  const F at = std::floor((static_cast<F>(i) + centre) * ratio);
  return at < static_cast<F>(from - 1) ? static_cast<int64_t>(at) : from - 1;
}

int64_t source(int rule, int64_t i, int64_t from, int64_t to, size_t resized, double scale) {
  if (rule != HIPOPS_NEAREST_CANDLE && resized == 2 && to == from) return i;
  if (rule == HIPOPS_NEAREST_CANDLE) return source<double>(i, from, to, scale, 0);
  if (rule == HIPOPS_NEAREST_EXACT) return source<float>(i, from, to, scale, 0.5f);
  if (scale == 0 && to == from) return i;
  if (scale == 0 && to == 2 * from) return i / 2;
  return source<float>(i, from, to, scale, 0);
}

}  // namespace

void expect_upsample(Case* test, const std::vector<std::string>& scales) {
  const Operand x = input_of(*test, "x");
  const std::vector<int64_t>& shape = output_of(test, "y").layout.shape;
  const int rule = static_cast<int>(test->params.at("rule"));
  std::vector<uint64_t> bits;
  for_each_index(shape, [&](Index at, int64_t) {
    for (size_t s = 0; s < scales.size(); ++s) {
      const size_t d = 2 + s;
      at[d] = source(rule, at[d], x.shape()[d], shape[d], scales.size(), test->params.at(scales[s]));
    }
    bits.push_back(x.bits(position_of(x.shape(), at)));
  });
  expect_bits(test, "y", bits);
}

void expect_copy(Case* test) {
  const Operand x = input_of(*test, "x");
  std::vector<uint64_t> bits;
  for (int64_t position = 0; position < x.tensor.layout.elements; ++position) bits.push_back(x.bits(position));
  expect_bits(test, "y", bits);
}

}  // namespace hipops::fuzz
