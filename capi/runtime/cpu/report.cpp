#include "runtime/cpu/report.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace hipops {
namespace cpu {
namespace {

std::atomic<bool> reporting{false};

void print(const char* data, size_t bytes) {
  while (bytes > 0) {
    const ssize_t written = write(STDERR_FILENO, data, bytes);
    if (written <= 0) return;
    data += written;
    bytes -= static_cast<size_t>(written);
  }
}

}  // namespace

std::string text(const char* format, ...) {
  char buffer[1024];
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf(buffer, sizeof buffer, format, arguments);
  va_end(arguments);
  return std::string(buffer, std::min(sizeof buffer - 1, static_cast<size_t>(std::max(length, 0))));
}

std::string place(Site site) { return text("%s:%d", site.file == nullptr ? "?" : site.file, site.line); }

bool same_name(const char* a, const char* b) { return a != nullptr && b != nullptr && std::strcmp(a, b) == 0; }

void Doings::add(uint32_t lane, const std::string& doing) {
  const auto known = [&](const auto& entry) { return entry.first == doing; };
  auto entry = std::find_if(doings_.begin(), doings_.end(), known);
  if (entry == doings_.end()) entry = doings_.insert(entry, {doing, {}});
  std::vector<Range>& ranges = entry->second;
  if (!ranges.empty() && ranges.back().last + 1 == lane) {
    ranges.back().last = lane;
  } else {
    ranges.push_back({lane, lane});
  }
}

std::string Doings::lines() const {
  std::string all;
  for (const auto& entry : doings_) {
    const char* separator = "  ";
    for (const Range& range : entry.second) {
      all += range.first == range.last ? text("%s%u", separator, range.first)
                                       : text("%s%u-%u", separator, range.first, range.last);
      separator = ",";
    }
    all += ": " + entry.first + "\n";
  }
  return all;
}

void fatal(const std::string& report) {
  if (reporting.exchange(true)) {
    for (;;) pause();
  }
  print(report.data(), report.size());
  std::abort();
}

}  // namespace cpu
}  // namespace hipops
