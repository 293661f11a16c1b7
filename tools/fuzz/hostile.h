// A hostile call: a valid random call with a few changes.
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
  bool given = true;       // false: the pointer to the tensor is NULL
  hipops_tensor tensor{};  // Arena sets its data
  bool null_data = false;
  int misalignment = 0;    // bytes that are added to data
  int64_t offset = 0;      // elements from a 16-byte boundary to element 0
  int alias = -1;          // index of the tensor whose memory it shares, `distance` bytes away; -1: none
  int64_t distance = 0;
};

struct HostileCall {
  const parity::OpEntry* op = nullptr;
  std::vector<HostileTensor> tensors;
  std::map<std::string, double> params;
  enum class Report { kNone, kGiven, kMisaligned } report = Report::kNone;
  enum class Workspace { kNone, kExact, kShort, kMisaligned, kNegative, kNullWithBytes } workspace = Workspace::kNone;

  HostileTensor* find(const std::string& name);
  // The range of the tensor's bytes, from element 0. Returns false if it is too large to allocate.
  bool bounds(const HostileTensor& of, int64_t* low, int64_t* high) const;
};

HostileCall hostile_call(parity::Choices& choices, const parity::OpEntry& op, const parity::Case& valid);

}  // namespace hipops::fuzz
