// The blocks and loops of a function.
#pragma once

#include <cstddef>
#include <vector>

#include "inspect/disassembly.h"

namespace hipops::inspect {

// Instructions [begin, end) of the code, which run one after the other. Blocks are numbered so that each comes after
// all that lead to it, but for branches back to the head of a loop.
struct Block {
  size_t begin = 0, end = 0;
  std::vector<size_t> next;
};

// What repeats: the blocks from which one gets back to `head` without leaving by it. In order.
struct Loop {
  size_t head = 0;
  std::vector<size_t> blocks;

  bool has(size_t block) const;
};

struct ControlFlow {
  std::vector<Block> blocks;  // those that can be reached; the first is the entry
  std::vector<Loop> loops;    // by head; one for each head
};

ControlFlow control_flow(const Code& code);

}  // namespace hipops::inspect
