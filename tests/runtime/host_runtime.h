// A device with host memory, for runs of parity's cases without kernels.
#pragma once

#include <cstdlib>
#include <cstring>

#include "runtime/runtime.h"

class HostRuntime : public hipops::Runtime {
 public:
  hipops_backend backend() const override { return HIPOPS_BACKEND_CPU; }
  hipops_status current_device(int* ordinal) override {
    *ordinal = 0;
    return HIPOPS_SUCCESS;
  }
  hipops_status facts(int, const hipops::DeviceFacts**) override { return HIPOPS_INTERNAL_ERROR; }
  hipops_status load(int, const hipops::Image&, const hipops::Op&, void**) override { return HIPOPS_INTERNAL_ERROR; }
  hipops_status launch(void*, const hipops::LaunchShape&, const void*, size_t, void*) override {
    return HIPOPS_INTERNAL_ERROR;
  }
  hipops_status device_count(int*) override { return HIPOPS_INTERNAL_ERROR; }
  hipops_status set_device(int) override { return HIPOPS_SUCCESS; }
  hipops_status allocate(size_t bytes, void** pointer) override {
    if (refuse_allocation != HIPOPS_SUCCESS) return refuse_allocation;
    *pointer = std::malloc(bytes);
    allocated_end = static_cast<unsigned char*>(*pointer) + bytes;
    allocated_begin = static_cast<unsigned char*>(*pointer);
    ++live;
    return HIPOPS_SUCCESS;
  }
  hipops_status release(void* pointer) override {
    --live;
    std::free(pointer);
    return HIPOPS_SUCCESS;
  }
  hipops_status copy_to_device(void* target, const void* source, size_t bytes) override {
    std::memcpy(target, source, bytes);
    return HIPOPS_SUCCESS;
  }
  hipops_status copy_to_host(void* target, const void* source, size_t bytes) override {
    std::memcpy(target, source, bytes);
    return HIPOPS_SUCCESS;
  }
  hipops_status copy_on_device(void* target, const void* source, size_t bytes) override {
    std::memcpy(target, source, bytes);
    return HIPOPS_SUCCESS;
  }
  hipops_status allocate_on_host(size_t bytes, void** pointer) override {
    *pointer = std::malloc(bytes);
    ++live;
    return HIPOPS_SUCCESS;
  }
  hipops_status release_on_host(void* pointer) override { return release(pointer); }
  hipops_status create_stream(void** stream) override {
    *stream = nullptr;
    return HIPOPS_SUCCESS;
  }
  hipops_status destroy_stream(void*) override { return HIPOPS_SUCCESS; }
  hipops_status synchronize() override { return synchronize_status; }

  hipops_status refuse_allocation = HIPOPS_SUCCESS;
  hipops_status synchronize_status = HIPOPS_SUCCESS;
  unsigned char* allocated_begin = nullptr;
  unsigned char* allocated_end = nullptr;
  int live = 0;
};
