#include "inspect/report.h"

#include <algorithm>
#include <cstdio>

#include "hipops/hipops.h"
#include "parity/terminal.h"

namespace hipops::inspect {
namespace {

using Row = std::vector<std::string>;

constexpr size_t kLeft = 1;  // number of columns with left alignment

std::string number(const Record& value) { return number_text(value); }

std::string kibibytes(const Record& bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", bytes.get<double>() / 1024);
  return text;
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : " ") + part;
  return text.empty() ? "-" : text;
}

// The counts that are not 0, as "dpp 12 permlane 2".
std::string counts(const Record& record, const std::vector<const char*>& names) {
  std::vector<std::string> parts;
  for (const char* name : names) {
    if (record.at(name) > 0) parts.push_back(std::string(name) + " " + number(record.at(name)));
  }
  return joined(parts);
}

std::string atomics(const Record& record) {
  std::vector<std::string> parts;
  for (const auto& [mnemonic, count] : record.at("atomics").items()) {
    const size_t name = mnemonic.find("atomic_") + 7;
    parts.push_back(mnemonic.substr(name) + "x" + number(count));
  }
  return joined(parts);
}

Row heading() {
  return {"kernel", "VGPRs", "AGPRs", "SGPRs", "LDS", "scratch", "spills", "block", "waves", "limit", "loads", "stores",
          "wait", "KiB/CU", "lanes", "atomics", "div", "mul64"};
}

Row row_of(const Record& r) {
  return {r.at("kernel"),
          number(r.at("vgprs")),
          number(r.at("agprs")),
          number(r.at("sgprs")),
          number(r.at("lds_bytes")),
          number(r.at("scratch_bytes")),
          number(r.at("spills")),
          number(r.at("block")),
          number(r.at("waves_per_simd")),
          r.at("waves_limit"),
          widths_text(r.at("hot_loads")),
          widths_text(r.at("hot_stores")),
          number(r.at("loads_before_wait")) + "/" + number(r.at("bytes_before_wait")),
          kibibytes(r.at("bytes_in_flight")),
          counts(r, {"dpp", "permlane", "readlane", "bpermute", "swizzle"}),
          atomics(r),
          number(r.at("divisions")),
          number(r.at("wide_multiplies"))};
}

std::string aligned(const std::vector<Row>& rows) {
  std::vector<size_t> widths(rows.front().size());
  for (const Row& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const Row& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string blanks(widths[i] - row[i].size(), ' ');
      line += (i == 0 ? "" : "  ") + (i < kLeft ? row[i] + blanks : blanks + row[i]);
    }
    text += line + "\n";
  }
  return text;
}

}  // namespace

std::string number_text(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.10g", number);
  return text;
}

std::string widths_text(const Record& widths) {
  std::vector<std::string> parts;
  for (const auto& [bytes, count] : widths.items()) parts.push_back(bytes + "x" + number(count));
  return joined(parts);
}

std::string table_text(const std::vector<Record>& records, bool colour) {
  std::string text;
  for (size_t begin = 0, end = 0; begin < records.size(); begin = end) {
    const Record& first = records[begin];
    std::vector<Row> rows = {heading()};
    for (; end < records.size() && records[end].at("op") == first.at("op") &&
           records[end].at("target") == first.at("target"); ++end)
      rows.push_back(row_of(records[end]));
    const std::string title = first.at("op").get<std::string>() + " " + first.at("target").get<std::string>();
    text += (begin == 0 ? "" : "\n") + parity::paint(title, parity::Colour::kBold, colour) + "\n" + aligned(rows);
  }
  return text;
}

std::string to_json(const std::vector<Record>& records) {
  const Record all = {{"version", hipops_version()}, {"kernels", records}};
  return all.dump(1) + "\n";
}

}  // namespace hipops::inspect
