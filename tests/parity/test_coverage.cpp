// The golden files cover the library. Some case launches each kernel of each op, as it is or with the kernels for large
// tensors. Some case has each pair of dtypes that an op supports. A new kernel or dtype without a case fails here.
#include <algorithm>
#include <atomic>
#include <string>
#include <vector>

#include "catch.h"
#include "ops.h"
#include "parity/golden_files.h"
#include "parity/run_case.h"
#include "parity/other_ways.h"
#include "recorder.h"
#include "tensor/tensor.h"

using namespace hipops;
using parity::Case;
using parity::GoldenFile;
using parity::OpEntry;
using parity::Role;

namespace {

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

// Whether the case has this dtype, and a weight or an index of the dtype `second`.
bool has_pair(const OpEntry& entry, const Case& test, hipops_dtype dtype, hipops_dtype second) {
  if (test.dtype != dtype) return false;
  if (second == HIPOPS_NONE) return true;
  return std::any_of(test.inputs.begin(), test.inputs.end(), [&](const parity::InputTensor& input) {
    return input.layout.dtype == second &&
           std::any_of(entry.inputs.begin(), entry.inputs.end(), [&](const parity::TensorSpec& spec) {
             return input.name == spec.name && (spec.role == Role::kWeight || spec.role == Role::kMask || spec.role == Role::kIndex);
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
    std::vector<std::atomic<bool>> ran(static_cast<size_t>(all_ops[i]->kernel_count));
    const hipops_test::Recorder recorder(*all_ops[i], [&](int kernel, const void*) {
      ran[static_cast<size_t>(kernel)].store(true, std::memory_order_relaxed);
      return false;  // hipops-parity shows that the kernels compute the right values
    });
    const auto missing = [&] {
      std::vector<std::string> names;
      for (size_t k = 0; k < ran.size(); ++k)
        if (!ran[k]) names.push_back(all_ops[i]->kernel_names[k]);
      return names;
    };
    const auto run_cases = [&](const OpEntry& op) {
      for (const Case* test : cases_of(op.name)) parity::run_case(*in_use, op, *test, parity::Guard::kZones);
    };
    run_cases(*entry);
    for (int k = 0; k < op_count; ++k)
      for (Op* const* also = all_ops[k]->also; also && *also; ++also)
        if (*also == all_ops[i]) run_cases(*parity::find_op(parity::all_ops(), all_ops[k]->name));
    for (const bool many_rows : {true, false}) {  // as hipops-parity with --many-rows, and with --ordered
      TemporaryOptions temporary;
      parity::set_other_ways(many_rows, !many_rows, &temporary.options);
      if (!missing().empty()) run_cases(*entry);
    }
    CHECK(missing() == std::vector<std::string>{});
  }
}

TEST_CASE("hipops_supports agrees with the table of ops for each pair of dtypes", "[coverage]") {
  constexpr hipops_dtype of_index[] = {HIPOPS_U8, HIPOPS_I16, HIPOPS_I32, HIPOPS_U32, HIPOPS_I64};
  for (const OpEntry& op : parity::all_ops()) {
    if (op.kernels_of != nullptr) continue;
    const bool has_index = op.has_role("index", Role::kIndex);
    const bool is_weighted = std::any_of(op.inputs.begin(), op.inputs.end(),
                                         [](const parity::TensorSpec& spec) { return spec.role == Role::kWeight; });
    for (int dtype = -1; dtype <= 18; ++dtype)
      for (int second = -1; second <= 18; ++second) {
        const bool is_taken = std::count(op.dtypes.begin(), op.dtypes.end(), dtype) == 1;
        const bool is_index = has_index && std::count(std::begin(of_index), std::end(of_index), second) == 1;
        const bool is_weight = is_weighted && (second == dtype || second == HIPOPS_F32);
        const bool is_mask = op.has_role("mask", Role::kMask) && (second == dtype || second == HIPOPS_F32 || second == HIPOPS_U8);
        const bool is_target = op.has_role("target", Role::kIndex) && (second == HIPOPS_I32 || second == HIPOPS_I64);
        INFO(op.name << " of " << dtype << " with " << second);
        CHECK(hipops_supports(op.name, static_cast<hipops_dtype>(dtype), static_cast<hipops_dtype>(second)) ==
              (is_taken && (second == HIPOPS_NONE || is_index || is_target || is_weight || is_mask)));
      }
  }
}

TEST_CASE("every pair of dtypes that an op supports is in some golden case", "[coverage]") {
  for (int i = 0; i < op_count; ++i) {
    const OpEntry* entry = parity::find_op(parity::all_ops(), all_ops[i]->name);
    REQUIRE(entry != nullptr);
    std::vector<const Case*> cases = cases_of(entry->name);
    for (int dtype = HIPOPS_F32; dtype <= HIPOPS_F8_E5M2FNUZ; ++dtype)
      for (int second = HIPOPS_NONE; second <= HIPOPS_F8_E5M2FNUZ; ++second) {
        const hipops_dtype first = static_cast<hipops_dtype>(dtype), other = static_cast<hipops_dtype>(second);
        if (!all_ops[i]->supports(first, other)) continue;
        INFO(all_ops[i]->name << " of " << dtype_name(first) << " with " << dtype_name(other));
        CHECK(std::any_of(cases.begin(), cases.end(),
                          [&](const Case* test) { return has_pair(*entry, *test, first, other); }));
      }
  }
}
