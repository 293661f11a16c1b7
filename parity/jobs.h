// The selected cases, as jobs for a session.
#pragma once

#include <memory>
#include <vector>

#include "parity/capture_case.h"
#include "parity/golden.h"
#include "parity/large.h"
#include "parity/options.h"
#include "parity/repeat_case.h"
#include "parity/session.h"
#include "parity/threads_case.h"

namespace hipops::parity {

// The device of the jobs. Jobs can be made and listed without a runtime.
struct Device {
  Runtime* runtime = nullptr;
  std::string backend;
  int wave = 0;
  Guard guard = Guard::kZones;
  std::unique_ptr<Streams> streams;         // for --repeat
  std::unique_ptr<Graphs> graphs;           // for --capture
  std::unique_ptr<large::Staging> staging;  // for --large
};

// Ordered by op, then by dtype, because the table has a row for each. All arguments must outlive the jobs.
std::vector<Job> golden_jobs(const Options& options, const std::vector<GoldenFile>& files, const Device& device);
std::vector<Job> large_jobs(const Options& options, const Device& device);

}  // namespace hipops::parity
