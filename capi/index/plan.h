// How sums of rows by an index are launched.
#pragma once

#include "index/problem.h"
#include "index/sort_plan.h"
#include "policy/plan_options.h"
#include "runtime/runtime.h"

namespace hipops {

extern Op op_index_add;  // has the kernels

// The ways to compute sums.
enum class SumsWay {
  few,     // a wave for each index and part of a row reads all indices
  scan,    // a block reads the whole index, and keeps the indices that name its rows
  line,    // `scan` for each line of scatter_add's index: launch_line_sums
  sorted,  // indices are sorted, and blocks sum equal portions of the sources
};

struct SumsChoice {
  SumsWay way;
  int scan_blocks_a_unit;  // for `scan`
};

// The default choice: capi/policy/default_sums.cpp.
SumsChoice choose_sums(PlanOptions options, const SumsProblem& p, const SortPlan& sort, const DeviceNumbers& device,
                       bool has_workspace);

// True if scatter_add compares the indices of each row, to add whole rows if each row has one index.
bool compares_indices(const SumsProblem& p, bool in_order);
// True if sums by a sorted index are faster than atomics (16-bit types: than f32 sums of all of y). For rows that are
// known to have one index each, in any order.
bool sorts_instead_of_atomics(const SumsProblem& p, const SortPlan& sort, bool is_16_bit);

// True if the library has the kernel, and if the problem fits in a launch.
bool can_be_few(const PlanOptions& options, const SumsProblem& p, const DeviceNumbers& device);

// The number of blocks with a wave for each index and each part of a row; 0 if that is too many for a launch.
int64_t few_blocks(int64_t indices, int64_t parts, int wave_size);

// The kernels that sort. They are the first of the list.
enum { kSplit, kJoin, kSortKernels };

struct SumsPlan {
  SumsChoice choice;
  SortPlan sort;   // for `sorted`
  int kernel;      // the list's kernel that sums
  int join, merge; // `sorted`: the kernel of the last join, `joined` or `join`; the kernel that merges
  int64_t vector;  // elements of y that a work-item adds
  int64_t parts;   // `few`, `scan`, `line`: parts of a row, each for a wave or a group of lanes; `sorted`: of `merge`
  int lane_bits;   // `scan`, `line`: log2 of the lanes of a group
  int64_t portion, portions;  // `sorted`: entries for a block of `sum`; the number of portions
  int64_t joined_parts, sum_parts;  // `sorted`: blocks of each that divide the vectors of the same rows
  int64_t grid;    // not for `scan`, which may need several launches; `line`: at most, in each launch; 0: no limit
  int64_t merge_blocks_a_row, merge_grid;  // `sorted`: blocks of `merge`: for the same rows, and all
};
SumsPlan resolve(const SumsChoice& choice, const SumsProblem& p, const SortPlan& sort, const DeviceNumbers& device);

// Launches sums as planned. The caller passes zeroed `args`. Only scatter_add sets fields before: the fields of the
// report, and the state of the order.
hipops_status launch_sums(PlanOptions options, const DeviceFacts& device, const RowSums& t, const SumsPlan& plan,
                          void* workspace, hipops_index_report* report, IndexAddArgs* args, void* stream);

// Launches sums of floats by an index of x's shape: each line along dim has its own indices. No tensor is empty.
// most_blocks: of a launch; 0: no limit. differ: null, or see ScanArgs.
hipops_status launch_line_sums(const PlanOptions& options, const DeviceFacts& device, const RowSums& t,
                               int64_t most_blocks, const uint32_t* differ, hipops_index_report* report, void* stream);

}  // namespace hipops
