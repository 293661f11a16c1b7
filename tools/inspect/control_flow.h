// The blocks and loops of a function.
#pragma once

#include <cstddef>
#include <vector>

#include "inspect/disassembly.h"

namespace hipops::inspect {

// Instructions [begin, end) of the code, which run one after the other. The number of a block is larger than the
// numbers of its predecessors, except for branches back to the head of a loop.
struct Block {
  size_t begin = 0, end = 0;
  std::vector<size_t> next;
};

// A loop: the blocks from which a path leads back to `head` without passing it. In order.
struct Loop {
  size_t head = 0;
  std::vector<size_t> blocks;

  bool has(size_t block) const;
};

struct ControlFlow {
  std::vector<Block> blocks;  // the reachable blocks. The first is the entry
  std::vector<Loop> loops;    // one for each head, ordered by head
};

ControlFlow control_flow(const Code& code);

}  // namespace hipops::inspect
