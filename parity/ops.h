// The ops that parity can run. Adding one is one entry of the table in ops.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "hipops/hipops.h"

namespace hipops::parity {

// What a tensor's dtype may be, given the case's.
enum class Role {
  kData,    // the case's dtype
  kWeight,  // the case's dtype or f32
  kIndex,   // u8, u32, i64, i32 or i16
};

struct TensorSpec {
  const char* name;
  Role role = Role::kData;
  bool optional = false;
};

struct ParamSpec {
  const char* name;
  bool integer = false;
};

// A case's arguments by name, for the call.
class Arguments {
 public:
  void add_tensor(const std::string& name, const hipops_tensor& tensor) { tensors_[name] = tensor; }
  void add_param(const std::string& name, double value) { params_[name] = value; }

  // NULL for an optional tensor that the case leaves out.
  const hipops_tensor* operator[](const char* name) const {
    const auto found = tensors_.find(name);
    return found == tensors_.end() ? nullptr : &found->second;
  }
  double real(const char* name) const { return params_.at(name); }
  int64_t integer(const char* name) const { return static_cast<int64_t>(params_.at(name)); }

 private:
  std::map<std::string, hipops_tensor> tensors_;
  std::map<std::string, double> params_;
};

struct OpEntry {
  const char* name;
  std::vector<hipops_dtype> dtypes;
  std::vector<TensorSpec> outputs;
  std::vector<TensorSpec> inputs;
  std::vector<ParamSpec> params;
  hipops_status (*call)(const Arguments& a);
};

// All of them, in the order in which they run.
const std::vector<OpEntry>& all_ops();

// NULL for an unknown name.
const OpEntry* find_op(const std::vector<OpEntry>& ops, const std::string& name);

}  // namespace hipops::parity
