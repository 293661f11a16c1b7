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
  int repeats = 0;  // 0: 15, and 5 in a sweep
  bool warm = false;
  bool host = false;
  bool sweep = false;
  bool list = false;
  std::string json;
};

// Returns false if the program must end now, with *exit_code. All messages are printed then.
bool parse_options(int argc, char** argv, Options* options, int* exit_code);

// The rows that the options select. Throws std::invalid_argument, which names the option, if an option is wrong.
std::vector<Workload> selected(const Options& options);

// The same for a sweep.
std::vector<SweepJob> selected_jobs(const Options& options);

}  // namespace hipops::bench
