// How many waves of a kernel a compute unit holds at once.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "inspect/code_object.h"

namespace hipops::inspect {

// What the waves of a block share: a compute unit (CDNA), or a pair of them, a workgroup processor (RDNA, as the
// compiler has it by default). Registers are for waves of 64 lanes (CDNA), or 32 (RDNA).
struct Hardware {
  unsigned simds, units;       // units: compute units
  unsigned vgprs, vgpr_step;   // of a SIMD for each lane, and what they are given out by
  unsigned most_waves;         // of a SIMD
  unsigned sgprs, sgpr_step;   // of a SIMD; 0: every wave has as many as it can name
  uint64_t lds_bytes, lds_step;
  unsigned most_groups;        // blocks of more than one wave: each takes a barrier
};

class UnknownTarget : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// For a target as "gfx942", "gfx11-generic", "gfx90a:xnack+". Throws UnknownTarget.
Hardware hardware_of(const std::string& target);

struct Occupancy {
  double waves_per_simd = 0;  // a fraction where blocks don't share out evenly
  double waves_per_unit = 0;  // compute unit
  std::string limit;          // "vgprs", "sgprs", "lds", "block"; "none": as many as the hardware has room for
};

// With blocks of the kernel's largest size, and no shared memory but its own.
Occupancy occupancy(const Kernel& kernel, const Hardware& hardware);

}  // namespace hipops::inspect
