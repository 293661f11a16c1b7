// Elements of random tensors.
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

// Each element is a function of its place in memory, so elements that share memory are equal. `along` is the place,
// from 0 to 1.
InputTensor tensor_of(const std::string& name, const Layout& layout,
                              const std::function<uint64_t(uint64_t word, double along)>& value, uint64_t seed);

// Ordinary numbers of one magnitude, around a mean that may be far from 0, or rises or falls along memory. Whole
// numbers are the simplest.
InputTensor random_numbers(Choices& choices, const std::string& name, const Layout& layout);

// Any elements that a golden file can have: any bits for integers; for floats also infinities, NaN and denormals.
InputTensor random_bits(Choices& choices, const std::string& name, const Layout& layout);

// Valid indices below `size`. Some calls also have the mark, negative indices and others out of range.
InputTensor random_indices(Choices& choices, const std::string& name, const Layout& layout,
                                   int64_t size);

// The same, but no valid index repeats along `dim`. The layout's elements must be distinct.
InputTensor distinct_indices(Choices& choices, const std::string& name, const Layout& layout,
                                     size_t dim, int64_t size);

// The maximum of the index type.
uint64_t mark_of(hipops_dtype dtype);

}  // namespace hipops::parity
