// How a child process ended, and its messages. For code that must abort or crash.
#pragma once

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <string>
#include <vector>

#include "catch.h"

struct Death {
  bool aborted = false;
  int exit_code = -1;
  std::string words;

  bool prints(const std::string& part) const { return words.find(part) != std::string::npos; }
};

// Runs `body` in a child process. The return value of `body` is the child's exit code.
inline Death in_child(const std::function<int()>& body) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    dup2(ends[1], STDERR_FILENO);
    std::signal(SIGABRT, SIG_DFL);
    alarm(60);  // a hang is a failure
    _exit(body());
  }
  close(ends[1]);
  Death death;
  char buffer[4096];
  for (ssize_t got = 0; (got = read(ends[0], buffer, sizeof buffer)) > 0;) {
    death.words.append(buffer, static_cast<size_t>(got));
  }
  close(ends[0]);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  death.aborted = WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
  death.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return death;
}

#define REQUIRE_DEATH(child, ...)                                           \
  do {                                                                      \
    const Death died = child;                                               \
    INFO(died.words);                                                       \
    REQUIRE(died.aborted);                                                  \
    for (const std::string& part : std::vector<std::string>{__VA_ARGS__}) { \
      INFO("expected: " << part);                                           \
      REQUIRE(died.prints(part));                                           \
    }                                                                       \
  } while (false)

#define REQUIRE_SURVIVES(child)    \
  do {                             \
    const Death lived = child;     \
    INFO(lived.words);             \
    REQUIRE(lived.exit_code == 0); \
  } while (false)
