#include "fuzz/hostile.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "parity/number.h"

namespace hipops::fuzz {
namespace {

using parity::Choices;

__extension__ typedef __int128 Wide;

constexpr int64_t kMostElements = 4096, kMostBytes = 1 << 20;

int64_t nasty(Choices& choices) {
  constexpr int64_t greatest = std::numeric_limits<int64_t>::max(), least = std::numeric_limits<int64_t>::min();
  constexpr int64_t one = 1;
  switch (choices.below(4)) {
    case 0: return choices.between(-4, 20);
    case 1:
      return choices.pick({greatest, least, greatest - 1, least + 1, greatest / 2 + 1, -(greatest / 2), greatest / 4,
                           greatest / 8});
    case 2: return (one << choices.below(63)) + choices.between(-2, 2);
    default: return -(one << choices.below(63)) + choices.between(-2, 2);
  }
}

// A C caller may store any number in an enum. In C++ that is undefined, so the bytes are copied.
template <class Enum>
void set_any(Enum* target, int32_t value) {
  static_assert(sizeof *target == sizeof value, "an enum of 32 bits");
  std::memcpy(target, &value, sizeof value);
}

int32_t small_or_nasty(Choices& choices) {
  return choices.one_in(2) ? static_cast<int32_t>(nasty(choices)) : static_cast<int32_t>(choices.between(-2, 14));
}

void change_shape(Choices& choices, hipops_tensor* t) {
  int64_t& size = t->shape[choices.below(HIPOPS_MAX_RANK)];
  const auto next = static_cast<uint64_t>(size) + choices.pick<uint64_t>({1, ~uint64_t{0}});
  size = choices.one_in(2) ? nasty(choices) : static_cast<int64_t>(next);
}

void change_tensor(Choices& choices, std::vector<HostileTensor>* all) {
  HostileTensor& t = (*all)[choices.below(all->size())];
  switch (choices.below(11)) {
    case 0:
    case 1: return change_shape(choices, &t.tensor);
    case 2: t.tensor.stride[choices.below(HIPOPS_MAX_RANK)] = nasty(choices); return;
    case 3: t.tensor.rank = small_or_nasty(choices); return;
    case 4: set_any(&t.tensor.dtype, small_or_nasty(choices)); return;
    case 5: t.given = false; return;
    case 6: t.null_data = true; return;
    case 7: t.misalignment = static_cast<int>(choices.between(1, 7)); return;
    case 8:
    case 9:
      t.alias = static_cast<int>(choices.below(all->size()));
      t.distance = choices.one_in(2) ? choices.between(-300, 300) : 0;
      return;
    default: {
      const size_t a = choices.below(HIPOPS_MAX_RANK), b = choices.below(HIPOPS_MAX_RANK);
      std::swap(t.tensor.shape[a], t.tensor.shape[b]);
      std::swap(t.tensor.stride[a], t.tensor.stride[b]);
    }
  }
}

// Changes one dimension of all tensors to the same size, which may be huge. Shapes that matched still match.
void change_all_shapes(Choices& choices, std::vector<HostileTensor>* all) {
  const size_t d = choices.below(HIPOPS_MAX_RANK);
  const int64_t size = nasty(choices);
  const bool plain = choices.one_in(2);
  for (HostileTensor& t : *all) {
    t.tensor.shape[d] = size;
    uint64_t step = 1;
    for (size_t i = static_cast<size_t>(std::clamp(t.tensor.rank, 0, HIPOPS_MAX_RANK)); plain && i-- > 0;) {
      t.tensor.stride[i] = static_cast<int64_t>(step);
      step *= static_cast<uint64_t>(t.tensor.shape[i]);
    }
  }
}

void change_param(Choices& choices, HostileCall* call) {
  if (call->op->params.empty()) return;
  const parity::ParamSpec& param = choices.pick(call->op->params);
  const bool is_workspace = std::string(param.name) == parity::kWorkspaceParam;
  if (is_workspace) {
    using Workspace = HostileCall::Workspace;
    call->workspace = choices.pick({Workspace::kNone, Workspace::kExact, Workspace::kShort, Workspace::kMisaligned,
                                    Workspace::kNegative, Workspace::kNullWithBytes});
  } else if (param.integer) {
    call->params[param.name] = small_or_nasty(choices);
  } else {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    call->params[param.name] =
        choices.pick({0.0, -0.0, -1.0, infinity, -infinity, std::numeric_limits<double>::quiet_NaN(), 1e-320, 5e-324,
                      1e308, 1e-40, 1e40, 1e19, 2.5});
  }
}

}  // namespace

HostileTensor* HostileCall::find(const std::string& name) {
  for (HostileTensor& tensor : tensors) {
    if (tensor.name == name) return &tensor;
  }
  return nullptr;
}

bool HostileCall::bounds(const HostileTensor& of, int64_t* low, int64_t* high) const {
  const hipops_tensor& t = of.tensor;
  int32_t number;
  std::memcpy(&number, &t.dtype, sizeof number);
  const bool known = number >= HIPOPS_F32 && number <= HIPOPS_F8_E5M2FNUZ;
  const int64_t bytes = known ? static_cast<int64_t>(parity::dtype_size(t.dtype)) : 8;
  *low = 0, *high = 0;
  if (t.rank < 0 || t.rank > HIPOPS_MAX_RANK) return true;  // the call is refused
  Wide elements = 1, first = 0, last = 0;
  for (int d = 0; d < t.rank; ++d) {
    if (t.shape[d] < 0) return true;
    if (t.shape[d] == 0) return true;
    elements *= t.shape[d];
    const Wide reach = Wide(t.shape[d] - 1) * t.stride[d];
    (reach < 0 ? first : last) += reach;
    if (elements > kMostElements || first * bytes < -kMostBytes || last * bytes > kMostBytes) return false;
  }
  *low = static_cast<int64_t>(first) * bytes;
  *high = static_cast<int64_t>(last + 1) * bytes;
  return true;
}

HostileCall hostile_call(Choices& choices, const parity::OpEntry& op, const parity::Case& valid) {
  HostileCall call;
  call.op = &op;
  call.params = valid.params;
  for (const parity::InputTensor& input : valid.inputs) {
    if (input.name == "report") {
      call.report = HostileCall::Report::kGiven;
      continue;
    }
    HostileTensor tensor;
    tensor.name = input.name;
    tensor.input = true;
    tensor.output = valid.is_in_out(input.name);
    tensor.tensor = parity::view(input.layout, nullptr);
    tensor.offset = input.layout.offset;
    call.tensors.push_back(tensor);
  }
  for (const parity::ExpectedTensor& output : valid.outputs) {
    if (output.name == "report" || call.find(output.name) != nullptr) continue;
    HostileTensor tensor;
    tensor.name = output.name;
    tensor.output = true;
    tensor.tensor = parity::view(output.layout, nullptr);
    tensor.offset = output.layout.offset;
    if (valid.in_place && valid.in_place->output == output.name)
      tensor.alias = static_cast<int>(call.find(valid.in_place->input) - call.tensors.data());
    call.tensors.push_back(tensor);
  }
  if (valid.params.count(parity::kWorkspaceParam) != 0 && valid.params.at(parity::kWorkspaceParam) != 0)
    call.workspace = HostileCall::Workspace::kExact;

  const uint64_t changes = choices.below(4);
  for (uint64_t i = 0; i < changes; ++i) {
    if (choices.one_in(4)) {
      change_param(choices, &call);
    } else if (choices.one_in(4)) {
      change_all_shapes(choices, &call.tensors);
    } else if (choices.one_in(12)) {
      call.report = HostileCall::Report::kMisaligned;
    } else {
      change_tensor(choices, &call.tensors);
    }
  }
  if (op.make_as_passed != nullptr) {
    HostileTensor *y = call.find("y"), *x = call.find("x");
    y->given = x->given = true;
    op.make_as_passed(&y->tensor, &x->tensor);
  }
  return call;
}

}  // namespace hipops::fuzz
