// AMDEMU_WAITS reports registers that are used before a wait for the load into them. The emulator loads immediately, and records
// here which loads would still be under way on a card.
#pragma once
#include <deque>
#include <vector>

#include "isa.h"

namespace amdemu {

// The counters of accesses under way. Before GFX12, Ds and Scalar are one counter, lgkmcnt. GFX10 and later have Store. Waits
// ignores Store: the registers of a store may be used again as soon as it is issued.
enum class Awaited : u8 { Vector, Ds, Scalar, Store, Nothing };
constexpr int kAwaited = int(Awaited::Nothing);

struct Registers {     // consecutive registers: scalar below kFirstVector, vector from there on
  u16 first = 0, count = 0;
};
constexpr u16 kFirstVector = S_SLOTS, kAllRegisters = kFirstVector + ACC_BASE + 256 + 16;

struct WaitOp {        // the facts about an instruction that the checks use
  std::vector<Registers> named;             // all registers in its text
  Registers loaded;                         // the registers that it loads
  Awaited counter = Awaited::Nothing;       // that counts it
  bool flat = false;                        // Ds counts it, too
  bool replaces = false;                    // a vector load: it returns after earlier loads, and may have the same registers
  bool is_wait = false;
  bool arrives = false, awaits_barrier = false;  // at the workgroup's barrier; in front of it, until it opens
  i8 left[kAwaited] = {-1, -1, -1, -1};     // a wait: the most accesses of each counter that may be under way; -1: any number
};
WaitOp wait_op(const Op& o, const Target& target);
std::vector<WaitOp> find_waits(const std::vector<Op>& ops, const Target& target);

// One wave's.
class Waits {
 public:
  void begin(const std::vector<WaitOp>* ops, const Op* first);
  // Before each instruction. Throws Fault.
  void before(Wave& w, const Op& o);

 private:
  struct Load {
    const Op* op;
    Registers registers;
    int counters;  // that still count it
  };
  void wait(const WaitOp& o);
  void check(Wave& w, const Op& o, const WaitOp& op) const;
  void leave(Awaited counter, size_t left);

  const std::vector<WaitOp>* ops_ = nullptr;
  const Op* first_ = nullptr;
  std::deque<Load*> on_its_way_[kAwaited];  // oldest first; null: loads no registers
  std::deque<Load> loads_;                  // the loads that on_its_way_ points to
  std::vector<const Load*> of_;             // by register: the load into it
};

}  // namespace amdemu
