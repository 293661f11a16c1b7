// Reads the text of a golden file (parity/golden/README.md is the format), and trusts no part of it. Any text becomes a
// GoldenFile that is safe to run, or a GoldenError. Memory in use is proportional to the text.
#pragma once

#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "parity/generator.h"
#include "parity/layout.h"
#include "parity/ops.h"

namespace hipops::parity {

struct InputTensor {
  std::string name;
  Layout layout;
  std::vector<uint64_t> bits;  // the elements in row-major order; empty if there is a generator
  std::optional<Generator> generator;

  // The bits of the element at a row-major position.
  uint64_t element(int64_t position) const;
};

struct ExpectedTensor {
  std::string name;
  Layout layout;
  bool sampled = false;
  std::vector<int64_t> positions;     // sampled: the positions of the values; empty if value i is at position i
  std::vector<double> values;         // float dtypes
  std::vector<uint64_t> bits;         // integer dtypes
  std::vector<double> scale;          // empty, or one entry for each value
  std::vector<double> row_checksums;  // sampled float outputs: with values, or instead of them
  std::vector<double> row_tolerances;
  std::optional<uint64_t> checksum;  // of the bits of all elements
  std::optional<double> ulps;        // the tolerance, if it is not the case's
};

struct InPlace {
  std::string output;
  std::string input;
};

struct Case {
  std::string name;
  hipops_dtype dtype = HIPOPS_NONE;
  std::map<std::string, double> params;
  std::vector<InputTensor> inputs;
  std::vector<ExpectedTensor> outputs;
  std::optional<InPlace> in_place;
  double tolerance_ulps = 0;

  // Whether the named tensor is both an input and an output, in one buffer.
  bool is_in_out(const std::string& tensor) const;
};

struct GoldenFile {
  std::string path;
  std::string op;
  std::string topic;
  std::vector<Case> cases;
};

// what() is one line: file, case (if a case is wrong), field and reason.
class GoldenError : public std::runtime_error {
 public:
  GoldenError(std::string file, std::string case_name, std::string reason);
  const std::string& file() const { return file_; }
  const std::string& case_name() const { return case_name_; }
  const std::string& reason() const { return reason_; }

 private:
  std::string file_;
  std::string case_name_;
  std::string reason_;
};

// The topics that a file may have.
const std::vector<std::string>& all_topics();

// A longer text is refused.
constexpr size_t kMaxGoldenBytes = size_t{64} << 20;

// `file` is for messages. `ops` is the table of ops.
GoldenFile read_golden(std::string_view text, const std::string& file, const std::vector<OpEntry>& ops);

}  // namespace hipops::parity
