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
  kReport,  // a hipops_index_report: i64, of shape [2]
};

// A tensor that an op lists under the same name among its inputs and its outputs is read and written in place: the
// input says what it holds before the call, the output what it must hold after it.
struct TensorSpec {
  const char* name;
  Role role = Role::kData;
  bool optional = false;
};

struct ParamSpec {
  const char* name;
  bool integer = false;
  bool optional = false;
};

// A case's arguments by name, for the call.
class Arguments {
 public:
  void add_tensor(const std::string& name, const hipops_tensor& tensor) { tensors_[name] = tensor; }
  void add_param(const std::string& name, double value) { params_[name] = value; }
  void set_workspace(void* data, int64_t bytes) {
    workspace_ = data;
    workspace_bytes_ = bytes;
  }

  // NULL for an optional tensor that the case leaves out.
  const hipops_tensor* operator[](const char* name) const {
    const auto found = tensors_.find(name);
    return found == tensors_.end() ? nullptr : &found->second;
  }
  double real(const char* name) const { return params_.at(name); }
  int64_t integer(const char* name) const { return static_cast<int64_t>(params_.at(name)); }
  uint32_t flags() const { return params_.count("flags") == 0 ? 0 : static_cast<uint32_t>(integer("flags")); }
  // NULL where the case leaves `report` out.
  hipops_index_report* report() const {
    const hipops_tensor* tensor = (*this)["report"];
    return tensor == nullptr ? nullptr : static_cast<hipops_index_report*>(tensor->data);
  }
  void set_stream(void* stream) { stream_ = stream; }
  void* stream() const { return stream_; }
  // NULL and 0 where the case's `workspace` is 0.
  void* workspace() const { return workspace_; }
  int64_t workspace_bytes() const { return workspace_bytes_; }

 private:
  std::map<std::string, hipops_tensor> tensors_;
  std::map<std::string, double> params_;
  void* workspace_ = nullptr;
  int64_t workspace_bytes_ = 0;
  void* stream_ = nullptr;
};

// The integer param, 0 or 1, that says whether a case brings the op its workspace.
constexpr const char* kWorkspaceParam = "workspace";

struct OpEntry {
  const char* name;
  std::vector<hipops_dtype> dtypes;
  std::vector<TensorSpec> outputs;
  std::vector<TensorSpec> inputs;
  std::vector<ParamSpec> params;
  hipops_status (*call)(const Arguments& a);
  // For an op that takes a workspace, which has kWorkspaceParam among its params: how much, as the library says.
  hipops_status (*workspace_bytes)(const Arguments& a, int64_t* bytes) = nullptr;
  // For an op whose function is not told all of its tensors' shapes and strides: "", or what is wrong with them, a
  // message that names the tensor's field.
  std::string (*problem)(const Arguments& a) = nullptr;
};

// All of them, in the order in which they run.
const std::vector<OpEntry>& all_ops();

// Whether this build has the op's kernels; copy2d's are strided_copy's.
bool is_built(const OpEntry& op);

// What to say where it has not.
std::string not_built(const std::string& op);

std::vector<std::string> op_names();

// NULL for an unknown name.
const OpEntry* find_op(const std::vector<OpEntry>& ops, const std::string& name);

}  // namespace hipops::parity
