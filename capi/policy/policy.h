// The choice of kernels for a class of devices, read from a table that hipops-tune has measured.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "rows/plan.h"

namespace hipops {

// The choices for one op, dtype and layout. The number of vectors of a row and the number of rows for each unit select
// a choice: the first bound that is not exceeded. A vector has 16 bytes, and the last may be partly used. Beyond the
// last bound, and where the choice is kDefaultChoice, the table has no choice.
constexpr RowChoice kDefaultChoice = {-1, 1};
struct RowTable {
  const Op* op;
  hipops_dtype dtype;
  RowLayout layout;
  std::vector<double> vectors, rows_per_unit;  // ascending
  std::vector<RowChoice> choices;              // row-major: [vectors][rows_per_unit]
};

struct Policy {
  std::string origin = "the default policy";  // hipops-info prints it
  std::string complaint;                      // about the file, in one line; "": none
  std::vector<RowTable> rows;

  const RowChoice* find(const Op& op, const RowProblem& problem, const DeviceNumbers& device) const;  // null: none
};

// Reads a table for a device from the text of a JSON file (docs/guide/tune.md). Returns its error, or "". Leaves out an
// entry, with a complaint, if the library lacks its op or kernel, or the device lacks its clusters.
std::string read_policy(const std::string& text, const DeviceFacts& device, Policy* policy);

// The policy for a device, from the file that HIPOPS_TUNING_FILE names. Without a file it is the default policy.
std::unique_ptr<Policy> read_policy_of(const DeviceFacts& device);

// The same, read once for each device of the backend in use. The first complaint is printed to stderr. Null means that
// host memory ran out.
const Policy* policy_of(const DeviceFacts& device);

}  // namespace hipops
