// What the launchers of scatter and scatter_add share: their checks, and the walks that their kernels take.
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

// All that can be said without looking at memory, in what hipops_<op>_workspace_bytes checks; and the rest.
hipops_status check_scatter(const ScatterTensors& t, uint32_t flags);
hipops_status check_scatter_memory(const ScatterTensors& t, const void* workspace, int64_t workspace_bytes,
                                   int64_t needed, const hipops_index_report* report);

// The tensors with data that any of their dtype and strides may have, so that check_scatter looks at the rest. Where
// they are NULL, so is the copy.
class ScatterWithoutData {
 public:
  explicit ScatterWithoutData(const ScatterTensors& t);
  ScatterWithoutData(const ScatterWithoutData&) = delete;
  const ScatterTensors& tensors() const { return tensors_; }

 private:
  hipops_tensor copy_[3];
  ScatterTensors tensors_;
};

// Of y, how many elements x's lines can reach: those at x's positions off dim, all along it. They are numbered
// row-major: in the workspace, each has its place by that number.
int64_t reach_of(const ScatterTensors& t);

// Bytes for 4 of each of those, a multiple of 16; INT64_MAX for more than can be.
int64_t reach_bytes(const ScatterTensors& t);

// Which memory the walk's y is: y itself, or the workspace, one element for each that x's lines can reach.
enum class ScatterInto { kY, kWorkspace };

// The walks, in vectors of `vector` elements of x and y (scatter_vector finds out how many there can be); for checked
// tensors, x having elements.
ScatterGeometry walk_sources(const ScatterTensors& t, ScatterInto into,
                             int64_t vector);  // place: the position along dim
ScatterGeometry walk_lines(const ScatterTensors& t, ScatterInto into,
                           int64_t vector);  // place: that of the first index
// That over what x's lines can reach. With x: where a source would be at position 0.
ScatterGeometry walk_reach(const ScatterTensors& t, bool with_x, int64_t vector);

// The walk over the index itself, one contiguous row for each position along dim, in vectors of 16 bytes; a count of 0
// says that it is not so, or too long.
ScatterGeometry walk_index(const ScatterTensors& t);

// Whether sources can be taken in vectors of kScatterVector: neighbours in x, in y and in the index.
bool allows_vectors(const ScatterTensors& t, ScatterInto into);

// How many elements can be moved as one, on each of the walks: neighbours in x and y with one index, of at most 16
// bytes, if all addresses and steps are multiples of that.
int64_t scatter_vector(const ScatterTensors& t);

// The same for what moves nothing but y, on walk_reach without x.
int64_t reach_vector(const ScatterTensors& t);

// What a call launches, one after the other on its stream.
struct ScatterLaunch {
  int kernel;
  uint32_t grid;
  ScatterGeometry geometry;
};

struct ScatterPlan {
  int count = 0;
  ScatterLaunch launch[3];

  // A work-item takes `depth` elements of the walk at a time: kScatterDepth, or 1 on lines.
  void add(int kernel, const ScatterGeometry& geometry, int depth = kScatterDepth);

  // Fewer blocks, which go more rounds.
  void limit_grids(uint32_t most);
};

// For checked tensors, x having elements. with_workspace: there is one that is large enough.
ScatterPlan plan_scatter(const ScatterTensors& t, uint32_t flags, bool with_workspace);
// vectors_from: of how many elements in reach on kScatterVector floats are added as one. (Where they are few, many meet
// at one, and that takes longer in vectors.)
ScatterPlan plan_scatter_add(const ScatterTensors& t, uint32_t flags, bool with_workspace, int64_t vectors_from);
int64_t vector_atomics_from(const DeviceFacts& device);  // by default: capi/policy/default_sums.cpp

// scatter_add where all positions off dim may have one index: rows are then added whole, as index_add does it, in order. By
// an expanded index the call is an index_add, if that pays. With another one it is tried, if there is a workspace: the bytes
// for it are there as soon as shapes and strides are such; `possible` says whether addresses are, too.
struct ScatterRows {
  bool is_index_add;
  SumsSorts sorts;                // of an index_add
  bool possible;
  hipops_tensor index;            // 1-D: that of the first position off dim, or, if kernels find out, for a copy of it
  SumsProblem problem;            // of these rows, wherever data is
  SortPlan sort;                  // without bytes: no such way
  int64_t sort_at;                // where it has the workspace
  uint32_t longest;               // segment
  int64_t report_step;            // see IndexAddArgs
  ScatterGeometry geometry;       // of the walk that finds out
};
ScatterRows plan_scatter_rows(const ScatterTensors& t, uint32_t flags);

}  // namespace hipops
