// What random tensors hold.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "parity/choices.h"
#include "parity/golden.h"

namespace hipops::parity {

// A hash: SplitMix64's last steps.
uint64_t mixed_bits(uint64_t value);

// Every element a function of where it is in memory, of which it is also told how far along that is, from 0 to 1:
// elements that share memory are equal.
InputTensor tensor_of(const std::string& name, const Layout& layout,
                              const std::function<uint64_t(uint64_t word, double along)>& value, uint64_t seed);

// Ordinary numbers: of one magnitude, around a mean that may be far from 0, or rises or falls along memory. Whole numbers
// are the simplest.
InputTensor random_numbers(Choices& choices, const std::string& name, const Layout& layout);

// Anything that a golden file can hold: of integers all bits, of floats infinities, NaN, denormals and zeros too.
InputTensor random_bits(Choices& choices, const std::string& name, const Layout& layout);

// Valid indices below `size`; and, as chosen, the mark, negative ones and others out of range.
InputTensor random_indices(Choices& choices, const std::string& name, const Layout& layout,
                                   int64_t size);

// The same, but no valid one twice along `dim`. The layout's elements must be distinct.
InputTensor distinct_indices(Choices& choices, const std::string& name, const Layout& layout,
                                     size_t dim, int64_t size);

// The index's type's maximum.
uint64_t mark_of(hipops_dtype dtype);

}  // namespace hipops::parity
