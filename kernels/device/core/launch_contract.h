// The contract between all kernels and the runtime that launches them.
#pragma once

#include <stdint.h>

namespace hipops {

// NVIDIA: a launch of up to this many blocks may be placed on the device while the previous launch ends (programmatic
// dependent launch, sm_90 on). It saves half a microsecond. Larger launches mostly lose time (runtime.h: begins_early).
constexpr uint32_t kMostBlocksEarly = 1024;

// Bytes that a block prefetches to the L2 cache at a time while it waits for the previous launch (cache.h).
constexpr int64_t kPrefetchBytes = 24 << 10;

// Blocks of a cluster. Every device with clusters runs 8 blocks. Clusters of 16 need neighbouring multiprocessors.
constexpr int kPortableCluster = 8, kLargestCluster = 16;

// Blocks of a cluster that one larger block replaces, on GPUs without clusters but with enough registers.
constexpr int kBlocksInOne = 2;

// The shared memory that a block may have on every AMD GPU.
constexpr int64_t kStaticSharedBytes = 64 << 10;

}  // namespace hipops
