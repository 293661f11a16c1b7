// AMDEMU_WAITS: a load's registers are not to be used until a wait covers it. The emulator has loaded at once; this keeps what
// would still be on its way.
#pragma once
#include <deque>
#include <vector>

#include "isa.h"

namespace amdemu {

// The counters that tell accesses' progress. Ds and Scalar are one, lgkmcnt, before GFX12. Store is that of GFX10 and later. Waits
// does not look at it, as registers may be used again as soon as a store has been issued.
enum class Awaited : u8 { Vector, Ds, Scalar, Store, Nothing };
constexpr int kAwaited = int(Awaited::Nothing);

struct Registers {     // a run of them: scalar slots, and vector registers from kFirstVector on
  u16 first = 0, count = 0;
};
constexpr u16 kFirstVector = S_SLOTS, kAllRegisters = kFirstVector + ACC_BASE + 256 + 16;

struct WaitOp {        // what this needs to know of an instruction
  std::vector<Registers> named;             // by its text
  Registers loaded;                         // those that it loads
  Awaited counter = Awaited::Nothing;       // in which it counts
  bool flat = false;                        // in Ds, too
  bool replaces = false;                    // a vector load: comes after earlier ones, also into the same registers
  bool is_wait = false;
  bool arrives = false, awaits_barrier = false;  // at the workgroup's barrier; in front of it, until it opens
  i8 left[kAwaited] = {-1, -1, -1, -1};     // of a wait: how many may be left in each; -1: any number
};
WaitOp wait_op(const Op& o, const Target& target);
std::vector<WaitOp> find_waits(const std::vector<Op>& ops, const Target& target);

// Of one wave.
class Waits {
 public:
  void begin(const std::vector<WaitOp>* ops, const Op* first);
  // Called in front of each instruction; throws Fault.
  void before(Wave& w, const Op& o);

 private:
  struct Load {
    const Op* op;
    Registers registers;
    int counters;  // in which it is
  };
  void wait(const WaitOp& o);
  void leave(Awaited counter, size_t left);

  const std::vector<WaitOp>* ops_ = nullptr;
  const Op* first_ = nullptr;
  std::deque<Load*> on_its_way_[kAwaited];  // oldest first; null: an access that loads no registers
  std::deque<Load> loads_;                  // those that it points to, and later ones
  std::vector<const Load*> of_;             // the load that each register waits for
};

}  // namespace amdemu
