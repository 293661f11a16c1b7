// What depends on where the output goes: colours, the progress bar, and a last word when a kernel brings the process
// down.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace hipops::parity {

// Whether stdout takes colours: a terminal, and NO_COLOR is not set.
bool colours_wanted();

// A bar on stderr, drawn only if that is a terminal, and at most some twenty times a second.
class Progress {
 public:
  explicit Progress(size_t total);
  void show(size_t done, const std::string& label);
  void clear();

 private:
  bool enabled_;
  size_t total_;
  std::chrono::steady_clock::time_point next_ = {};
};

// Writes `note` to stderr if a signal ends the process (an access to a guard page, a report of the CPU executor), and
// lets the signal take its course. An empty note switches that off.
void set_crash_note(const std::string& note);

}  // namespace hipops::parity
