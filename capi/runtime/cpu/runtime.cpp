// The CPU as one device: kernels run on host memory, and a launch returns when its work is done.
#include <cstdio>
#include <cstring>

#include "device/core/launch_contract.h"
#include "tensor/error.h"
#include "runtime/cpu/executor.h"
#include "runtime/cpu/memory.h"
#include "runtime/cpu/settings.h"
#include "runtime/guarded.h"
#include "runtime/runtime.h"

namespace hipops {
namespace {

// For example "AMD EPYC 9575F 64-Core Processor", on x86 Linux.
std::string processor_name() {
  std::string name = "CPU";
  std::FILE* file = std::fopen("/proc/cpuinfo", "re");
  if (file == nullptr) return name;
  char line[256];
  while (std::fgets(line, sizeof line, file) != nullptr) {
    const char* colon = std::strchr(line, ':');
    if (std::strncmp(line, "model name", 10) != 0 || colon == nullptr) continue;
    const std::string value(colon + 1, std::strcspn(colon + 1, "\n"));
    const size_t begin = value.find_first_not_of(' ');
    if (begin != std::string::npos) name = value.substr(begin);
    break;
  }
  std::fclose(file);
  return name;
}

constexpr int64_t kLaunchSharedBytes = 76 << 10;  // 4 KiB remain for the kernel's own shared memory

DeviceFacts facts_of(const cpu::Settings& settings) {
  DeviceFacts facts;
  facts.wave_size = static_cast<int>(settings.wave);
  facts.blocks_in_one = kBlocksInOne;
  facts.prefetches_rows = true;
  facts.adds_vectors = true;
  facts.launch_shared_bytes = kLaunchSharedBytes;
  facts.units = static_cast<int>(settings.units);
  facts.name = processor_name();
  facts.target = "cpu";
  return facts;
}

hipops_status check_ordinal(int ordinal) {
  if (ordinal == 0) return HIPOPS_SUCCESS;
  return fail(HIPOPS_INVALID_ARGUMENT, "device %d: the CPU is device 0", ordinal);
}

const CpuKernel* find_kernel(const CpuKernel* table, const char* name) {
  for (; table->name != nullptr; ++table) {
    if (std::strcmp(table->name, name) == 0) return table;
  }
  return nullptr;
}

class CpuRuntime : public Runtime {
 public:
  CpuRuntime(const cpu::Settings& settings, cpu::Guard guard)
      : executor_(settings), facts_(facts_of(settings)), memory_(guard) {}

  hipops_backend backend() const override { return HIPOPS_BACKEND_CPU; }

  hipops_status current_device(int* ordinal) override {
    *ordinal = 0;
    return HIPOPS_SUCCESS;
  }

  hipops_status facts(int ordinal, const DeviceFacts** facts) override {
    if (hipops_status status = check_ordinal(ordinal)) return status;
    *facts = &facts_;
    return HIPOPS_SUCCESS;
  }

  hipops_status load(int ordinal, const Image& image, const Op& op, void** functions) override {
    if (hipops_status status = check_ordinal(ordinal)) return status;
    const CpuKernel* table = executor_.settings().wave == 64 ? image.cpu_wave64 : image.cpu_wave32;
    if (table == nullptr)
      return fail(HIPOPS_NO_CODE_OBJECT, "%s: this library was built without the CPU runtime for wave %u", op.name,
                  executor_.settings().wave);
    for (int i = 0; i < op.kernel_count; ++i) {
      const CpuKernel* kernel = find_kernel(table, op.kernel_names[i]);
      if (kernel == nullptr) {
        return fail(HIPOPS_INTERNAL_ERROR, "%s: the CPU has no kernel %s for wave %u", op.name, op.kernel_names[i],
                    executor_.settings().wave);
      }
      functions[i] = const_cast<CpuKernel*>(kernel);
    }
    return HIPOPS_SUCCESS;
  }

  // Work-items read `args` in place, because the call returns after the last one.
  hipops_status launch(void* function, const LaunchShape& shape, const void* args, size_t, void*) override {
    if (shape.cluster != 1 || shape.shared_bytes > kLaunchSharedBytes) return refuse(shape);
    return executor_.launch(*static_cast<const CpuKernel*>(function), args, shape.grid, shape.block, shape.shared_bytes);
  }

  bool survive_fork() override {
    executor_.after_fork();
    return true;
  }

  hipops_status device_count(int* count) override {
    *count = 1;
    return HIPOPS_SUCCESS;
  }

  hipops_status set_device(int ordinal) override { return check_ordinal(ordinal); }
  hipops_status allocate(size_t bytes, void** pointer) override { return memory_.allocate(bytes, pointer); }
  hipops_status release(void* pointer) override { return memory_.release(pointer); }
  hipops_status copy_to_device(void* target, const void* source, size_t bytes) override {
    return copy(target, source, bytes);
  }
  hipops_status copy_to_host(void* target, const void* source, size_t bytes) override {
    return copy(target, source, bytes);
  }
  hipops_status copy_on_device(void* target, const void* source, size_t bytes) override {
    return copy(target, source, bytes);
  }
  hipops_status allocate_on_host(size_t bytes, void** pointer) override { return allocate(bytes, pointer); }
  hipops_status release_on_host(void* pointer) override { return release(pointer); }
  hipops_status create_stream(void** stream) override {
    *stream = nullptr;  // a launch returns when its work is done
    return HIPOPS_SUCCESS;
  }
  hipops_status destroy_stream(void*) override { return HIPOPS_SUCCESS; }
  hipops_status synchronize() override { return HIPOPS_SUCCESS; }

 private:
  static hipops_status copy(void* target, const void* source, size_t bytes) {
    if (bytes > 0) std::memcpy(target, source, bytes);
    return HIPOPS_SUCCESS;
  }

  cpu::Executor executor_;
  const DeviceFacts facts_;
  cpu::Memory memory_;
};

}  // namespace

hipops_status open_cpu(Runtime** out) {
  return guarded([out] {
    cpu::Settings settings;
    cpu::Guard guard = cpu::Guard::kNone;
    if (hipops_status status = cpu::settings_from_environment(&settings, &guard)) return status;
    *out = new CpuRuntime(settings, guard);
    return HIPOPS_SUCCESS;
  });
}

}  // namespace hipops
