// Output that depends on the terminal: colours, columns, the progress bar, and a last message when a kernel crashes the
// process.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace hipops::parity {

// Whether to print colours: stdout is a terminal, and NO_COLOR is not set.
bool colours_wanted();

enum class Colour { kBold = 1, kRed = 31, kGreen = 32, kYellow = 33 };
std::string paint(const std::string& text, Colour colour, bool enabled);

// Pads the text with spaces; never cuts it.
std::string left(std::string text, int width);
std::string right(const std::string& text, int width);

// Indents further lines of a value to the column after a header's labels, column ten.
std::string indented(std::string text);

// Prints the progress of a run to stderr. A terminal shows a bar, drawn at most some twenty times a second. Any other
// file gets a line after each interval of `quiet` without one.
class Progress {
 public:
  explicit Progress(size_t total, std::chrono::milliseconds quiet = std::chrono::seconds(10));
  void show(size_t done, const std::string& label);
  void clear();  // before any other print

 private:
  bool is_terminal_;
  size_t total_;
  std::chrono::milliseconds quiet_;
  std::chrono::steady_clock::time_point next_;
};

// Writes `note` to stderr if a signal ends the process: an access to a guard page, or a report of the CPU executor. The
// signal still ends the process. An empty note disables this.
void set_crash_note(const std::string& note);

}  // namespace hipops::parity
