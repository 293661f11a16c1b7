// The 8-bit types of quantised elements, from tables of their values, and apart from kernels/.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "parity/ops/describe.h"

namespace hipops::parity {

inline const std::vector<hipops_dtype> kQuantised = {HIPOPS_F8_E4M3FN, HIPOPS_F8_E4M3FNUZ, HIPOPS_F8_E5M2, HIPOPS_F8_E5M2FNUZ,
                                                     HIPOPS_I8};

inline bool is_fnuz(hipops_dtype dtype) { return dtype == HIPOPS_F8_E4M3FNUZ || dtype == HIPOPS_F8_E5M2FNUZ; }
inline bool is_e5m2(hipops_dtype dtype) { return dtype == HIPOPS_F8_E5M2 || dtype == HIPOPS_F8_E5M2FNUZ; }

// The value of a code of an 8-bit float.
inline double float8_value(hipops_dtype dtype, uint64_t code) {
  const int stored = is_e5m2(dtype) ? 2 : 3, bias = (is_e5m2(dtype) ? 15 : 7) + (is_fnuz(dtype) ? 1 : 0);
  const int field = static_cast<int>(code >> stored & (uint64_t{127} >> stored)), rest = static_cast<int>(code & ((1u << stored) - 1));
  const double sign = code & 0x80 ? -1 : 1, nan = std::numeric_limits<double>::quiet_NaN();
  if (is_fnuz(dtype) && code == 0x80) return nan;
  if (dtype == HIPOPS_F8_E4M3FN && (code & 0x7f) == 0x7f) return nan;
  if (dtype == HIPOPS_F8_E5M2 && field == 31) return rest == 0 ? sign * std::numeric_limits<double>::infinity() : nan;
  return sign * std::ldexp((field == 0 ? 0 : 1) + std::ldexp(rest, -stored), std::max(field, 1) - bias);
}

// The code nearest to v, of equally near codes the even one. Infinities and larger numbers saturate.
inline uint64_t quantised_bits(hipops_dtype dtype, double v) {
  if (dtype == HIPOPS_I8) return encode(dtype, v);
  static const auto tables = [] {
    std::vector<std::vector<double>> all(HIPOPS_F8_E5M2FNUZ + 1);
    for (const hipops_dtype of : kQuantised)
      for (uint64_t code = 0; code < 0x80 && std::isfinite(float8_value(of, code)) && of != HIPOPS_I8; ++code)
        all[of].push_back(float8_value(of, code));
    return all;
  }();
  if (std::isnan(v)) return is_fnuz(dtype) ? 0x80 : 0x7f;
  const std::vector<double>& values = tables[dtype];
  const double magnitude = std::fabs(v);
  auto code = static_cast<uint64_t>(std::lower_bound(values.begin(), values.end(), magnitude) - values.begin());
  if (code == values.size()) {
    --code;
  } else if (code > 0) {
    const double above = values[code] - magnitude, below = magnitude - values[code - 1];
    if (below < above || (below == above && code % 2 == 1)) --code;
  }
  return code | (std::signbit(v) && (code != 0 || !is_fnuz(dtype)) ? 0x80 : 0);
}

// x / scale as an f32, which is then rounded again.
inline uint64_t quantised_quotient(hipops_dtype dtype, double x, double scale) {
  return quantised_bits(dtype, static_cast<float>(x) / static_cast<float>(scale));
}

}  // namespace hipops::parity
