// What layer_norm and rms_norm share.
#pragma once

#include "device/rows/row_weights.h"

namespace hipops {
namespace {

template <class Args>
HIPOPS_FN const NormTerms<float>& terms_in(const Args& a, float) { return a.terms; }
template <class Args>
HIPOPS_FN const NormTerms<double>& terms_in(const Args& a, double) { return a.other_terms.in_f64; }
template <class C, class Args>
HIPOPS_FN const NormTerms<C>& norm_terms(const Args& a) { return terms_in(a, C()); }

// The same for rows of any length; rows on chip do without cols_rest.
struct LongRowTerms : NormTerms<float> {
  float cols_rest;
};
template <class Args>
HIPOPS_FN LongRowTerms long_row_terms_in(const Args& a, float) { return {a.terms, a.other_terms.cols_rest}; }
template <class Args>
HIPOPS_FN const NormTerms<double>& long_row_terms_in(const Args& a, double) { return a.other_terms.in_f64; }
template <class C, class Args>
HIPOPS_FN auto long_row_terms(const Args& a) { return long_row_terms_in(a, C()); }

// What `quotient` by the columns has missed of a sum.
template <class C>
HIPOPS_FN C missed(C sum, C quotient, const NormTerms<C>& terms) { return fused_multiply_add(-quotient, terms.cols, sum); }
HIPOPS_FN float missed(float sum, float quotient, const LongRowTerms& terms) {
  return fused_multiply_add(-quotient, terms.cols_rest, fused_multiply_add(-quotient, terms.cols, sum));
}

}  // namespace
}  // namespace hipops
