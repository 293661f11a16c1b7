// What the library exports, the golden files cover: every kernel of every op is launched for some case, as it
// is or as of a large tensor, and every pair of dtypes that an op supports is in one. A new kernel or dtype without a
// case fails here.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "catch.h"
#include "device/core/cpu.h"
#include "ops.h"
#include "parity/golden_files.h"
#include "parity/run_case.h"
#include "parity/other_ways.h"
#include "tensor/tensor.h"

using namespace hipops;
using parity::Case;
using parity::GoldenFile;
using parity::OpEntry;
using parity::Role;

namespace {

constexpr size_t kMostKernels = 192;

// Stands in for the CPU kernels of one op after the other, and notes which of them are launched. That they do their
// work hipops-parity shows, of the same cases.
class Recorder {
 public:
  explicit Recorder(Op& op) : op_(op) {
    REQUIRE(op.kernel_count <= static_cast<int>(kMostKernels));
    REQUIRE(load(op) == HIPOPS_SUCCESS);
    loaded_ = op.functions[0].load();
    for (std::atomic<bool>& ran : ran_) ran = false;
    replace(std::make_index_sequence<kMostKernels>());
    op.functions[0].store(functions_.data());
  }
  ~Recorder() { op_.functions[0].store(loaded_); }

  std::vector<std::string> missing() const {
    std::vector<std::string> names;
    for (int i = 0; i < op_.kernel_count; ++i)
      if (!ran_[static_cast<size_t>(i)]) names.push_back(op_.kernel_names[i]);
    return names;
  }

 private:
  template <size_t I>
  static void run(const void*) {
    ran_[I].store(true, std::memory_order_relaxed);
  }
  template <size_t... I>
  void replace(std::index_sequence<I...>) {
    (replace_one<I>(), ...);
  }
  template <size_t I>
  void replace_one() {
    if (static_cast<int>(I) >= op_.kernel_count) return;
    noted_[I] = {static_cast<const CpuKernel*>(loaded_[I])->name, run<I>};
    functions_[I] = &noted_[I];
  }

  Op& op_;
  void* const* loaded_;
  static inline std::array<std::atomic<bool>, kMostKernels> ran_{};
  static inline std::array<CpuKernel, kMostKernels> noted_{};
  static inline std::array<void*, kMostKernels> functions_{};
};

const std::vector<GoldenFile>& golden() {
  static const std::vector<GoldenFile> files =
      parity::load_golden(parity::golden_directory(""), "", "", parity::all_ops());
  return files;
}

std::vector<const Case*> cases_of(const std::string& op) {
  std::vector<const Case*> cases;
  for (const GoldenFile& file : golden())
    if (file.op == op)
      for (const Case& test : file.cases) cases.push_back(&test);
  return cases;
}

// Whether a case of this dtype has an argument of the role that is of the dtype `second`.
bool has_pair(const OpEntry& entry, const Case& test, hipops_dtype dtype, hipops_dtype second) {
  if (test.dtype != dtype) return false;
  if (second == HIPOPS_NONE) return true;
  return std::any_of(test.inputs.begin(), test.inputs.end(), [&](const parity::InputTensor& input) {
    return input.layout.dtype == second &&
           std::any_of(entry.inputs.begin(), entry.inputs.end(), [&](const parity::TensorSpec& spec) {
             return input.name == spec.name && (spec.role == Role::kWeight || spec.role == Role::kIndex);
           });
  });
}

}  // namespace

TEST_CASE("every kernel is launched for some golden case", "[coverage]") {
  REQUIRE(hipops_init(HIPOPS_BACKEND_CPU) == HIPOPS_SUCCESS);
  Runtime* in_use = nullptr;
  REQUIRE(runtime(&in_use) == HIPOPS_SUCCESS);
  for (int i = 0; i < op_count; ++i) {
    INFO(all_ops[i]->name);
    const OpEntry* entry = parity::find_op(parity::all_ops(), all_ops[i]->name);
    REQUIRE(entry != nullptr);
    Recorder recorder(*all_ops[i]);
    const auto run_cases = [&] {
      for (const Case* test : cases_of(entry->name)) parity::run_case(*in_use, *entry, *test, parity::Guard::kZones);
    };
    run_cases();
    for (const bool many_rows : {true, false}) {  // hipops-parity's other ways: --many-rows, --ordered
      TemporaryOptions temporary;
      parity::set_other_ways(many_rows, !many_rows, &temporary.options);
      if (!recorder.missing().empty()) run_cases();
    }
    CHECK(recorder.missing() == std::vector<std::string>{});
  }
}

TEST_CASE("every pair of dtypes that an op supports is in some golden case", "[coverage]") {
  for (int i = 0; i < op_count; ++i) {
    const OpEntry* entry = parity::find_op(parity::all_ops(), all_ops[i]->name);
    REQUIRE(entry != nullptr);
    std::vector<const Case*> cases = cases_of(entry->name);
    for (int dtype = HIPOPS_F32; dtype <= HIPOPS_U64; ++dtype)
      for (int second = HIPOPS_NONE; second <= HIPOPS_U64; ++second) {
        const hipops_dtype first = static_cast<hipops_dtype>(dtype), other = static_cast<hipops_dtype>(second);
        if (!all_ops[i]->supports(first, other)) continue;
        INFO(all_ops[i]->name << " of " << dtype_name(first) << " with " << dtype_name(other));
        CHECK(std::any_of(cases.begin(), cases.end(),
                          [&](const Case* test) { return has_pair(*entry, *test, first, other); }));
      }
  }
}
