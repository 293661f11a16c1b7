// A case's tensors as the reference sees them: elements by index, whatever their layout.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "parity/golden.h"
#include "parity/number.h"

namespace hipops::fuzz {

using Index = std::vector<int64_t>;

// The row-major position of an index in a shape.
inline int64_t position_of(const std::vector<int64_t>& shape, const Index& index) {
  int64_t position = 0;
  for (size_t d = 0; d < shape.size(); ++d) position = position * shape[d] + index[d];
  return position;
}

// visit(index, position) for each element of a shape, in row-major order.
template <class Visit>
void for_each_index(const std::vector<int64_t>& shape, Visit visit) {
  int64_t count = 1;
  for (const int64_t size : shape) count *= size;
  Index index(shape.size());
  for (int64_t position = 0; position < count; ++position) {
    visit(index, position);
    for (size_t d = shape.size(); d-- > 0 && ++index[d] == shape[d];) index[d] = 0;
  }
}

struct Operand {
  const parity::InputTensor& tensor;

  const std::vector<int64_t>& shape() const { return tensor.layout.shape; }
  hipops_dtype dtype() const { return tensor.layout.dtype; }
  uint64_t bits(int64_t position) const { return tensor.element(position); }
  double value(int64_t position) const { return parity::decode(dtype(), bits(position)); }
};

// NULL where the case leaves it out.
const parity::InputTensor* find_input(const parity::Case& test, const std::string& name);
Operand input_of(const parity::Case& test, const std::string& name);
parity::ExpectedTensor& output_of(parity::Case* test, const std::string& name);

// 0 where the case leaves them out.
uint32_t flags_of(const parity::Case& test);

// 1 ULP for types of 16 bits, 4 for f32 and f64.
double tolerance_of(hipops_dtype dtype);

// Every bit is told: of integers the values, of floats the values and a checksum of their bits.
void expect_bits(parity::Case* test, const std::string& output, const std::vector<uint64_t>& bits);

// The references, by what ops are about.
void expect_layer_norm(parity::Case* test);
void expect_rms_norm(parity::Case* test);
void expect_fused_add_rms_norm(parity::Case* test);
void expect_softmax(parity::Case* test);
void expect_rope(parity::Case* test, bool interleaved, bool tokens_first);
void expect_gather(parity::Case* test);
void expect_index_select(parity::Case* test);
void expect_index_add(parity::Case* test);
void expect_scatter(parity::Case* test);
void expect_scatter_add(parity::Case* test);
void expect_upsample(parity::Case* test, const std::vector<std::string>& scales);
void expect_copy(parity::Case* test);

}  // namespace hipops::fuzz
