// The contract between the kernels of selections and their launchers.
#pragma once

#include "device/core/radix_contract.h"
#include "device/core/strided_contract.h"

namespace hipops {

constexpr int kSelectBlock = 256;
constexpr int kTileDepth = 16;                        // elements of a work-item in a tile
constexpr int kTile = kSelectBlock * kTileDepth;      // elements of a row that a block loads together
constexpr int kMostWaveColumns = 1024, kMostWaveK = 128;  // of a row that one wave has
constexpr int kFewK = 256, kManyK = 2048;             // of rows that a block selects in shared memory
constexpr int kSortRun = 2048;                        // elements that a block sorts by itself

// A walk over rows has these operands.
enum SelectOperand { kSelectValues, kSelectIndices, kSelectX, kSelectLengths, kSelectBegin, kSelectOperands };

struct TopkArgs {
  Walk<kSelectOperands> rows;
  const void* x;
  const void *lengths, *row_begin;  // null: rows have all columns; windows begin at column 0
  void *values, *indices;           // values may be null
  // For `merge`: keys and columns of candidates. A part has `of_part`, and a row `of_row`. Otherwise null.
  uint32_t *keys, *places;
  SortEntry* entries;  // for `merge_runs`: a run has up to `of_part` entries, and a row `of_row`. Otherwise null
  // For each part: a key, or null. At least k elements of the row reach the least key of its parts. And the entries of its run.
  uint32_t *bounds, *run_entries;
  int64_t units, step;  // of the blocks' loops (`wave`: of the waves')
  int64_t parts, of_row, part_columns;  // parts of a row, or its runs; their candidates or entries; columns of a part
  WideDivisor parts_divisor;
  int64_t columns, x_step, values_step, indices_step;
  int32_t k, depth;              // `wave`: elements of a lane
  int32_t most_listed, of_part;  // elements that a block's list keeps at the end; candidates of a part, or entries of a run
  // How bits become keys (keys.h): of 16-bit types in the upper half of a word.
  uint32_t infinity, flip, nan_key, pad_value;
  int32_t value_bytes, index_bytes;
  int32_t lengths_are_64, begin_is_64;
  int32_t is_sorted, in_window, run_blocks;  // blocks of a run, of `merge_runs`
  int32_t finds_bounds;  // `block` stores the bounds of parts. Otherwise it uses them
};

}  // namespace hipops
