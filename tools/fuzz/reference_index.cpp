// The ops with an index: where each index points, and what meets there.
#include <algorithm>
#include <cmath>

#include "fuzz/operand.h"
#include "fuzz/random_values.h"

namespace hipops::fuzz {
namespace {

using parity::Case;

// An index tensor's elements as they are meant.
class Indices {
 public:
  Indices(const Case& test, int64_t size) : index_(input_of(test, "index")), size_(size) {}

  // -1 for what names nothing: the mark, and what is out of range, which is counted.
  int64_t at(int64_t position) {
    const uint64_t bits = index_.bits(position);
    const uint64_t mark = mark_of(index_.dtype());
    if (bits == mark) return -1;
    if (bits < mark && bits < static_cast<uint64_t>(size_)) return static_cast<int64_t>(bits);
    ++count_;
    first_ = std::min(first_, static_cast<uint64_t>(position));
    return -1;
  }

  void report_to(Case* test) const {
    const parity::InputTensor* report = find_input(*test, "report");
    if (report == nullptr) return;
    output_of(test, "report").bits = {report->bits[0] + count_, std::min(report->bits[1], first_)};
  }

  // A call without elements does nothing, and looks at no index.
  void forget() { count_ = 0, first_ = ~uint64_t{0}; }

  const std::vector<int64_t>& shape() const { return index_.shape(); }

 private:
  const Operand index_;
  const int64_t size_;
  uint64_t count_ = 0, first_ = ~uint64_t{0};
};

size_t dim_of(const Case& test) { return static_cast<size_t>(test.params.at("dim")); }

std::vector<uint64_t> all_bits(const Operand& tensor) {
  std::vector<uint64_t> bits;
  for (int64_t position = 0; position < tensor.tensor.layout.elements; ++position)
    bits.push_back(tensor.bits(position));
  return bits;
}

// What a sum is kept in, in the order of its terms.
class Sum {
 public:
  Sum(hipops_dtype dtype, uint64_t bits)
      : dtype_(dtype), integer_(bits), wide_(parity::decode(dtype, bits)), narrow_(static_cast<float>(wide_)),
        exact_(wide_), terms_(std::fabs(wide_)) {}

  void add(uint64_t bits) {
    const double value = parity::decode(dtype_, bits);
    integer_ += bits;
    wide_ += value;
    narrow_ += static_cast<float>(value);
    exact_ += static_cast<long double>(value);
    terms_ += std::fabs(static_cast<long double>(value));
    ++added_;
  }

  // One rounding of the dtype's sums a term, f32's for those of 16 bits, and the last one's.
  uint64_t in_order() const {
    if (!parity::is_float(dtype_)) return integer_ & parity::low_bits(dtype_);
    if (added_ == 0) return parity::encode(dtype_, wide_);
    return parity::encode(dtype_, dtype_ == HIPOPS_F64 ? wide_ : static_cast<double>(narrow_));
  }

  double exact() const { return static_cast<double>(exact_); }

  // A sum in any order is off by n * eps * sum |x| at most, eps being half an ULP of 1. As the scale that allows it,
  // where the tolerance is as given.
  double scale(double tolerance) const {
    return static_cast<double>(terms_ * static_cast<long double>(added_) / tolerance);
  }

 private:
  hipops_dtype dtype_;
  uint64_t integer_;
  double wide_;
  float narrow_;
  long double exact_, terms_;
  int64_t added_ = 0;
};

std::vector<Sum> sums_of(const Operand& y) {
  std::vector<Sum> sums;
  for (int64_t position = 0; position < y.tensor.layout.elements; ++position)
    sums.emplace_back(y.dtype(), y.bits(position));
  return sums;
}

void expect_in_order(Case* test, const std::vector<Sum>& sums) {
  std::vector<uint64_t> bits;
  for (const Sum& sum : sums) bits.push_back(sum.in_order());
  expect_bits(test, "y", bits);
}

// visit(x's position, y's position) for each source that has a place, those of a line in the order of dim.
template <class Visit>
void for_each_source(Case* test, Visit visit) {
  const Operand x = input_of(*test, "x"), y = input_of(*test, "y");
  const size_t dim = dim_of(*test);
  Indices indices(*test, y.shape()[dim]);
  for_each_index(x.shape(), [&](Index at, int64_t position) {
    at[dim] = indices.at(position);
    if (at[dim] >= 0) visit(position, position_of(y.shape(), at));
  });
  indices.report_to(test);
}

}  // namespace

void expect_gather(Case* test) {
  const Operand x = input_of(*test, "x");
  const size_t dim = dim_of(*test);
  Indices indices(*test, x.shape()[dim]);
  std::vector<uint64_t> bits;
  for_each_index(indices.shape(), [&](Index at, int64_t position) {
    at[dim] = indices.at(position);
    bits.push_back(at[dim] < 0 ? 0 : x.bits(position_of(x.shape(), at)));
  });
  expect_bits(test, "y", bits);
  indices.report_to(test);
}

void expect_index_select(Case* test) {
  const Operand x = input_of(*test, "x");
  const size_t dim = dim_of(*test);
  Indices indices(*test, x.shape()[dim]);
  std::vector<int64_t> rows;
  for (int64_t j = 0; j < indices.shape()[0]; ++j) rows.push_back(indices.at(j));
  std::vector<uint64_t> bits;
  for_each_index(output_of(test, "y").layout.shape, [&](Index at, int64_t) {
    at[dim] = rows[static_cast<size_t>(at[dim])];
    bits.push_back(at[dim] < 0 ? 0 : x.bits(position_of(x.shape(), at)));
  });
  expect_bits(test, "y", bits);
  if (bits.empty()) indices.forget();
  indices.report_to(test);
}

void expect_index_add(Case* test) {
  const Operand x = input_of(*test, "x"), y = input_of(*test, "y");
  const size_t dim = dim_of(*test);
  Indices indices(*test, y.shape()[dim]);
  std::vector<int64_t> rows;
  for (int64_t j = 0; j < indices.shape()[0]; ++j) rows.push_back(indices.at(j));
  std::vector<Sum> sums = sums_of(y);
  for_each_index(x.shape(), [&](Index at, int64_t position) {
    at[dim] = rows[static_cast<size_t>(at[dim])];
    if (at[dim] >= 0) sums[static_cast<size_t>(position_of(y.shape(), at))].add(x.bits(position));
  });
  expect_in_order(test, sums);
  if (x.tensor.layout.elements == 0) indices.forget();
  indices.report_to(test);
}

void expect_scatter(Case* test) {
  const Operand x = input_of(*test, "x");
  std::vector<uint64_t> bits = all_bits(input_of(*test, "y"));
  for_each_source(test, [&](int64_t from, int64_t to) { bits[static_cast<size_t>(to)] = x.bits(from); });
  expect_bits(test, "y", bits);
}

void expect_scatter_add(Case* test) {
  const Operand x = input_of(*test, "x"), y = input_of(*test, "y");
  std::vector<Sum> sums = sums_of(y);
  for_each_source(test, [&](int64_t from, int64_t to) { sums[static_cast<size_t>(to)].add(x.bits(from)); });
  const bool any_order = flags_of(*test) == 0 && parity::is_float(y.dtype());
  if (!any_order) return expect_in_order(test, sums);
  const bool rounded_once = parity::dtype_size(y.dtype()) == 2 && test->params.at("workspace") != 0;
  double tolerance = tolerance_of(y.dtype()), to_f32 = 1;
  if (rounded_once) {  // half of the tolerance is for that, and eps is f32's
    to_f32 = 2 * parity::ulp(HIPOPS_F32, 1) / parity::ulp(y.dtype(), 1);
  } else {  // so many ULPs that the dtype holds every scale
    for (const Sum& sum : sums) {
      const double least = sum.scale(parity::largest(y.dtype()));
      if (std::isfinite(least)) tolerance = std::max(tolerance, least);
    }
  }
  parity::ExpectedTensor& expected = output_of(test, "y");
  test->tolerance_ulps = tolerance;
  for (const Sum& sum : sums) {
    expected.values.push_back(sum.exact());
    expected.scale.push_back(sum.scale(tolerance) * to_f32);
  }
}

}  // namespace hipops::fuzz
