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
  // The one that is named, if one is (AMDEMU_CARD); else an MI300X for gfx9, an RX 7900 XTX for gfx10 and later. An H200 is there to
  // compare the method with measurements, by code with wave 32.
  Card(const Target& target, const char* named);
  double operator[](Fact f) const;
  const char* name() const;
  bool is_amd() const;

 private:
  int which_;
};

std::string facts_as_json();   // the whole table

}  // namespace amdemu
