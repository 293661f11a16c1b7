// AMDEMU_ORDER: a load that no barrier, wait, write-back, atomic or invalidation orders after another wave's store to the same
// bytes, as LLVM's memory model for the target has it, gives 255 for each of them. So a kernel that needs them is wrong however
// its waves happened to run, and one that loads them beside what it needs is not. A store that nothing orders after another
// wave's load of the same bytes is a fault. Nothing is delayed: it keeps who knows what of whom.
//
// Every workgroup is taken to have caches of its own: it may run on any compute unit, of any XCD.
#pragma once
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "isa.h"

namespace amdemu {

struct Launch;
struct Wave;
struct Workgroup;

struct OrderOp {                       // what this needs to know of an instruction
  i8 loads_left = -1, stores_left = -1;  // of a wait: how many may be left; -1: any number
  bool counts_load = false, counts_store = false;
  bool write_back = false;             // of what a release is to show to other L2s
  u8 invalidates = 0;                  // Reach::, or both
  bool shared = false;                 // an access that goes to where all workgroups see it
  bool arrives = false;                // at the workgroup's barrier
};
// Whose stores an invalidation is for: of the workgroup's other waves, or of all.
namespace Reach { constexpr u8 Group = 1, Device = 2; }
void begin_order();  // of the next launch
std::vector<OrderOp> find_order(const std::vector<Op>& ops, const Target& target);

// The last store of a wave that others see, and its last load that has returned.
struct UpTo { u32 store = 0, load = 0; };
using Known = std::shared_ptr<std::map<u32, UpTo>>;  // never changed once it is shared

class GroupOrder {  // what the waves of a workgroup tell each other at its barriers
 public:
  // has_one_cache: its waves have one L0, which takes what they do in order.
  void begin(u32 waves, u64 number, bool has_one_cache);
  void open();  // the barrier

 private:
  friend class WaveOrder;
  struct Of { u32 placed = 0, stored = 0, begun = 0, loaded = 0; };  // up to which store, and load
  std::vector<Of> arrived_, at_barrier_;  // by wave
  Known foreign_arrived_, foreign_, released_arrived_, released_;
  u32 number_ = 0;
  bool has_one_cache_ = true;
};

class WaveOrder {
 public:
  void begin(const Launch& launch, Workgroup& group, u32 index);
  void before(Wave& w, const Op& o);  // in front of each instruction
  // Each access to global memory. Gives where its bytes are: a copy, where some of them are spoiled. Throws Fault for one that
  // no value of what it loads could be right for.
  u8* access(Wave& w, const Op& o, u64 address, u32 bytes, u32 lane, bool write, bool atomic);
  void scalar_load(Wave& w, const Op& o, u64 address, u32 bytes);

 private:
  struct Passing {             // an instruction that a counter counts
    u32 load = 0, store = 0;
    bool write_back = false;
    Known released;            // by it, but for its own wave's
    std::vector<Known> seen;   // by atomics and loads that go to where all see them
  };
  struct Access;
  struct Cell;
  struct Page;
  friend class Shadow;
  void wait(std::deque<Passing>& all, size_t left);
  u32 loaded() const;
  Known of_group() const;
  Known known() const;         // that others may learn from an atomic of this wave
  bool touch(Wave& w, const Op& o, Cell& c, u64 address, u32 lane, bool write, bool atomic);
  void note_load(Cell& c, u32 op) const;
  bool knows_store(const Cell& c, bool past_caches) const;
  bool knows_load(const Access& load) const;
  u32 number_of(const Op& o) const;
  std::string told(const Wave& w, u64 address, const char* what, const Access& other) const;

  const Launch* launch_ = nullptr;
  GroupOrder* group_ = nullptr;
  const OrderOp* op_ = nullptr;               // the instruction that runs
  u32 index_ = 0, first_ = 0, waves_ = 0;     // first_: the number of the workgroup's wave 0 among all of the launch
  u32 loads_ = 0, stores_ = 0, stored_ = 0;
  std::deque<Passing> loading_, storing_;     // what counters count, oldest first
  std::vector<u32> fresh_;                    // of each wave of the workgroup, which stores this one's caches cannot hide
  Known seen_, near_, have_, released_;       // foreign stores: seen; with only L0 to be invalidated; to be read; to be told
  u8 copies_[64][16];                         // of each lane's bytes, where some are spoiled
  Known told_;                                // by the instruction told_of_
  const Op* told_of_ = nullptr;
};

}  // namespace amdemu
