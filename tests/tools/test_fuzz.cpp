// hipops-fuzz itself. Its reference agrees with the golden files, which have another source. It finds a planted fault,
// shrinks it, and prints a golden case that fails. A stray read into a guard page ends the case.
#include "fuzz/golden_text.h"
#include "fuzz/shrink.h"
#include "fuzz/trial.h"

#include "catch.h"
#include "child.h"
#include "parity/compare.h"
#include "parity/golden_files.h"
#include "parity/random_case.h"
#include "parity/reference.h"
#include "parity/run_case.h"
#include "runtime/runtime.h"

using namespace hipops;
using namespace hipops::fuzz;
using namespace hipops::parity;

namespace {

constexpr int64_t kMostElements = 20000;  // of a golden case; the reference is slow

bool is_small(const Case& test) {
  for (const InputTensor& input : test.inputs) {
    if (input.layout.elements > kMostElements) return false;
  }
  return true;
}

// The bytes of an output with the expected elements, without gaps.
std::vector<unsigned char> memory_of(const ExpectedTensor& output) {
  const hipops_dtype dtype = output.layout.dtype;
  const size_t size = dtype_size(dtype);
  std::vector<unsigned char> memory(static_cast<size_t>(output.layout.elements) * size);
  for (size_t i = 0; i < memory.size() / size; ++i)
    store_bits(dtype, &memory[i * size], is_float(dtype) ? encode(dtype, output.values[i]) : output.bits[i]);
  return memory;
}

ExpectedTensor without_values(const ExpectedTensor& output) {
  ExpectedTensor blank;
  blank.name = output.name;
  blank.layout = output.layout;
  return blank;
}

const OpEntry& op_named(const std::string& name) { return *find_op(all_ops(), name); }

// The largest difference between the reference and a golden case, or "".
std::string disagreement(const std::string& op, const Case& golden) {
  Case test = golden;
  for (ExpectedTensor& output : test.outputs) output = without_values(output);
  expect(op_named(op), &test);
  for (size_t i = 0; i < test.outputs.size(); ++i) {
    ExpectedTensor expected = golden.outputs[i];
    expected.layout.stride.clear();
    measure(&expected.layout);
    const Comparison comparison = compare(expected, golden.tolerance_ulps, memory_of(test.outputs[i]).data());
    if (!comparison.passed()) return comparison.examples.empty() ? "no example" : comparison.examples.front();
  }
  return "";
}

float* element(const hipops_tensor& tensor, int64_t position) {
  return static_cast<float*>(tensor.data) + position;
}

// The third element of a row of f32 is off by a little.
hipops_status softmax_with_a_fault(const Arguments& a) {
  const hipops_status status = op_named("softmax").call(a);
  const hipops_tensor& y = *a["y"];
  if (status == HIPOPS_SUCCESS && y.dtype == HIPOPS_F32 && y.rank == 1 && y.shape[0] >= 3)
    *element(y, 2 * y.stride[0]) *= 1.0001f;
  return status;
}

volatile unsigned char seen;

unsigned char* end_of(const hipops_tensor& x) {
  return static_cast<unsigned char*>(x.data) + x.shape[0] * static_cast<int64_t>(dtype_size(x.dtype));
}
bool is_plain(const hipops_tensor& x) { return x.rank == 1 && x.shape[0] > 0 && x.stride[0] == 1; }

hipops_status copy_reading_past(const Arguments& a) {
  if (is_plain(*a["x"])) seen = *end_of(*a["x"]);
  return op_named("strided_copy").call(a);
}
hipops_status copy_reading_before(const Arguments& a) {
  if (is_plain(*a["x"])) seen = static_cast<unsigned char*>(a["x"]->data)[-1];
  return op_named("strided_copy").call(a);
}

Setting setting_with(const std::string& op, Call (*bind)(const Arguments&)) {
  Setting setting;
  setting.ops = {op_named(op)};
  setting.ops.front().bind = bind;
  setting.most_elements = 200;
  return setting;
}

// Whether a case of a golden text passes.
int run_text(const std::string& text, const OpEntry& op) {
  Runtime* opened = nullptr;
  if (hipops_init(HIPOPS_BACKEND_CPU) != HIPOPS_SUCCESS || runtime(&opened) != HIPOPS_SUCCESS) return 2;
  const GoldenFile file = read_golden(text, "found.json", {op});
  return run_case(*opened, op, file.cases.at(0), Guard::kZones).verdict == CaseResult::Verdict::kPassed ? 0 : 1;
}

}  // namespace

TEST_CASE("fuzz: the reference agrees with the golden files") {
  std::map<std::string, int> compared;
  for (const GoldenFile& file : load_golden(golden_directory(""), "", "", all_ops())) {
    for (const Case& test : file.cases) {
      if (!is_small(test)) continue;
      const std::string problem = disagreement(file.op, test);
      INFO(file.op << " " << test.name << ": " << problem);
      CHECK(problem == "");
      ++compared[file.op];
    }
  }
  for (const OpEntry& op : all_ops()) {
    INFO(op.name);
    CHECK(compared[op.name] > 50);
  }
}

TEST_CASE("fuzz: a reference that is off disagrees with the golden files") {
  const std::vector<GoldenFile> files = load_golden(golden_directory(""), "rope", "smoke", all_ops());
  CHECK(disagreement("rope", files.at(0).cases.at(0)) == "");
  CHECK(disagreement("rope_i", files.at(0).cases.at(0)) != "");
}

TEST_CASE("fuzz: the same seed and number make the same case, others another") {
  const auto text = [](uint64_t seed, uint64_t number) {
    SeededChoices choices(seed, number);
    const OpEntry& op = op_named("scatter_add");
    return golden_text(op, "smoke", random_case(choices, op, 300));
  };
  CHECK(text(1, 7) == text(1, 7));
  CHECK(text(1, 7) != text(1, 8));
  CHECK(text(1, 7) != text(2, 7));
}

TEST_CASE("fuzz: recorded choices make the same case; a case's text is read back") {
  for (const OpEntry& op : all_ops()) {
    for (uint64_t number = 0; number < 60; ++number) {
      SeededChoices choices(3, number);
      const std::string text = golden_text(op, "smoke", random_case(choices, op, 100));
      GivenChoices again(choices.used());
      REQUIRE(golden_text(op, "smoke", random_case(again, op, 100)) == text);
      const GoldenFile file = read_golden(text, "random.json", all_ops());
      REQUIRE(golden_text(op, "smoke", file.cases.at(0)) == text);
    }
  }
}

TEST_CASE("fuzz: choices shrink as long as they fail") {
  const Attempt fails = [](const std::vector<uint64_t>& choices) {
    uint64_t sum = 0;
    for (const uint64_t choice : choices) sum += choice;
    return sum >= 10 ? choices : std::vector<uint64_t>{};
  };
  CHECK(shrink({3, 99, 0, 7, 5, 1000}, 500, fails) == std::vector<uint64_t>{10});
  CHECK(shrink({10}, 500, fails) == std::vector<uint64_t>{10});
  CHECK(shrink({3, 99}, 0, fails) == std::vector<uint64_t>{3, 99});
}

TEST_CASE("fuzz: ops as they are pass") {
  Setting setting;
  setting.ops = all_ops();
  const Trial trial = try_cases(setting, 0, 60);
  INFO(trial.text);
  CHECK(trial.ending == Ending::kPassed);
  CHECK(trial.passed == 60);
}

TEST_CASE("fuzz: a planted fault is found, made small, and printed as a case that shows it") {
  const Setting setting = setting_with("softmax", calling<softmax_with_a_fault>);
  const Trial failed = try_cases(setting, 0, 2000);
  REQUIRE(failed.ending == Ending::kFailed);
  CHECK(failed.text.find("expected") != std::string::npos);
  const Trial small = shrink_trial(setting, failed, 600);
  CHECK(small.ending == Ending::kFailed);
  GivenChoices choices(small.choices);
  const Case test = random_case(choices, setting.ops.front(), setting.most_elements);
  REQUIRE(test.inputs.size() == 1);
  CHECK(test.inputs[0].layout.shape == std::vector<int64_t>{3});
  CHECK(test.inputs[0].layout.stride == std::vector<int64_t>{1});
  const std::string text = golden_text(setting.ops.front(), "smoke", test);
  CHECK(in_child([&] { return run_text(text, setting.ops.front()); }).exit_code == 1);
  CHECK(in_child([&] { return run_text(text, op_named("softmax")); }).exit_code == 0);
}

// A sanitizer handles the signal itself.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_CASE("fuzz: a read past a tensor's end, or before its begin, faults at the page") {
  const bool past = GENERATE(true, false);
  Setting setting = setting_with("strided_copy", past ? calling<copy_reading_past> : calling<copy_reading_before>);
  setting.guard = past ? Guard::kPageAfter : Guard::kPageBefore;
  setenv("HIPOPS_CPU_GUARD", past ? "end" : "begin", 1);
  const Trial died = try_cases(setting, 0, 500);
  CHECK(died.ending == Ending::kDied);
  CHECK(died.text.find("Segmentation fault") != std::string::npos);
  const Trial small = shrink_trial(setting, died, 300);
  GivenChoices choices(small.choices);
  CHECK(random_case(choices, setting.ops.front(), setting.most_elements).inputs.at(0).layout.elements == 1);
  // With the page on the other side, the stray read is inside of the allocation.
  setting.guard = past ? Guard::kPageBefore : Guard::kPageAfter;
  setenv("HIPOPS_CPU_GUARD", past ? "begin" : "end", 1);
  CHECK(try_cases(setting, 0, 50).ending == Ending::kPassed);
  unsetenv("HIPOPS_CPU_GUARD");
}
#endif
