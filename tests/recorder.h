// Replaces the CPU kernels of an op, and reports each launch to the test.
#pragma once

#include <array>
#include <functional>
#include <stdexcept>
#include <utility>

#include "device/core/cpu.h"
#include "runtime/runtime.h"

namespace hipops_test {

// One recorder at a time. `note` gets the number of the kernel and its arguments, from any thread, once for each
// work-item that begins. It decides whether the kernel runs.
class Recorder {
 public:
  using Note = std::function<bool(int kernel, const void* args)>;

  Recorder(hipops::Op& op, Note note) : op_(op) {
    if (op.kernel_count > kMostKernels || hipops::load(op) != HIPOPS_SUCCESS)
      throw std::runtime_error("kernels cannot be recorded");
    note_ = std::move(note);
    loaded_ = op.functions[0].load();
    replace(std::make_index_sequence<kMostKernels>());
    op.functions[0].store(functions_.data());
  }
  ~Recorder() { op_.functions[0].store(loaded_); }
  Recorder(const Recorder&) = delete;

 private:
  static constexpr int kMostKernels = 192;

  template <size_t I>
  static void run(const void* args) {
    if (note_(static_cast<int>(I), args)) real_[I]->run(args);
  }
  template <size_t... I>
  void replace(std::index_sequence<I...>) {
    (replace_one<I>(), ...);
  }
  template <size_t I>
  void replace_one() {
    if (static_cast<int>(I) >= op_.kernel_count) return;
    real_[I] = static_cast<const hipops::CpuKernel*>(loaded_[I]);
    noted_[I] = {real_[I]->name, run<I>};
    functions_[I] = &noted_[I];
  }

  hipops::Op& op_;
  void* const* loaded_;
  static inline Note note_;
  static inline std::array<const hipops::CpuKernel*, kMostKernels> real_{};
  static inline std::array<hipops::CpuKernel, kMostKernels> noted_{};
  static inline std::array<void*, kMostKernels> functions_{};
};

}  // namespace hipops_test
