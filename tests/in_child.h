// Runs a part of a test in a child process. A process has one runtime, one set of loaded libraries and one environment,
// so each part needs a fresh process. The test program itself must not choose a runtime before.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <functional>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>

#include "catch.h"

// Catch2 cannot report from a child process. These macros throw, and in_child() passes the message to the parent.
#define EXPECT(condition) \
  if (!(condition)) throw std::runtime_error(std::string(#condition " does not hold, line ") + std::to_string(__LINE__))

#define EXPECT_EQUAL(got, expected) hipops_test::expect_equal((got), (expected), #got, __LINE__)

#define EXPECT_CONTAINS(text, part) hipops_test::expect_contains((text), (part), #text, __LINE__)

namespace hipops_test {

using Environment = std::map<std::string, std::string>;  // an empty value unsets

template <class Got, class Expected>
void expect_equal(const Got& got, const Expected& expected, const char* what, int line) {
  if (got == expected) return;
  std::ostringstream text;
  text << what << " is " << got << ", expected " << expected << ", line " << line;
  throw std::runtime_error(text.str());
}

inline void expect_contains(const std::string& text, const std::string& part, const char* what, int line) {
  if (text.find(part) != std::string::npos) return;
  throw std::runtime_error(std::string(what) + " is \"" + text + "\", which lacks \"" + part + "\", line " +
                           std::to_string(line));
}

inline void apply(const Environment& environment) {
  for (const auto& entry : environment) {
    if (entry.second.empty()) {
      unsetenv(entry.first.c_str());
    } else {
      setenv(entry.first.c_str(), entry.second.c_str(), 1);
    }
  }
}

inline std::string outcome(const std::function<void()>& body) {
  try {
    body();
    return {};
  } catch (const std::exception& problem) {
    return problem.what();
  }
}

inline std::string read_all(int descriptor) {
  std::string text;
  char part[512];
  for (ssize_t got = 0; (got = read(descriptor, part, sizeof part)) > 0;) text.append(part, static_cast<size_t>(got));
  return text;
}

// Empty if `body` ran to its end. Otherwise the message of its exception, or how its process ended.
inline std::string in_child(const Environment& environment, const std::function<void()>& body) {
  constexpr unsigned kPatienceSeconds = 120;
  int pipe_ends[2];
  if (pipe(pipe_ends) != 0) return "no pipe";
  const pid_t child = fork();
  if (child < 0) return "no child process";
  if (child == 0) {
    alarm(kPatienceSeconds);
    apply(environment);
    std::string problem;
    std::thread([&] { problem = outcome(body); }).join();  // a new thread has no last error from the parent
    const ssize_t written = write(pipe_ends[1], problem.data(), problem.size());
    // Without the static destructors, which are the parent's.
    _exit(problem.empty() && written == 0 ? 0 : 1);
  }
  close(pipe_ends[1]);
  std::string problem = read_all(pipe_ends[0]);
  close(pipe_ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) return "ended by signal " + std::to_string(WTERMSIG(status));
  if (problem.empty() && WEXITSTATUS(status) != 0) return "ended with " + std::to_string(WEXITSTATUS(status));
  return problem;
}

inline void check_in_child(const Environment& environment, const std::function<void()>& body) {
  const std::string outcome = in_child(environment, body);
  CHECK(outcome == "");
}

}  // namespace hipops_test
