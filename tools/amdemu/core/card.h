// What the critical path (AMDEMU_PATH) and the model of a CU (AMDEMU_MODEL) take of a card: latencies, widths and
// rates, each with where it comes from.
#pragma once
#include <string>

#include "isa.h"

namespace amdemu {

enum class Fact : u8 {
  Clock, Cus,
  Issue, SaluLatency, SimdLanes, ValuLatency, TransLatency, TransRate, F64Latency, F64Rate, Branch, Barrier,
  ScalarHit, ScalarL2, ScalarMall, ScalarMemory,
  Lds, LdsBytes,
  AddressLanes, L1Latency, L1Bytes, L1Size, L2Latency, L2Bytes, MallLatency, MallBytes, MemoryLatency, MemoryBytes,
  WaveLaunch, GroupLaunch,
  Count
};

class Card {
 public:
  explicit Card(const Target& target);   // MI300X for gfx9, RX 7900 XTX for gfx10 and later
  double operator[](Fact f) const;
  const char* name() const;

 private:
  int which_;
};

std::string facts_as_json();   // the whole table

}  // namespace amdemu
