#include "parity/ops/index.h"

#include <algorithm>
#include <cmath>

namespace hipops::parity {

int64_t Indices::at(int64_t position) {
  const uint64_t bits = index_.bits(position);
  const uint64_t mark = mark_of(index_.dtype());
  if (bits == mark) return -1;
  if (bits < mark && bits < static_cast<uint64_t>(size_)) return static_cast<int64_t>(bits);
  ++count_;
  first_ = std::min(first_, static_cast<uint64_t>(position));
  return -1;
}

void Indices::report_to(Case* test) const {
  const InputTensor* report = find_input(*test, "report");
  if (report == nullptr) return;
  output_of(test, "report").bits = {report->bits[0] + count_, std::min(report->bits[1], first_)};
}

size_t dim_of(const Case& test) { return static_cast<size_t>(test.params.at("dim")); }

std::vector<uint64_t> all_bits(const Operand& tensor) {
  std::vector<uint64_t> bits;
  for (int64_t position = 0; position < tensor.tensor.layout.elements; ++position)
    bits.push_back(tensor.bits(position));
  return bits;
}

Sum::Sum(hipops_dtype dtype, uint64_t bits)
    : dtype_(dtype), integer_(bits), wide_(decode(dtype, bits)), narrow_(static_cast<float>(wide_)), exact_(wide_),
      terms_(std::fabs(wide_)) {}

void Sum::add(uint64_t bits) {
  const double value = decode(dtype_, bits);
  integer_ += bits;
  wide_ += value;
  narrow_ += static_cast<float>(value);
  exact_ += static_cast<long double>(value);
  terms_ += std::fabs(static_cast<long double>(value));
  ++added_;
}

uint64_t Sum::in_order() const {
  if (!is_float(dtype_)) return integer_ & low_bits(dtype_);
  if (added_ == 0) return encode(dtype_, wide_);
  return encode(dtype_, dtype_ == HIPOPS_F64 ? wide_ : static_cast<double>(narrow_));
}

std::vector<Sum> sums_of(const Operand& y) {
  std::vector<Sum> sums;
  for (const uint64_t bits : all_bits(y)) sums.emplace_back(y.dtype(), bits);
  return sums;
}

void expect_in_order(Case* test, const std::vector<Sum>& sums) {
  std::vector<uint64_t> bits;
  for (const Sum& sum : sums) bits.push_back(sum.in_order());
  expect_bits(test, "y", bits);
}

Shape shrunk(Choices& choices, Shape shape) {
  for (int64_t& size : shape) {
    if (choices.one_in(4)) size = choices.between(0, size);
  }
  return shape;
}

}  // namespace hipops::parity
