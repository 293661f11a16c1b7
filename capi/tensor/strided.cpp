#include "tensor/strided.h"

#include <algorithm>

#include "device/move/shifted_contract.h"
#include "runtime/runtime.h"

namespace hipops {

int shifted_lanes(int64_t pieces) {
  auto padded = [&](int lanes) {
    const int64_t part = int64_t{kShiftedDepth} << lanes;
    return (pieces + part - 1) / part * part;
  };
  int best = 7;
  for (int lanes = 6; lanes >= 4; --lanes)
    if (padded(lanes) < padded(best)) best = lanes;
  return best;
}

uint32_t grid_for(int64_t count, uint32_t block) {
  const int64_t most = (int64_t{1} << 32) / block - 1;
  return static_cast<uint32_t>(within_grid_limit(std::min((count + block - 1) / block, most)));
}

}  // namespace hipops
