// Between the kernels and the launchers of ops that copy rows which begin anywhere.
#pragma once

#include <stdint.h>

namespace hipops {

constexpr int kShiftedDepth = 4;  // vectors, or elements, that a work-item takes of a row

// The most vectors and elements that a row of `cols` elements of `bytes` can be made of, wherever it begins.
constexpr int64_t shifted_pieces(int64_t cols, int64_t bytes) { return cols * bytes / 16 + 4 * (16 / bytes); }

}  // namespace hipops
