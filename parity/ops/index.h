// Helpers for ops with an index: the rules of indices, and sums.
#pragma once

#include <vector>

#include "parity/ops/describe.h"

namespace hipops::parity {

inline const std::vector<hipops_dtype> kAdded = {HIPOPS_F32, HIPOPS_F16, HIPOPS_BF16, HIPOPS_F64,
                                                 HIPOPS_U8,  HIPOPS_I32, HIPOPS_U32,  HIPOPS_I64};

constexpr TensorSpec kIndexLikeX = {"index", Role::kIndex};
constexpr TensorSpec kIndexLikeY = {"index", Role::kIndex, false,
                                    [](const Shape&, const Shape& y, size_t) { return y; }};

// An index tensor of a case, whose valid elements are below `size`.
class Indices {
 public:
  Indices(const Case& test, int64_t size) : index_(input_of(test, "index")), size_(size) {}

  // Returns -1 for an index that names nothing: the mark, or an index out of range, which is counted.
  int64_t at(int64_t position);
  void report_to(Case* test) const;
  // A call without elements reads no index.
  void forget() { count_ = 0, first_ = ~uint64_t{0}; }
  const Shape& shape() const { return index_.shape(); }

 private:
  const Operand index_;
  const int64_t size_;
  uint64_t count_ = 0, first_ = ~uint64_t{0};
};

size_t dim_of(const Case& test);
std::vector<uint64_t> all_bits(const Operand& tensor);

// A sum in each type that may hold it.
class Sum {
 public:
  Sum(hipops_dtype dtype, uint64_t bits);
  void add(uint64_t bits);

  // In the order that hipops.h promises. Each addition is rounded to the sum type: f32 for 16-bit dtypes. The result is
  // rounded to the dtype.
  uint64_t in_order() const;
  double exact() const { return static_cast<double>(exact_); }
  // In any order the error is at most n * eps * sum |x|, with eps half an ULP of 1. Returns the scale that allows this
  // error at the tolerance.
  double scale(double tolerance) const {
    return static_cast<double>(terms_ * static_cast<long double>(added_) / tolerance);
  }

 private:
  hipops_dtype dtype_;
  uint64_t integer_;
  double first_;                 // y's element
  std::vector<double> sources_;  // of floats
  long double exact_, terms_;
  int64_t added_ = 0;
};

std::vector<Sum> sums_of(const Operand& y);
void expect_in_order(Case* test, const std::vector<Sum>& sums);

// Elements that must move (BenchSpec::moved). An indexed tensor moves no more elements than the index names.
inline int64_t elements_taken(int64_t, int64_t y) { return 2 * y; }
inline int64_t elements_added(int64_t x, int64_t y) { return x + 2 * (x < y ? x : y); }

// The shape, with some dimensions smaller.
Shape shrunk(Choices& choices, Shape shape);

}  // namespace hipops::parity
