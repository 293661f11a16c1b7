// The number formats of tensors, from their definitions and independent of kernels/: bits to double and back, the size
// of an ULP, and how values are printed. Bits are held in the low end of a uint64_t; signed integers are not
// sign-extended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "hipops/hipops.h"

namespace hipops::parity {

// "f32", "bf16", ...; "none" for anything that is not a tensor's dtype.
const char* dtype_name(hipops_dtype dtype);

// Of all of them: "f32", "f16", ...
std::vector<std::string> dtype_names();

// False where `name` names no dtype.
bool parse_dtype(const std::string& name, hipops_dtype* dtype);

size_t dtype_size(hipops_dtype dtype);

// The bits that the dtype has, set.
uint64_t low_bits(hipops_dtype dtype);
bool is_float(hipops_dtype dtype);

// The dtype's value nearest to `value`, ties to even. Floats overflow to infinity; integers saturate, and NaN gives 0.
uint64_t encode(hipops_dtype dtype, double value);

// The bits of an integer dtype's value; false where it is out of range.
bool encode_integer_exactly(hipops_dtype dtype, int64_t value, uint64_t* bits);
bool encode_integer_exactly(hipops_dtype dtype, uint64_t value, uint64_t* bits);

// Exact for every dtype but i64 and u64, which round to nearest even past 2^53.
double decode(hipops_dtype dtype, uint64_t bits);

// The bits at `address`, which need not be aligned, and their way back.
uint64_t load_bits(hipops_dtype dtype, const unsigned char* address);
void store_bits(hipops_dtype dtype, unsigned char* address, uint64_t bits);

// The largest finite value, and the least one (0 for unsigned integers).
double largest(hipops_dtype dtype);
double lowest(hipops_dtype dtype);

// The distance between neighbours of the dtype in the binade of |value|: the least denormal below the normal range, the
// last binade's distance above the largest value. 1 for integers.
double ulp(hipops_dtype dtype, double value);

// How far `got` is from `expected`, in ULPs of max(|expected|, scale). NaN must meet NaN and an infinity itself, or the
// error is infinite; so must a zero meet a zero of its sign, but in a sum that may cancel (scale is not 0). A float
// `expected` beyond the largest value by half an ULP or more counts as infinity.
double error_in_ulps(hipops_dtype dtype, double expected, double scale, uint64_t got);

// The same for integers, all of whose bits count: |got - expected|.
double integer_error(hipops_dtype dtype, uint64_t expected, uint64_t got);

// "1.5 (0x3fc0)": decimal digits enough to tell the value from its neighbours, and all bits in hexadecimal.
std::string show_bits(hipops_dtype dtype, uint64_t bits);

// A double in decimal, with the digits that read back to the same double.
std::string show_double(double value);

}  // namespace hipops::parity
