// Which variant takes rows, for row_plan.cpp and row_launch.cpp alone.
#pragma once

#include "rows/rows.h"
#include "tensor/strided.h"
#include "variant_list.h"

namespace hipops {

constexpr int kWideBytes = int{kWideAccess};

constexpr bool shares_blocks(const RowVariant& v) { return v.threads < v.block; }

// The clustered variant of a float dtype and an access, NULL where there is none.
const RowVariant* clustered_variant(hipops_dtype dtype, RowAccess access);

// Vectors of a row.
int64_t vectors_of(const RowVariant& v, int64_t cols);

// What a block keeps of the weights.
int64_t kept_bytes(const RowVariant& v, int threads, int weights);

// Work-items that a block of a variant may have.
int64_t most_work_items(const RowVariant& v, const DeviceNumbers& device);

// How a variant serves such rows: work-items of a block, and blocks that share a row. None where they do not fit.
struct Fit {
  int threads = 0, cluster = 1;
};
Fit fit_of(const RowVariant& v, const RowGeometry& g, const DeviceNumbers& device, int weights);

// How many rows there are for a device, which decides what makes a variant good.
enum class Amount {
  few,      // two for each unit, or so short that a unit is done with them at once
  some,     // up to half of what the device holds at a time
  at_once,  // up to all of that
  many,
};
Amount amount_of(hipops_dtype dtype, const RowGeometry& g, const DeviceNumbers& device);

// The access by which few rows are faster than by the best one that they allow; of others, that one.
RowAccess access_of_few(hipops_dtype dtype, const RowGeometry& g, RowAccess best, const DeviceNumbers& device,
                        int weights);

// So many rows that a block makes up for what it brings to shared memory first.
bool are_enough(const RowVariant& v, const RowGeometry& g, const DeviceNumbers& device);

struct Choice {
  int kernel;
  Fit fit;
};
Choice choose_variant(hipops_dtype dtype, const RowGeometry& geometry, RowAccess access, const DeviceNumbers& device,
                      RoundsOf rounds_of, int weights);

}  // namespace hipops
