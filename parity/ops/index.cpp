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

namespace {

constexpr size_t kChunk = 128;  // sources of a chunk, and sums of a group

// f(begin, end) for each kChunk numbers below `count`.
template <class F>
void for_each_chunk(size_t count, F f) {
  for (size_t begin = 0; begin < count; begin += kChunk) f(begin, std::min(begin + kChunk, count));
}

template <class T>
T sum_in_order(double first, const std::vector<double>& sources) {
  std::vector<T> sums;
  for_each_chunk(sources.size(), [&](size_t begin, size_t end) {
    T sum = begin == 0 ? static_cast<T>(first) : T{0};
    for (size_t i = begin; i < end; ++i) sum += static_cast<T>(sources[i]);
    sums.push_back(sum);
  });
  while (sums.size() > 1) {
    std::vector<T> groups;
    for_each_chunk(sums.size(), [&](size_t begin, size_t end) {
      T sum = sums[begin];
      for (size_t i = begin + 1; i < end; ++i) sum += sums[i];
      groups.push_back(sum);
    });
    sums.swap(groups);
  }
  return sums[0];
}

}  // namespace

Sum::Sum(hipops_dtype dtype, uint64_t bits)
    : dtype_(dtype), integer_(bits), first_(decode(dtype, bits)), exact_(first_), terms_(std::fabs(first_)) {}

void Sum::add(uint64_t bits) {
  const double value = decode(dtype_, bits);
  integer_ += bits;
  if (is_float(dtype_)) sources_.push_back(value);
  exact_ += static_cast<long double>(value);
  terms_ += std::fabs(static_cast<long double>(value));
  ++added_;
}

uint64_t Sum::in_order() const {
  if (!is_float(dtype_)) return integer_ & low_bits(dtype_);
  if (added_ == 0) return encode(dtype_, first_);
  if (dtype_ == HIPOPS_F64) return encode(dtype_, sum_in_order<double>(first_, sources_));
  return encode(dtype_, static_cast<double>(sum_in_order<float>(first_, sources_)));
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
