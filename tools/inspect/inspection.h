// The selection of kernels, and their figures: one record for each kernel and target.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "inspect/code_object.h"
#include "inspect/machine_code.h"

namespace hipops::inspect {

using Record = nlohmann::ordered_json;  // as in the file that --json writes: see record_of

struct Selection {
  std::vector<std::string> files;  // code objects and bundles. Empty: the code objects in the library
  std::string op, target, kernel;  // "": all. `kernel` is a pattern
  std::string objdump;
};

// Throws CodeObjectError, DisassemblyError, UnknownTarget.
std::vector<Record> inspect(const Selection& selection);

// One kernel's figures. A file of budgets limits them by name.
Record record_of(const std::string& op, const std::string& target, const Kernel& kernel, const MachineCode& code);

}  // namespace hipops::inspect
