// The contract between kernels that copy rows which begin anywhere and their launchers.
#pragma once

#include <stdint.h>

namespace hipops {

constexpr int kShiftedDepth = 4;  // vectors, or elements, of a row that a work-item copies

// An upper bound for the number of vectors and other elements of a row that begins anywhere.
constexpr int64_t shifted_pieces(int64_t cols, int64_t bytes) { return cols * bytes / 16 + 4 * (16 / bytes); }

}  // namespace hipops
