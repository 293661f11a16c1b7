// The number formats of tensors, implemented from their definitions and independent of kernels/: conversion to and from
// double, the size of an ULP, and printing. Bits are in the low end of a uint64_t; signed integers are not
// sign-extended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "hipops/hipops.h"

namespace hipops::parity {

// "f32", "bf16", ...; "none" for a value that is no dtype of a tensor.
const char* dtype_name(hipops_dtype dtype);

// "f32", "f16", ...: every dtype.
std::vector<std::string> dtype_names();

// Returns false if `name` names no dtype.
bool parse_dtype(const std::string& name, hipops_dtype* dtype);

inline hipops_dtype scalar_dtype(hipops_dtype of_rows) { return of_rows == HIPOPS_F64 ? HIPOPS_F64 : HIPOPS_F32; }
size_t dtype_size(hipops_dtype dtype);

// The dtype's bits, all set.
uint64_t low_bits(hipops_dtype dtype);
bool is_float(hipops_dtype dtype);

// The dtype's value nearest to `value`, ties to even. Floats overflow to infinity; integers saturate, and NaN gives 0.
uint64_t encode(hipops_dtype dtype, double value);

// The bits of an integer dtype's value. Returns false if the value is out of range.
bool encode_integer_exactly(hipops_dtype dtype, int64_t value, uint64_t* bits);
bool encode_integer_exactly(hipops_dtype dtype, uint64_t value, uint64_t* bits);

// Exact for every dtype except i64 and u64, which round to nearest even past 2^53.
double decode(hipops_dtype dtype, uint64_t bits);

// Loads the bits at `address`, or stores them there. The address need not be aligned.
uint64_t load_bits(hipops_dtype dtype, const unsigned char* address);
void store_bits(hipops_dtype dtype, unsigned char* address, uint64_t bits);

// The largest finite value, and the least one (0 for unsigned integers).
double largest(hipops_dtype dtype);
double lowest(hipops_dtype dtype);

// The distance between neighbours of the dtype in the binade of |value|: the least denormal below the normal range, the
// last binade's distance above the largest value. 1 for integers.
double ulp(hipops_dtype dtype, double value);

// The distance from `got` to `expected`, in ULPs of max(|expected|, scale). Infinite unless NaN equals NaN, an infinity
// the same infinity, and a zero one of the same sign. With a scale, a sum may cancel, and either zero is right. An
// `expected` half an ULP or more past the largest value counts as infinity.
double error_in_ulps(hipops_dtype dtype, double expected, double scale, uint64_t got);

// The same for integers: |got - expected|.
double integer_error(hipops_dtype dtype, uint64_t expected, uint64_t got);

// "1.5 (0x3fc0)": enough decimal digits to identify the value, and all bits in hexadecimal.
std::string show_bits(hipops_dtype dtype, uint64_t bits);

// A double in decimal, with the digits that read back to the same double.
std::string show_double(double value);

}  // namespace hipops::parity
