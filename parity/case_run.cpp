#include "parity/case_run.h"

#include <chrono>
#include <new>

#include "parity/compare.h"
#include "parity/number.h"

namespace hipops::parity {
namespace {

constexpr size_t kWorkspaceAlignment = 256;  // the alignment that the ABI requires

std::string count_text(const ExpectedTensor& output, const Comparison& comparison) {
  std::string text = output.name + ": " + std::to_string(comparison.missed) + " of " +
                     std::to_string(comparison.compared) + " elements compared are off";
  if (!output.sampled) return text;
  if (output.checksum) return text + (comparison.checksum_missed ? ", and the checksum" : "");
  return text + ", and " + std::to_string(comparison.rows_missed) + " of " +
         std::to_string(output.row_checksums.size()) + " row checksums";
}

}  // namespace

CaseResult CaseRun::attempt(const std::function<void()>& work) {
  try {
    work();
  } catch (const RuntimeFailure& failure) {
    miss(failure.what());
  } catch (const std::bad_alloc&) {
    miss("out of host memory");
  }
  return result_;
}

void CaseRun::prepare() {
  make_inputs();
  make_outputs();
  make_workspace();
}

void CaseRun::check() {
  for (const ExpectedTensor& output : test_.outputs) check_output(output);
  for (const InputTensor& input : test_.inputs) check_input(input);
  check_workspace();
}

std::vector<Buffer*> CaseRun::outputs() {
  std::vector<Buffer*> buffers;
  for (const ExpectedTensor& output : test_.outputs) buffers.push_back(&buffer_of(output));
  return buffers;
}

void CaseRun::miss(const std::string& reason) {
  result_.verdict = CaseResult::Verdict::kFailed;
  result_.reasons.push_back(reason);
}

bool CaseRun::overwritten(const std::string& input) const {
  return (test_.in_place && test_.in_place->input == input) || test_.is_in_out(input);
}

Buffer& CaseRun::make_buffer(const std::string& name, const Layout& layout) {
  return *buffers_.emplace(name, std::make_unique<Buffer>(runtime_, name, layout, guard_)).first->second;
}

void CaseRun::make_inputs() {
  for (const InputTensor& input : test_.inputs) {
    Buffer& buffer = make_buffer(input.name, input.layout);
    buffer.set_elements([&](int64_t position) { return input.element(position); });
    buffer.upload();
    arguments_.add_tensor(input.name, buffer.tensor());
  }
  for (const auto& [name, value] : test_.params) arguments_.add_param(name, value);
}

void CaseRun::make_outputs() {
  for (const ExpectedTensor& output : test_.outputs) {
    if (test_.is_in_out(output.name)) continue;  // the input's buffer already exists
    if (test_.in_place && test_.in_place->output == output.name) {
      arguments_.add_tensor(output.name, buffers_.at(test_.in_place->input)->tensor());
      continue;
    }
    Buffer& buffer = make_buffer(output.name, output.layout);
    buffer.set_elements_unwritten();
    buffer.upload();
    arguments_.add_tensor(output.name, buffer.tensor());
  }
}

void CaseRun::make_workspace() {
  if (op_.workspace_bytes == nullptr || arguments_.integer(kWorkspaceParam) == 0) return;
  int64_t bytes = 0;
  expect_success(op_.workspace_bytes(arguments_, &bytes), std::string("hipops_") + op_.name + "_workspace_bytes");
  Layout layout;
  layout.dtype = HIPOPS_U8;
  layout.shape = {bytes};
  const std::string problem = measure(&layout);
  if (!problem.empty()) throw RuntimeFailure("a workspace of " + std::to_string(bytes) + " bytes: " + problem);
  workspace_ = std::make_unique<Buffer>(runtime_, "workspace", layout, guard_, kWorkspaceAlignment);
  workspace_->set_elements_unwritten();
  workspace_->upload();
  arguments_.set_workspace(workspace_->tensor().data, bytes);
}

void CaseRun::launch(void* stream) {
  arguments_.set_stream(stream);
  expect_success(op_.call(arguments_), std::string("hipops_") + op_.name);
}

void CaseRun::call(void* stream) {
  timed([&] {
    launch(stream);
    expect_success(runtime_.synchronize(), "waiting for the device");
  });
}

// Waits at the end: a copy to the device may return before it is done, and streams do not wait for it.
void CaseRun::fill(Elements elements) {
  for (const ExpectedTensor& output : test_.outputs) buffer_of(output).set_elements_unwritten();
  for (const InputTensor& input : test_.inputs) {
    Buffer& buffer = *buffers_.at(input.name);
    const int64_t last = input.layout.elements - 1;
    if (elements == Elements::kNone) buffer.set_elements_unwritten();
    if (elements == Elements::kCase) buffer.set_elements([&](int64_t i) { return input.element(i); });
    if (elements == Elements::kReversed) buffer.set_elements([&](int64_t i) { return input.element(last - i); });
  }
  for (const auto& buffer : buffers_) buffer.second->upload();
  expect_success(runtime_.synchronize(), "waiting for the device");
}

void CaseRun::timed(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  result_.ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

Buffer& CaseRun::buffer_of(const ExpectedTensor& output) {
  const bool in_place = test_.in_place && test_.in_place->output == output.name;
  return *buffers_.at(in_place ? test_.in_place->input : output.name);
}

void CaseRun::check_output(const ExpectedTensor& output) {
  Buffer& buffer = buffer_of(output);
  buffer.download();
  const Comparison comparison = compare(output, test_.tolerance_ulps, buffer.element_zero());
  if (comparison.compared > 0 && (result_.worst_output.empty() || comparison.worst_ulps > result_.worst_ulps)) {
    result_.worst_ulps = comparison.worst_ulps;
    result_.worst_output = output.name;
    result_.worst_position = comparison.worst_position;
    result_.worst_index = output.layout.index_text(comparison.worst_position);
  }
  for (const std::string& example : comparison.examples) miss(example);
  if (!comparison.passed()) miss(count_text(output, comparison));
  const std::string stray = buffer.stray_writes();
  if (!stray.empty()) miss(stray);
}

void CaseRun::check_input(const InputTensor& input) {
  if (overwritten(input.name)) return;
  const std::string change = buffers_.at(input.name)->changes();
  if (!change.empty()) miss(change);
}

void CaseRun::check_workspace() {
  if (!workspace_) return;
  workspace_->download();
  const std::string stray = workspace_->stray_writes();
  if (!stray.empty()) miss(stray);
}

}  // namespace hipops::parity
