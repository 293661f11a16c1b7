// The command line.
#pragma once

#include <string>

#include "inspect/inspection.h"

namespace hipops::inspect {

struct Options {
  Selection selection;
  std::string json;
  std::string check;
};

constexpr int kExitGood = 0;
constexpr int kExitBroken = 1;
constexpr int kExitUsage = 2;

// True: continue. False: the program has printed its message, and ends with *exit_code.
bool parse_options(int argc, char** argv, Options* options, int* exit_code);

}  // namespace hipops::inspect
