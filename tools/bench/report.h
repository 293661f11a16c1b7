// The measurements, as a table for people and as JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sweep.h"

namespace hipops::bench {

struct Figure {
  Workload work;
  int64_t bytes = 0;
  double roof = 0, hipops = 0;  // microseconds
  std::optional<double> warm;
  std::optional<HostTime> host;
};

std::string header_text(const RunInfo& info, bool colour);
std::string table_heading(bool warm, bool host, bool colour);
std::string table_row(const Figure& figure);
std::string sweep_text(const std::vector<SweepRow>& rows, bool colour);

std::string to_json(const RunInfo& info, const std::vector<Figure>& figures);
std::string to_json(const RunInfo& info, const std::vector<SweepRow>& rows);

}  // namespace hipops::bench
