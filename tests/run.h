// Runs a command as a shell does.
#pragma once

#include <sys/wait.h>

#include <cstdio>
#include <string>

#include "catch.h"

namespace hipops_test {

struct Run {
  int exit_code = -1;
  std::string words;  // stdout and stderr

  bool prints(const std::string& part) const { return words.find(part) != std::string::npos; }
};

inline Run run_command(const std::string& command) {
  std::FILE* pipe = popen(("{ " + command + "\n} 2>&1").c_str(), "r");
  REQUIRE(pipe != nullptr);
  Run run;
  char part[4096];
  for (size_t got = 0; (got = std::fread(part, 1, sizeof part, pipe)) > 0;) run.words.append(part, got);
  const int status = pclose(pipe);
  if (WIFEXITED(status)) run.exit_code = WEXITSTATUS(status);
  return run;
}

}  // namespace hipops_test
