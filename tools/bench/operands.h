// A workload's tensors in device memory, and the call that works on them.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "device.h"
#include "workload.h"

namespace hipops::bench {

using Call = std::function<hipops_status()>;

// Device memory. Throws parity::RuntimeFailure where there is none left.
class Memory {
 public:
  Memory(const Device& device, int64_t bytes);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  void* data() const { return data_; }
  int64_t bytes() const { return bytes_; }

  // Random bits that are numbers of magnitude 1e-2 to 1e2 in every float dtype.
  void fill_with_numbers();
  void fill_with_words(uint32_t word);
  void copy_from_host(const void* source, int64_t bytes);

 private:
  const Device& device_;
  int64_t bytes_;
  void* data_ = nullptr;
};

hipops_tensor contiguous(void* data, hipops_dtype dtype, const std::vector<int64_t>& shape);

// Holds what `call` works on.
class Operands {
 public:
  Operands(const Device& device, const Workload& work);
  const Call& call() const { return call_; }

 private:
  void* numbers(int64_t elements, hipops_dtype dtype);
  hipops_tensor index_of(const Workload& work);
  void bind(const Workload& work);
  void bind_adds(const Workload& work, const hipops_tensor& y, const hipops_tensor& x, const hipops_tensor& index);

  const Device& device_;
  std::vector<std::unique_ptr<Memory>> memory_;
  Call call_;
};

// A row op's call on these tensors; weights of a row's length are taken where the op has some.
Call row_call(const std::string& op, const hipops_tensor& y, const hipops_tensor& x, void* weight, void* bias,
              void* stream);

}  // namespace hipops::bench
