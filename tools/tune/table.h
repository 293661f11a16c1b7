// What hipops-tune writes and says.
#pragma once

#include <string>
#include <vector>

#include "device.h"
#include "tune/measure.h"

namespace hipops::tune {

struct Result {
  Group group;
  std::vector<Cell> cells;  // those for vectors[0] first
};

// The table, as HIPOPS_TUNING_FILE takes it.
std::string table_text(const bench::RunInfo& info, const DeviceNumbers& device, const std::vector<Result>& results);

// How much the table brings, a line for each group, and the kernels that neither it nor the default policy takes.
std::string summary_text(const std::vector<Result>& results);

}  // namespace hipops::tune
