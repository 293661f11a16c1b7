// The results of a run, in three forms: a table for people, JSON, and JUnit XML for CI.
#pragma once

#include <string>
#include <vector>

#include "parity/run_case.h"

namespace hipops::parity {

struct RunInfo {
  std::string backend;
  std::string device;
  std::string target;
  int wave = 0;
  std::string version;
  std::string build;
  std::string golden;
  std::string guard;
};

struct CaseRecord {
  std::string op;
  std::string dtype;
  std::string topic;
  std::string name;
  std::string shape;
  std::string command;  // runs this case alone
  CaseResult result;
};

struct Totals {
  int passed = 0;
  int failed = 0;
  int skipped = 0;
};

Totals count(const std::vector<CaseRecord>& records);

// "passed", "failed", "skipped".
const char* verdict_name(CaseResult::Verdict verdict);

// With ANSI colours if `colour` is set.
std::string header_text(const RunInfo& info, size_t cases, bool colour);
std::string table_heading(bool colour);
std::string table_row(const std::vector<CaseRecord>& group, bool colour);  // of one op and dtype
std::string failure_text(const CaseRecord& record, bool colour);           // a failed case, over several lines
std::string skipped_text(const std::vector<CaseRecord>& group, bool colour);  // a line for each reason; or ""
std::string verbose_text(const CaseRecord& record, bool colour);
std::string closing_line(const Totals& totals, bool colour);

std::string to_json(const RunInfo& info, const std::vector<CaseRecord>& records);
std::string to_junit(const RunInfo& info, const std::vector<CaseRecord>& records);

// The text for XML and its attributes, with markup escaped. Characters that XML 1.0 lacks become '?': control
// characters and broken UTF-8.
std::string xml_escape(const std::string& text);

}  // namespace hipops::parity
