#include "parity/random_values.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "parity/number.h"

namespace hipops::parity {
namespace {

uint64_t random_seed(Choices& choices) { return choices.below(uint64_t{1} << 32); }

// A number in [-1, 1).
double uniform(uint64_t word) { return static_cast<double>(word >> 11) * 0x1p-52 - 1; }

double quirk(hipops_dtype dtype, uint64_t word) {
  const double infinity = std::numeric_limits<double>::infinity();
  const double least = ulp(dtype, 0);
  switch (word % 8) {
    case 0: return infinity;
    case 1: return -infinity;
    case 2: return std::numeric_limits<double>::quiet_NaN();
    case 3: return least * static_cast<double>(word >> 8 & 7);
    case 4: return -0.0;
    case 5: return largest(dtype);
    default: return -least;
  }
}

// An index that names nothing: the mark, or out of range.
uint64_t bad_index(hipops_dtype dtype, int64_t size, uint64_t word) {
  const bool is_signed = dtype == HIPOPS_I16 || dtype == HIPOPS_I32 || dtype == HIPOPS_I64;
  const uint64_t past = static_cast<uint64_t>(size);
  switch (word % 4) {
    case 0: return mark_of(dtype);
    case 1: return is_signed ? (~(word >> 8 & 3)) & low_bits(dtype) : mark_of(dtype) - 1;
    case 2: return past <= mark_of(dtype) ? past : mark_of(dtype);
    default: return is_signed ? mark_of(dtype) + 1 : mark_of(dtype);  // the type's least number
  }
}

}  // namespace

uint64_t mixed_bits(uint64_t value) {
  value += 0x9e3779b97f4a7c15u;
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9u;
  value = (value ^ value >> 27) * 0x94d049bb133111ebu;
  return value ^ value >> 31;
}

uint64_t mark_of(hipops_dtype dtype) {
  const bool is_signed = dtype == HIPOPS_I16 || dtype == HIPOPS_I32 || dtype == HIPOPS_I64;
  return low_bits(dtype) >> (is_signed ? 1 : 0);
}

InputTensor tensor_of(const std::string& name, const Layout& layout,
                      const std::function<uint64_t(uint64_t word, double along)>& value, uint64_t seed) {
  InputTensor tensor;
  tensor.name = name;
  tensor.layout = layout;
  tensor.bits.reserve(static_cast<size_t>(layout.elements));
  const double span = std::max(1.0, static_cast<double>(layout.last - layout.first));
  for (int64_t position = 0; position < layout.elements; ++position) {
    const int64_t offset = layout.offset_at(position);
    const double along = static_cast<double>(offset - layout.first) / span;
    tensor.bits.push_back(value(mixed_bits(mixed_bits(seed) ^ static_cast<uint64_t>(offset)), along));
  }
  return tensor;
}

InputTensor random_numbers(Choices& choices, const std::string& name, const Layout& layout) {
  const hipops_dtype dtype = layout.dtype;
  if (!is_float(dtype)) return random_bits(choices, name, layout);
  const uint64_t seed = random_seed(choices);
  const bool whole = choices.below(4) == 0;
  const double scale = whole ? 8.0 : choices.pick({1.0, 4.0, 0.03125, 100.0});
  const double shift = choices.pick({0.0, 0.0, 3.0, -50.0});
  const uint64_t kind = seed == 0 ? 0 : mixed_bits(seed) % 16;
  const double slope = kind == 1 ? scale : kind == 2 ? -scale : 0;
  return tensor_of(
      name, layout,
      [=](uint64_t word, double along) {
        const double value = (slope == 0 ? uniform(word) * scale : along * slope) + shift;
        return encode(dtype, whole ? std::floor(value) : value);
      },
      seed);
}

InputTensor random_bits(Choices& choices, const std::string& name, const Layout& layout) {
  const hipops_dtype dtype = layout.dtype;
  const uint64_t seed = random_seed(choices);
  if (!is_float(dtype)) {
    return tensor_of(name, layout, [=](uint64_t word, double) { return word & low_bits(dtype); }, seed);
  }
  const uint64_t quirks = choices.pick<uint64_t>({0, 8, 2});
  return tensor_of(
      name, layout,
      [=](uint64_t word, double) {
        if (quirks != 0 && word >> 40 & 1 && word % quirks == 0) return encode(dtype, quirk(dtype, word >> 8));
        return encode(dtype, uniform(word) * 4);
      },
      seed);
}

InputTensor random_indices(Choices& choices, const std::string& name, const Layout& layout, int64_t size) {
  const hipops_dtype dtype = layout.dtype;
  const uint64_t seed = random_seed(choices);
  const uint64_t bad = choices.pick<uint64_t>({0, 0, 16, 3, 1});  // one index of this number is bad; 0: none
  const uint64_t few = choices.pick<uint64_t>({0, 0, 1, 2});      // the number of different indices; 0: any
  uint64_t bound = std::min(static_cast<uint64_t>(size), mark_of(dtype));
  if (few != 0) bound = std::min(bound, few);
  return tensor_of(
      name, layout,
      [=](uint64_t word, double) {
        if (bound == 0 || (bad != 0 && (word >> 32) % bad == 0)) return bad_index(dtype, size, word);
        return word % bound;
      },
      seed);
}

InputTensor distinct_indices(Choices& choices, const std::string& name, const Layout& layout, size_t dim,
                             int64_t size) {
  InputTensor tensor = random_indices(choices, name, layout, size);
  const uint64_t seed = random_seed(choices);
  const uint64_t bound = std::min(static_cast<uint64_t>(size), mark_of(layout.dtype));
  int64_t inner = 1;
  for (size_t d = dim + 1; d < layout.shape.size(); ++d) inner *= layout.shape[d];
  const int64_t length = layout.shape[dim];
  const int64_t lines = layout.elements == 0 ? 0 : layout.elements / length;
  std::vector<uint64_t> order(bound);
  for (int64_t line = 0; line < lines; ++line) {
    std::iota(order.begin(), order.end(), uint64_t{0});
    const int64_t first = line / inner * inner * length + line % inner;
    for (uint64_t j = 0; j < static_cast<uint64_t>(length); ++j) {
      uint64_t& index = tensor.bits[static_cast<size_t>(first + static_cast<int64_t>(j) * inner)];
      if (index >= bound) continue;  // a bad index stays
      if (j >= bound) {
        index = mark_of(layout.dtype);
        continue;
      }
      std::swap(order[j], order[j + mixed_bits(seed ^ static_cast<uint64_t>(line) << 20 ^ j) % (bound - j)]);
      index = order[j];
    }
  }
  return tensor;
}

}  // namespace hipops::parity
