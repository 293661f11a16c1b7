// Helpers for ops on rows: random cases, and steps of their definitions.
#pragma once

#include <string>
#include <vector>

#include "parity/ops/describe.h"

namespace hipops::parity {

// A vector with a row's length.
TensorSpec columns_of_x(const char* name);
// An output of a norm: one number for each row.
TensorSpec scalar_of_rows(const char* name);
inline ParamSpec eps_param() { return {"eps", false, false, {1e-5, 1e-6, 1e-3, 1.0}}; }

// Shapes with long rows, short rows, and any rows.
Shape random_rows(RandomCase& m);
// x, y, the weights, the params and the scalars that the table lists.
void random_row_case(RandomCase& m);
void add_scalars(RandomCase& m, const Shape& x);
// dx, and the inputs dy and `like`. dx is apart or, one time in four, one of them. Their elements are then distinct.
void add_gradients(RandomCase& m, const Shape& shape, const char* like);

using Real = long double;
__extension__ typedef __float128 Wide;  // for differences of nearly equal numbers

// Calls work(row of x, position of the row's first element), which sets y's values of the row.
template <class Work>
void for_each_row(Case* test, Work work) {
  const Operand x = input_of(*test, "x");
  ExpectedTensor& y = output_of(test, "y");
  test->tolerance_ulps = tolerance_of(x.dtype());
  const size_t count = static_cast<size_t>(x.tensor.layout.elements), columns = static_cast<size_t>(x.shape().back());
  y.values.resize(count);
  std::vector<Real> row(columns);
  for (size_t first = 0; first < count; first += columns) {
    for (size_t c = 0; c < columns; ++c) row[c] = x.value(static_cast<int64_t>(first + c));
    work(row, first);
  }
}

// Adds each addition's rounding error at the end, because terms of any size may cancel.
Wide sum(const std::vector<Real>& terms);
Real mean_of_squares(const std::vector<Real>& terms);

// Replaces a row of x by h, the sum of x and the residual, in f32 as the ops compute it. Sets residual_out.
void add_residual(Case* test, std::vector<Real>& row, size_t first);
void random_residual_case(RandomCase& m);

// Sets the scalar of each row, if the case has it. f16 and bf16 sums cancel: the statistics then have fewer digits.
class Scalars {
 public:
  Scalars(Case* test, const std::string& name, double ulps);
  void add(Real value, Real scale);

 private:
  ExpectedTensor* output_;
};
// The tolerance of rstd, in ULPs of the scalar's dtype.
double tolerance_of_variance(hipops_dtype dtype);

// One value for each column; `without` if the case has no such tensor.
std::vector<Real> weights_of(const Case& test, const std::string& name, Real without);

// The last step of rms_norm and fused_add_rms_norm: multiplies normalized elements by the weight, as the flags require.
class Weighing {
 public:
  explicit Weighing(Case* test);
  void weigh(const std::vector<Real>& row, Real root, size_t first) {
    for (size_t c = 0; c < row.size(); ++c) y_.values[first + c] = product(row[c] / root, weight_[c]);
  }
  // Call after for_each_row, which sets the usual tolerance. If elements are rounded before the product, only the
  // product's rounding remains.
  void set_tolerance() const {
    if (rounds_) test_->tolerance_ulps = 0.501;
  }

 private:
  double round(Real value) const { return decode(test_->dtype, encode(test_->dtype, static_cast<double>(value))); }
  double product(Real normalized, Real weight);
  double smallest_normal() const { return test_->dtype == HIPOPS_F16 ? 0x1p-14 : 0x1p-126; }

  Case* test_;
  std::vector<Real> weight_;
  ExpectedTensor& y_;
  bool rounds_ = false;
};

}  // namespace hipops::parity
