// What layer_norm and rms_norm share.
#pragma once

#include "device/row_weights.h"

namespace hipops {
namespace {

HIPOPS_FN const NormTerms<float>& terms_in(const NormScalars& s, float) { return s.in_f32; }
HIPOPS_FN const NormTerms<double>& terms_in(const NormScalars& s, double) { return s.in_f64; }
template <class C>
HIPOPS_FN const NormTerms<C>& norm_terms(const NormScalars& s) { return terms_in(s, C()); }

// The same for rows of any length; rows on chip do without cols_rest.
struct LongRowTerms : NormTerms<float> {
  float cols_rest;
};
HIPOPS_FN LongRowTerms long_row_terms_in(const NormScalars& s, float) { return {s.in_f32, s.cols_rest}; }
HIPOPS_FN const NormTerms<double>& long_row_terms_in(const NormScalars& s, double) { return s.in_f64; }
template <class C>
HIPOPS_FN auto long_row_terms(const NormScalars& s) { return long_row_terms_in(s, C()); }

// What `quotient` by the columns has missed of a sum.
template <class C>
HIPOPS_FN C missed(C sum, C quotient, const NormTerms<C>& terms) { return fused_multiply_add(-quotient, terms.cols, sum); }
HIPOPS_FN float missed(float sum, float quotient, const LongRowTerms& terms) {
  return fused_multiply_add(-quotient, terms.cols_rest, fused_multiply_add(-quotient, terms.cols, sum));
}

}  // namespace
}  // namespace hipops
