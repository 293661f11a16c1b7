#include "parity/ops.h"

#include <cstring>

#include "runtime/runtime.h"

namespace hipops::parity {
namespace {

const std::vector<hipops_dtype> kFloats = {HIPOPS_F32, HIPOPS_F16, HIPOPS_BF16, HIPOPS_F64};

const std::vector<hipops_dtype> kAll = {HIPOPS_F32, HIPOPS_F16, HIPOPS_BF16, HIPOPS_F64, HIPOPS_U8,  HIPOPS_I8,
                                        HIPOPS_I16, HIPOPS_U16, HIPOPS_I32,  HIPOPS_U32, HIPOPS_I64, HIPOPS_U64};
const std::vector<hipops_dtype> kAdded = {HIPOPS_F32, HIPOPS_F16, HIPOPS_BF16, HIPOPS_F64,
                                          HIPOPS_U8,  HIPOPS_I32, HIPOPS_U32,  HIPOPS_I64};

constexpr TensorSpec kX = {"x"};
constexpr TensorSpec kY = {"y"};
constexpr TensorSpec kWeightVector = {"weight", Role::kWeight, true};
constexpr TensorSpec kBiasVector = {"bias", Role::kWeight, true};
constexpr TensorSpec kCos = {"cos", Role::kWeight};
constexpr TensorSpec kSin = {"sin", Role::kWeight};
constexpr TensorSpec kPositions = {"positions", Role::kIndex, true};
constexpr TensorSpec kIndex = {"index", Role::kIndex};
constexpr TensorSpec kReport = {"report", Role::kReport, true};

// copy2d takes x's rows and columns for both tensors, and neither's stride within a row.
std::string copy2d_problem(const Arguments& a) {
  const hipops_tensor &y = *a["y"], &x = *a["x"];
  if (x.rank != 2) return "inputs.x.shape: of rank " + std::to_string(x.rank) + ", copy2d takes 2";
  if (y.rank != 2 || y.shape[0] != x.shape[0] || y.shape[1] != x.shape[1])
    return "outputs.y.shape: not x's, which copy2d takes for both";
  if (x.shape[1] > 1 && x.stride[1] != 1) return "inputs.x.stride: not 1 within a row, as copy2d takes it";
  if (y.shape[1] > 1 && y.stride[1] != 1) return "outputs.y.stride: not 1 within a row, as copy2d takes it";
  return "";
}

}  // namespace

const std::vector<OpEntry>& all_ops() {
  static const std::vector<OpEntry> ops = {
      {"layer_norm",
       kFloats,
       {kY},
       {kX, kWeightVector, kBiasVector},
       {{"eps"}},
       [](const Arguments& a) {
         return hipops_layer_norm(a["y"], a["x"], a["weight"], a["bias"], a.real("eps"), a.stream());
       }},
      {"rms_norm",
       kFloats,
       {kY},
       {kX, kWeightVector},
       {{"eps"}, {"flags", true, true}},
       [](const Arguments& a) {
         return hipops_rms_norm(a["y"], a["x"], a["weight"], a.real("eps"), a.flags(), a.stream());
       }},
      {"fused_add_rms_norm",
       {HIPOPS_F32, HIPOPS_F16, HIPOPS_BF16},
       {kY, {"residual_out"}},
       {kX, {"residual"}, kWeightVector},
       {{"eps"}, {"flags", true}},
       [](const Arguments& a) {
         return hipops_fused_add_rms_norm(a["y"], a["residual_out"], a["x"], a["residual"], a["weight"], a.real("eps"),
                                          a.flags(), a.stream());
       }},
      {"softmax",
       kFloats,
       {kY},
       {kX},
       {},
       [](const Arguments& a) { return hipops_softmax(a["y"], a["x"], a.stream()); }},
      {"rope_i",
       kFloats,
       {kY},
       {kX, kCos, kSin, kPositions},
       {},
       [](const Arguments& a) {
         return hipops_rope_i(a["y"], a["x"], a["cos"], a["sin"], a["positions"], a.stream());
       }},
      {"rope",
       kFloats,
       {kY},
       {kX, kCos, kSin, kPositions},
       {},
       [](const Arguments& a) { return hipops_rope(a["y"], a["x"], a["cos"], a["sin"], a["positions"], a.stream()); }},
      {"rope_thd",
       kFloats,
       {kY},
       {kX, kCos, kSin, kPositions},
       {},
       [](const Arguments& a) {
         return hipops_rope_thd(a["y"], a["x"], a["cos"], a["sin"], a["positions"], a.stream());
       }},
      {"gather",
       kAll,
       {kY, kReport},
       {kX, kIndex, kReport},
       {{"dim", true}},
       [](const Arguments& a) {
         return hipops_gather(a["y"], a["x"], a["index"], static_cast<int32_t>(a.integer("dim")), a.report(),
                              a.stream());
       }},
      {"index_select",
       kAll,
       {kY, kReport},
       {kX, kIndex, kReport},
       {{"dim", true}},
       [](const Arguments& a) {
         return hipops_index_select(a["y"], a["x"], a["index"], static_cast<int32_t>(a.integer("dim")), a.report(),
                                    a.stream());
       }},
      {"scatter",
       kAll,
       {kY, kReport},
       {kX, kY, kIndex, kReport},
       {{"dim", true}, {"flags", true}, {kWorkspaceParam, true}},
       [](const Arguments& a) {
         return hipops_scatter(a["y"], a["x"], a["index"], static_cast<int32_t>(a.integer("dim")),
                               a.flags(), a.workspace(), a.workspace_bytes(),
                               a.report(), a.stream());
       },
       [](const Arguments& a, int64_t* bytes) {
         return hipops_scatter_workspace_bytes(a["y"], a["x"], a["index"], static_cast<int32_t>(a.integer("dim")),
                                               a.flags(), bytes);
       }},
      {"scatter_add",
       kAdded,
       {kY, kReport},
       {kX, kY, kIndex, kReport},
       {{"dim", true}, {"flags", true}, {kWorkspaceParam, true}},
       [](const Arguments& a) {
         return hipops_scatter_add(a["y"], a["x"], a["index"], static_cast<int32_t>(a.integer("dim")),
                                   a.flags(), a.workspace(), a.workspace_bytes(),
                                   a.report(), a.stream());
       },
       [](const Arguments& a, int64_t* bytes) {
         return hipops_scatter_add_workspace_bytes(a["y"], a["x"], a["index"], static_cast<int32_t>(a.integer("dim")),
                                                   a.flags(), bytes);
       }},
      {"index_add",
       kAdded,
       {kY, kReport},
       {kX, kY, kIndex, kReport},
       {{"dim", true}, {kWorkspaceParam, true}},
       [](const Arguments& a) {
         return hipops_index_add(a["y"], a["x"], a["index"], static_cast<int32_t>(a.integer("dim")), a.workspace(),
                                 a.workspace_bytes(), a.report(), a.stream());
       },
       [](const Arguments& a, int64_t* bytes) {
         return hipops_index_add_workspace_bytes(a["y"], a["x"], a["index"], static_cast<int32_t>(a.integer("dim")),
                                                 bytes);
       }},
      {"upsample_nearest1d",
       kAll,
       {kY},
       {kX},
       {{"rule", true}, {"scale"}},
       [](const Arguments& a) {
         return hipops_upsample_nearest1d(a["y"], a["x"], static_cast<hipops_nearest>(a.integer("rule")),
                                          a.real("scale"), a.stream());
       }},
      {"upsample_nearest2d",
       kAll,
       {kY},
       {kX},
       {{"rule", true}, {"scale_h"}, {"scale_w"}},
       [](const Arguments& a) {
         return hipops_upsample_nearest2d(a["y"], a["x"], static_cast<hipops_nearest>(a.integer("rule")),
                                          a.real("scale_h"), a.real("scale_w"), a.stream());
       }},
      {"strided_copy",
       kAll,
       {kY},
       {kX},
       {},
       [](const Arguments& a) { return hipops_strided_copy(a["y"], a["x"], a.stream()); }},
      {"copy2d",
       kAll,
       {kY},
       {kX},
       {},
       [](const Arguments& a) {
         const hipops_tensor *y = a["y"], *x = a["x"];
         return hipops_copy2d(y->data, x->data, x->dtype, x->shape[0], x->shape[1], y->stride[0], x->stride[0],
                              a.stream());
       },
       nullptr,
       copy2d_problem},
  };
  return ops;
}

const OpEntry* find_op(const std::vector<OpEntry>& ops, const std::string& name) {
  for (const OpEntry& op : ops) {
    if (name == op.name) return &op;
  }
  return nullptr;
}

std::vector<std::string> op_names() {
  std::vector<std::string> names;
  for (const OpEntry& op : all_ops()) names.push_back(op.name);
  return names;
}

std::string not_built(const std::string& op) { return "this build has no " + op + " (HIPOPS_OPS)"; }

bool is_built(const OpEntry& op) {
  return find_image(std::strcmp(op.name, "copy2d") == 0 ? "strided_copy" : op.name) != nullptr;
}

}  // namespace hipops::parity
