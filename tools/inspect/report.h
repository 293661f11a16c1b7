// What is found, for people.
#pragma once

#include <string>
#include <vector>

#include "inspect/inspection.h"

namespace hipops::inspect {

// A table for each op and target.
std::string table_text(const std::vector<Record>& records, bool colour);

// All that is known, for programs: {"version", "kernels": [...]}.
std::string to_json(const std::vector<Record>& records);

// "16x4 8x1": four of 16 bytes, one of 8.
std::string widths_text(const Record& widths);

std::string number_text(double number);

}  // namespace hipops::inspect
