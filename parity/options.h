// The command line.
#pragma once

#include <string>

#include "hipops/hipops.h"
#include "parity/program.h"

namespace hipops::parity {

struct Options {
  std::string program;
  std::string backend = "auto";
  std::string op;
  std::string dtype;
  std::string case_glob;
  std::string topic;
  int wave = 0;  // 0: not given
  std::string guard = "zones";
  std::string golden;
  bool list = false;
  bool verbose = false;
  int repeat = 1;           // runs of each case
  int threads = 1;         // threads that run cases at the same time
  bool many_rows = false;  // selects kernels as for large tensors and many indices
  bool ordered = false;    // index_add orders its indices if it has a workspace, and never uses `few`
  bool capture = false;    // runs each case in a graph
  bool large = false;       // runs the large cases, not the golden cases
  int64_t large_scale = 1;  // divides the sizes of large cases
  uint64_t seed = 1;        // selects the places where large cases are checked
  std::string json;
  std::string junit;
};

// Returns false, after printing messages, if the program must end with *exit_code.
bool parse_options(int argc, char** argv, Options* options, int* exit_code);

hipops_backend backend_of(const std::string& name);
const char* backend_name(hipops_backend backend);

// The exit code of a program whose backend refuses with `status`. Without a device the code means that another machine
// may succeed.
int exit_code_of(hipops_status status);

// Prints the reason to stderr, and returns exit_code_of.
int refuse_backend(const char* program, const std::string& backend, hipops_status status, const std::string& why);

}  // namespace hipops::parity
