#include "report.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "parity/number.h"
#include "parity/terminal.h"

namespace hipops::bench {
namespace {

using parity::Colour;
using parity::left;
using parity::paint;
using parity::right;

constexpr int kNameWidth = 52;
constexpr int kFigureWidth = 10;

std::string fixed(double value, int digits) {
  char text[512];  // fits the largest number
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

// A text wider than its column still gets one space before it.
std::string column(const std::string& text, int width = kFigureWidth) { return " " + right(text, width - 1); }

std::string bytes_column(const std::string& text) { return column(text, kFigureWidth + 2); }

// Long times have no hundredths.
std::string time_text(double us) {
  const std::string text = fixed(us, us < 999999.995 ? 2 : 0);
  if (text.size() < kFigureWidth) return text;
  char rounded[64];
  std::snprintf(rounded, sizeof rounded, "%.2e", us);
  return rounded;
}

std::string percent(double share) { return fixed(100 * share, 1) + " %"; }

std::string size_text(int64_t bytes) {
  return bytes >= 1 << 20 ? fixed(static_cast<double>(bytes) / (1 << 20), 1) + " MiB"
                          : fixed(static_cast<double>(bytes) / 1024, 1) + " KiB";
}

nlohmann::json header_json(const RunInfo& info) {
  return {{"backend", info.backend}, {"device", info.device},   {"target", info.target},
          {"driver", info.driver},   {"version", info.version}, {"build", info.build}};
}

std::string dump(const nlohmann::json& json) {
  return json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string list_text(const std::string& heading, const std::vector<std::string>& lines, bool colour) {
  std::string text =
      "\n" + paint(heading + ": " + (lines.empty() ? "none" : std::to_string(lines.size())), Colour::kBold, colour) +
      "\n";
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

}  // namespace

std::string header_text(const RunInfo& info, bool colour) {
  return paint("hipops " + info.version + " bench", Colour::kBold, colour) + "\nbackend  " + info.backend +
         "\ndevice   " + info.device + " (" + info.target + ")\ndriver   " + info.driver + "\nbuild    " +
         parity::indented(info.build) + "\n\n";
}

std::string table_heading(bool warm, bool host, bool colour) {
  std::string text = left("times in us", kNameWidth) + bytes_column("bytes") + column("roof") +
                     column("hipops") + column("share");
  if (warm) text += column("warm");
  if (host) text += column("call") + column("driver") + column("launches") + column("over each");
  return paint(text, Colour::kBold, colour) + "\n";
}

std::string table_row(const Figure& figure) {
  std::string text = left(figure.work.name, kNameWidth) + bytes_column(size_text(figure.bytes)) +
                     column(time_text(figure.roof)) + column(time_text(figure.hipops)) +
                     column(percent(figure.roof / figure.hipops));
  if (figure.warm) text += column(time_text(*figure.warm));
  if (figure.host)
    text += column(time_text(figure.host->call)) + column(time_text(figure.host->driver)) +
            column(std::to_string(figure.host->launches)) + column(time_text(figure.host->over_a_launch()));
  return text + "\n";
}

std::string sweep_text(const std::vector<SweepRow>& rows, bool colour) {
  std::vector<const SweepRow*> slow;
  double least = 0;
  for (const SweepRow& row : rows) {
    if (row.bytes > kSweepLargeBytes) least = least == 0 ? row.share() : std::min(least, row.share());
    if (row.is_slow()) slow.push_back(&row);
  }
  std::sort(slow.begin(), slow.end(), [](const SweepRow* a, const SweepRow* b) { return a->share() < b->share(); });
  std::vector<std::string> lines;
  for (const SweepRow* row : slow)
    lines.push_back(left(row->job.name(), kNameWidth) + bytes_column(size_text(row->bytes)) + column(time_text(row->roof)) +
                    column(time_text(row->us)) + column(percent(row->share())));
  return std::to_string(rows.size()) + " shapes" +
         (least > 0 ? "; least share where more than 32 MiB move: " + percent(least) : "") + "\n" +
         list_text("under 75 % of the roof, of those that move more than 32 MiB (bytes, roof, hipops, share)", lines, colour);
}

std::string to_json(const RunInfo& info, const std::vector<Figure>& figures) {
  nlohmann::json json = {{"schema", 1}, {"header", header_json(info)}, {"rows", nlohmann::json::array()}};
  for (const Figure& figure : figures) {
    nlohmann::json row = {{"name", figure.work.name},
                          {"op", figure.work.op},
                          {"dtype", parity::dtype_name(figure.work.dtype)},
                          {"bytes", figure.bytes},
                          {"roof_us", figure.roof},
                          {"hipops_us", figure.hipops},
                          {"share", figure.roof / figure.hipops}};
    if (figure.warm) row["warm_us"] = *figure.warm;
    if (figure.host)
      row["host_us"] = {{"call", figure.host->call},
                        {"driver", figure.host->driver},
                        {"launches", figure.host->launches},
                        {"over_a_launch", figure.host->over_a_launch()}};
    json["rows"].push_back(row);
  }
  return dump(json);
}

std::string to_json(const RunInfo& info, const std::vector<SweepRow>& rows) {
  nlohmann::json json = {{"schema", 1}, {"header", header_json(info)}, {"sweep", nlohmann::json::array()}};
  for (const SweepRow& row : rows) {
    json["sweep"].push_back({{"op", row.job.op},
                             {"dtype", parity::dtype_name(row.job.dtype)},
                             {"rows", row.job.shape.rows},
                             {"cols", row.job.shape.cols},
                             {"bytes", row.bytes},
                             {"roof_us", row.roof},
                             {"hipops_us", row.us},
                             {"share", row.share()},
                             {"slow", row.is_slow()}});
  }
  return dump(json);
}

}  // namespace hipops::bench
