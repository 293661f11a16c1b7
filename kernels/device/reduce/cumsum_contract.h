// The contract between the kernels of cumulative sums and their launcher.
#pragma once

#include "device/core/strided_contract.h"

namespace hipops {

constexpr int kCumsumBlock = 256;
constexpr int kCumsumLanes = 32;     // `lines`: lanes that scan together without the block's shared memory
constexpr int kCumsumDepth = 4;      // `lines`: vectors of a lane
constexpr int kCumsumRows = 8;       // `columns`: elements of a line that a lane adds one after another
constexpr int kCumsumColumns = 256;  // `columns`: the most lines of a block
constexpr int kChunkGroup = 32;      // chunks whose sums are added first

// Elements of x in one access. A vector of bytes has four: y may have 8 bytes for each.
constexpr int cumsum_vector(int bytes) { return bytes == 1 ? 4 : 16 / bytes; }
template <class T>
constexpr int kCumsumVector = cumsum_vector(sizeof(T));

// A walk over lines has these operands.
enum CumsumOperand { kCumsumY, kCumsumX, kCumsumOperands };

struct CumsumArgs {
  const void* x;
  void* y;
  void* sums;             // of line l and chunk c: at l * line_step + c * chunk_step. Null: a block has all chunks of a line
  Walk<kCumsumOperands> lines;  // `columns`: of `vector` neighbouring lines
  int64_t line_step, chunk_step;
  int64_t x_step, y_step;       // `columns`: between a line's elements
  int64_t length, chunk;        // elements of a line, and of a chunk
  int64_t chunks;               // of a line
  int64_t parts;                // `lines`: units of a line
  WideDivisor parts_divisor;
  int64_t tiles;                // `columns`: blocks next to each other
  WideDivisor tiles_divisor;
  int64_t units, step;          // of the blocks' loops; the units that all blocks have in a round
  uint64_t sign;                // the sign bit of i32, and otherwise 0
  int32_t only_sums;            // the launch stores sums of chunks. Otherwise it stores y, and loads them
  int32_t is_widened;           // integers: y is i64
  int32_t bytes;                // integers: of an element of x
  int32_t is_wide;              // `columns`: vectors of neighbouring lines
  int32_t result_bits;          // `columns`: 1 << result_bits lanes have different lines
  int32_t lanes, rows, deep;    // `lines`: lanes of a line, lines of a block; lines of a lane
  int32_t is_short, has_pairs;  // `lines`: a lane has a vector, or two, of each of several lines
  int32_t are_whole;            // `lines`: begin and end at multiples of a vector
  int32_t x_is_aligned;         // `lines`: x has y's alignment
};

}  // namespace hipops
