#include "card.h"

#include <cstring>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace amdemu {
namespace {

struct Figure {
  double value;
  const char* tag;      // published: its source says so; derived: computed from published ones; assumed: nobody has told us
  const char* source;
};
struct Row {
  Fact fact;
  const char *name, *unit;
  Figure of[3];   // of each card
};

const char* const kNames[] = {"MI300X", "RX 7900 XTX", "H200"};
constexpr const char *P = "published", *D = "derived", *A = "assumed";
constexpr const char* kMt4g = "MT4G (github.com/caps-tum/mt4g), measured on an MI300X";
constexpr const char* kLlvm = "LLVM's SISchedule.td, which calls its figures inexact";
constexpr const char* kCuda = "NVIDIA's CUDA programming guide, 9.0";
constexpr const char* kHopper = "Luo et al., Benchmarking and Dissecting the Nvidia Hopper GPU Architecture, on an H100";
constexpr const char* kBank = "arguments are in the constant bank";
constexpr const char* kChips = "Chips and Cheese, Latency Testing is Hard (RDNA 3 Power Saving), in ns, at 2.5 GHz";

const Row kFacts[] = {
    {Fact::Clock, "clock", "MHz",
     {{2100, P, "AMD's data sheet; MT4G"}, {2500, P, "AMD's data sheet, boost"}, {1980, P, "NVIDIA's data sheet, boost"}}},
    {Fact::Cus, "compute units", "",
     {{304, P, "AMD's data sheet"}, {96, P, "AMD's data sheet"}, {132, P, "NVIDIA's data sheet: multiprocessors"}}},

    // Instructions of one wave.
    {Fact::Issue, "from one instruction of a wave to its next", "cycles",
     {{4, P, "CLRX, GCN ISA Instruction Timings"}, {1, P, "AMD's RDNA white paper"}, {1, P, kCuda}}},
    {Fact::SaluLatency, "scalar ALU result", "cycles", {{4, P, "CLRX, GCN ISA Instruction Timings"}, {2, P, kLlvm}, {4, A, ""}}},
    {Fact::SimdLanes, "lanes of a SIMD", "",
     {{16, P, "AMD's CDNA 3 white paper"}, {32, P, "AMD's RDNA white paper"}, {32, D, "128 of a multiprocessor by 4"}}},
    {Fact::ValuLatency, "vector ALU result", "cycles", {{4, P, kLlvm}, {5, P, kLlvm}, {4, P, kHopper}}},
    {Fact::TransLatency, "result of exp, log, rcp, rsq, sqrt", "cycles", {{16, P, kLlvm}, {10, P, kLlvm}, {20, A, ""}}},
    {Fact::TransRate, "they keep the SIMD, in times of others", "", {{4, P, kLlvm}, {4, P, kLlvm}, {8, P, kCuda}}},
    {Fact::F64Latency, "f64 result", "cycles", {{4, P, kLlvm}, {38, P, kLlvm}, {16, A, ""}}},
    {Fact::F64Rate, "f64 keeps the SIMD, in times of others", "",
     {{1, D, "from 81.7 TFLOPS of AMD's data sheet"}, {16, D, "from 1/32 of f32's dual-issue rate"}, {2, P, kCuda}}},
    {Fact::Branch, "taken branch", "cycles", {{32, P, kLlvm}, {32, P, kLlvm}, {16, A, ""}}},
    {Fact::Barrier, "barrier, from the last wave's arrival", "cycles", {{16, A, ""}, {16, A, ""}, {20, A, ""}}},

    // Scalar loads, by where the first of their lines is.
    {Fact::ScalarHit, "scalar load, scalar cache", "cycles", {{48, P, kMt4g}, {40, A, ""}, {30, A, kBank}}},
    {Fact::ScalarL2, "scalar load, L2", "cycles", {{172, D, "48, and MT4G's miss penalty of 124"}, {150, A, ""}, {30, A, kBank}}},
    {Fact::ScalarMall, "scalar load, Infinity Cache", "cycles",
     {{381, D, "as a vector load, less what L2 takes less"}, {321, P, kChips}, {30, A, kBank}}},
    {Fact::ScalarMemory, "scalar load, memory", "cycles",
     {{784, D, "as a vector load, less what L2 takes less"}, {520, A, "200 more than Infinity Cache"}, {30, A, kBank}}},

    {Fact::Lds, "LDS access", "cycles", {{52, P, kMt4g}, {56, A, ""}, {29, P, kHopper}}},
    {Fact::LdsBytes, "LDS, a CU", "bytes a cycle", {{128, P, "AMD's CDNA 3 ISA"}, {128, P, "AMD's RDNA white paper"}, {128, P, kCuda}}},

    // Vector loads and stores.
    {Fact::AddressLanes, "address unit", "lanes a cycle", {{16, A, "64 lanes take 4 cycles or more"}, {16, A, ""}, {32, A, ""}}},
    {Fact::L1Latency, "vector load, L1 (L0)", "cycles", {{116, P, kMt4g}, {90, A, ""}, {41, P, kHopper}}},
    {Fact::L1Bytes, "L1 (L0), a CU", "bytes a cycle", {{64, A, ""}, {64, A, ""}, {128, P, kHopper}}},
    {Fact::L1Size, "L1 (L0)", "bytes",
     {{32768, P, kMt4g}, {32768, P, "AMD's GPU specifications"}, {131072, A, "half of what it shares with shared memory"}}},
    {Fact::L2Latency, "vector load, L2; store", "cycles", {{288, P, "MT4G; a store: assumed"}, {225, A, ""}, {262, P, kHopper}}},
    {Fact::L2Bytes, "L2, a CU's share", "bytes a cycle",
     {{24.2, D, "MT4G's 14365 GiB/s by 304 CUs"}, {24, A, ""}, {21, A, "5.5 TB/s by 132"}}},
    {Fact::MallLatency, "vector load, Infinity Cache", "cycles",
     {{497, D, "L2's, and MT4G's miss penalty of 209"}, {376, P, kChips}, {262, D, "L2's: there is no other"}}},
    {Fact::MallBytes, "Infinity Cache, a CU's share", "bytes a cycle",
     {{9.1, D, "MT4G's 5400 GiB/s by 304 CUs"}, {14.5, A, "3.5 TB/s by 96 CUs"}, {21, D, "L2's"}}},
    {Fact::MemoryLatency, "vector load, memory", "cycles", {{900, P, kMt4g}, {576, A, "200 more than Infinity Cache"}, {479, P, kHopper}}},
    {Fact::MemoryBytes, "memory, a CU's share", "bytes a cycle",
     {{6.2, D, "MT4G's 3690 GiB/s by 304 CUs"}, {3.5, A, "88 % of the data sheet's 960 GB/s"}, {16.5, D, "a plain copy's 4.3 TB/s by 132"}}},

    {Fact::WaveLaunch, "launch of a wave, a CU's turn", "cycles",
     {{10, A, "a wave a cycle for 10 CUs"}, {16, A, "a wave a cycle for 16 CUs"}, {16, A, ""}}},
    {Fact::GroupLaunch, "from a workgroup's end to the next one's begin", "cycles", {{100, A, ""}, {100, A, ""}, {100, A, ""}}},
};
static_assert(sizeof kFacts / sizeof kFacts[0] == size_t(Fact::Count));

}  // namespace

Card::Card(const Target& target, const char* named) : which_(target.is9() ? 0 : 1) {
  if (!named || !*named) return;
  for (int i = 0; i < int(std::size(kNames)); ++i)
    if (!std::strcmp(named, kNames[i])) which_ = i;
  if (std::strcmp(named, kNames[which_]) != 0)
    throw std::runtime_error(std::string("AMDEMU_CARD is '") + named + "', expected MI300X, RX 7900 XTX or H200");
  if (!is_amd() && target.is9()) throw std::runtime_error("AMDEMU_CARD is 'H200', which needs code with wave 32, as for gfx1100");
}

bool Card::is_amd() const { return which_ < 2; }

double Card::operator[](Fact f) const { return kFacts[size_t(f)].of[which_].value; }

const char* Card::name() const { return kNames[which_]; }

std::string facts_as_json() {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const Row& row : kFacts) {
    nlohmann::ordered_json of;
    for (int card = 0; card < int(std::size(kNames)); ++card)
      of[kNames[card]] = {{"value", row.of[card].value}, {"tag", row.of[card].tag}, {"source", row.of[card].source}};
    rows.push_back({{"name", row.name}, {"unit", row.unit}, {"cards", of}});
  }
  return rows.dump(1);
}

}  // namespace amdemu
