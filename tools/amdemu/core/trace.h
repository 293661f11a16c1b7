// What the waves of a workgroup executed, kept for replay.h: each instruction, and which lines of memory it touched.
#pragma once
#include <memory>
#include <vector>

#include "stats.h"
#include "waits.h"

namespace amdemu {

class Card;

enum class Unit : u8 { None, Valu, Salu, Scalar, Lds, Vector, Branch, Barrier };
constexpr int kUnits = int(Unit::Barrier) + 1;

struct TimedOp {         // what timing needs to know of an instruction
  Unit unit = Unit::None;
  std::vector<Registers> reads, writes;   // also EXEC and SCC
  const WaitOp* wait = nullptr;           // its counters, or what it waits for
  bool is_store = false, signals = false, awaits_barrier = false;
  double latency = 0;    // until its result is there, of ALU instructions
  double keeps = 0;      // how long its unit is busy
  double pause = 0;      // after it, beyond the issue
};
std::vector<TimedOp> find_timing(const std::vector<Op>& ops, const std::vector<StatOp>& stats,
                                 const std::vector<WaitOp>& waits, const Card& card, u32 lanes);

struct Step {            // one executed instruction
  u32 op = 0;
  u32 first_sector = 0;  // in Trace::sectors
  u16 sectors = 0;       // of 64 bytes, sorted
  u16 passes = 0;        // of LDS
};

struct Trace {           // one wave
  std::vector<Step> steps;
  std::vector<u64> sectors;
  bool is_whole = true;
};

// Of one workgroup, while it runs.
class Recorder {
 public:
  Recorder(const Op* first, size_t waves) : traces(waves), first_(first) {}
  // Called in front of each instruction, and behind Counter::before, whose last access it takes.
  void before(Wave& w, const Op& o, const Counter& counter);

  std::vector<Trace> traces;

 private:
  const Op* const first_;
};

}  // namespace amdemu
