// The table of ops, which parity/ops/ describes. hipops-parity, hipops-fuzz, hipops-bench and hipops-tune read it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "hipops/hipops.h"
#include "parity/layout.h"

namespace hipops::parity {

struct Case;
struct RandomCase;
namespace large {
struct LargeCase;
}

// The dtypes that a tensor may have.
enum class Role {
  kData,    // the case's dtype
  kWeight,  // the case's dtype or f32
  kMask,    // the case's dtype, f32, or u8 for booleans
  kIndex,   // u8, u32, i64, i32 or i16
  kScalar,  // of a row: f64 if the case's dtype is f64, otherwise f32
  kReport,  // a hipops_index_report: i64, of shape [2]
  kResult,  // an output of the case's dtype or f32, or of i64, i32 or u32
  kQuantised,  // i8 or an 8-bit float
};

// If an op lists a tensor as an input and as an output, it changes the tensor in place. The input describes the
// elements before the call, the output those after it.
struct TensorSpec {
  const char* name;
  Role role = Role::kData;
  bool optional = false;
  // The usual shape in a call with these shapes of x and y; NULL: x's. `dim` is the parameter of ops with an index.
  Shape (*shape)(const Shape& x, const Shape& y, size_t dim) = nullptr;
};

struct ParamSpec {
  const char* name;
  bool integer = false;
  bool optional = false;
  std::vector<double> values = {};  // random cases choose from these; the first, or 0 if empty, is the usual one

  double usual() const { return values.empty() ? 0 : values.front(); }
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

  // NULL if the case omits this optional tensor.
  const hipops_tensor* operator[](const char* name) const {
    const auto found = tensors_.find(name);
    return found == tensors_.end() ? nullptr : &found->second;
  }
  double real(const char* name) const { return params_.at(name); }
  int64_t integer(const char* name) const { return static_cast<int64_t>(params_.at(name)); }
  int32_t dim() const { return static_cast<int32_t>(integer("dim")); }
  uint32_t flags() const { return params_.count("flags") == 0 ? 0 : static_cast<uint32_t>(integer("flags")); }
  // NULL if the case omits `report`.
  hipops_index_report* report() const {
    const hipops_tensor* tensor = (*this)["report"];
    return tensor == nullptr ? nullptr : static_cast<hipops_index_report*>(tensor->data);
  }
  void set_stream(void* stream) { stream_ = stream; }
  void* stream() const { return stream_; }
  // NULL and 0 if the case's `workspace` is 0.
  void* workspace() const { return workspace_; }
  int64_t workspace_bytes() const { return workspace_bytes_; }

 private:
  std::map<std::string, hipops_tensor> tensors_;
  std::map<std::string, double> params_;
  void* workspace_ = nullptr;
  int64_t workspace_bytes_ = 0;
  void* stream_ = nullptr;
};

// A call with its arguments looked up. It must not outlive its Arguments.
using Call = std::function<hipops_status()>;

template <class... Parameters>
Call bound(hipops_status (*function)(Parameters...), std::common_type_t<Parameters>... arguments) {
  return [=] { return function(arguments...); };
}

// For a test's op that is a function of Arguments.
template <hipops_status (*function)(const Arguments& a)>
Call calling(const Arguments& a) {
  return [&a] { return function(a); };
}

// The integer param of ops with a workspace: 1 if the case passes a workspace, or 0.
constexpr const char* kWorkspaceParam = "workspace";

// How hipops-bench reads a shape for the op, and the bytes that it counts.
struct BenchSpec {
  size_t rank = 0;  // of x; 0: any
  bool even_columns = false;
  bool any_view = false;  // x may be a slice or a permutation of its memory
  size_t sizes = 0;       // of y, after "->"; of an op with an index: y's size along dim
  bool sizes_are_optional = false;
  bool reduces = false;  // the sizes are y's, with 1 for a dimension that is reduced
  // Elements that must move, for given sizes of x and y. NULL: x's size for an input, y's for an output.
  int64_t (*moved)(int64_t x, int64_t y) = nullptr;
};

struct OpEntry {
  const char* name;
  std::vector<hipops_dtype> dtypes = {};
  std::vector<TensorSpec> outputs = {};
  std::vector<TensorSpec> inputs = {};
  std::vector<ParamSpec> params = {};
  Call (*bind)(const Arguments& a) = nullptr;
  // For an op with a workspace and kWorkspaceParam: the library's query of its size.
  hipops_status (*workspace_bytes)(const Arguments& a, int64_t* bytes) = nullptr;

  // For an op whose function gets only some shapes and strides. `problem` returns "" or a message that names the field
  // that the function would misread. `make_as_passed` sets the tensors that the function reads.
  std::string (*problem)(const Arguments& a) = nullptr;
  void (*make_as_passed)(hipops_tensor* y, hipops_tensor* x) = nullptr;

  // By the name of an output: the inputs whose exact view it may be.
  std::map<std::string, std::set<std::string>> in_place = {};
  bool by_rows = false;              // reduces over the last dimension, each row by itself
  const char* kernels_of = nullptr;  // the op whose kernels it launches, if it has none of its own
  BenchSpec bench = {};

  // Makes a random call of m's choices. `reference` sets the values of the outputs.
  void (*random_case)(RandomCase& m) = nullptr;
  // The definition in hipops.h, as loops over elements. Sets values, scales and tolerance of the case's outputs; their
  // layouts are given. Calls no function of the library.
  void (*reference)(Case* test) = nullptr;

  // Adds the cases of hipops-parity --large (large_cases.h). A function that several ops name is called once.
  void (*large_cases)(int64_t giant, std::vector<large::LargeCase>* cases) = nullptr;

  hipops_status call(const Arguments& a) const { return bind(a)(); }
  const TensorSpec* find_input(const std::string& input) const;  // NULL if it has no such input
  bool has_role(const std::string& input, Role role) const;
  size_t data_inputs() const;  // inputs of the case's dtype
  size_t data_outputs() const;
};

// All ops, in the order in which they run.
const std::vector<OpEntry>& all_ops();

// Each param's usual value, and no tensors.
Arguments usual_arguments(const OpEntry& op);

// Whether this build has the op's kernels.
bool is_built(const OpEntry& op);

// The message if this build does not have them.
std::string not_built(const std::string& op);

std::vector<std::string> op_names();

// NULL for an unknown name.
const OpEntry* find_op(const std::vector<OpEntry>& ops, const std::string& name);

}  // namespace hipops::parity
