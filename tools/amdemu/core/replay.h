// Executes recorded workgroups again, in time. With every resource to itself, which gives the critical path of a
// workgroup; or with those that one CU has, which gives the model of that CU.
#pragma once
#include <deque>
#include <string>
#include <vector>

#include "card.h"
#include "trace.h"

namespace amdemu {

// What an instruction waited for, and what its result is attributed to.
enum class Cause : u8 { Scalar, Vector, Lds, Barrier, Alu };
constexpr int kCauses = int(Cause::Alu) + 1;
extern const char* const kCauseNames[kCauses];

enum class Far : u8 { Memory, Mall };   // where a line is that the workgroups touch for the first time

struct Node {            // one executed instruction
  u32 op;
  i32 before;            // the node that it waited for; -1: none
  double time;           // of its issue
  Cause cause;           // why it waited
};

struct Replayed {
  double cycles = 0;
  std::vector<Node> path;             // of the end, first to last; its last node stands for the end
  double busy[kUnits] = {};           // share of the time, of all SIMDs
  double address = 0, l1 = 0, l2 = 0, memory = 0, lds = 0;   // the same
  double memory_bytes = 0;
};

struct Machine {         // what runs the workgroups
  u32 lanes = 64, simds = 4, cus = 1, resident = 1;
  bool is_shared = false;             // false: each instruction has all of it to itself
  Far far = Far::Memory;
};

using Groups = std::vector<const std::vector<Trace>*>;   // the waves of each workgroup
Replayed replay(const Groups& groups, const std::vector<TimedOp>& ops, const Card& card, const Machine& machine);

}  // namespace amdemu
