#include "parity/terminal.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace hipops::parity {
namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
constexpr size_t kSignalCount = sizeof kSignals / sizeof *kSignals;
constexpr size_t kBarWidth = 30;

struct sigaction previous_actions[kSignalCount];
char crash_note[4096];
std::atomic<size_t> crash_note_length{0};

// Calls only functions that a signal handler may call.
void on_crash(int signal, siginfo_t* info, void*) {
  const size_t length = crash_note_length.exchange(0);
  if (length > 0 && write(STDERR_FILENO, crash_note, length) < 0) {
    // A failed write cannot be reported.
  }
  for (size_t i = 0; i < kSignalCount; ++i) {
    if (kSignals[i] == signal) sigaction(signal, &previous_actions[i], nullptr);
  }
  // A fault happens again on return, and runs the previous action. A signal that the process sent must be raised again.
  if (info->si_code <= 0) raise(signal);
}

void install() {
  struct sigaction action = {};
  action.sa_sigaction = on_crash;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (size_t i = 0; i < kSignalCount; ++i) sigaction(kSignals[i], &action, &previous_actions[i]);
}

}  // namespace

bool colours_wanted() {
  const char* refused = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return isatty(STDOUT_FILENO) != 0 && (refused == nullptr || *refused == '\0') &&
         (terminal == nullptr || std::strcmp(terminal, "dumb") != 0);
}

std::string paint(const std::string& text, Colour colour, bool enabled) {
  return enabled ? "\033[" + std::to_string(static_cast<int>(colour)) + "m" + text + "\033[0m" : text;
}

std::string left(std::string text, int width) {
  if (text.size() < static_cast<size_t>(width)) text.resize(static_cast<size_t>(width), ' ');
  return text;
}

std::string right(const std::string& text, int width) {
  const size_t size = static_cast<size_t>(width);
  return text.size() < size ? std::string(size - text.size(), ' ') + text : text;
}

std::string indented(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  for (size_t at = 0; (at = text.find('\n', at)) != std::string::npos; ++at) text.replace(at, 1, "\n         ");
  return text;
}

Progress::Progress(size_t total, std::chrono::milliseconds quiet)
    : is_terminal_(isatty(STDERR_FILENO) != 0), total_(total), quiet_(quiet) {
  if (!is_terminal_) next_ = std::chrono::steady_clock::now() + quiet_;
}

void Progress::show(size_t done, const std::string& label) {
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return;
  if (!is_terminal_) {
    next_ = now + quiet_;
    std::fprintf(stderr, "%s: %zu of %zu done, now %s\n", program_invocation_short_name, done, total_, label.c_str());
    return;
  }
  next_ = now + std::chrono::milliseconds(50);
  const size_t filled = total_ == 0 ? kBarWidth : kBarWidth * done / total_;
  const std::string bar = std::string(filled, '#') + std::string(kBarWidth - filled, '.');
  std::fprintf(stderr, "\r[%s] %zu/%zu %.30s\033[K", bar.c_str(), done, total_, label.c_str());
}

void Progress::clear() {
  if (!is_terminal_) {
    next_ = std::chrono::steady_clock::now() + quiet_;
    return;
  }
  std::fputs("\r\033[K", stderr);
  next_ = {};  // the line is empty, so draw the next case immediately
}

void set_crash_note(const std::string& note) {
  static const bool installed = (install(), true);
  static_cast<void>(installed);
  crash_note_length = 0;
  const size_t length = std::min(note.size(), sizeof crash_note);
  std::memcpy(crash_note, note.data(), length);
  crash_note_length = length;
}

}  // namespace hipops::parity
