// How sums of rows are launched.
#pragma once

#include "index/problem.h"
#include "index/sort_plan.h"
#include "runtime/runtime.h"

namespace hipops {

struct SumsPolicy;  // capi/policy/policy.h

extern Op op_index_add;  // whose kernels they are

// The ways, by the names that kernels have.
enum class SumsWay {
  few,     // a wave for each index and part of a row looks at all indices
  scan,    // a block reads the whole index, and keeps what names its share of the rows
  joined,  // indices are partitioned; blocks that sort the parts sum their segments, too
  list,    // indices are sorted; another launch sums segments, a vector or an element of y to a work-item
  deep,    // the same by elements, with more loads in flight
};

// The two sorts that sums of a problem may take, and the workspace, which has room for either: the way depends on the
// device, and on where data is.
struct SumsSorts {
  SortPlan apart, joined;
  int64_t bytes;  // 0: nothing is sorted
};

struct SumsChoice {
  SumsWay way;
  SortPlan sort;           // that of `joined`, `list` and `deep`
  int scan_blocks_a_unit;  // of `scan`
};

// By what is known of any device: capi/policy/default_sums.cpp. A scatter_add with whole rows takes the last step only.
SumsSorts plan_sorts(const SumsProblem& p);
SumsChoice choose_sums(const SumsProblem& p, const SumsSorts& sorts, const DeviceNumbers& device,
                       const SumsPolicy& policy, bool has_workspace);
SumsChoice choose_apart(const SumsProblem& p, const SortPlan& sort);

// The longest segment with which scatter_add adds rows whole, if it finds that each has one index; 0: it does not try.
uint32_t longest_segment(const SumsProblem& p, bool in_order);
// Where it knows that, and the order is free: whether these sums take less time than atomics, or, of 16-bit types, than f32
// sums of all of y.
bool sorts_instead_of_atomics(const SumsProblem& p, const SumsSorts& sorts, bool is_16_bit);

// Whether the library has the kernel, and a launch room for the problem.
bool can_be_few(const SumsProblem& p, const DeviceNumbers& device);
bool can_be_joined(const SumsProblem& p, const SortPlan& sort);

// Blocks, a wave for each index and part of a row that a wave takes; 0 where that is more than a launch should have.
int64_t few_blocks(int64_t indices, int64_t parts, int wave_size);

// The kernels that sort, with which the list begins.
enum { kSplit, kJoin, kBound, kSortKernels };

// All else follows from the choice.
struct SumsPlan {
  SumsChoice choice;
  int kernel;      // of the list: the one that sums
  int64_t vector;  // elements of y that a work-item takes
  int64_t parts;   // `few`, `scan`: of a row, for a wave or a group of lanes
  int lane_bits;   // `scan`: of such a group
  int64_t grid;    // all but `scan`, which may take several
};
SumsPlan resolve(const SumsChoice& choice, const SumsProblem& p, const DeviceNumbers& device);

// Launches sums as planned. `args` are zero, but for what scatter_add has to say: how indices are reported, and the state in
// their order.
hipops_status launch_sums(const DeviceFacts& device, const RowSums& t, const SumsPlan& plan, void* workspace,
                          hipops_index_report* report, IndexAddArgs* args, void* stream);

}  // namespace hipops
