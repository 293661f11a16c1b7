// The table of hipops-tune, and its summary.
#pragma once

#include <string>
#include <vector>

#include "device.h"
#include "tune/measure.h"

namespace hipops::tune {

struct Result {
  Group group;
  std::vector<Cell> cells;  // ordered by vectors, then by rows
};

// The table, in the form of HIPOPS_TUNING_FILE.
std::string table_text(const bench::RunInfo& info, const DeviceNumbers& device, const std::vector<Result>& results);

// The gain of the table, a line for each group, and the kernels that neither the table nor the default policy uses.
std::string summary_text(const std::vector<Result>& results);

}  // namespace hipops::tune
