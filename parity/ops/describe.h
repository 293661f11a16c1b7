// Helpers for all descriptions of ops.
#pragma once

#include "parity/large_cases.h"
#include "parity/ops.h"
#include "parity/random_case.h"
#include "parity/random_values.h"
#include "parity/reference.h"

namespace hipops::parity {

inline const std::vector<hipops_dtype> kFloats = {HIPOPS_F32, HIPOPS_F16, HIPOPS_BF16, HIPOPS_F64};
inline const std::vector<hipops_dtype> kAll = {HIPOPS_F32, HIPOPS_F16, HIPOPS_BF16, HIPOPS_F64,
                                               HIPOPS_U8,  HIPOPS_I8,  HIPOPS_I16,  HIPOPS_U16,
                                               HIPOPS_I32, HIPOPS_U32, HIPOPS_I64,  HIPOPS_U64,
                                               HIPOPS_F8_E4M3FN, HIPOPS_F8_E4M3FNUZ,
                                               HIPOPS_F8_E5M2,   HIPOPS_F8_E5M2FNUZ};

constexpr TensorSpec kX = {"x"};
constexpr TensorSpec kY = {"y"};
constexpr TensorSpec kReport = {"report", Role::kReport, true};

}  // namespace hipops::parity
