// How sums of rows by an index are launched.
#pragma once

#include "index/problem.h"
#include "index/sort_plan.h"
#include "policy/plan_options.h"
#include "runtime/runtime.h"

namespace hipops {

extern Op op_index_add;  // has the kernels

// The ways to compute sums. Kernels have the same names.
enum class SumsWay {
  few,     // a wave for each index and part of a row reads all indices
  scan,    // a block reads the whole index, and keeps the indices that name its rows
  joined,  // indices are partitioned; blocks that sort the parts sum their segments, too
  list,    // indices are sorted; another launch sums segments, a vector or an element of y to a work-item
  deep,    // the same by elements, with more loads in flight
};

// The two possible sorts of a problem, and a workspace for either. Device and addresses decide which sort is used.
struct SumsSorts {
  SortPlan apart, joined;
  int64_t bytes;  // 0: nothing is sorted
};

struct SumsChoice {
  SumsWay way;
  SortPlan sort;           // for `joined`, `list` and `deep`
  int scan_blocks_a_unit;  // for `scan`
};

// The default choice: capi/policy/default_sums.cpp. scatter_add with whole rows uses only choose_apart.
SumsSorts plan_sorts(const SumsProblem& p);
SumsChoice choose_sums(PlanOptions options, const SumsProblem& p, const SumsSorts& sorts, const DeviceNumbers& device,
                       bool has_workspace);
SumsChoice choose_apart(const SumsProblem& p, const SortPlan& sort);

// The longest segment that scatter_add adds whole, if each row has one index. 0: it does not compare the indices.
uint32_t longest_segment(const SumsProblem& p, bool in_order);
// True if sums by a sorted index are faster than atomics (16-bit types: than f32 sums of all of y). For rows that are
// known to have one index each, in any order.
bool sorts_instead_of_atomics(const SumsProblem& p, const SumsSorts& sorts, bool is_16_bit);

// True if the library has the kernel, and if the problem fits in a launch.
bool can_be_few(const PlanOptions& options, const SumsProblem& p, const DeviceNumbers& device);
bool can_be_joined(const SumsProblem& p, const SortPlan& sort);

// The number of blocks with a wave for each index and each part of a row; 0 if that is too many for a launch.
int64_t few_blocks(int64_t indices, int64_t parts, int wave_size);

// The kernels that sort. They are the first of the list.
enum { kSplit, kJoin, kBound, kSortKernels };

struct SumsPlan {
  SumsChoice choice;
  int kernel;      // the list's kernel that sums
  int64_t vector;  // elements of y that a work-item adds
  int64_t parts;   // `few`, `scan`: parts of a row, each for a wave or a group of lanes
  int lane_bits;   // `scan`: log2 of the lanes of a group
  int64_t grid;    // not for `scan`, which may need several launches
};
SumsPlan resolve(PlanOptions options, const SumsChoice& choice, const SumsProblem& p, const DeviceNumbers& device);

// Launches sums as planned. The caller passes zeroed `args`. Only scatter_add sets fields before: the fields of the
// report, and the state of the order.
hipops_status launch_sums(PlanOptions options, const DeviceFacts& device, const RowSums& t, const SumsPlan& plan, void* workspace,
                          hipops_index_report* report, IndexAddArgs* args, void* stream);

}  // namespace hipops
