#include "parity/report.h"

#include <cmath>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

#include "parity/compare.h"
#include "parity/terminal.h"

namespace hipops::parity {
namespace {

using Verdict = CaseResult::Verdict;

constexpr int kOpWidth = 20;
constexpr int kDtypeWidth = 6;
constexpr int kCasesWidth = 6;
constexpr int kUlpsWidth = 10;
constexpr int kVerdictWidth = 8;

Colour colour_of(Verdict verdict) {
  return verdict == Verdict::kPassed ? Colour::kGreen : verdict == Verdict::kFailed ? Colour::kRed : Colour::kYellow;
}

const char* shown(Verdict verdict) {
  return verdict == Verdict::kPassed ? "pass" : verdict == Verdict::kFailed ? "FAIL" : "skipped";
}

std::string row_text(const std::string& op, const std::string& dtype, const std::string& cases, const std::string& ulps,
                     const std::string& verdict, const std::string& where) {
  return left(op, kOpWidth - 1) + " " + left(dtype, kDtypeWidth - 1) + " " + right(cases, kCasesWidth) + " " +
         right(ulps, kUlpsWidth - 1) + "  " + verdict + (where.empty() ? "" : " " + where);
}

std::string where(const CaseRecord& record) {
  return record.result.worst_output.empty()
             ? ""
             : record.name + " " + record.result.worst_output + record.result.worst_index;
}

// A group passes if none of its cases failed, and is skipped if all were skipped.
Verdict group_verdict(const Totals& totals) {
  if (totals.failed > 0) return Verdict::kFailed;
  return totals.passed > 0 ? Verdict::kPassed : Verdict::kSkipped;
}

std::string milliseconds(double ms) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f ms", ms);
  return text;
}

std::string seconds(double ms) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6f", ms / 1000);
  return text;
}

// Bytes of the UTF-8 sequence at `at`, if XML allows its character; 0 otherwise.
size_t utf8_length(const std::string& text, size_t at) {
  const auto byte = [&](size_t i) { return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0u; };
  const size_t length = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : byte(0) >= 0xc2 ? 2 : 0;
  if (length == 0 || byte(0) > 0xf4) return 0;
  uint32_t character = byte(0) & (0x7fu >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    character = character << 6 | (byte(i) & 0x3f);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = character >= 0xd800 && character <= 0xdfff;
  const bool refused =
      character < kLeast[length] || character > 0x10ffff || surrogate || character == 0xfffe || character == 0xffff;
  return refused ? 0 : length;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += (text.empty() ? "" : "\n") + line;
  return text;
}

std::string attribute(const char* name, const std::string& value) {
  return std::string(" ") + name + "=\"" + xml_escape(value) + "\"";
}

std::string junit_case(const CaseRecord& record) {
  const CaseResult& result = record.result;
  std::string text = "    <testcase" + attribute("classname", "hipops." + record.op + "." + record.dtype) +
                     attribute("name", record.topic + "/" + record.name) + attribute("time", seconds(result.ms));
  if (result.verdict == Verdict::kPassed) return text + "/>\n";
  const std::string first = result.reasons.empty() ? "" : result.reasons.front();
  if (result.verdict == Verdict::kSkipped)
    return text + ">\n      <skipped" + attribute("message", first) + "/>\n    </testcase>\n";
  return text + ">\n      <failure" + attribute("message", first) + ">" +
         xml_escape(joined(result.reasons) + "\nrun it alone: " + record.command) + "</failure>\n    </testcase>\n";
}

std::string junit_counts(const std::vector<CaseRecord>& records) {
  const Totals totals = count(records);
  double ms = 0;
  for (const CaseRecord& record : records) ms += record.result.ms;
  return attribute("tests", std::to_string(records.size())) + attribute("failures", std::to_string(totals.failed)) +
         attribute("errors", "0") + attribute("skipped", std::to_string(totals.skipped)) +
         attribute("time", seconds(ms));
}

nlohmann::json ulps_json(double ulps) {
  if (std::isfinite(ulps)) return ulps;
  return "inf";  // JSON cannot represent it
}

nlohmann::json case_json(const CaseRecord& record) {
  const CaseResult& result = record.result;
  nlohmann::json json = {
      {"op", record.op},       {"dtype", record.dtype},     {"topic", record.topic},
      {"name", record.name},   {"shape", record.shape},     {"verdict", verdict_name(result.verdict)},
      {"ms", result.ms},       {"reasons", result.reasons}, {"command", record.command},
      {"worst_ulps", nullptr}, {"worst_at", nullptr}};
  if (result.worst_output.empty()) return json;
  json["worst_ulps"] = ulps_json(result.worst_ulps);
  json["worst_at"] = {
      {"output", result.worst_output}, {"position", result.worst_position}, {"index", result.worst_index}};
  return json;
}

}  // namespace

Totals count(const std::vector<CaseRecord>& records) {
  Totals totals;
  for (const CaseRecord& record : records) {
    if (record.result.verdict == Verdict::kPassed) ++totals.passed;
    if (record.result.verdict == Verdict::kFailed) ++totals.failed;
    if (record.result.verdict == Verdict::kSkipped) ++totals.skipped;
  }
  return totals;
}

const char* verdict_name(Verdict verdict) {
  return verdict == Verdict::kPassed ? "passed" : verdict == Verdict::kFailed ? "failed" : "skipped";
}

std::string header_text(const RunInfo& info, size_t cases, bool colour) {
  return paint("hipops " + info.version + " parity", Colour::kBold, colour) + "\nbackend  " + info.backend +
         "\ndevice   " + info.device + " (" + info.target + "), wave " + std::to_string(info.wave) + "\nbuild    " +
         indented(info.build) + "\ngolden   " + info.golden + ", " + std::to_string(cases) +
         (cases == 1 ? " case" : " cases") + (info.guard == "zones" ? "" : "\nguard    " + info.guard) + "\n\n";
}

std::string table_heading(bool colour) {
  return paint(row_text("op", "dtype", "cases", "worst ULP", left("verdict", kVerdictWidth), "where"), Colour::kBold,
               colour) +
         "\n";
}

std::string table_row(const std::vector<CaseRecord>& group, bool colour) {
  const CaseRecord* worst = nullptr;
  for (const CaseRecord& record : group) {
    if (record.result.worst_output.empty()) continue;
    if (worst == nullptr || record.result.worst_ulps > worst->result.worst_ulps) worst = &record;
  }
  const Verdict verdict = group_verdict(count(group));
  return row_text(
             group.front().op, group.front().dtype, std::to_string(group.size()),
             worst == nullptr ? "-" : show_ulps(worst->result.worst_ulps),
             paint(worst == nullptr ? shown(verdict) : left(shown(verdict), kVerdictWidth), colour_of(verdict), colour),
             worst == nullptr ? "" : where(*worst)) +
         "\n";
}

std::string failure_text(const CaseRecord& record, bool colour) {
  std::string text = "  " + paint("FAIL", Colour::kRed, colour) + " " + record.op + " " + record.dtype + " " +
                     record.topic + "/" + record.name + " (" + record.shape + ")\n";
  for (const std::string& reason : record.result.reasons) text += "    " + reason + "\n";
  return text + "    run it alone: " + record.command + "\n";
}

std::string verbose_text(const CaseRecord& record, bool colour) {
  const CaseResult& result = record.result;
  std::string text = "  " + paint(left(shown(result.verdict), kVerdictWidth), colour_of(result.verdict), colour) +
                     record.op + " " + record.dtype + " " + record.topic + "/" + record.name + " (" + record.shape +
                     ")";
  if (!result.worst_output.empty()) {
    text += ", worst " + show_ulps(result.worst_ulps) + " ULPs at " + result.worst_output + result.worst_index;
  }
  if (result.verdict == Verdict::kSkipped) return text + ": " + joined(result.reasons) + "\n";
  return text + ", " + milliseconds(result.ms) + "\n";
}

std::string skipped_text(const std::vector<CaseRecord>& group, bool colour) {
  std::map<std::string, std::vector<const CaseRecord*>> by_reason;
  for (const CaseRecord& record : group)
    if (record.result.verdict == Verdict::kSkipped) by_reason[joined(record.result.reasons)].push_back(&record);
  std::string text;
  for (const auto& [reason, records] : by_reason)
    text += records.size() == 1 ? verbose_text(*records.front(), colour)
                                : "  " + paint(left(shown(Verdict::kSkipped), kVerdictWidth), Colour::kYellow, colour) +
                                      std::to_string(records.size()) + " cases, each: " + reason + "\n";
  return text;
}

std::string closing_line(const Totals& totals, bool colour) {
  std::string text = std::to_string(totals.passed) + " passed, " + std::to_string(totals.failed) + " failed";
  if (totals.skipped > 0) text += ", " + std::to_string(totals.skipped) + " skipped";
  return paint(text, totals.failed > 0 ? Colour::kRed : Colour::kGreen, colour) + "\n";
}

std::string to_json(const RunInfo& info, const std::vector<CaseRecord>& records) {
  const Totals totals = count(records);
  nlohmann::json json;
  json["schema"] = 1;
  json["header"] = {{"backend", info.backend}, {"device", info.device}, {"target", info.target}, {"wave", info.wave},
                    {"version", info.version}, {"build", info.build},   {"golden", info.golden}, {"guard", info.guard}};
  json["cases"] = nlohmann::json::array();
  for (const CaseRecord& record : records) json["cases"].push_back(case_json(record));
  json["totals"] = {{"passed", totals.passed}, {"failed", totals.failed}, {"skipped", totals.skipped}};
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string to_junit(const RunInfo& info, const std::vector<CaseRecord>& records) {
  std::vector<std::string> order;
  std::map<std::string, std::vector<CaseRecord>> suites;
  for (const CaseRecord& record : records) {
    if (suites[record.op].empty()) order.push_back(record.op);
    suites[record.op].push_back(record);
  }
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites" + attribute("name", "hipops-parity") +
                     junit_counts(records) + ">\n";
  for (const std::string& op : order) {
    text += "  <testsuite" + attribute("name", op) + junit_counts(suites[op]) + ">\n    <properties>\n";
    const std::pair<const char*, std::string> properties[] = {
        {"backend", info.backend},           {"device", info.device},   {"target", info.target},
        {"wave", std::to_string(info.wave)}, {"version", info.version}, {"build", info.build},
        {"golden", info.golden},             {"guard", info.guard}};
    for (const auto& [name, value] : properties) {
      text += "      <property" + attribute("name", name) + attribute("value", value) + "/>\n";
    }
    text += "    </properties>\n";
    for (const CaseRecord& record : suites[op]) text += junit_case(record);
    text += "  </testsuite>\n";
  }
  return text + "</testsuites>\n";
}

std::string xml_escape(const std::string& text) {
  std::string safe;
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    const unsigned char byte = static_cast<unsigned char>(c);
    if (byte >= 0x80) {
      const size_t length = utf8_length(text, at);
      safe += length == 0 ? "?" : text.substr(at, length);
      at += length == 0 ? 1 : length;
      continue;
    }
    ++at;
    if (c == '&')
      safe += "&amp;";
    else if (c == '<')
      safe += "&lt;";
    else if (c == '>')
      safe += "&gt;";
    else if (c == '"')
      safe += "&quot;";
    else if (c == '\'')
      safe += "&apos;";
    else if (c == '\n')
      safe += "&#10;";  // a plain line break in an attribute reads back as a space
    else if (c == '\t')
      safe += "&#9;";
    else if (byte < 0x20 || byte == 0x7f)
      safe += '?';
    else
      safe += c;
  }
  return safe;
}

}  // namespace hipops::parity
