// Runs a kernel's work-items on the CPU (worker.h describes the method).
#pragma once

#include <cstdint>
#include <memory>

#include "device/core/cpu.h"
#include "hipops/hipops.h"

namespace hipops {
namespace cpu {

constexpr uint32_t kLargestBlock = 1024;  // as on the GPUs

struct Settings {
  uint32_t wave = 32;    // 32 or 64. A kernel that exchanges in waves of another size is a fatal report
  uint32_t threads = 1;  // most threads of a launch, with the caller's
  uint32_t units = 2;    // compute units for plans: fixed, so that every machine computes the same bits
  uint64_t seed = 0;     // shuffles the order of blocks and work-items, unless 0
  bool race = false;     // check accesses to shared memory for races
};

class StackPool;

// Several threads may use it together.
class Executor {
 public:
  explicit Executor(const Settings& settings);
  ~Executor();

  // Runs kernel.run(args) for each work-item of `grid` blocks of `block`, and returns when all have ended. Each block
  // has `shared_bytes` of shared memory from the launch. Fails before any work-item runs if a GPU would refuse the
  // launch, and with HIPOPS_INTERNAL_ERROR if memory runs out. A defect of the kernel is reported on stderr, and the
  // process aborts.
  hipops_status launch(const CpuKernel& kernel, const void* args, uint32_t grid, uint32_t block,
                       uint32_t shared_bytes = 0);

  // In the child of a fork, which has only the calling thread.
  void after_fork();

  const Settings& settings() const { return settings_; }

 private:
  const Settings settings_;
  const std::unique_ptr<StackPool> stacks_;
};

}  // namespace cpu
}  // namespace hipops
