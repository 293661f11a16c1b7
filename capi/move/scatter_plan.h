// The checks of scatter and scatter_add, and the walks of their kernels.
#pragma once

#include <cstdint>

#include "device/move/scatter_contract.h"
#include "hipops/hipops.h"
#include "index/plan.h"

namespace hipops {

struct ScatterTensors {
  const char* op;
  const hipops_tensor *y, *x, *index;
  int32_t dim;
};

// check_scatter uses no address, so hipops_<op>_workspace_bytes calls it, too. The other function checks addresses.
hipops_status check_scatter(const ScatterTensors& t, uint32_t flags);
hipops_status check_scatter_memory(const ScatterTensors& t, const void* workspace, int64_t workspace_bytes,
                                   int64_t needed, const hipops_index_report* report);

// Copies of the tensors with an address that is valid for any dtype and strides. check_scatter then checks only the
// rest. The copy of NULL is NULL.
class ScatterWithoutData {
 public:
  explicit ScatterWithoutData(const ScatterTensors& t);
  ScatterWithoutData(const ScatterWithoutData&) = delete;
  const ScatterTensors& tensors() const { return tensors_; }

 private:
  hipops_tensor copy_[3];
  ScatterTensors tensors_;
};

// The number of y's elements that x's lines can reach: x's sizes, with y's size along dim. The workspace holds these
// elements in row-major order.
int64_t reach_of(const ScatterTensors& t);

// 4 bytes for each reachable element, rounded up to a multiple of 16; INT64_MAX if the product overflows.
int64_t reach_bytes(const ScatterTensors& t);

// The memory that a walk uses as y: y itself, or the workspace, which has an element for each reachable element.
enum class ScatterInto { kY, kWorkspace };

// The walks of kernels, where x has elements. They step by `vector` elements of x and y: see scatter_vector.
ScatterGeometry walk_sources(const ScatterTensors& t, ScatterInto into,
                             int64_t vector);  // place: the position along dim
ScatterGeometry walk_lines(const ScatterTensors& t, ScatterInto into,
                           int64_t vector);  // place: the first index's
// The walk over all reachable elements. With x, it also steps through x's lines, at position 0 along dim.
ScatterGeometry walk_reach(const ScatterTensors& t, bool with_x, int64_t vector);

// The walk over the index in vectors of 16 bytes, with one contiguous row for each position along dim. A count of 0
// means that the index has no such rows, or is too long.
ScatterGeometry walk_index(const ScatterTensors& t);

// True if the walk's places in y are those in the workspace: y's reachable elements are row-major, without gaps.
bool is_reach_dense(const ScatterTensors& t);

// True if sources can be read in vectors of kScatterVector elements that are neighbours in x, in y and in the index.
bool allows_vectors(const ScatterTensors& t, ScatterInto into);

// The number of elements of a vector that every walk can use: neighbours in x and y with one index, of at most 16
// bytes. All addresses and steps are multiples of it.
int64_t scatter_vector(const ScatterTensors& t);

// The same for a kernel that moves only y, on walk_reach without x.
int64_t reach_vector(const ScatterTensors& t);

struct ScatterLaunch {
  int kernel;
  uint32_t grid, block, shared_bytes;
  ScatterGeometry geometry;
};

struct ScatterPlan {
  PlanOptions options;
  int count = 0;
  ScatterLaunch launch[kScatterPhases] = {};

  // In each round a work-item handles `depth` elements of the walk: kScatterDepth, or 1 for lines.
  void add(int kernel, const ScatterGeometry& geometry, int depth = kScatterDepth, uint32_t block = kScatterBlock);

  // Limits each launch from `first` on to `most` blocks, which make more rounds.
  void limit_grids(uint32_t most, int first = 0);
};

// For checked tensors, where x has elements. with_workspace: the caller passes a workspace that is large enough.
ScatterPlan plan_scatter(PlanOptions options, const ScatterTensors& t, uint32_t flags, bool with_workspace);
// How atomics add f32 and 16-bit floats. By default: capi/policy/default_sums.cpp.
struct ScatterAtomics {
  // Reachable elements from which one instruction adds kScatterVector floats. With fewer elements, many sources add to
  // the same element, which is slower in vectors.
  int64_t vectors_from;
  int64_t few_elements;           // the most that a block keeps in shared memory
  int64_t sources_of_few;         // of each such element on average, at least
  // The same for rows of fewer than past_scattered_row elements, and the fewest sources for which it holds.
  int64_t scattered_sources_of_few, past_scattered_row, least_scattered;
  int64_t blocks_of_few;          // that the device holds together
  int64_t kept_vectors;           // that a block keeps in shared memory, if there are enough sources; 0: none
  int64_t sources_of_kept, least_of_kept;  // enough: of each reachable element on average, and of all
  int64_t blocks_of_kept;
  bool launch_has_shared_memory;  // false: the kernel has
};
ScatterAtomics choose_atomics(PlanOptions options, const DeviceNumbers& device);
// Whether 16-bit sums touch only elements that sources name. Otherwise they copy all reachable elements.
bool pays_to_be_sparse(PlanOptions options, int64_t sources, int64_t reachable, bool in_vectors);
ScatterPlan plan_scatter_add(PlanOptions options, const ScatterTensors& t, uint32_t flags, bool with_workspace,
                             const ScatterAtomics& atomics);

// How scatter_add adds whole rows, in order, as index_add does. Each position along dim must have one index for a whole
// row. An expanded index proves it, and the call is an index_add if that is faster. Otherwise a kernel compares the
// indices first. The workspace's size depends only on shapes and strides, `possible` on addresses, too.
struct ScatterRows {
  bool is_index_add;
  SortPlan sort;                  // for sums of whole rows; 0 passes: rows are not sorted
  bool compares;                  // a kernel compares the indices, to find out whether each row has one
  bool possible;                  // and the addresses allow it
  hipops_tensor index;            // 1-D: the index of each row; unless it is expanded, a kernel copies it
  SumsProblem problem;            // the sum of the rows; it does not depend on addresses
  int64_t sort_at;                // offset in the workspace
  int64_t report_step;            // see IndexAddArgs
  ScatterGeometry geometry;       // of the walk that compares the indices
};
ScatterRows plan_scatter_rows(const ScatterTensors& t, uint32_t flags);

}  // namespace hipops
