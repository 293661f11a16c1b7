#include "runtime/cpu/executor.h"

#include <signal.h>

#include <algorithm>
#include <functional>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

#include "tensor/error.h"
#include "runtime/cpu/worker.h"

namespace hipops {
namespace cpu {
namespace {

// A thread starts in about 20 us. It pays for at least this many work-items.
constexpr uint64_t kItemsPerThread = 256;

uint32_t worker_count(const Launch& launch) {
  const uint64_t items = uint64_t{launch.grid} * launch.block;
  const uint64_t useful = std::min(uint64_t{launch.grid}, std::max(items / kItemsPerThread, uint64_t{1}));
  const uint64_t allowed = std::max(Fibers::kMostOfLaunch / launch.block, uint32_t{1});
  return static_cast<uint32_t>(std::min({uint64_t{launch.settings.threads}, useful, allowed}));
}

// A thread without memory returns. The other threads do the work.
void help(Launch& launch) {
  try {
    Worker worker(launch);
    if (worker.prepare()) worker.run();
  } catch (const std::bad_alloc&) {
  }
}

// Threads that start while this exists block all signals except their own faults. The program's handlers expect the
// program's threads.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS}) sigdelset(&all, fault);
    pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

class Helpers {
 public:
  Helpers(Launch& launch, uint32_t count) {
    if (count == 0) return;
    const SignalsBlocked blocked;
    threads_.reserve(count);
    try {
      for (uint32_t i = 0; i < count; ++i) threads_.emplace_back(help, std::ref(launch));
    } catch (const std::exception&) {  // no more threads, or no memory for one: the threads that have started do the work
    }
  }
  ~Helpers() {
    for (std::thread& thread : threads_) thread.join();
  }
  Helpers(const Helpers&) = delete;
  Helpers& operator=(const Helpers&) = delete;

 private:
  std::vector<std::thread> threads_;
};

bool run_all(Launch& launch) {
  Worker worker(launch);
  if (!worker.prepare()) return false;
  {
    Helpers helpers(launch, worker_count(launch) - 1);
    worker.run();
  }
  return !launch.given_up();
}

}  // namespace

Executor::Executor(const Settings& settings)
    : settings_(settings), stacks_(new StackPool(settings.threads, kLargestBlock)) {}

Executor::~Executor() = default;

void Executor::after_fork() { stacks_->after_fork(); }

hipops_status Executor::launch(const CpuKernel& kernel, const void* args, uint32_t grid, uint32_t block,
                               uint32_t shared_bytes) {
  if (grid == 0) return fail(HIPOPS_INVALID_ARGUMENT, "a grid of 0 blocks");
  if (block == 0 || block > kLargestBlock) {
    return fail(HIPOPS_INVALID_ARGUMENT, "a block of %u work-items, expected 1 to %u", block, kLargestBlock);
  }
  if (uint64_t{grid} * block > UINT32_MAX) {  // AMD GPUs count the work-items of a dimension in 32 bits
    return fail(HIPOPS_INVALID_ARGUMENT, "%u blocks of %u are 2^32 work-items or more", grid, block);
  }
  Launch launch(kernel, args, grid, block, shared_bytes, settings_, *stacks_);
  bool done = false;
  try {
    done = run_all(launch);
  } catch (const std::bad_alloc&) {
  }
  if (done) return HIPOPS_SUCCESS;
  return fail(HIPOPS_INTERNAL_ERROR, "out of host memory for the work-items of a block of %u", block);
}

}  // namespace cpu
}  // namespace hipops
