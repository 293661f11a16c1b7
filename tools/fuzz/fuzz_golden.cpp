// libFuzzer: gives any text to the reader of golden files. The reader must return cases that are safe to run, or a
// one-line error.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "fuzz/golden_text.h"
#include "parity/golden.h"

using namespace hipops;
using namespace hipops::parity;

namespace {

constexpr int64_t kMostElements = 1 << 12;
volatile uint64_t kept;  // prevents the compiler from removing reads

void expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "fuzz_golden: %s\n", what);
  std::abort();
}

// Checks that each element is in the range that the layout states.
void walk(const Layout& layout) {
  for (int64_t position = 0; position < layout.elements && position < kMostElements; ++position) {
    const int64_t at = layout.offset_at(position);
    expect(at >= layout.first && at <= layout.last, "an element outside of the tensor");
  }
}

void check(const OpEntry& op, const std::string& topic, const Case& test) {
  uint64_t sum = 0;
  for (const InputTensor& input : test.inputs) {
    walk(input.layout);
    expect(input.generator || input.bits.size() == static_cast<uint64_t>(input.layout.elements), "values are missing");
    for (int64_t i = 0; i < input.layout.elements && i < kMostElements; ++i) sum += input.element(i);
    if (input.generator) return;  // not written back
  }
  for (const ExpectedTensor& output : test.outputs) {
    walk(output.layout);
    if (!output.row_checksums.empty()) return;
  }
  kept = sum;
  // The reader must accept the case after it is written as text.
  try {
    expect(read_golden(fuzz::golden_text(op, topic, test), "again", all_ops()).cases.size() == 1, "a case is lost");
  } catch (const GoldenError& error) {
    expect(false, error.what());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const GoldenFile file = read_golden({reinterpret_cast<const char*>(data), size}, "fuzz.json", all_ops());
    const OpEntry* op = find_op(all_ops(), file.op);
    expect(op != nullptr, "an op that there is not");
    for (const Case& test : file.cases) check(*op, file.topic, test);
  } catch (const GoldenError& error) {
    const std::string what = error.what();
    expect(what.rfind("fuzz.json: ", 0) == 0 && !error.reason().empty(), "an error that says nothing");
    for (const char c : what) expect(c >= ' ' && c <= '~', "an error of more than a line");
  }
  return 0;
}
