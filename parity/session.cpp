#include "parity/session.h"

#include <cstdio>

#include "parity/terminal.h"

namespace hipops::parity {
namespace {

void print(const std::string& text) { std::fputs(text.c_str(), stdout); }

CaseRecord run_one(const Job& job) {
  CaseRecord record = job.record;
  set_crash_note("\nhipops-parity: died in " + record.op + " " + record.dtype + " " + record.topic + "/" + record.name +
                 "\nrun it alone: " + record.command + "\n");
  record.result = job.run();
  set_crash_note("");
  return record;
}

}  // namespace

Session::Session(RunInfo info, bool verbose) : info_(std::move(info)), verbose_(verbose), colour_(colours_wanted()) {}

void Session::run(const std::vector<Job>& jobs) {
  print(header_text(info_, jobs.size(), colour_));
  print(table_heading(colour_));
  std::fflush(stdout);  // a kernel may kill the process
  Progress progress(jobs.size());
  std::vector<CaseRecord> group;
  for (size_t i = 0; i < jobs.size(); ++i) {
    const CaseRecord& record = jobs[i].record;
    progress.show(i, record.op + " " + record.name);
    group.push_back(run_one(jobs[i]));
    const bool last = i + 1 == jobs.size() || jobs[i + 1].record.op != record.op ||
                      jobs[i + 1].record.dtype != record.dtype;
    if (!last) continue;
    progress.clear();
    finish_group(group);
    group.clear();
  }
  print("\n" + closing_line(count(records_), colour_));
}

void Session::finish_group(const std::vector<CaseRecord>& group) {
  print(table_row(group, colour_));
  for (const CaseRecord& record : group) {
    if (verbose_) print(verbose_text(record, colour_));
    if (record.result.verdict == CaseResult::Verdict::kFailed) print(failure_text(record, colour_));
  }
  if (!verbose_) print(skipped_text(group, colour_));
  std::fflush(stdout);
  records_.insert(records_.end(), group.begin(), group.end());
}

}  // namespace hipops::parity
