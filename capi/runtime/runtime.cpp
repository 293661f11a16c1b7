// Chooses the runtime, and launches ops on it. After the first call on a device, a launch locks and allocates nothing.
#include "runtime/runtime.h"

#include <pthread.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>

#include "tensor/error_state.h"
#include "runtime/guarded.h"
#include "runtime/shared_object.h"

namespace hipops {
namespace {

struct Backend {
  hipops_backend value;
  const char* name;
  hipops_status (*open)(Runtime** out);
  const char* library;  // the stem of the runtime's library
};

// In the order of the automatic choice, which tries runtimes first that the process has loaded.
constexpr Backend kBackends[] = {
    {HIPOPS_BACKEND_HIP, "hip", open_hip, "libamdhip64"},
    {HIPOPS_BACKEND_CUDA, "cuda", open_cuda, "libcuda"},
    {HIPOPS_BACKEND_CPU, "cpu", open_cpu, nullptr},
};
constexpr size_t kBackendCount = sizeof kBackends / sizeof kBackends[0];

// std::mutex has a constant initialiser and a trivial destructor here, so no code of this file runs when the process
// starts or exits.
std::mutex choosing;
std::atomic<Runtime*> chosen{nullptr};
std::mutex loading;
std::atomic<bool> watches_forks{false};
const char* forked_after = nullptr;  // guarded by `choosing`: why a forked process can have no backend

const Backend* find_backend(hipops_backend value) {
  for (const Backend& backend : kBackends)
    if (backend.value == value) return &backend;
  return nullptr;
}

// Reads HIPOPS_BACKEND. Unset or empty: auto.
hipops_status backend_from_environment(hipops_backend* out) {
  const char* text = std::getenv("HIPOPS_BACKEND");
  *out = HIPOPS_BACKEND_AUTO;
  if (!text || !*text || !std::strcmp(text, "auto")) return HIPOPS_SUCCESS;
  for (const Backend& backend : kBackends) {
    if (std::strcmp(text, backend.name) != 0) continue;
    *out = backend.value;
    return HIPOPS_SUCCESS;
  }
  return fail(HIPOPS_INVALID_ARGUMENT, "HIPOPS_BACKEND is \"%s\", expected one of auto, hip, cuda, cpu", text);
}

// GPU runtimes that the process has loaded come first: the process may have their pointers.
std::array<const Backend*, kBackendCount> in_order() {
  std::array<const Backend*, kBackendCount> order;
  size_t count = 0;
  bool loaded[kBackendCount];
  for (size_t i = 0; i < kBackendCount; ++i) loaded[i] = kBackends[i].library && is_loaded(kBackends[i].library);
  for (const bool wanted : {true, false})
    for (size_t i = 0; i < kBackendCount; ++i)
      if (loaded[i] == wanted) order[count++] = &kBackends[i];
  return order;
}

// Messages of failed backends count only if none opens: a success must not change the thread's last error. If a GPU's
// runtime exists and does not start, because the driver is not ready or too old, the CPU is no substitute: a caller
// with device pointers would pass them to it.
hipops_status open_first(Runtime** out) {
  const ErrorState before = error_state();
  std::string reasons;
  hipops_status broken = HIPOPS_SUCCESS, last = HIPOPS_NO_DEVICE;
  ErrorState why;
  for (const Backend* candidate : in_order()) {
    const Backend& backend = *candidate;
    if (broken && backend.value == HIPOPS_BACKEND_CPU) {
      error_state() = why;
      return fail_in_context(broken, "the automatic choice does not pass over a GPU's runtime that fails to the cpu: ");
    }
    const hipops_status status = backend.open(out);
    if (status == HIPOPS_SUCCESS) {
      error_state() = before;
      return HIPOPS_SUCCESS;
    }
    last = status;
    const bool is_absent = status == HIPOPS_NO_DEVICE && !error_state().is_unusable;
    if (!broken && !is_absent) broken = status, why = error_state();
    reasons += reasons.empty() ? "" : "; ";
    reasons += backend.name;
    reasons += ": ";
    reasons += hipops_last_error();
  }
  // The CPU is tried last. Its status shows whether the build lacks it or a setting is wrong.
  return fail(last, "no backend can be used: %s", reasons.c_str());
}

// Runs in the child of a fork, which has only this thread. A locked mutex there has no owner any more.
void after_fork() {
  Runtime* in_use = chosen.load(std::memory_order_acquire);
  if (in_use && !in_use->survive_fork())
    forked_after =
        in_use->backend() == HIPOPS_BACKEND_HIP ? "the hip backend was chosen" : "the cuda backend was chosen";
  if (!in_use && !choosing.try_lock()) forked_after = "another thread began to choose a backend";
  if (forked_after) chosen.store(nullptr, std::memory_order_release);
  new (&choosing) std::mutex;
  new (&loading) std::mutex;
}

thread_local bool checks_only = false;

// Runs before `choosing` is locked for the first time. Two threads may run it together, so after_fork may run twice.
hipops_status watch_forks() {
  if (watches_forks.load(std::memory_order_acquire)) return HIPOPS_SUCCESS;
  if (pthread_atfork(nullptr, nullptr, after_fork) != 0) return fail(HIPOPS_INTERNAL_ERROR, "out of host memory");
  watches_forks.store(true, std::memory_order_release);
  return HIPOPS_SUCCESS;
}

// Chooses for the whole process, unless another thread has chosen.
hipops_status choose(hipops_backend wanted, Runtime** out) {
  if (hipops_status status = watch_forks()) return status;
  std::lock_guard<std::mutex> lock(choosing);
  *out = chosen.load(std::memory_order_acquire);
  if (*out) return HIPOPS_SUCCESS;
  if (forked_after)
    return fail(HIPOPS_NO_DEVICE,
                "this process was forked after %s, which no GPU runtime survives: fork before the first use of hipops, "
                "or start the process by exec (Python's multiprocessing: spawn)",
                forked_after);
  if (wanted == HIPOPS_BACKEND_AUTO) {
    if (hipops_status status = backend_from_environment(&wanted)) return status;
  }
  const Backend* backend = find_backend(wanted);
  if (hipops_status status = backend ? backend->open(out) : open_first(out)) return status;
  chosen.store(*out, std::memory_order_release);
  return HIPOPS_SUCCESS;
}

hipops_status check_ordinal(int ordinal) {
  if (ordinal >= 0 && ordinal < kMaxDevices) return HIPOPS_SUCCESS;
  return fail(HIPOPS_INVALID_ARGUMENT, "the current device is %d, expected one of 0 to %d", ordinal, kMaxDevices - 1);
}

// One thread loads at a time. A failure leaves no state, so a later call tries again.
hipops_status load_on(Runtime& runtime, Op& op, int ordinal, void* const** functions) {
  std::lock_guard<std::mutex> lock(loading);
  *functions = op.functions[ordinal].load(std::memory_order_acquire);
  if (*functions) return HIPOPS_SUCCESS;
  const Image* image = find_image(op.name);
  if (!image) return fail(HIPOPS_NO_CODE_OBJECT, "%s: this hipops was built without it (HIPOPS_OPS)", op.name);
  auto loaded = std::make_unique<void*[]>(static_cast<size_t>(op.kernel_count));
  if (hipops_status status = runtime.load(ordinal, *image, op, loaded.get())) return status;
  *functions = loaded.release();
  op.functions[ordinal].store(*functions, std::memory_order_release);
  return HIPOPS_SUCCESS;
}

hipops_status current_device(Runtime& runtime, int* ordinal) {
  if (hipops_status status = runtime.current_device(ordinal)) return status;
  return check_ordinal(*ordinal);
}

// The op's functions on the calling thread's current device.
hipops_status functions_on(Runtime& runtime, Op& op, int ordinal, void* const** functions) {
  *functions = op.functions[ordinal].load(std::memory_order_acquire);
  if (*functions) return HIPOPS_SUCCESS;
  return guarded([&] { return load_on(runtime, op, ordinal, functions); });
}

// AMD's limit on the work-items of a launch. Every backend has it, so that tests on any backend find violations.
hipops_status check_shape(const Op& op, int index, uint32_t grid, uint32_t block) {
  if (index < 0 || index >= op.kernel_count)
    return fail(HIPOPS_INTERNAL_ERROR, "%s: kernel %d of %d", op.name, index, op.kernel_count);
  uint64_t items = uint64_t{grid} * block;
  if (items == 0 || items > UINT32_MAX)
    return fail(HIPOPS_INTERNAL_ERROR, "%s: a launch of %u blocks of %u work-items", op.name, grid, block);
  return HIPOPS_SUCCESS;
}

hipops_status launch_on(Runtime& runtime, Op& op, int ordinal, int index, const LaunchShape& shape, const void* args,
                        size_t bytes, void* stream) {
  void* const* functions = nullptr;
  if (hipops_status status = check_shape(op, index, shape.grid, shape.block)) return status;
  if (hipops_status status = functions_on(runtime, op, ordinal, &functions)) return status;
  if (!functions[index])
    return fail(HIPOPS_INTERNAL_ERROR, "%s: kernel %s is not for this device", op.name, op.kernel_names[index]);
  hipops_status status = runtime.launch(functions[index], shape, args, bytes, stream);
  if (status == HIPOPS_SUCCESS) return status;
  return fail_in_context(status, "%s: kernel %s: ", op.name, op.kernel_names[index]);
}

}  // namespace

const Image* find_image(const char* op) {
  for (int i = 0; i < image_count; ++i)
    if (!std::strcmp(all_images[i].op, op)) return &all_images[i];
  return nullptr;
}

void check_only(bool is_on) { checks_only = is_on; }

hipops_status runtime(Runtime** out) {
  if (checks_only) return fail(HIPOPS_NO_DEVICE, "the arguments are right, and this thread's calls are only checked");
  *out = chosen.load(std::memory_order_acquire);
  if (*out) return HIPOPS_SUCCESS;
  return guarded([&] { return choose(HIPOPS_BACKEND_AUTO, out); });
}

hipops_status device_facts(const DeviceFacts** facts) {
  Runtime* in_use = nullptr;
  int ordinal = 0;
  if (hipops_status status = runtime(&in_use)) return status;
  if (hipops_status status = current_device(*in_use, &ordinal)) return status;
  return guarded([&] { return in_use->facts(ordinal, facts); });
}

hipops_status device_facts(const Op& op, const DeviceFacts** facts) {
  const hipops_status status = device_facts(facts);
  return status == HIPOPS_SUCCESS ? status : fail_in_context(status, "%s: ", op.name);
}

hipops_status refuse(const LaunchShape& shape) {
  return fail(HIPOPS_INTERNAL_ERROR, "a launch in clusters of %u with %u bytes, where there are none", shape.cluster,
              shape.shared_bytes);
}

uint32_t Runtime::most_clusters(const Op&, int, uint32_t, uint32_t) { return 0; }

hipops_status load(Op& op) {
  Runtime* in_use = nullptr;
  void* const* functions = nullptr;
  int ordinal = 0;
  if (hipops_status status = runtime(&in_use)) return status;
  if (hipops_status status = current_device(*in_use, &ordinal)) return status;
  if (hipops_status status = functions_on(*in_use, op, ordinal, &functions)) return status;
  for (Op* const* also = op.also; also && *also; ++also)
    if (hipops_status status = functions_on(*in_use, **also, ordinal, &functions)) return status;
  return HIPOPS_SUCCESS;
}

hipops_status most_clusters(Op& op, const DeviceFacts& current, uint32_t cluster, uint32_t block, uint32_t* most) {
  Runtime* in_use = nullptr;
  void* const* functions = nullptr;
  if (hipops_status status = runtime(&in_use)) return status;
  if (hipops_status status = functions_on(*in_use, op, current.ordinal, &functions)) return status;
  *most = in_use->most_clusters(op, current.ordinal, cluster, block);
  return HIPOPS_SUCCESS;
}

hipops_status launch(Op& op, int index, uint32_t grid, uint32_t block, const void* args, size_t bytes, void* stream) {
  Runtime* in_use = nullptr;
  int ordinal = 0;
  hipops_status status = runtime(&in_use);
  if (status == HIPOPS_SUCCESS) status = current_device(*in_use, &ordinal);
  if (status != HIPOPS_SUCCESS) return fail_in_context(status, "%s: ", op.name);
  return launch_on(*in_use, op, ordinal, index, {grid, block}, args, bytes, stream);
}

hipops_status launch(Op& op, const DeviceFacts& current, int index, const LaunchShape& shape, const void* args,
                     size_t bytes, void* stream) {
  Runtime* in_use = nullptr;
  if (hipops_status status = runtime(&in_use)) return status;
  return launch_on(*in_use, op, current.ordinal, index, shape, args, bytes, stream);
}

}  // namespace hipops

hipops_status hipops_init(hipops_backend backend) {
  using namespace hipops;
  const Backend* wanted = find_backend(backend);
  if (!wanted && backend != HIPOPS_BACKEND_AUTO)
    return fail(HIPOPS_INVALID_ARGUMENT,
                "hipops_init: backend is %d, expected one of 0 (auto), 1 (hip), 2 (cuda), 3 (cpu)",
                static_cast<int>(backend));
  return guarded([&]() -> hipops_status {
    Runtime* in_use = nullptr;
    if (hipops_status status = choose(backend, &in_use)) return status;
    if (!wanted || in_use->backend() == backend) return HIPOPS_SUCCESS;
    return fail(HIPOPS_INVALID_ARGUMENT,
                "hipops_init: backend is %s, but %s is in use already, one for the whole process", wanted->name,
                find_backend(in_use->backend())->name);
  });
}

hipops_backend hipops_backend_in_use(void) {
  const hipops::Runtime* in_use = hipops::chosen.load(std::memory_order_acquire);
  return in_use ? in_use->backend() : HIPOPS_BACKEND_AUTO;
}
