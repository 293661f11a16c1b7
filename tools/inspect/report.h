// The output for people and for programs.
#pragma once

#include <string>
#include <vector>

#include "inspect/inspection.h"

namespace hipops::inspect {

// A table for each op and target.
std::string table_text(const std::vector<Record>& records, bool colour);

// All records as JSON: {"version", "kernels": [...]}.
std::string to_json(const std::vector<Record>& records);

// "16x4 8x1": four accesses of 16 bytes, one of 8.
std::string widths_text(const Record& widths);

std::string number_text(double number);

}  // namespace hipops::inspect
