#include "parity/ops.h"

namespace hipops::parity {
namespace {

const std::vector<hipops_dtype> kFloats = {HIPOPS_F32, HIPOPS_F16, HIPOPS_BF16, HIPOPS_F64};

constexpr TensorSpec kX = {"x"};
constexpr TensorSpec kY = {"y"};
constexpr TensorSpec kWeightVector = {"weight", Role::kWeight, true};
constexpr TensorSpec kBiasVector = {"bias", Role::kWeight, true};

}  // namespace

const std::vector<OpEntry>& all_ops() {
  static const std::vector<OpEntry> ops = {
      {"layer_norm",
       kFloats,
       {kY},
       {kX, kWeightVector, kBiasVector},
       {{"eps"}},
       [](const Arguments& a) {
         return hipops_layer_norm(a["y"], a["x"], a["weight"], a["bias"], a.real("eps"), nullptr);
       }},
      {"rms_norm",
       kFloats,
       {kY},
       {kX, kWeightVector},
       {{"eps"}},
       [](const Arguments& a) { return hipops_rms_norm(a["y"], a["x"], a["weight"], a.real("eps"), nullptr); }},
      {"softmax", kFloats, {kY}, {kX}, {}, [](const Arguments& a) { return hipops_softmax(a["y"], a["x"], nullptr); }},
  };
  return ops;
}

const OpEntry* find_op(const std::vector<OpEntry>& ops, const std::string& name) {
  for (const OpEntry& op : ops) {
    if (name == op.name) return &op;
  }
  return nullptr;
}

}  // namespace hipops::parity
