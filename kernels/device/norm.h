// What layer_norm and rms_norm share.
#pragma once

#include "device/row_weights.h"

namespace hipops {
namespace {

HIPOPS_FN const NormTerms<float>& terms_in(const NormScalars& s, float) { return s.in_f32; }
HIPOPS_FN const NormTerms<double>& terms_in(const NormScalars& s, double) { return s.in_f64; }
template <class C>
HIPOPS_FN const NormTerms<C>& norm_terms(const NormScalars& s) { return terms_in(s, C()); }

}  // namespace
}  // namespace hipops
