#include "tensor/strided.h"

#include <algorithm>

#include "runtime/runtime.h"

namespace hipops {

uint32_t grid_for(int64_t count, uint32_t block) {
  const int64_t most = (int64_t{1} << 32) / block - 1;
  return static_cast<uint32_t>(within_grid_limit(std::min((count + block - 1) / block, most)));
}

}  // namespace hipops
