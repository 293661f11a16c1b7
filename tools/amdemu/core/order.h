// AMDEMU_ORDER checks that accesses of different waves to the same bytes are ordered, by LLVM's memory model for the target.
// A load that nothing orders after another wave's store returns 255 in each of its bytes. A kernel that uses such bytes then
// gives wrong results in every run. A store that nothing orders after another wave's load is a fault.
// The check delays no access. It records which accesses of other waves each wave may rely on.
//
// Each workgroup has its own caches here, because it may run on any compute unit of any XCD.
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

struct OrderOp {                       // the facts about an instruction that the check uses
  i8 loads_left = -1, stores_left = -1;  // a wait: the most accesses that may be under way behind it; -1: any number
  bool counts_load = false, counts_store = false;
  bool write_back = false;             // writes a release back to where other L2s read it
  u8 invalidates = 0;                  // bits of Reach
  bool shared = false;                 // an access past the caches, which all workgroups see
  bool arrives = false;                // at the workgroup's barrier
  bool is_checked = false;             // one of the above
};
// An invalidation makes stores of the workgroup's other waves visible, or stores of all waves.
namespace Reach { constexpr u8 Group = 1, Device = 2; }
void begin_order();  // before each launch
std::vector<OrderOp> find_order(const std::vector<Op>& ops, const Target& target);

// A wave's last store that other waves see, and its last load that has returned.
struct UpTo { u32 store = 0, load = 0; };
using Known = std::shared_ptr<std::map<u32, UpTo>>;  // never changed once it is shared

class GroupOrder {  // the accesses that a workgroup's waves know of each other after its barriers
 public:
  // has_one_cache: all its waves share one L0, which executes their accesses in order.
  void begin(u32 waves, u64 number, bool has_one_cache);
  void open();  // when the barrier opens

 private:
  friend class WaveOrder;
  struct Of { u32 placed = 0, stored = 0, begun = 0, loaded = 0; };  // numbers of the last store and load: issued, done
  std::vector<Of> arrived_, at_barrier_;  // by wave
  Known foreign_arrived_, foreign_, released_arrived_, released_;
  u32 number_ = 0;
  bool has_one_cache_ = true;
};

class WaveOrder {
 public:
  void begin(const Launch& launch, Workgroup& group, u32 index);
  void before(Wave& w, const Op& o);  // in front of each instruction
  // Checks an access to global memory. Returns the address of its bytes: of a copy, if some of them are replaced by 255.
  // Throws Fault for a store or an atomic that is not ordered.
  u8* access(Wave& w, const Op& o, u64 address, u32 bytes, u32 lane, bool write, bool atomic);
  void scalar_load(Wave& w, const Op& o, u64 address, u32 bytes);

 private:
  struct Passing {             // an access that a counter counts
    u32 load = 0, store = 0;
    bool write_back = false;
    Known released;            // by this write-back, without its own wave's stores
    std::vector<Known> seen;   // by atomics and loads past the caches
  };
  struct Access;
  struct Cell;
  struct Page;
  friend class Shadow;
  void wait(std::deque<Passing>& all, size_t left);
  u32 loaded() const;
  Known of_group() const;
  Known known() const;         // the accesses that another wave may rely on after it reads an atomic of this wave
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
  std::deque<Passing> loading_, storing_;     // accesses under way, oldest first
  std::vector<u32> fresh_;                    // for each wave of the workgroup: its last store that this wave's caches cannot hide
  Known seen_, near_, have_, released_;       // accesses of other workgroups: seen; before L0 is invalidated; to rely on; released
  u8 copies_[64][16];                         // each lane's bytes, if some of them are replaced
  Known told_;                                // known() at the instruction told_of_
  const Op* told_of_ = nullptr;
};

}  // namespace amdemu
