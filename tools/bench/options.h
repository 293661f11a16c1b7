// The command line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sweep.h"

namespace hipops::bench {

struct Options {
  std::string backend = "auto";
  std::vector<std::string> ops;     // empty: all
  std::vector<std::string> dtypes;  // empty: all
  std::vector<std::string> shapes;  // empty: the table's rows
  std::string match;
  std::string index;  // "": i64
  std::optional<int> dim;
  std::vector<int> permute;
  int repeats = 0;  // 0: the default, 15, or 5 in a sweep
  bool warm = false;
  bool host = false;
  bool sweep = false;
  bool list = false;
  std::string json;
};

// Returns false, after printing messages, if the program must end with *exit_code.
bool parse_options(int argc, char** argv, Options* options, int* exit_code);

// The rows that the options select. Throws std::invalid_argument, with the option's name, for a wrong option.
std::vector<Workload> selected(const Options& options);

// The same for a sweep.
std::vector<SweepJob> selected_jobs(const Options& options);

}  // namespace hipops::bench
