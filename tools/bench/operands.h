// A workload's tensors in device memory, and the call of the op on them.
#pragma once

#include <memory>
#include <vector>

#include "device.h"
#include "workload.h"

namespace hipops::bench {

using parity::Call;

// Device memory. The constructor throws parity::RuntimeFailure if none is left.
class Memory {
 public:
  Memory(const Device& device, int64_t bytes);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  void* data() const { return data_; }
  int64_t bytes() const { return bytes_; }

  // Random bits that represent magnitudes of 1e-2 to 1e2 in every float dtype.
  void fill_with_numbers();
  void fill_with_words(uint32_t word);
  void copy_from_host(const void* source, int64_t bytes);

 private:
  const Device& device_;
  int64_t bytes_;
  void* data_ = nullptr;
};

hipops_tensor contiguous(void* data, hipops_dtype dtype, const std::vector<int64_t>& shape);

// The tensors of a workload, and the op's call on them.
class Operands {
 public:
  Operands(const Device& device, const Workload& work);
  const Call& call() const { return call_; }

 private:
  void* numbers(int64_t elements, hipops_dtype dtype);
  void add_numbers(const char* name, hipops_dtype dtype, const std::vector<int64_t>& shape);
  hipops_tensor indices(const Workload& work, const std::vector<int64_t>& shape);
  void add_workspace(const parity::OpEntry& op);

  const Device& device_;
  std::vector<std::unique_ptr<Memory>> memory_;
  parity::Arguments arguments_;
  Call call_;
};

}  // namespace hipops::bench
