#include "tune/table.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <nlohmann/json.hpp>
#include <set>

#include "parity/number.h"
#include "parity/terminal.h"

namespace hipops::tune {
namespace {

using Json = nlohmann::ordered_json;

std::string today() {
  const std::time_t now = std::time(nullptr);
  char text[16];
  std::strftime(text, sizeof text, "%Y-%m-%d", std::gmtime(&now));
  return text;
}

Json entry_of(const Result& result) {
  const Group& group = result.group;
  Json kernels = Json::array();
  for (size_t v = 0; v < group.vectors.size(); ++v) {
    Json list = Json::array();
    for (size_t r = 0; r < group.rows_per_unit.size(); ++r) {
      const Cell& cell = result.cells[v * group.rows_per_unit.size() + r];
      list.push_back(same(cell.kept, cell.by_default) ? "default" : choice_name(group, cell.kept));
    }
    kernels.push_back(list);
  }
  return {{"op", group.op->name},      {"bytes", parity::dtype_size(group.dtype)}, {"layout", layout_name(group.layout)},
          {"vectors", group.vectors}, {"rows_per_unit", group.rows_per_unit},     {"kernels", kernels}};
}

std::string group_line(const Result& result) {
  int other = 0, measured = 0;
  double most = 1;
  for (const Cell& cell : result.cells) {
    measured += cell.kept_us > 0;
    const bool is_other = cell.kept_us > 0 && cell.default_us > cell.kept_us;
    other += is_other;
    if (is_other) most = std::max(most, cell.default_us / cell.kept_us);
  }
  char text[160];
  std::snprintf(text, sizeof text, "%s %4d of %4d cells, up to %.2f times as fast\n",
                parity::left(name_of(result.group), 36).c_str(), other, measured, most);
  return text;
}

// Kernels of the groups that were measured.
std::set<std::string> kernels_left(const std::vector<Result>& results) {
  std::set<std::string> all, chosen;
  for (const Result& result : results) {
    const Op& op = *result.group.op;
    for (int i = 0; i < op.kernel_count; ++i) {
      const RowKernel& kernel = row_kernels_of(op)->kernel[i];
      if (kernel.dtype == result.group.dtype && kernel.layout == result.group.layout) all.insert(op.kernel_names[i]);
    }
    for (const Cell& cell : result.cells)
      for (const RowChoice& choice : {cell.kept, cell.by_default}) {
        chosen.insert(op.kernel_names[choice.kernel]);
        if (row_kernels_of(op)->kernel[choice.kernel].body == RowBody::parts) chosen.insert(op.kernel_names[choice.kernel + 1]);
      }
  }
  for (const std::string& name : chosen) all.erase(name);
  return all;
}

}  // namespace

std::string table_text(const bench::RunInfo& info, const DeviceNumbers& device, const std::vector<Result>& results) {
  const Json measured = {{"device", info.device}, {"units", device.units},    {"driver", info.driver},
                         {"hipops", info.version}, {"date", today()}};
  std::string text = "{\"schema\": 1, \"target\": " + Json(info.target).dump() + ",\n \"measured\": " + measured.dump() +
                     ",\n \"rows\": [";
  for (size_t i = 0; i < results.size(); ++i) text += (i == 0 ? "\n  " : ",\n  ") + entry_of(results[i]).dump();
  return text + "\n ]}\n";
}

std::string summary_text(const std::vector<Result>& results) {
  std::string text = "rows with another kernel than the default policy's:\n";
  for (const Result& result : results) text += group_line(result);
  const std::set<std::string> left = kernels_left(results);
  text += "kernels that neither uses: " + (left.empty() ? "none" : std::to_string(left.size())) + "\n";
  for (const std::string& name : left) text += "  " + name + "\n";
  return text;
}

}  // namespace hipops::tune
