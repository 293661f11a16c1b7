// Sums of whole rows in the order of a 1-D index: what index_add does, and scatter_add where its index says no more.
#pragma once

#include <atomic>
#include <cstdint>

#include "hipops/hipops.h"
#include "runtime/runtime.h"
#include "tensor/tensor.h"

namespace hipops {

struct IndexAddArgs;

extern Op op_index_add;  // whose kernels they are

// y[.., index[j], ..] += x[.., j, ..] along dim. Off dim, y is no smaller than x.
struct RowSums {
  const hipops_tensor *y, *x, *index;
  int32_t dim;
};

// hipops_supports of an op that adds up by an index; whether x's dtype is one that is added, and by which one's kernels:
// unsigned integers stand for signed ones.
bool sums_support(hipops_dtype dtype, hipops_dtype index);
hipops_status check_added(const Argument& x);
hipops_dtype added_as(hipops_dtype dtype);

// The workspace for the order of the indices, of which there are many; 0 if they cannot be ordered.
int64_t row_order_bytes(const RowSums& t);

// The workspace for whichever way they go: that depends on the device, and on where the data is.
int64_t row_sums_bytes(const RowSums& t);

// Adds the sources. Without a workspace, NULL, indices are not ordered, but looked through.
hipops_status launch_row_sums(const DeviceFacts& device, const RowSums& t, void* workspace,
                              hipops_index_report* report, void* stream);

// The same with indices that are ordered, in the workspace, whatever they are. args: of the order, what is reported,
// and what its state needs; all else zero.
hipops_status add_rows(const DeviceFacts& device, const RowSums& t, IndexAddArgs* args, void* workspace,
                       hipops_index_report* report, void* stream);

// Whether rows are taken in vectors of 16 bytes.
bool rows_are_wide(const RowSums& t);

// By how many high bits, or more, indices are ordered so that the blocks that order them can add up the sources, too:
// few where x is little, if their rows' numbers have bits enough, and each block has room for its sources.
int spread_bits(const RowSums& t);

// Whether they had better do so: not where so many blocks would have few bytes of sources, nor where there is little for
// more indices than few blocks have room for.
bool pays_to_join(const RowSums& t, int high_bits);

// Whether indices had better be looked through by each block, of which few are enough, than ordered, which takes two
// launches more. A wave adds up all sources of its part of a row, so there have to be few.
bool pays_to_scan(const RowSums& t);

// Blocks, a wave for each index and part of a row that a wave takes; 0 where that is more than a launch should have.
int64_t few_blocks(int64_t indices, int64_t parts, int wave_size);

// For tests: also the indices that had better be looked through are ordered where there is a workspace, and elsewhere
// looked through by each block, few as they may be.
extern std::atomic<bool> few_indices_are_ordered;

}  // namespace hipops
