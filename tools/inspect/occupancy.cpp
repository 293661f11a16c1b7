#include "inspect/occupancy.h"

#include <algorithm>

namespace hipops::inspect {
namespace {

constexpr uint64_t kKiB = 1024;

bool begins(const std::string& text, const char* beginning) { return text.rfind(beginning, 0) == 0; }

uint64_t round_up(uint64_t n, uint64_t step) { return (n + step - 1) / step * step; }

// Registers and waves are from LLVM's AMDGPUBaseInfo.cpp (getTotalNumVGPRs, getVGPRAllocGranule, getMaxWavesPerEU,
// getMaxWorkGroupsPerCU), GCNSubtarget.cpp (getOccupancyWithNumSGPRs, whose table is 800 in steps of 4) and AMDGPU.td.
// llc 22 prints the same numbers for kernels. The sizes of LDS are from LLVM's AMDGPUUsage. Its unit of allocation from
// gfx10.3 on is from Mesa (ac_gpu_info.c), because LLVM has none.
constexpr Hardware kGfx9 = {4, 1, 256, 4, 10, 800, 4, 64 * kKiB, 512, 16};
constexpr Hardware kGfx90a = {4, 1, 512, 8, 8, 800, 4, 64 * kKiB, 512, 16};
constexpr Hardware kGfx950 = {4, 1, 512, 8, 8, 800, 4, 160 * kKiB, 1280, 16};
constexpr Hardware kGfx10_1 = {4, 2, 1024, 8, 20, 0, 1, 128 * kKiB, 512, 32};
constexpr Hardware kGfx10_3 = {4, 2, 1024, 16, 16, 0, 1, 128 * kKiB, 1024, 32};
constexpr Hardware kGfx11 = kGfx10_3;
constexpr Hardware kGfx11Large = {4, 2, 1536, 24, 16, 0, 1, 128 * kKiB, 1024, 32};
constexpr Hardware kGfx12 = kGfx11Large;

}  // namespace

Hardware hardware_of(const std::string& target) {
  const std::string name = target.substr(0, target.find(':'));
  if (name == "gfx950") return kGfx950;
  if (name == "gfx90a" || begins(name, "gfx94") || name == "gfx9-4-generic") return kGfx90a;
  if (begins(name, "gfx90") || name == "gfx9-generic") return kGfx9;
  if (begins(name, "gfx101") || name == "gfx10-1-generic") return kGfx10_1;
  if (begins(name, "gfx103") || name == "gfx10-3-generic") return kGfx10_3;
  // These have 1.5 times the registers. The generic target cannot rely on that.
  if (name == "gfx1100" || name == "gfx1101" || name == "gfx1151") return kGfx11Large;
  if (begins(name, "gfx110") || begins(name, "gfx115") || name == "gfx11-generic") return kGfx11;
  if (name == "gfx1200" || name == "gfx1201" || name == "gfx12-generic") return kGfx12;
  throw UnknownTarget("nothing is known here of the registers of " + target);
}

Occupancy occupancy(const Kernel& kernel, const Hardware& hardware) {
  const uint64_t waves = std::max<uint64_t>(1, (kernel.largest_block + kernel.wave - 1) / kernel.wave);  // of a block
  const uint64_t room = uint64_t{hardware.most_waves} * hardware.simds;
  // On a SIMD of 32 lanes, a wave of 64 needs two of each register.
  const uint64_t halves = hardware.units == 2 && kernel.wave == 64 ? 2 : 1;
  const uint64_t vgprs = round_up(std::max<uint64_t>(1, kernel.vgprs), hardware.vgpr_step / halves) * halves;
  const uint64_t sgprs = round_up(std::max<uint64_t>(1, kernel.sgprs), hardware.sgpr_step);
  const uint64_t lds = round_up(kernel.lds_bytes, hardware.lds_step);

  // The number of blocks that fit, by each resource.
  const uint64_t by_block = waves == 1 ? room : std::min<uint64_t>(room / waves, hardware.most_groups);
  const uint64_t by_vgprs = hardware.vgprs / vgprs * hardware.simds / waves;
  const uint64_t by_sgprs = hardware.sgprs == 0 ? by_block : hardware.sgprs / sgprs * hardware.simds / waves;
  const uint64_t by_lds = lds == 0 ? by_block : hardware.lds_bytes / lds;

  const uint64_t blocks = std::min({by_block, by_vgprs, by_sgprs, by_lds});
  Occupancy result;
  result.waves_per_simd = static_cast<double>(blocks * waves) / hardware.simds;
  result.waves_per_unit = static_cast<double>(blocks * waves) / hardware.units;
  result.limit = blocks == by_block   ? (by_block * waves < room ? "block" : "none")
                 : blocks == by_vgprs ? "vgprs"
                 : blocks == by_lds   ? "lds"
                                      : "sgprs";
  return result;
}

}  // namespace hipops::inspect
