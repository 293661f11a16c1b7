// Which kernel for which problem on a class of devices, as data that hipops-tune has measured.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "rows/plan.h"

namespace hipops {

// The choices for rows of one op, dtype and layout, by the vectors of a row and by the rows for each unit: the first bound
// that is not exceeded counts. Longer rows, and more of them, have no choice; nor have those of kDefaultChoice. A vector is of
// 16 bytes, begun ones count.
constexpr RowChoice kDefaultChoice = {-1, 1};
struct RowTable {
  const Op* op;
  hipops_dtype dtype;
  RowLayout layout;
  std::vector<double> vectors, rows_per_unit;  // ascending
  std::vector<RowChoice> choices;              // those for vectors[0] first
};

// What sums by an index may do where the default choice (capi/policy/default_sums.cpp) takes it for best. Tests and tools
// have small problems go as large ones by it.
struct SumsPolicy {
  bool few = true, scan = true;  // false: indices are sorted wherever there is a workspace, and elsewhere scanned
  bool always_join = false;      // segments are summed by the blocks that sort them wherever that is possible
};

struct Policy {
  std::string origin = "the default policy";  // as hipops-info says it
  std::string complaint;                      // of its file, in a line; "": none
  std::vector<RowTable> rows;
  SumsPolicy sums;        // which no table has,
  bool small_apart = true;  // nor this; false: few rows, and small tensors of movers, go as many and large ones do

  const RowChoice* find(const Op& op, const RowProblem& problem, const DeviceNumbers& device) const;  // null: none
};

// Reads a table, the text of a JSON file (docs/guide/tune.md), for a device. What is wrong with it, or "". An entry for an
// op or a kernel that this library lacks, or for clusters that the device lacks, is left out, with a complaint.
std::string read_policy(const std::string& text, const DeviceFacts& device, Policy* policy);

// The policy for a device: of the file that HIPOPS_TUNING_FILE names, or the default one.
std::unique_ptr<Policy> read_policy_of(const DeviceFacts& device);

// The same, read once for each device of the backend in use; the first complaint goes to stderr. Null: out of host memory.
const Policy* policy_of(const DeviceFacts& device);

// For tools and tests: what plans go by from now on, on all devices; null: each device's own. Returns what was so before.
const Policy* use_policy(const Policy* policy);

// Whether few rows and small tensors go their own way.
bool small_goes_apart();

}  // namespace hipops
