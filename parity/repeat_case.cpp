#include "parity/repeat_case.h"

#include <algorithm>
#include <iterator>

#include "parity/case_run.h"
#include "parity/temporary_options.h"

namespace hipops::parity {
namespace {

constexpr int kOtherStreams = 3;

// Limits of blocks for a launch; 0: no limit. The numbers of limits and of streams have no common divisor, so every
// pair of them occurs.
constexpr uint32_t kGridLimits[] = {0, 1, 2, 3, 5, 8, 13, 61, 256};

// The largest number of elements for a block that runs nearly alone, which is slow.
constexpr int64_t kMostElementsOfBlock = 1 << 16;

uint32_t grid_limit_of(int run, const Case& test) {
  const uint32_t limit = kGridLimits[static_cast<size_t>(run) % std::size(kGridLimits)];
  int64_t most = 0;
  for (const InputTensor& input : test.inputs) most = std::max(most, input.layout.elements);
  for (const ExpectedTensor& output : test.outputs) most = std::max(most, output.layout.elements);
  return limit == 0 ? 0 : std::max(limit, static_cast<uint32_t>(most / kMostElementsOfBlock));
}

std::string run_text(int run, uint32_t limit, const void* stream) {
  return "run " + std::to_string(run + 1) + " (" + (stream == nullptr ? "the null stream" : "another stream") + ", " +
         (limit == 0 ? "any grid" : "a grid of at most " + std::to_string(limit) + " blocks") + ")";
}

// The workspace keeps its contents from the run before.
void repeat(CaseRun* run, const Case& test, const Streams& streams, int runs) {
  run->prepare();
  const std::vector<Buffer*> outputs = run->outputs();
  std::vector<std::vector<unsigned char>> before, first;
  for (const Buffer* output : outputs) before.push_back(output->copy());
  for (int i = 0; i < runs; ++i) {
    const uint32_t limit = grid_limit_of(i, test);
    TemporaryOptions temporary;
    if (limit != 0) temporary.options.most_blocks = limit;
    for (size_t o = 0; o < outputs.size() && i > 0; ++o) outputs[o]->upload(before[o]);
    run->call(streams[i]);
    for (size_t o = 0; o < outputs.size(); ++o) {
      outputs[o]->download();
      if (i == 0) first.push_back(outputs[o]->copy());
      const std::string difference = outputs[o]->difference_from(first[o]);
      if (difference.empty()) continue;
      return run->miss(run_text(i, limit, streams[i]) + " gives other bits than the first one: " + difference);
    }
  }
}

}  // namespace

bool is_deterministic(const Case& test) {
  const auto flags = test.params.find("flags");
  const bool scatters = flags != test.params.end() && test.params.count("dim") != 0;  // unlike row ops and reduce
  return !scatters || (static_cast<uint32_t>(flags->second) & HIPOPS_DETERMINISTIC) != 0;
}

Streams::Streams(Runtime& runtime) : runtime_(runtime), streams_(1, nullptr) {
  for (int i = 0; i < kOtherStreams; ++i) {
    void* stream = nullptr;
    expect_success(runtime.create_stream(&stream), "creating a stream");
    streams_.push_back(stream);
  }
}

Streams::~Streams() {
  for (size_t i = 1; i < streams_.size(); ++i) runtime_.destroy_stream(streams_[i]);
}

CaseResult repeat_case(Runtime& runtime, const OpEntry& op, const Case& test, Guard guard, const Streams& streams,
                       int runs) {
  const CaseResult once = run_case(runtime, op, test, guard);
  if (once.verdict != CaseResult::Verdict::kPassed) return once;
  CaseRun run(runtime, op, test, guard);
  CaseResult result = run.attempt([&] { repeat(&run, test, streams, runs); });
  if (result.verdict != CaseResult::Verdict::kPassed) return result;
  return once;
}

}  // namespace hipops::parity
