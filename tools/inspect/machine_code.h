// Figures of a kernel's machine code.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "inspect/disassembly.h"

namespace hipops::inspect {

using Widths = std::map<unsigned, unsigned>;  // number of instructions, by the bytes that each moves for a lane

struct Loads {
  unsigned count = 0;
  unsigned bytes = 0;  // for a lane
};

// A hot loop: an innermost loop among the loops that access global memory. In a kernel without such loops it is the
// whole code.
struct HotLoop {
  uint64_t address = 0;  // of its first instruction
  Widths loads, stores;  // of global memory, without atomics
  // On the path through the loop with the most loads: the loads in flight at the first wait for one of them, and the
  // most that are in flight at any time.
  Loads before_wait, most_under_way;
  Loads at_store;  // the most loads that are in flight at a store
  unsigned divisions = 0;       // by integers that are not constant
  unsigned wide_multiplies = 0;  // with a result of 64 bits, in vector registers
};

// Waits for scalar loads, one after the other.
struct Trips {
  unsigned least = 0, most = 0;  // on the path with the fewest, and with the most
};

struct MachineCode {
  unsigned instructions = 0;
  uint64_t hash = 0;      // of all instructions and their operands. It shows whether a change of the source changed the code

  Widths loads, stores;  // of the whole kernel
  bool has_loop = false;  // it has a loop with global memory. Otherwise `hot` is the whole code
  std::vector<HotLoop> hot;

  Trips scalar_trips;  // before the first load

  // Exchanges between lanes.
  unsigned dpp = 0, permlane = 0, readlane = 0;
  unsigned bpermute = 0, swizzle = 0;  // through the LDS hardware

  std::map<std::string, unsigned> atomics;  // on global memory, by mnemonic
  unsigned compare_swap_loops = 0;          // compare-and-swaps in a loop, on any memory

  unsigned zero_addends = 0;  // products that are rounded to 16 bits by adding +0, which turns -0 into +0
  unsigned flat = 0;      // accesses to memory of any kind
  unsigned calls = 0;
  unsigned barriers = 0;
  unsigned lds = 0;       // accesses to shared memory
};

MachineCode machine_code(const Code& code, const std::string& target);

}  // namespace hipops::inspect
