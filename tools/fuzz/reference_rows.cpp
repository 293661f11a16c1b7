// layer_norm, rms_norm, softmax, and the rotary embedding.
#include <algorithm>
#include <cmath>
#include <limits>

#include "fuzz/operand.h"

namespace hipops::fuzz {
namespace {

using parity::Case;
using parity::ExpectedTensor;
using Real = long double;
__extension__ typedef __float128 Wide;  // for what is left of numbers that are nearly the same

constexpr Real kNan = std::numeric_limits<Real>::quiet_NaN();

// work(x's row, where its results go) for each row; y's values are made there.
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

// What each addition rounds off is added at the end: terms of any size may cancel.
Wide sum(const std::vector<Real>& terms) {
  Wide total = 0, rounded_off = 0;
  for (const Wide term : terms) {
    const Wide next = total + term;
    const bool term_is_larger = std::fabs(static_cast<Real>(term)) > std::fabs(static_cast<Real>(total));
    if (std::isfinite(static_cast<Real>(next))) rounded_off += term_is_larger ? term - next + total : total - next + term;
    total = next;
  }
  return total + rounded_off;
}

// The mean of their squares.
Real square_mean(const std::vector<Real>& terms) {
  Wide total = 0;
  for (const Wide term : terms) total += term * term;
  return static_cast<Real>(total / static_cast<Wide>(terms.size()));
}

// A product may be smaller than double has numbers, and only no term at all is 0.
double scale_of(Real magnitude) {
  const double nearest = static_cast<double>(magnitude);
  return magnitude > 0 ? std::max(nearest, std::numeric_limits<double>::denorm_min()) : nearest;
}

// By column, `without` where the case has no such tensor.
std::vector<Real> weights_of(const Case& test, const std::string& name, Real without) {
  std::vector<Real> values(static_cast<size_t>(input_of(test, "x").shape().back()), without);
  const parity::InputTensor* tensor = find_input(test, name);
  if (tensor == nullptr) return values;
  for (size_t c = 0; c < values.size(); ++c) values[c] = Operand{*tensor}.value(static_cast<int64_t>(c));
  return values;
}

// The last step of the norms without a mean: what is normalized times the weight, by the flags.
class Weighing {
 public:
  explicit Weighing(Case* test) : test_(test), weight_(weights_of(*test, "weight", 1)), y_(output_of(test, "y")) {
    const uint32_t flags = flags_of(*test);
    const bool weighted = find_input(*test, "weight") != nullptr;
    if (weighted && (flags & HIPOPS_WEIGHT_PLUS_ONE))
      for (Real& w : weight_) w += 1;
    // f32 and f64 are computed in themselves: the ULPs that what is normalized may be off leave no rounding to tell.
    rounds_ = weighted && (flags & HIPOPS_ROUND_BEFORE_WEIGHT) && parity::dtype_size(test->dtype) == 2;
  }
  // After for_each_row, which sets what is usual. Of what is rounded before, the product's rounding is left.
  void set_tolerance() const {
    if (rounds_) test_->tolerance_ulps = 0.501;
  }

  void weigh(const std::vector<Real>& row, Real root, size_t first) {
    for (size_t c = 0; c < row.size(); ++c) y_.values[first + c] = product(row[c] / root, weight_[c]);
  }

 private:
  double round(Real value) const {
    return parity::decode(test_->dtype, parity::encode(test_->dtype, static_cast<double>(value)));
  }

  // Near a tie, which f32 cannot tell, both neighbours are right: the tie's product is expected, and an ULP of the scale
  // is twice as far as theirs are, rounded.
  double product(Real normalized, Real weight) {
    if (!rounds_) return static_cast<double>(normalized * weight);
    const Real margin = 4 * std::max<Real>(std::fabs(normalized) * 0x1p-23, 0x1p-149);
    const double low = round(normalized - margin), high = round(normalized + margin);
    const double value = static_cast<double>((Real{low} + Real{high}) / 2 * weight);
    double scale = 0;
    if (low < high && std::isfinite(value)) {
      const double least = parity::ulp(test_->dtype, 0);
      const double unit = parity::ulp(test_->dtype, low) * static_cast<double>(std::fabs(weight)) + parity::ulp(test_->dtype, value);
      scale = std::exp2(std::ceil(std::log2(unit)) - std::log2(least)) * smallest_normal();
    }
    y_.scale.push_back(scale);
    return value;
  }
  // Below which the ULP is the least.
  double smallest_normal() const { return test_->dtype == HIPOPS_F16 ? 0x1p-14 : 0x1p-126; }

  Case* test_;
  std::vector<Real> weight_;
  ExpectedTensor& y_;
  bool rounds_ = false;
};

}  // namespace

void expect_layer_norm(Case* test) {
  const std::vector<Real> weight = weights_of(*test, "weight", 1), bias = weights_of(*test, "bias", 0);
  const hipops_dtype dtype = test->dtype;
  const bool biased = find_input(*test, "bias") != nullptr, wide = dtype == HIPOPS_F32 || dtype == HIPOPS_F64;
  const Real eps = test->params.at("eps");
  // A mean of n terms that is kept as two numbers may be off by n * eps^2 of their size, eps being half an ULP of 1: an
  // element that is closer to the mean, as all of a row of equal ones are, has no ULPs of its own. The tolerance is 4
  // ULPs, each of eps or more of the scale.
  const Real lost = wide ? static_cast<Real>(weight.size()) * static_cast<Real>(parity::ulp(dtype, 1)) / 8 : 0;
  ExpectedTensor& y = output_of(test, "y");
  for_each_row(test, [&](std::vector<Real>& row, size_t first) {
    const Wide mean = sum(row) / static_cast<Wide>(row.size());
    Real size = 0;
    for (Real& x : row) {
      size = std::max(size, std::fabs(x));
      x = static_cast<Real>(x - mean);
    }
    const Real deviation = std::sqrt(square_mean(row) + eps);
    for (size_t c = 0; c < row.size(); ++c) {
      const Real scaled = row[c] / deviation * weight[c];
      y.values[first + c] = static_cast<double>(scaled + bias[c]);
      // A sum that cancels keeps its terms' roundings.
      const Real terms = biased ? std::max(std::fabs(scaled), std::fabs(bias[c])) : 0;
      const double scale = static_cast<double>(std::max(terms, lost * size / deviation * std::fabs(weight[c])));
      if (biased || wide) y.scale.push_back(std::isfinite(scale) ? scale : 0);
    }
  });
}

void expect_rms_norm(Case* test) {
  const Real eps = test->params.at("eps");
  Weighing weighing(test);
  for_each_row(test, [&](const std::vector<Real>& row, size_t first) {
    weighing.weigh(row, std::sqrt(square_mean(row) + eps), first);
  });
  weighing.set_tolerance();
}

void expect_fused_add_rms_norm(Case* test) {
  const Operand residual = input_of(*test, "residual");
  const uint32_t flags = flags_of(*test);
  const Real eps = test->params.at("eps");
  ExpectedTensor& sums = output_of(test, "residual_out");
  Weighing weighing(test);
  sums.values.resize(static_cast<size_t>(residual.tensor.layout.elements));
  for_each_row(test, [&](std::vector<Real>& row, size_t first) {
    for (size_t c = 0; c < row.size(); ++c) {
      // As the op computes: in f32.
      row[c] = static_cast<float>(row[c] + static_cast<Real>(residual.value(static_cast<int64_t>(first + c))));
      sums.values[first + c] = static_cast<double>(row[c]);
      if (flags & HIPOPS_ROUND_SUM)
        row[c] = parity::decode(test->dtype, parity::encode(test->dtype, static_cast<double>(row[c])));
    }
    weighing.weigh(row, std::sqrt(square_mean(row) + eps), first);
  });
  weighing.set_tolerance();
}

void expect_softmax(Case* test) {
  ExpectedTensor& y = output_of(test, "y");
  for_each_row(test, [&](std::vector<Real>& row, size_t first) {
    Real greatest = -std::numeric_limits<Real>::infinity();
    bool nan = false;
    for (const Real x : row) greatest = std::max(greatest, x), nan = nan || std::isnan(x);
    if (nan || std::isinf(greatest)) greatest = kNan;
    for (Real& x : row) x = std::exp(x - greatest);
    const Real total = static_cast<Real>(sum(row));
    for (size_t c = 0; c < row.size(); ++c) y.values[first + c] = static_cast<double>(row[c] / total);
  });
}

void expect_rope(Case* test, bool interleaved, bool tokens_first) {
  const Operand x = input_of(*test, "x"), cos = input_of(*test, "cos"), sin = input_of(*test, "sin");
  const parity::InputTensor* positions = find_input(*test, "positions");
  ExpectedTensor& y = output_of(test, "y");
  const int64_t pairs = cos.shape().back(), rows = cos.shape()[cos.shape().size() - 2];
  const bool batched = cos.shape().size() == 3;
  test->tolerance_ulps = tolerance_of(x.dtype());
  for_each_index(x.shape(), [&](const Index& at, int64_t position) {
    const int64_t b = at[0], t = tokens_first ? at[1] : at[2], k = at[3];
    if (k >= 2 * pairs) {  // past the pairs
      y.values.push_back(x.value(position));
      y.scale.push_back(0);
      return;
    }
    double token = static_cast<double>(t);  // the position; of i64, too, the small ones are exact
    if (positions != nullptr) {
      const int64_t tokens = positions->layout.shape.back();
      const int64_t where = positions->layout.shape.size() == 2 ? b * tokens + t : t;
      token = Operand{*positions}.value(where);
    }
    const int64_t pair = interleaved ? k / 2 : k % pairs;
    const bool second = interleaved ? k % 2 == 1 : k >= pairs;
    const int64_t other = position + (second ? -1 : 1) * (interleaved ? 1 : pairs);
    Real value = kNan, magnitude = 0;
    if (token >= 0 && token < static_cast<double>(rows)) {
      const int64_t entry = ((batched ? b * rows : 0) + static_cast<int64_t>(token)) * pairs + pair;
      const Real mine = static_cast<Real>(x.value(position)) * cos.value(entry);
      const Real others = static_cast<Real>(x.value(other)) * sin.value(entry);
      value = second ? others + mine : mine - others;
      magnitude = std::max(std::fabs(mine), std::fabs(others));
    }
    y.values.push_back(static_cast<double>(value));
    y.scale.push_back(std::isfinite(magnitude) && std::isfinite(value) ? scale_of(magnitude) : 0);
  });
}

}  // namespace hipops::fuzz
