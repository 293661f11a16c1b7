// The ways that index_sums.cpp chooses from: the indices are ordered first (index_sums_ordered.cpp), or each row's
// are looked for among all of them (index_sums_scanned.cpp).
#pragma once

#include <cstdint>

#include "index_add.h"
#include "index/index_order.h"
#include "index/index_sums.h"
#include "tensor/strided.h"

namespace hipops {

// The kernels that order, with which the list begins, and the modes of the others.
enum { kSplit, kJoin, kBound, kOrderKernels };
enum IndexSumMode { list, deep, scan, few, joined };
// Not every dtype has them all: the library would grow past its size. Who asks find_kernel knows that it is there.
bool has_kernel(hipops_dtype dtype, bool wide, IndexSumMode mode);
int find_kernel(hipops_dtype dtype, bool wide, IndexSumMode mode);

// `slots`: how many lists there are, in all (`list`) or for a block (`joined`).
Layout<kIndexAddOperands> layout_of(const RowSums& t, IndexSumMode mode, int64_t slots);

// Whether both tensors can be taken in vectors of 16 bytes along the layout's innermost dimension.
bool allows_wide(const RowSums& t, const Layout<kIndexAddOperands>& layout);

hipops_status launch_shaped(const DeviceFacts& device, int kernel, const LaunchShape& shape, IndexAddArgs* args,
                            void* stream);
hipops_status launch_on(const DeviceFacts& device, int kernel, int64_t grid, int block, IndexAddArgs* args,
                        void* stream);

void set_operands(const RowSums& t, hipops_index_report* report, IndexAddArgs* args);

// ---- Looked for

// Each block finds its rows' indices itself. There are as many blocks as run at a time, or more where their lists would
// be long. Where there is little to add, half as many together read the index half as often, and what is added finds
// room in the L1 caches before its turn comes.
hipops_status launch_scan(const DeviceFacts& device, const RowSums& t, IndexAddArgs* args, void* stream);

// A wave for each index and part of a row, if they are few, of floats up to 32 bits.
hipops_status try_few(const DeviceFacts& device, const RowSums& t, IndexAddArgs* args, void* stream, bool* launched);

}  // namespace hipops
