// Runs cases one after the other, prints the table, and keeps the results.
#pragma once

#include <functional>
#include <vector>

#include "parity/report.h"

namespace hipops::parity {

struct Job {
  CaseRecord record;  // all fields except the result
  std::function<CaseResult()> run;
};

class Session {
 public:
  Session(RunInfo info, bool verbose);

  // Jobs of one op and dtype must be neighbours: they are a row of the table.
  void run(const std::vector<Job>& jobs);

  const std::vector<CaseRecord>& records() const { return records_; }
  const RunInfo& info() const { return info_; }

 private:
  void finish_group(const std::vector<CaseRecord>& group);

  const RunInfo info_;
  const bool verbose_, colour_;
  std::vector<CaseRecord> records_;
};

}  // namespace hipops::parity
