// The number of waves of a kernel that a compute unit holds at the same time.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "inspect/code_object.h"

namespace hipops::inspect {

// The hardware that runs a block: a compute unit (CDNA), or a workgroup processor, which has two of them (RDNA, by the
// compiler's default). Registers are for waves of 64 lanes (CDNA), or 32 (RDNA).
struct Hardware {
  unsigned simds, units;       // units: compute units
  unsigned vgprs, vgpr_step;   // of a SIMD for each lane, and the unit of allocation
  unsigned most_waves;         // of a SIMD
  unsigned sgprs, sgpr_step;   // of a SIMD. 0: every wave has the maximum
  uint64_t lds_bytes, lds_step;
  unsigned most_groups;        // blocks of more than one wave. Each needs a barrier
};

class UnknownTarget : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// For a target such as "gfx942", "gfx11-generic" or "gfx90a:xnack+". Throws UnknownTarget.
Hardware hardware_of(const std::string& target);

struct Occupancy {
  double waves_per_simd = 0;  // a fraction if the waves of blocks are not spread evenly
  double waves_per_unit = 0;  // compute unit
  std::string limit;          // "vgprs", "sgprs", "lds", "block", or "none": the hardware's maximum
};

// With blocks of the kernel's largest size, and without shared memory from the launch.
Occupancy occupancy(const Kernel& kernel, const Hardware& hardware);

}  // namespace hipops::inspect
