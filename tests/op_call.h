// A call of any op on host memory, through the table of ops in parity/ops.h. A test changes one argument and expects a
// refusal.
#pragma once

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "op_tester.h"
#include "parity/ops.h"
#include "tensor/error.h"

namespace hipops_test {

using hipops::parity::OpEntry;
using hipops::parity::Role;
using hipops::parity::TensorSpec;

// The shape of a tensor in the valid call. An op without an entry has x and y of [4, 8].
inline Sizes valid_shape(const std::string& op, const TensorSpec& tensor) {
  const std::map<std::string, Sizes> rope = {{"x", {2, 3, 4, 8}}, {"y", {2, 3, 4, 8}}, {"positions", {2, 4}}},
                                     scatter = {{"x", {5, 8}}, {"index", {5, 8}}};
  static const std::map<std::string, std::map<std::string, Sizes>> shapes = {
      {"rope", rope},
      {"rope_i", rope},
      {"rope_thd", {{"x", {2, 4, 3, 8}}, {"y", {2, 4, 3, 8}}, {"positions", {2, 4}}}},
      {"gather", {{"y", {3, 8}}, {"index", {3, 8}}}},
      {"index_select", {{"y", {3, 8}}, {"index", {3}}}},
      {"scatter", scatter},
      {"scatter_add", scatter},
      {"index_add", {{"x", {300, 8}}, {"index", {300}}}},  // 300 sources need a workspace
      {"static_quantize", {{"scale", {4, 8}}}},
      {"dynamic_quantize", {{"scale_ub", {1}}}},
      {"topk", {{"lengths", {4}}, {"row_begin", {4}}}},
      {"moe_align_block_size", {{"sorted_ids", {32}}, {"expert_ids", {32}}, {"count", {1}}, {"expert_map", {1}}}},
      {"topk_softmax", {{"weights", {4, 8}}, {"bias", {8}}}},
      {"sample", {{"tokens", {4}}, {"top_k", {4}}}},
      {"cross_entropy", {{"target", {4}}}},
      {"upsample_nearest1d", {{"x", {2, 3, 4}}, {"y", {2, 3, 7}}}},
      {"upsample_nearest2d", {{"x", {2, 3, 4, 5}}, {"y", {2, 3, 7, 9}}}}};
  if (const auto of_op = shapes.find(op); of_op != shapes.end())
    if (const auto shape = of_op->second.find(tensor.name); shape != of_op->second.end()) return shape->second;
  if (tensor.role == Role::kScalar) return {4};
  if (tensor.role == Role::kWeight) return op.rfind("rope", 0) == 0 ? Sizes{5, 4} : Sizes{8};
  return {4, 8};
}

class OpCall {
 public:
  std::map<std::string, double> params;
  hipops_index_report report = HIPOPS_INDEX_REPORT_INIT;
  hipops_index_report* report_pointer = nullptr;
  void* workspace = nullptr;
  int64_t workspace_bytes = 0;

  // Without a dtype: f32, or the first of an op that has no f32.
  explicit OpCall(const std::string& op, hipops_dtype dtype = HIPOPS_NONE)
      : op_(*hipops::parity::find_op(hipops::parity::all_ops(), op)) {
    if (dtype == HIPOPS_NONE)
      dtype = std::count(op_.dtypes.begin(), op_.dtypes.end(), HIPOPS_F32) != 0 ? HIPOPS_F32 : op_.dtypes.front();
    for (const auto* specs : {&op_.outputs, &op_.inputs})
      for (const TensorSpec& spec : *specs) {
        if (spec.role == Role::kReport) {
          report_pointer = &report;
        } else if (tensors_.count(spec.name) == 0) {
          const hipops_dtype own = spec.role == Role::kScalar ? hipops::parity::scalar_dtype(dtype)
                                   : spec.role == Role::kQuantised ? HIPOPS_F8_E4M3FN
                                   : spec.role != Role::kIndex ? dtype
                                   : std::string(spec.name) == "prompt" ? HIPOPS_U8
                                   : op.rfind("rope", 0) == 0 ? HIPOPS_I64
                                                              : HIPOPS_I32;
          HostTensor& t = *(tensors_[spec.name] = std::make_unique<HostTensor>(own, valid_shape(op, spec)));
          for (int64_t i = 0; i < t.count(); ++i) t.set(i, static_cast<double>(i % 4));
          views_[spec.name] = t.view;
        }
      }
    for (const auto& param : op_.params)
      params[param.name] = std::string(param.name) == "eps" ? 1e-5 : std::string(param.name) == "k" ? 8
                           : std::string(param.name) == "experts" || std::string(param.name) == "block_size" ? 1 : 0;
  }

  OpCall(const OpCall&) = delete;

  const OpEntry& entry() const { return op_; }
  HostTensor& memory(const std::string& name) { return *tensors_.at(name); }
  hipops_tensor& operator[](const std::string& name) { return views_.at(name); }
  char* data(const std::string& name) { return static_cast<char*>(views_.at(name).data); }
  bool has(const std::string& name) const { return views_.count(name) != 0; }
  void leave_out(const std::string& name) { views_.erase(name); }
  // Another shape, at an address that a test may not read. A tensor without elements gets no memory, and strides that
  // no other has.
  void set_shape(const std::string& name, const Sizes& shape) {
    const bool is_empty = std::count(shape.begin(), shape.end(), 0) != 0;
    views_[name] = view_of(is_empty ? 0 : 1 << 20, views_.at(name).dtype, shape,
                           is_empty ? Sizes(shape.size(), INT64_MAX) : Sizes{});
  }

  hipops_status run() { return op_.call(arguments()); }
  hipops_status ask_workspace(int64_t* bytes) { return op_.workspace_bytes(arguments(), bytes); }

  // The call returns this status, with this message after the op's name. It chose no runtime and wrote nothing.
  void refused(hipops_status status, const std::string& message) {
    expect_refused([&] { return run(); }, status, message);
    EXPECT(report.count == 0 && report.first == UINT64_MAX);
  }
  void invalid(const std::string& message) { refused(HIPOPS_INVALID_ARGUMENT, message); }
  // The function that returns the workspace's size refuses, too.
  void workspace_refused(hipops_status status, const std::string& message) {
    int64_t bytes = -7;
    expect_refused([&] { return ask_workspace(&bytes); }, status, message);
    EXPECT_EQUAL(bytes, -7);
  }

  // The call succeeds, and leaves the thread's last failure as it was.
  void succeeds() {
    hipops::fail_with_code(HIPOPS_RUNTIME_ERROR, 719, "before");
    EXPECT_EQUAL(run(), HIPOPS_SUCCESS);
    EXPECT_EQUAL(std::string(hipops_last_error()), "before");
    EXPECT_EQUAL(hipops_last_runtime_error(), 719);
  }

 private:
  hipops::parity::Arguments arguments() const {
    hipops::parity::Arguments all;
    for (const auto& [name, view] : views_) all.add_tensor(name, view);
    for (const auto& [name, value] : params) all.add_param(name, value);
    all.set_workspace(workspace, workspace_bytes);
    if (report_pointer) all.add_tensor("report", hipops_tensor{report_pointer, HIPOPS_I64, 1, {2}, {1}});
    return all;
  }

  void expect_refused(const std::function<hipops_status()>& call, hipops_status status, const std::string& message) {
    const auto memory = [&] {
      std::vector<std::vector<unsigned char>> bytes;
      for (const auto& [name, tensor] : tensors_) bytes.push_back(tensor->bytes());
      return bytes;
    };
    hipops::fail_with_code(HIPOPS_RUNTIME_ERROR, 719, "before");
    const auto before = memory();
    EXPECT_EQUAL(call(), status);
    EXPECT_EQUAL(error_without_values(), std::string(op_.name) + ": " + message);
    EXPECT_EQUAL(hipops_last_runtime_error(), 0);
    EXPECT(memory() == before);
    EXPECT_EQUAL(hipops_backend_in_use(), HIPOPS_BACKEND_AUTO);
  }

  const OpEntry& op_;
  std::map<std::string, std::unique_ptr<HostTensor>> tensors_;
  std::map<std::string, hipops_tensor> views_;
};

// The refusals that every op has for each of its tensors.
inline void check_every_tensor(const std::string& op) {
  const auto refuses = [&](const std::string& name, const std::string& message, auto spoil,
                           hipops_status status = HIPOPS_INVALID_ARGUMENT) {
    OpCall call(op);
    spoil(call[name]);
    call.refused(status, name + message);
    if (call.entry().workspace_bytes && message.find("data") == std::string::npos)
      call.workspace_refused(status, name + message);
  };
  const OpEntry& entry = OpCall(op).entry();
  for (const auto* specs : {&entry.outputs, &entry.inputs})
    for (const TensorSpec& spec : *specs) {
      if (spec.role == Role::kReport) continue;
      const std::string name = spec.name;
      OpCall none(op);
      none.leave_out(name);
      if (!spec.optional && name != "residual_out") none.invalid(name + " is NULL, expected a tensor");
      for (int32_t dtype : {0, 17, -1, INT32_MAX})
        refuses(name, ".dtype is " + std::to_string(dtype) + ", expected a hipops_dtype from 1 (f32) to 16 (f8_e5m2fnuz)",
                [dtype](hipops_tensor& t) { std::memcpy(&t.dtype, &dtype, sizeof dtype); });
      for (int32_t rank : {-1, 9})
        refuses(name, ".rank is " + std::to_string(rank) + ", expected 0 to 8",
                [rank](hipops_tensor& t) { t.rank = rank; });
      refuses(name, ".shape[0] is -4, expected 0 or more", [](hipops_tensor& t) { t.shape[0] = -4; });
      refuses(name, ".data is NULL, expected memory of " + std::to_string(none.memory(name).count()) + " elements",
              [](hipops_tensor& t) { t.data = nullptr; });
      const int64_t bytes = static_cast<int64_t>(hipops::parity::dtype_size(none.memory(name).view.dtype));
      OpCall odd(op);
      odd[name].data = odd.data(name) + bytes / 2;
      if (bytes > 1) odd.invalid(name + ".data is " + text_of(odd[name].data) + ", expected a multiple of " + std::to_string(bytes) +
                  " (an element of " + hipops::parity::dtype_name(odd[name].dtype) + ")");
      for (int64_t stride : {INT64_MAX, INT64_MIN}) {
        if (none.memory(name).count() == 1) continue;
        OpCall far(op);
        far[name].stride[0] = stride;
        far.invalid(name + ".shape and " + name + ".stride reach outside the address space");
      }
    }
  for (const TensorSpec& output : entry.outputs) {
    if (output.role == Role::kReport) continue;
    const std::string y = output.name;
    for (int d = 0; d < OpCall(op)[y].rank && OpCall(op)[y].rank > 1; ++d)
      refuses(y,
              ".stride[" + std::to_string(d) + "] is 0, expected distinct elements in an output (shape[" +
                  std::to_string(d) + "] is " + std::to_string(OpCall(op)[y].shape[d]) + ")",
              [d](hipops_tensor& t) { t.stride[d] = 0; });
    if (OpCall(op)[y].rank > 1) refuses(
        y, ".stride overlaps elements of an output, or interleaves its dimensions; expected strides that nest",
        [](hipops_tensor& t) { t.stride[t.rank - 2] = t.shape[t.rank - 1] - 1; }, HIPOPS_UNSUPPORTED_LAYOUT);
    for (const TensorSpec& input : entry.inputs) {
      if (input.role == Role::kReport || std::string(input.name) == y) continue;
      for (int64_t distance : {-8, 8, 40}) {
        const bool is_small = output.role != Role::kData && output.role != Role::kResult;
        const bool is_one = OpCall(op).memory(input.name).count() == 1;
        if ((distance > 8 && is_small) || (distance > 0 && OpCall(op).memory(y).count() == 1)) continue;  // past its end
        if (distance < 0 && is_one) continue;    // before it
        OpCall call(op);
        call[input.name].data = call.data(y) + distance;
        const auto in_place = entry.in_place.find(y);
        const bool may_be_y = in_place != entry.in_place.end() && in_place->second.count(input.name) != 0;
        call.invalid(y + " overlaps " + input.name + ", expected separate memory" +
                     (may_be_y ? " or exactly the same view" : ""));
      }
    }
  }
}

}  // namespace hipops_test
