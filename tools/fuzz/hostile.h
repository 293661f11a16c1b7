// Calls that a hostile or mistaken caller makes: a valid random one, changed in a few places.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "parity/choices.h"
#include "parity/golden.h"

namespace hipops::fuzz {

struct HostileTensor {
  std::string name;
  bool output = false, input = false;
  bool given = true;       // else the pointer to the tensor is NULL
  hipops_tensor tensor{};  // its data is set when there is memory
  bool null_data = false;
  int misalignment = 0;    // bytes that data is moved by
  int64_t offset = 0;      // elements from a 16-byte boundary to element 0
  int alias = -1;          // of this tensor's memory, `distance` bytes from it
  int64_t distance = 0;
};

struct HostileCall {
  const parity::OpEntry* op = nullptr;
  std::vector<HostileTensor> tensors;
  std::map<std::string, double> params;
  enum class Report { kNone, kGiven, kMisaligned } report = Report::kNone;
  enum class Workspace { kNone, kExact, kShort, kMisaligned, kNegative, kNullWithBytes } workspace = Workspace::kNone;

  HostileTensor* find(const std::string& name);
  // Where elements lie, in bytes from element 0. False if they are too many, or too far apart, to have memory for.
  bool bounds(const HostileTensor& of, int64_t* low, int64_t* high) const;
};

HostileCall hostile_call(parity::Choices& choices, const parity::OpEntry& op, const parity::Case& valid);

}  // namespace hipops::fuzz
