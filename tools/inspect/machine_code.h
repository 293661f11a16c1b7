// What a kernel's machine code does, in figures.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "inspect/disassembly.h"

namespace hipops::inspect {

using Widths = std::map<unsigned, unsigned>;  // how many instructions, by the bytes that each moves for a lane

struct Loads {
  unsigned count = 0;
  unsigned bytes = 0;  // for a lane
};

// A stretch of code that repeats: a loop that reads or writes global memory, with no such loop in it. A kernel without
// one has its whole code for it.
struct HotLoop {
  uint64_t address = 0;  // of its first instruction
  Widths loads, stores;  // of global memory, atomics apart
  // On the way through the loop that has most of it: what has been asked for when some of that is first waited for, and
  // the most that is under way at any time.
  Loads before_wait, most_under_way;
  Loads at_store;  // the most that is under way when something is stored
  unsigned divisions = 0;       // by integers that are not constant
  unsigned wide_multiplies = 0;  // with a result of 64 bits, in vector registers
};

// Waits for scalar loads, one after the other.
struct Trips {
  unsigned least = 0, most = 0;  // on the way with fewest, and with most
};

struct MachineCode {
  unsigned instructions = 0;
  uint64_t hash = 0;      // of all instructions and their operands: what tells whether a change of the source changed the code

  Widths loads, stores;  // of the whole kernel
  bool has_loop = false;  // with global memory in it: else `hot` is the whole code
  std::vector<HotLoop> hot;

  Trips scalar_trips;  // before the first load

  // Lanes that exchange values.
  unsigned dpp = 0, permlane = 0, readlane = 0;
  unsigned bpermute = 0, swizzle = 0;  // by way of the LDS hardware

  std::map<std::string, unsigned> atomics;  // on global memory, by mnemonic
  unsigned compare_swap_loops = 0;          // compare-and-swaps, on any memory, that a loop repeats

  unsigned zero_addends = 0;  // products rounded to 16 bits as a sum with +0, which makes +0 of -0
  unsigned flat = 0;      // accesses that may be to any memory
  unsigned calls = 0;
  unsigned barriers = 0;
  unsigned lds = 0;       // accesses to shared memory
};

MachineCode machine_code(const Code& code, const std::string& target);

}  // namespace hipops::inspect
