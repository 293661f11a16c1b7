// What row_plan.cpp and row_own.cpp share: a plan by the list's variant, and its change to a kernel of the op's own.
#pragma once

#include "rows/row_choice.h"

namespace hipops {

// Blocks that a launch may have: work-items stay under 2^32 with 1024 a block. Larger work loops over rows.
constexpr int64_t kMostBlocks = int64_t{1} << 21;

// Of `groups` that go over rows at odd addresses, so many that each comes to rows that lie alike, and keeps its
// weights. Where clusters share rows that would be too few.
int64_t come_to_alike(int64_t groups, const RowVariant& v, const RowGeometry& g);

// Has a kernel of the op's own take the rows, where it has one that is better than variant v, which `plan` is for.
void take_own_kernel(const RowVariant& v, const RowGeometry& g, const DeviceNumbers& device, RoundsOf rounds_of,
                     RowRounds rounds, int weights, RowPlan* plan);

}  // namespace hipops
