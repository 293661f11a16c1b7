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
  sorted,  // indices are sorted by row, and blocks sum the sorted sources
};

struct SumsChoice {
  SumsWay way;
  int scan_blocks_a_unit;  // `scan`, `line`. 1: the sums are small, and blocks prefetch the rows that they find
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

// The kernels that sort. They are the first of the list.
enum { kSplit, kCount, kOffsets, kPartitionIndex, kPartition, kSortKernels };

struct SumsPlan {
  SumsChoice choice;
  int kernel;      // the list's kernel that sums
  int64_t vector;  // elements of y that a work-item adds
  struct {
    int64_t parts, grid;  // parts of a row, with a wave for each; blocks
  } few;
  struct {                // also for `line`
    int64_t parts;        // of a row, a group of lanes for each
    int lane_bits;        // log2 of the lanes of a group
    int64_t most_blocks;  // of a launch; 0: no limit
  } scan;
  struct {
    SortPlan sort;
    int join;                         // the kernel `joined`, or -1: a radix sort
    int64_t portion, portions;        // entries for a block of `sum`; the number of portions
    int64_t joined_parts, sum_parts;  // blocks of `joined` and of `sum` that divide the vectors of the same rows
  } sorted;
};
SumsPlan resolve(const SumsChoice& choice, const SumsProblem& p, const SortPlan& sort, const DeviceNumbers& device);

// Launches sums as planned. The caller passes zeroed `args`. Only scatter_add sets fields before: reported and
// report_step, and rows_differ, differ and differ_count of SortArgs.
hipops_status launch_sums(PlanOptions options, const DeviceFacts& device, const RowSums& t, const SumsPlan& plan,
                          void* workspace, hipops_index_report* report, IndexAddArgs* args, void* stream);

// Launches sums of floats by an index of x's shape: each line along dim has its own indices. No tensor is empty.
// most_blocks: of a launch; 0: no limit. rows_differ: null, or see ScanArgs.
hipops_status launch_line_sums(const PlanOptions& options, const DeviceFacts& device, const RowSums& t,
                               int64_t most_blocks, const uint32_t* rows_differ, hipops_index_report* report,
                               void* stream);

}  // namespace hipops
