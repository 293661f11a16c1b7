#include "parity/run_case.h"

#include "parity/case_run.h"
#include "parity/number.h"

namespace hipops::parity {
namespace {

uint64_t span_bytes(const Layout& layout) {
  return static_cast<uint64_t>(layout.last + 1 - layout.first) * dtype_size(layout.dtype);
}

}  // namespace

CaseResult run_case(Runtime& runtime, const OpEntry& op, const Case& test, Guard guard) {
  CaseRun run(runtime, op, test, guard);
  return run.attempt([&] {
    run.prepare();
    run.call(nullptr);
    run.check();
  });
}

uint64_t case_bytes(const Case& test) {
  uint64_t bytes = 0;
  for (const InputTensor& input : test.inputs) bytes += span_bytes(input.layout);
  for (const ExpectedTensor& output : test.outputs) bytes += span_bytes(output.layout);
  return bytes;
}

}  // namespace hipops::parity
