// What depends on where the output goes: colours, columns, the progress bar, and a last word when a kernel brings the
// process down.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace hipops::parity {

// Whether stdout takes colours: a terminal, and NO_COLOR is not set.
bool colours_wanted();

enum class Colour { kBold = 1, kRed = 31, kGreen = 32, kYellow = 33 };
std::string paint(const std::string& text, Colour colour, bool enabled);

// In a column: filled up with spaces, never cut.
std::string left(std::string text, int width);
std::string right(const std::string& text, int width);

// A value of several lines under the first, beside the labels of a header, which take nine columns.
std::string indented(std::string text);

// How far a run is, on stderr: a bar, if that is a terminal, drawn at most some twenty times a second; else a line each
// time that nothing was said for `quiet`.
class Progress {
 public:
  explicit Progress(size_t total, std::chrono::milliseconds quiet = std::chrono::seconds(10));
  void show(size_t done, const std::string& label);
  void clear();  // before something is printed

 private:
  bool is_terminal_;
  size_t total_;
  std::chrono::milliseconds quiet_;
  std::chrono::steady_clock::time_point next_;
};

// Writes `note` to stderr if a signal ends the process (an access to a guard page, a report of the CPU executor), and
// lets the signal take its course. An empty note switches that off.
void set_crash_note(const std::string& note);

}  // namespace hipops::parity
