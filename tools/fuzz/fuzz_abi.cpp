// libFuzzer: makes calls of the C ABI from bytes. A valid call must return the results of the op's definition. A
// refused hostile call must name the op and the argument, launch nothing and write nothing. An accepted one must touch
// only its tensors' memory, and its output may overlap an input only as the op allows.
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>

#include "fuzz/arena.h"
#include "fuzz/hostile.h"
#include "tensor/overlap.h"
#include "parity/number.h"
#include "parity/random_case.h"
#include "parity/run_case.h"
#include "runtime/runtime.h"

using namespace hipops;
using namespace hipops::fuzz;

namespace {

constexpr int64_t kMostElements = 300;
// A launch has up to 2^32 rows, and a hostile index_add up to 2^62. To save minutes, counted launches past this number
// are refused.
constexpr int kMostDryLaunches = 1000;

struct {
  int count = 0;
  bool dry = false;  // there is no memory, so launches are only counted
} launches;

[[noreturn]] void wrong(const std::string& what) {
  std::fprintf(stderr, "fuzz_abi: %s\n", what.c_str());
  std::abort();
}

const char* guard_setting() {
  const char* guard = std::getenv("HIPOPS_CPU_GUARD");
  return guard == nullptr ? "end" : guard;
}

// ---- A valid call

void run_valid(const parity::OpEntry& op, const parity::Case& test) {
  static Runtime* runtime = nullptr;
  if (runtime == nullptr && hipops::runtime(&runtime) != HIPOPS_SUCCESS) wrong(hipops_last_error());
  static const parity::Guard guard =
      std::strcmp(guard_setting(), "begin") == 0 ? parity::Guard::kPageBefore : parity::Guard::kPageAfter;
  const parity::CaseResult result = parity::run_case(*runtime, op, test, guard);
  if (result.verdict == parity::CaseResult::Verdict::kPassed) return;
  std::string text = std::string(op.name) + ":";
  for (const std::string& reason : result.reasons) text += "\n" + reason;
  wrong(text);
}

// ---- A hostile call

std::string last_error() { return hipops_last_error(); }

void check_refusal(const HostileCall& call, hipops_status status) {
  if (status != HIPOPS_INVALID_ARGUMENT && status != HIPOPS_UNSUPPORTED_DTYPE && status != HIPOPS_UNSUPPORTED_LAYOUT)
    wrong(std::string(hipops_status_string(status)) + ": " + last_error());
  const std::string message = last_error(), op = call.op->name;
  if (message.rfind(op + ": ", 0) != 0) wrong("a message that does not begin with " + op + ": " + message);
  std::set<std::string> names = {"report", "workspace", "bytes", "dtype", "rows", "cols"};
  for (const parity::TensorSpec& spec : call.op->inputs) names.insert(spec.name);
  for (const parity::TensorSpec& spec : call.op->outputs) names.insert(spec.name);
  for (const parity::ParamSpec& param : call.op->params) names.insert(param.name);
  const std::string rest = message.substr(op.size() + 2);
  for (const std::string& name : names) {
    if (rest.rfind(name, 0) == 0) return;
  }
  wrong("a message that names no argument: " + message);
}

// The addresses of a tensor's bytes. The tensor is small.
std::set<const char*> bytes_of(const hipops_tensor& t, size_t* count) {
  parity::Layout layout;
  layout.dtype = t.dtype;
  layout.shape.assign(t.shape, t.shape + t.rank);
  layout.stride.assign(t.stride, t.stride + t.rank);
  std::set<const char*> bytes;
  *count = 0;
  for (const int64_t size : layout.shape) {
    if (size == 0) return bytes;
  }
  if (!parity::measure(&layout).empty()) wrong("accepted a tensor that cannot be");
  const auto size = static_cast<int64_t>(parity::dtype_size(t.dtype));
  for (int64_t position = 0; position < layout.elements; ++position) {
    const char* at = static_cast<const char*>(t.data) + layout.offset_at(position) * size;
    for (int64_t b = 0; b < size; ++b, ++*count) bytes.insert(at + b);
  }
  return bytes;
}

// An output's elements are distinct. No other tensor shares one of them, unless it is the same view and the op allows this.
void check_acceptance(const HostileCall& call) {
  for (const HostileTensor& output : call.tensors) {
    if (!output.output || !output.given) continue;
    size_t count;
    const std::set<const char*> written = bytes_of(output.tensor, &count);
    if (written.size() != count) wrong("accepted a tensor " + output.name + " whose elements meet");
    if (written.empty()) continue;
    const auto allowed = call.op->in_place.find(output.name);
    for (const HostileTensor& other : call.tensors) {
      if (&other == &output || !other.given) continue;
      const bool may_be_output = allowed != call.op->in_place.end() && allowed->second.count(other.name) != 0;
      if (may_be_output && same_view(output.tensor, other.tensor)) continue;
      for (const char* byte : bytes_of(other.tensor, &count)) {
        if (written.count(byte) != 0) wrong("accepted a tensor " + output.name + " that overlaps " + other.name);
      }
    }
  }
}

void set_workspace(const HostileCall& call, Arena& arena, parity::Arguments* arguments) {
  if (call.op->workspace_bytes == nullptr) return;
  int64_t bytes = 0;
  const hipops_status status = call.op->workspace_bytes(*arguments, &bytes);
  if (status != HIPOPS_SUCCESS) return check_refusal(call, status);
  if (bytes < 0) wrong("a workspace of less than nothing");
  if (call.op->workspace_bytes(*arguments, nullptr) != HIPOPS_INVALID_ARGUMENT) wrong("bytes may be NULL");
  using Workspace = HostileCall::Workspace;
  if (call.workspace == Workspace::kNone) return;
  if (arena.backed() && bytes > (1 << 24)) wrong("a workspace of " + std::to_string(bytes) + " bytes for little");
  auto* memory = static_cast<char*>(arena.workspace(bytes));
  if (call.workspace == Workspace::kMisaligned) return arguments->set_workspace(memory + 8, bytes);
  if (call.workspace == Workspace::kNullWithBytes) return arguments->set_workspace(nullptr, bytes);
  if (call.workspace == Workspace::kNegative) return arguments->set_workspace(memory, INT64_MIN);
  arguments->set_workspace(memory, bytes - (call.workspace == Workspace::kShort ? 1 : 0));
}

void run_hostile(parity::Choices& choices, const parity::OpEntry& op, const parity::Case& valid) {
  HostileCall call = hostile_call(choices, op, valid);
  Arena arena(&call);
  parity::Arguments arguments;
  for (const HostileTensor& tensor : call.tensors) {
    if (tensor.given) arguments.add_tensor(tensor.name, tensor.tensor);
  }
  for (const auto& [name, value] : call.params) arguments.add_param(name, value);
  alignas(8) unsigned char report_memory[24] = {};
  if (call.report != HostileCall::Report::kNone) {
    hipops_tensor report{};
    report.data = report_memory + (call.report == HostileCall::Report::kMisaligned ? 3 : 0);
    arguments.add_tensor("report", report);
  }
  launches = {0, !arena.backed()};
  set_workspace(call, arena, &arguments);
  if (launches.count != 0) wrong("a question about the workspace launches");
  const hipops_status status = op.call(arguments);
  if (launches.dry && launches.count > kMostDryLaunches) {
    if (status != HIPOPS_RUNTIME_ERROR || launches.count > kMostDryLaunches + 1) wrong("went on after a refused launch");
    return;
  }
  if (status == HIPOPS_SUCCESS) {
    if (arena.backed()) check_acceptance(call);
    return;
  }
  check_refusal(call, status);
  if (launches.count != 0) wrong("launched in spite of " + last_error());
  if (arena.changed()) wrong("wrote in spite of " + last_error());
}

// ---- Any text as the name of an op

void run_names(const uint8_t* data, size_t size) {
  const std::string name(reinterpret_cast<const char*>(data), size);
  for (int dtype = -1; dtype <= HIPOPS_F8_E5M2FNUZ + 1; ++dtype) {
    hipops_dtype any;
    std::memcpy(&any, &dtype, sizeof any);
    hipops_supports(name.c_str(), HIPOPS_F32, any);
    hipops_supports(name.c_str(), any, HIPOPS_NONE);
  }
  hipops_supports(nullptr, HIPOPS_F32, HIPOPS_F32);
  if (hipops_prepare(name.c_str()) != HIPOPS_SUCCESS && last_error().empty()) wrong("no message");
}

// Checks a launch, and returns whether it may run.
bool sees_launch(const Op& op, int index, uint32_t grid, uint32_t block) {
  ++launches.count;
  if (index < 0 || index >= op.kernel_count) wrong("a kernel that there is not");
  if (grid == 0 || block == 0 || block > 1024 || uint64_t{grid} * block >= uint64_t{1} << 32)
    wrong("a launch of " + std::to_string(grid) + " blocks of " + std::to_string(block));
  return !launches.dry;
}

hipops_status only_counted() { return launches.count > kMostDryLaunches ? HIPOPS_RUNTIME_ERROR : HIPOPS_SUCCESS; }

}  // namespace

// The linker calls these instead of the two hipops::launch (CMakeLists.txt).
extern "C" {
hipops_status __real__ZN6hipops6launchERNS_2OpEijjPKvmPv(Op& op, int index, uint32_t grid, uint32_t block,
                                                        const void* args, size_t bytes, void* stream);
hipops_status __wrap__ZN6hipops6launchERNS_2OpEijjPKvmPv(Op& op, int index, uint32_t grid, uint32_t block,
                                                        const void* args, size_t bytes, void* stream) {
  if (!sees_launch(op, index, grid, block)) return only_counted();
  return __real__ZN6hipops6launchERNS_2OpEijjPKvmPv(op, index, grid, block, args, bytes, stream);
}

hipops_status __real__ZN6hipops6launchERNS_2OpERKNS_11DeviceFactsEiRKNS_11LaunchShapeEPKvmPv(
    Op& op, const DeviceFacts& current, int index, const LaunchShape& shape, const void* args, size_t bytes, void* stream);
hipops_status __wrap__ZN6hipops6launchERNS_2OpERKNS_11DeviceFactsEiRKNS_11LaunchShapeEPKvmPv(
    Op& op, const DeviceFacts& current, int index, const LaunchShape& shape, const void* args, size_t bytes,
    void* stream) {
  if (!sees_launch(op, index, shape.grid, shape.block)) return only_counted();
  return __real__ZN6hipops6launchERNS_2OpERKNS_11DeviceFactsEiRKNS_11LaunchShapeEPKvmPv(op, current, index, shape, args,
                                                                                        bytes, stream);
}

int LLVMFuzzerInitialize(int*, char***) {
  setenv("HIPOPS_CPU_GUARD", guard_setting(), 1);
  setenv("HIPOPS_CPU_THREADS", "1", 1);
  setenv("HIPOPS_CPU_RACE", "1", 0);
  setenv("HIPOPS_CPU_SEED", "1", 0);
  if (hipops_init(HIPOPS_BACKEND_CPU) != HIPOPS_SUCCESS) wrong(last_error());
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  parity::ByteChoices choices(data, size);
  const uint64_t what = choices.below(16);
  if (what == 15) return run_names(data + 1, size - 1), 0;
  const parity::OpEntry& op = choices.pick(parity::all_ops());
  const parity::Case valid = parity::random_case(choices, op, kMostElements);
  launches = {};
  if (what < 4) run_valid(op, valid);
  else run_hostile(choices, op, valid);
  return 0;
}
}
