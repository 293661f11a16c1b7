// Runs a kernel's work-items on the CPU. See cpu/worker.h for how.
#pragma once

#include <cstdint>
#include <memory>

#include "device/core/cpu.h"
#include "hipops/hipops.h"

namespace hipops {
namespace cpu {

constexpr uint32_t kLargestBlock = 1024;  // as on the GPUs

struct Settings {
  uint32_t wave = 32;    // 32 or 64: a kernel that exchanges in another one is a fatal report
  uint32_t threads = 1;  // the most that a launch may use, the caller's included
  uint32_t units = 2;    // compute units that plans count on: fixed, so that every machine computes the same bits
  uint64_t seed = 0;     // shuffles the order of blocks and work-items, unless 0
  bool race = false;     // check accesses to shared memory for races
};

class StackPool;

// May be used from several threads at once.
class Executor {
 public:
  explicit Executor(const Settings& settings);
  ~Executor();

  // Runs kernel.run(args) for each work-item of `grid` blocks of `block`, and returns when all have ended. Fails
  // without having run anything where a GPU would refuse the launch; HIPOPS_INTERNAL_ERROR where memory ran out. A
  // defect of the kernel is reported on stderr and aborts: no status could bring back what it left undone. The launch
  // brings `shared_bytes` of shared memory for each block.
  hipops_status launch(const CpuKernel& kernel, const void* args, uint32_t grid, uint32_t block,
                       uint32_t shared_bytes = 0);

  // In the child of a fork, which has the calling thread alone.
  void after_fork();

  const Settings& settings() const { return settings_; }

 private:
  const Settings settings_;
  const std::unique_ptr<StackPool> stacks_;
};

}  // namespace cpu
}  // namespace hipops
