// The 8-bit types of quantised elements.
#pragma once

#include <stdint.h>

namespace hipops {

enum class EightBits : int32_t { i8, e4m3fn, e4m3fnuz, e5m2, e5m2fnuz };

// An 8-bit float. `dropped`: the bits of an f32 mantissa that it lacks. `least`, `largest`: its least normal number and
// its largest number, as bits of f32. `nan`: the code of NaN. `negative_zero`: the code of -0, or 0 if it has none.
struct Float8Format {
  int32_t dropped;
  uint32_t least, largest, nan, negative_zero;
};

// Indexed by EightBits. i8 has none.
constexpr Float8Format kFloat8Formats[] = {
    {},
    {20, 121u << 23, 135u << 23 | 0x600000, 0x7f, 0x80},
    {20, 120u << 23, 134u << 23 | 0x700000, 0x80, 0},
    {21, 113u << 23, 142u << 23 | 0x600000, 0x7f, 0x80},
    {21, 112u << 23, 142u << 23 | 0x600000, 0x80, 0},
};

}  // namespace hipops
