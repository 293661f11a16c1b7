// What a kernel and the runtime that launches it agree upon, for all ops.
#pragma once

#include <stdint.h>

namespace hipops {

// NVIDIA: launches of no more blocks than this may be placed on the device while the launch before them still ends,
// where kernels are of sm_90 or later (programmatic dependent launch). They save half a microsecond; where there are
// many blocks, what it costs each would come to more, mostly: LaunchShape::begins_early.
constexpr uint32_t kMostBlocksEarly = 1024;

// A part of what blocks have the L2 cache load while they wait for the launch before, in bytes (device/core/cache.h).
constexpr int64_t kPrefetchBytes = 24 << 10;

// Blocks of a cluster. Every device that has clusters runs those of 8; those of 16 only one that has enough
// multiprocessors side by side.
constexpr int kPortableCluster = 8, kLargestCluster = 16;

// Blocks of a cluster that one may stand for, of as many times the work-items, where there are no clusters and registers
// enough.
constexpr int kBlocksInOne = 2;

// Shared memory that a block has on every AMD GPU, at most.
constexpr int64_t kStaticSharedBytes = 64 << 10;

}  // namespace hipops
