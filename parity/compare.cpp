#include "parity/compare.h"

#include <cmath>
#include <cstdio>
#include <cstring>

#include "parity/number.h"

namespace hipops::parity {
namespace {

constexpr size_t kExamples = 5;

// Neumaier's compensated sum. The rounding of a plain float64 sum would look like an error of the kernel.
class Sum {
 public:
  void add(double term) {
    const double next = sum_ + term;
    lost_ += std::fabs(sum_) >= std::fabs(term) ? (sum_ - next) + term : (term - next) + sum_;
    sum_ = next;
  }
  // After an infinite or NaN term the compensation is NaN, so it is not added.
  double value() const { return std::isfinite(sum_) ? sum_ + lost_ : sum_; }

 private:
  double sum_ = 0;
  double lost_ = 0;
};

class Comparer {
 public:
  Comparer(const ExpectedTensor& expected, double tolerance, const unsigned char* element_zero)
      : expected_(expected),
        layout_(expected.layout),
        tolerance_(is_float(expected.layout.dtype) ? expected.ulps.value_or(tolerance) : 0),
        element_zero_(element_zero) {}

  Comparison run() {
    const size_t count = is_float(layout_.dtype) ? expected_.values.size() : expected_.bits.size();
    for (size_t i = 0; i < count; ++i) compare_element(i);
    for (size_t row = 0; row < expected_.row_checksums.size(); ++row) compare_row(static_cast<int64_t>(row));
    if (expected_.checksum) compare_checksum();
    return result_;
  }

 private:
  uint64_t got_at(int64_t memory_offset) const {
    return load_bits(layout_.dtype, element_zero_ + memory_offset * static_cast<int64_t>(dtype_size(layout_.dtype)));
  }

  void compare_element(size_t i) {
    const int64_t position = expected_.sampled ? expected_.positions[i] : static_cast<int64_t>(i);
    const uint64_t got = got_at(layout_.offset_at(position));
    const double ulps = error_at(i, got);
    ++result_.compared;
    if (result_.worst_position < 0 || ulps > result_.worst_ulps) {
      result_.worst_ulps = ulps;
      result_.worst_position = position;
    }
    if (ulps <= tolerance_) return;
    ++result_.missed;
    if (result_.examples.size() >= kExamples) return;
    result_.examples.push_back(name_at(position) + ": expected " + expected_text(i) + ", got " +
                               show_bits(layout_.dtype, got) + ", off by " + show_ulps(ulps) + " ULPs (tolerance " +
                               show_ulps(tolerance_) + ")");
  }

  double error_at(size_t i, uint64_t got) const {
    if (!is_float(layout_.dtype)) return integer_error(layout_.dtype, expected_.bits[i], got);
    return error_in_ulps(layout_.dtype, expected_.values[i], expected_.scale.empty() ? 0 : expected_.scale[i], got);
  }

  // A float expectation has more digits than the dtype. The printed bits are its nearest value in the dtype.
  std::string expected_text(size_t i) const {
    if (!is_float(layout_.dtype)) return show_bits(layout_.dtype, expected_.bits[i]);
    const std::string nearest = show_bits(layout_.dtype, encode(layout_.dtype, expected_.values[i]));
    return show_double(expected_.values[i]) + nearest.substr(nearest.find(' '));
  }

  std::string name_at(int64_t position) const {
    return expected_.name + layout_.index_text(position) + " (position " + std::to_string(position) + ")";
  }

  void compare_row(int64_t row) {
    const int64_t first = layout_.offset_of_row(row);
    Sum sum;
    for (int64_t column = 0; column < layout_.columns(); ++column) {
      sum.add(checksum_sign(column) * decode(layout_.dtype, got_at(first + column * layout_.column_stride())));
    }
    const double want = expected_.row_checksums[static_cast<size_t>(row)];
    const double allowed = expected_.row_tolerances[static_cast<size_t>(row)];
    const double got = sum.value();
    const bool same = got == want || (std::isnan(got) && std::isnan(want));
    if (same || std::fabs(got - want) <= allowed) return;
    if (result_.rows_missed++ != 0 || result_.examples.size() >= kExamples) return;
    result_.examples.push_back(expected_.name + ", row " + std::to_string(row) + ": checksum of all its elements is " +
                               show_double(got) + ", expected " + show_double(want) + " within " +
                               show_double(allowed));
  }

  void compare_checksum() {
    uint64_t got = 0;
    int64_t position = 0;
    const int64_t rows = layout_.elements == 0 ? 0 : layout_.rows();
    for (int64_t row = 0; row < rows; ++row) {
      const int64_t first = layout_.offset_of_row(row);
      for (int64_t column = 0; column < layout_.columns(); ++column, ++position) {
        got += got_at(first + column * layout_.column_stride()) * checksum_weight(position);
      }
    }
    if (got == *expected_.checksum) return;
    result_.checksum_missed = true;
    result_.examples.push_back(expected_.name + ": checksum of all its bits is " + std::to_string(got) + ", expected " +
                               std::to_string(*expected_.checksum));
  }

  const ExpectedTensor& expected_;
  const Layout& layout_;
  double tolerance_;
  const unsigned char* element_zero_;
  Comparison result_;
};

}  // namespace

Comparison compare(const ExpectedTensor& expected, double tolerance_ulps, const unsigned char* element_zero) {
  return Comparer(expected, tolerance_ulps, element_zero).run();
}

int checksum_sign(int64_t column) {
  const uint32_t mixed = static_cast<uint32_t>(static_cast<uint64_t>(column) * 2654435769u);
  return (mixed >> 16 & 1) != 0 ? 1 : -1;
}

uint64_t checksum_weight(int64_t position) { return (static_cast<uint64_t>(position) * 0x9e3779b97f4a7c15u) | 1; }

std::string show_ulps(double ulps) {
  char text[64];
  std::snprintf(text, sizeof text, std::isinf(ulps) || ulps == std::floor(ulps) ? "%.6g" : "%.3g", ulps);
  if (ulps != std::floor(ulps) && std::strchr(text, '.') == nullptr)  // 4.005 is not 4
    std::snprintf(text, sizeof text, "%.6g", ulps);
  return text;
}

}  // namespace hipops::parity
