// Helpers for the definitions of ops: a case's tensors, and elements by index for any layout.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "parity/golden.h"
#include "parity/number.h"

namespace hipops::parity {

// Sets the right elements of the outputs, by the op's definition.
void expect(const OpEntry& op, Case* test);

using Index = std::vector<int64_t>;

// The row-major position of an index in a shape.
inline int64_t position_of(const Shape& shape, const Index& index) {
  int64_t position = 0;
  for (size_t d = 0; d < shape.size(); ++d) position = position * shape[d] + index[d];
  return position;
}

// Calls visit(index, position) for each element of a shape, in row-major order.
template <class Visit>
void for_each_index(const Shape& shape, Visit visit) {
  int64_t count = 1;
  for (const int64_t size : shape) count *= size;
  Index index(shape.size());
  for (int64_t position = 0; position < count; ++position) {
    visit(index, position);
    for (size_t d = shape.size(); d-- > 0 && ++index[d] == shape[d];) index[d] = 0;
  }
}

struct Operand {
  const InputTensor& tensor;

  const Shape& shape() const { return tensor.layout.shape; }
  hipops_dtype dtype() const { return tensor.layout.dtype; }
  uint64_t bits(int64_t position) const { return tensor.element(position); }
  double value(int64_t position) const { return decode(dtype(), bits(position)); }
};

// NULL if the case omits it.
const InputTensor* find_input(const Case& test, const std::string& name);
Operand input_of(const Case& test, const std::string& name);
ExpectedTensor* find_output(Case* test, const std::string& name);  // NULL if the case has none
ExpectedTensor& output_of(Case* test, const std::string& name);

// 0 if the case omits them.
uint32_t flags_of(const Case& test);

// 1 ULP for types of 16 bits, 4 for f32 and f64.
double tolerance_of(hipops_dtype dtype);

// Expects exact bits: for integers the values, for floats the values and a checksum of their bits.
void expect_bits(Case* test, const std::string& output, const std::vector<uint64_t>& bits);

}  // namespace hipops::parity
