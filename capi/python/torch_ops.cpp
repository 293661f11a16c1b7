// C++ versions of the torch.ops.hipops kernels whose host time matters. Without them hipops/torch/__init__.py
// registers kernels in Python. They use PyTorch's C functions for extensions (torch/csrc/stable/c/shim.h), which are
// found at run time, so that hipops can be built without PyTorch.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <utility>

#include "hipops/hipops.h"
#include "runtime/runtime.h"
#include "tensor/tensor.h"

namespace {

using Value = uint64_t;  // PyTorch's StableIValue
using Handle = void*;    // of a tensor
using Error = int32_t;
using Kernel = void (*)(Value*, uint64_t, uint64_t);

constexpr int kMostTensors = 4, kMostOutputs = 2, kMostNumbers = 2, kDtypes = 16;

// PyTorch's own at::empty_strided raises PyTorch's exceptions, which its C functions replace by a code. A tensor is
// returned as a pointer. The destructor makes the compiler return it in memory, as PyTorch's class is returned.
struct AtenTensor {
  void* pointer;
  ~AtenTensor() {}
};
struct AtenSizes {
  const int64_t* begin;
  size_t count;
};
struct AtenDevice {
  int8_t type, index;
};
constexpr const char* kAtenEmptyStrided =
    "_ZN2at4_ops13empty_strided4callEN3c108ArrayRefINS2_6SymIntEEES5_St8optionalINS2_10ScalarTypeEES6_INS2_6LayoutEES6_"
    "INS2_6DeviceEES6_IbE";
using AtenEmptyStrided = AtenTensor(AtenSizes shape, AtenSizes stride, std::optional<int8_t> dtype,
                                    std::optional<int8_t> layout, std::optional<AtenDevice> device,
                                    std::optional<bool> is_pinned);

struct Torch {
  Error (*library_init_impl)(const char* space, const char* key, const char* file, uint32_t line, void** library);
  Error (*library_impl)(void* library, const char* name, Kernel kernel);
  Error (*call_dispatcher)(const char* op, const char* overload, Value* stack);
  void (*check)(bool condition, const char* function, const char* file, uint32_t line, const char* text);
  Error (*delete_tensor_object)(Handle tensor);
  Error (*empty_strided)(int64_t rank, const int64_t* shape, const int64_t* stride, int32_t dtype, int32_t device, int32_t index, Handle* made);
  Error (*get_data_ptr)(Handle tensor, void** data);
  Error (*get_dim)(Handle tensor, int64_t* rank);
  Error (*get_sizes)(Handle tensor, int64_t** shape);
  Error (*get_strides)(Handle tensor, int64_t** stride);
  Error (*get_dtype)(Handle tensor, int32_t* dtype);
  Error (*get_layout)(Handle tensor, int32_t* layout);
  Error (*get_device_type)(Handle tensor, int32_t* type);
  Error (*get_device_index)(Handle tensor, int32_t* index);
  Error (*get_current_device_index)(int32_t* index);
  Error (*create_device_guard)(int32_t index, void** guard);
  Error (*delete_device_guard)(void* guard);
  Error (*get_current_cuda_stream)(int32_t index, void** stream);
  Error (*string_c_str)(Handle string, const char** text);  // NULL: this PyTorch passes no strings
  Error (*delete_string)(Handle string);
  AtenEmptyStrided* aten_empty_strided;  // NULL: this PyTorch has no such function
  int32_t dtype[kDtypes + 1];            // PyTorch's dtype for each hipops_dtype
  int32_t strided, cuda;
  hipops_backend gpu;
} torch;

// ---- The ops

struct Arguments {
  hipops_tensor in[kMostTensors], out[kMostOutputs];
  const hipops_tensor* given[kMostTensors];  // NULL: left out
  double number[kMostNumbers];
  hipops_activation_kind kind;
  uint32_t flags;
  void* workspace;
  int64_t workspace_bytes;
  void* stream;
};
constexpr uint32_t kWeightGrad = 1u << 31;  // no flag of the library
constexpr int64_t kAlignment = 256;         // of a workspace

struct Op {
  const char* name;
  const char* kinds;  // its arguments: T a tensor, t an optional tensor, d a number, b a flag, k an activation's name
  const char* names[kMostTensors];
  uint32_t flags[4];
  const char* results;  // a result's strides: c contiguous, n as of PyTorch's rms_norm, x as of -x, s as of residual + x,
                        // e as of act(x) * up, w contiguous; without kWeightGrad or a weight, w has no elements
  hipops_status (*call)(Arguments& a);
  int like[kMostOutputs] = {};  // the tensor whose dtype and shape a result has
  hipops_status (*workspace_bytes)(Arguments& a) = nullptr;
};

const hipops_tensor* weight_gradient(const Arguments& a) { return a.given[2] && (a.flags & kWeightGrad) ? &a.out[1] : nullptr; }

#define HIPOPS_ROPE(op)                                                                                             \
  {#op, "TTTt", {"x", "cos", "sin", "positions"}, {}, "x", [](Arguments& a) {                                       \
     return hipops_##op(&a.out[0], a.given[0], a.given[1], a.given[2], a.given[3], a.stream);                       \
   }}

const Op kOps[] = {
    {"layer_norm", "Tttdb", {"x", "weight", "bias"}, {HIPOPS_BATCH_INVARIANT}, "c",
     [](Arguments& a) {
       return hipops_layer_norm(&a.out[0], nullptr, nullptr, a.given[0], a.given[1], a.given[2], a.number[0], a.flags, a.stream);
     }},
    {"rms_norm", "Ttdbbb", {"x", "weight"},
     {HIPOPS_WEIGHT_PLUS_ONE, HIPOPS_ROUND_BEFORE_WEIGHT, HIPOPS_BATCH_INVARIANT}, "n",
     [](Arguments& a) { return hipops_rms_norm(&a.out[0], nullptr, a.given[0], a.given[1], a.number[0], a.flags, a.stream); }},
    {"fused_add_rms_norm", "TTtdbbbb", {"x", "residual", "weight"},
     {HIPOPS_ROUND_SUM, HIPOPS_WEIGHT_PLUS_ONE, HIPOPS_ROUND_BEFORE_WEIGHT, HIPOPS_BATCH_INVARIANT}, "ns",
     [](Arguments& a) {
       return hipops_fused_add_rms_norm(&a.out[0], &a.out[1], nullptr, a.given[0], a.given[1], a.given[2], a.number[0], a.flags,
                                       a.stream);
     }},
    {"fused_add_layer_norm", "TTttdbb", {"x", "residual", "weight", "bias"},
     {HIPOPS_ROUND_SUM, HIPOPS_BATCH_INVARIANT}, "cs",
     [](Arguments& a) {
       return hipops_fused_add_layer_norm(&a.out[0], &a.out[1], nullptr, nullptr, a.given[0], a.given[1], a.given[2], a.given[3],
                                          a.number[0], a.flags, a.stream);
     }},
    {"softmax", "Tb", {"x"}, {HIPOPS_BATCH_INVARIANT}, "c",
     [](Arguments& a) { return hipops_softmax(&a.out[0], a.given[0], a.flags, a.stream); }},
    HIPOPS_ROPE(rope),
    HIPOPS_ROPE(rope_i),
    HIPOPS_ROPE(rope_thd),
    {"activation", "Tkd", {"x"}, {}, "x",
     [](Arguments& a) { return hipops_activation(&a.out[0], a.given[0], a.kind, a.number[0], a.stream); }},
    {"activation_and_mul", "TTkddb", {"x", "up"}, {HIPOPS_UP_PLUS_ONE}, "e",
     [](Arguments& a) {
       return hipops_activation_and_mul(&a.out[0], a.given[0], a.given[1], a.kind, a.number[0], a.number[1], a.flags, a.stream);
     }},
    {"rms_norm_backward", "TTttdbbbb", {"dy", "x", "weight", "rstd"},
     {HIPOPS_WEIGHT_PLUS_ONE, HIPOPS_ROUND_BEFORE_WEIGHT, HIPOPS_BATCH_INVARIANT, kWeightGrad}, "cw",
     [](Arguments& a) {
       return hipops_rms_norm_backward(&a.out[0], weight_gradient(a), a.given[0], a.given[1], a.given[2], a.given[3], a.number[0],
                                       a.flags & ~kWeightGrad, a.workspace, a.workspace_bytes, a.stream);
     },
     {1, 2},
     [](Arguments& a) {
       return hipops_rms_norm_backward_workspace_bytes(&a.out[0], weight_gradient(a), a.given[0], a.given[1], a.given[2], a.given[3],
                                                       &a.workspace_bytes);
     }},
    {"activation_and_mul_backward", "TTTkddb", {"dy", "x", "up"}, {HIPOPS_UP_PLUS_ONE}, "xx",
     [](Arguments& a) {
       return hipops_activation_and_mul_backward(&a.out[0], &a.out[1], a.given[0], a.given[1], a.given[2], a.kind, a.number[0],
                                                 a.number[1], a.flags, a.stream);
     },
     {1, 2}},
};
constexpr int kOpCount = sizeof kOps / sizeof *kOps;

// By hipops_activation_kind.
constexpr const char* kActivations[] = {"identity", "relu", "relu_squared", "leaky_relu", "abs", "neg", "sqr", "sigmoid",
                                        "silu", "swish", "quick_gelu", "gelu_tanh", "gelu", "tanh", "elu", "softplus", "exp"};
static_assert(sizeof kActivations / sizeof *kActivations == HIPOPS_ACTIVATION_EXP + 1, "all kinds");

// Returns false for an unknown name.
bool find_activation(Handle name, hipops_activation_kind* kind) {
  const char* text = nullptr;
  if (torch.string_c_str(name, &text)) return false;
  int i = HIPOPS_ACTIVATION_EXP;
  while (i >= 0 && std::strcmp(text, kActivations[i])) --i;
  *kind = static_cast<hipops_activation_kind>(i);
  return i >= 0;
}

// ---- The strides of results

constexpr int kChannelsLast[] = {1, 3, 2, 0};

// Sets the strides of a tensor without gaps. `order` lists its dimensions from the innermost.
void lay_out(const int64_t* shape, int rank, const int* order, int64_t* stride) {
  int64_t step = 1;
  for (int i = 0; i < rank; ++i) {
    stride[order[i]] = step;
    step = static_cast<int64_t>(static_cast<uint64_t>(step) * static_cast<uint64_t>(shape[order[i]]));
  }
}

// Ignores the strides of dimensions with one element.
bool has_strides(const hipops_tensor& t, const int64_t* stride) {
  for (int d = 0; d < t.rank; ++d)
    if (t.shape[d] != 1 && t.stride[d] != stride[d]) return false;
  return true;
}

bool is_empty(const hipops_tensor& t) {
  for (int d = 0; d < t.rank; ++d)
    if (t.shape[d] == 0) return true;
  return false;
}

bool has_no_gaps(const hipops_tensor& t) {
  int left = 0, d = 0;
  for (int i = 0; i < t.rank; ++i) left += t.shape[i] != 1;
  for (int64_t step = 1; left > 0; --left, step *= t.shape[d]) {
    for (d = 0; d < t.rank && (t.shape[d] == 1 || t.stride[d] != step);) ++d;
    if (d == t.rank) return false;
  }
  return true;
}

// Below 0 if dimension a is inside of b, above 0 if b is inside of a. The first tensor with an answer decides; 0 if
// none has.
int compare(std::initializer_list<const hipops_tensor*> tensors, int a, int b) {
  for (const hipops_tensor* t : tensors) {
    if (t->stride[a] == 0 || t->stride[b] == 0) continue;
    if (t->stride[a] != t->stride[b]) return t->stride[a] < t->stride[b] ? -1 : 1;
    if (t->shape[a] > t->shape[b]) return 1;
  }
  return 0;
}

// Dimension i of channels_last, from the innermost: channels, then the dimensions from the last to the third, then the
// first.
int channels_last_order(int rank, int i) { return i == 0 ? 1 : i == rank - 1 ? 0 : rank - i; }

// True if PyTorch suggests channels_last for a tensor with these strides (c10/core/MemoryFormat.h).
bool suggests_channels_last(const int64_t* shape, int rank, const int64_t* stride) {
  if ((rank != 4 && rank != 5) || stride[1] == 0) return false;
  int64_t least = 0;
  for (int i = 0; i < rank; ++i) {
    const int d = channels_last_order(rank, i);
    if (shape[d] == 0 || stride[d] < least || (d == 0 && least == stride[1])) return false;
    least = stride[d] * (shape[d] > 1 ? shape[d] : 1);
  }
  return true;
}

// The strides of the result of an elementwise op of PyTorch on tensors of one shape (ATen/TensorIterator.cpp).
void elementwise_strides(std::initializer_list<const hipops_tensor*> tensors, int64_t* stride) {
  const hipops_tensor& first = **tensors.begin();
  const hipops_tensor dense = hipops_contiguous(nullptr, first.dtype, first.rank, first.shape);
  int64_t channels_last[HIPOPS_MAX_RANK] = {};
  if (first.rank == 4) lay_out(first.shape, 4, kChannelsLast, channels_last);
  bool all_dense = true, all_channels_last = first.rank == 4, all_same = true;
  for (const hipops_tensor* t : tensors) {
    all_dense = all_dense && (has_strides(*t, dense.stride) || is_empty(*t));
    all_channels_last = all_channels_last && has_strides(*t, channels_last);
    all_same = all_same && !std::memcmp(t->stride, first.stride, first.rank * sizeof *stride);
  }
  const bool is_kept = all_same && has_no_gaps(first);
  if (all_dense || all_channels_last || is_kept) {
    const int64_t* as = all_dense ? dense.stride : all_channels_last ? channels_last : first.stride;
    std::memcpy(stride, as, first.rank * sizeof *stride);
    return;
  }
  int order[HIPOPS_MAX_RANK];
  for (int i = 0; i < first.rank; ++i) order[i] = first.rank - 1 - i;
  for (int i = 1; i < first.rank; ++i) {
    for (int at = i, before = i - 1; before >= 0; --before) {
      const int compared = compare(tensors, order[before], order[at]);
      if (compared < 0) break;
      if (compared > 0) {
        std::swap(order[before], order[at]);
        at = before;
      }
    }
  }
  lay_out(first.shape, first.rank, order, stride);
}

// ---- A call

struct Place {
  int32_t type, index;
};

struct Call {
  const Op& op;
  Handle tensors[kMostTensors] = {}, outputs[kMostOutputs] = {}, workspace = nullptr;
  Arguments a = {};
  Place place = {};
  bool is_known = true;       // the activation's name is
  bool lacks_memory = false;  // PyTorch could not allocate the last output or the workspace
  char refusal[512] = "";     // the library's message
};

thread_local char words_of_python[512];

bool refuse(Call& call, const char* words) {
  const bool is_named = !std::strncmp(words, call.op.name, std::strlen(call.op.name));
  std::snprintf(call.refusal, sizeof call.refusal, "%s%s%s", is_named ? "" : call.op.name, is_named ? "" : ": ", words);
  return false;
}

// False if PyTorch returns an error, or if hipops does not support the tensor.
bool describe(Handle tensor, hipops_tensor* made, Place* place) {
  int64_t rank = 0, *shape = nullptr, *stride = nullptr;
  int32_t dtype = 0, layout = 0;
  if (torch.get_layout(tensor, &layout) || layout != torch.strided || torch.get_dim(tensor, &rank) || rank > HIPOPS_MAX_RANK ||
      torch.get_sizes(tensor, &shape) || torch.get_strides(tensor, &stride) || torch.get_dtype(tensor, &dtype) ||
      torch.get_data_ptr(tensor, &made->data) || torch.get_device_type(tensor, &place->type) ||
      torch.get_device_index(tensor, &place->index))
    return false;
  int known = kDtypes;
  while (known > 0 && torch.dtype[known] != dtype) --known;
  made->dtype = static_cast<hipops_dtype>(known);
  made->rank = static_cast<int32_t>(rank);
  std::memcpy(made->shape, shape, rank * sizeof *shape);
  std::memcpy(made->stride, stride, rank * sizeof *stride);
  return known > 0;
}

// Allocates output i and describes it in a.out[i].
bool make_output(Call& call, int i) {
  hipops_tensor &y = call.a.out[i], &x = call.a.in[call.op.like[i]], &other = call.a.in[1];
  const int64_t none = 0;
  const bool is_left_out = call.op.results[i] == 'w' && !weight_gradient(call.a);
  y = is_left_out ? hipops_contiguous(nullptr, call.a.in[1].dtype, 1, &none) : hipops_contiguous(nullptr, x.dtype, x.rank, x.shape);
  const bool same_shape = other.rank == x.rank && !std::memcmp(other.shape, x.shape, x.rank * sizeof *x.shape);
  if (call.op.results[i] == 'x') elementwise_strides({&x}, y.stride);
  if (call.op.results[i] == 'e' && same_shape) {
    hipops_tensor activated = x;
    elementwise_strides({&x}, activated.stride);
    elementwise_strides({&activated, &other}, y.stride);
  }
  if (call.op.results[i] == 's' && same_shape) elementwise_strides({&other, &x}, y.stride);  // otherwise the library refuses the shapes
  if (call.op.results[i] == 'n') {
    int64_t normed[HIPOPS_MAX_RANK];
    std::memcpy(normed, x.stride, sizeof normed);
    if (call.op.results[1] == 's' && same_shape) elementwise_strides({&other, &x}, normed);
    int order[HIPOPS_MAX_RANK];
    for (int d = 0; d < y.rank; ++d) order[d] = channels_last_order(y.rank, d);
    if (suggests_channels_last(y.shape, y.rank, normed)) lay_out(y.shape, y.rank, order, y.stride);
  }
  call.lacks_memory = torch.empty_strided(y.rank, y.shape, y.stride, torch.dtype[y.dtype], call.place.type, call.place.index,
                                          &call.outputs[i]) != 0;
  return !call.lacks_memory && !torch.get_data_ptr(call.outputs[i], &y.data);
}

bool make_workspace(Call& call) {
  if (call.op.workspace_bytes(call.a)) return refuse(call, hipops_last_error());
  if (!call.a.workspace_bytes) return true;
  const int64_t size = call.a.workspace_bytes + kAlignment - 1, step = 1;
  call.lacks_memory = torch.empty_strided(1, &size, &step, torch.dtype[HIPOPS_U8], call.place.type, call.place.index, &call.workspace) != 0;
  if (call.lacks_memory || torch.get_data_ptr(call.workspace, &call.a.workspace)) return false;
  call.a.workspace = reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(call.a.workspace) + kAlignment - 1) & -kAlignment);
  return true;
}

bool choose_backend(Call& call) {
  const hipops_backend backend = call.place.type == torch.cuda ? torch.gpu : HIPOPS_BACKEND_CPU;
  if (hipops_backend_in_use() == backend) return true;
  if (hipops_backend_in_use() == HIPOPS_BACKEND_AUTO) {
    const char* named = std::getenv("HIPOPS_BACKEND");
    if (hipops_init(named && *named ? HIPOPS_BACKEND_AUTO : backend)) return refuse(call, hipops_last_error());
  }
  return hipops_backend_in_use() == backend;
}

// Returns false if the call failed. Then call.refusal or call.lacks_memory is set. If neither is, Python must find the
// reason.
bool run(Call& call) {
  for (int i = 0; i < kMostTensors; ++i) {
    Place place = {};
    if (!call.tensors[i]) continue;
    if (!describe(call.tensors[i], &call.a.in[i], &place)) return false;
    if (i == 0) call.place = place;
    if (place.type != call.place.type || place.index != call.place.index) return false;
    call.a.given[i] = &call.a.in[i];
  }
  if (!choose_backend(call)) return false;
  void* guard = nullptr;
  int32_t current = call.place.index;
  if (call.place.type == torch.cuda &&
      (torch.get_current_cuda_stream(call.place.index, &call.a.stream) || torch.get_current_device_index(&current) ||
       (current != call.place.index && torch.create_device_guard(call.place.index, &guard))))
    return refuse(call, "PyTorch did not return the current stream");
  bool is_done = true;
  for (int i = 0; call.op.results[i] && is_done; ++i) is_done = make_output(call, i);
  is_done = is_done && (!call.op.workspace_bytes || make_workspace(call));
  if (is_done && call.op.call(call.a)) is_done = refuse(call, hipops_last_error());
  if (call.workspace) torch.delete_tensor_object(call.workspace);
  if (guard) torch.delete_device_guard(guard);
  return is_done;
}

// Raises the exception that PyTorch's own ops raise if there is no memory for results.
void fail_as_pytorch(int64_t elements, hipops_dtype of, const Place& place) {
  if (!torch.aten_empty_strided) return;
  const int64_t step = 1;
  const AtenDevice device = {static_cast<int8_t>(place.type), static_cast<int8_t>(place.index)};
  const auto dtype = static_cast<int8_t>(torch.dtype[of]);
  AtenTensor made = torch.aten_empty_strided({&elements, 1}, {&step, 1}, dtype, std::nullopt, device, std::nullopt);
  torch.delete_tensor_object(new void*(made.pointer));  // the second attempt succeeded
}

// Deletes the stack's tensors and replaces them by the results. An exception of PyTorch leaves the function, so
// everything is freed before.
void call(const Op& op, Value* stack) {
  Call call{op};
  int tensor = 0, flag = 0, number = 0;
  Value* given = stack;
  for (const char* kind = op.kinds; *kind; ++kind, ++given) {
    auto* box = reinterpret_cast<Value*>(*given);
    if (*kind == 'T') call.tensors[tensor++] = reinterpret_cast<Handle>(*given);
    if (*kind == 't') call.tensors[tensor++] = box ? reinterpret_cast<Handle>(*box) : nullptr;
    if (*kind == 'd') std::memcpy(&call.a.number[number++], given, sizeof *call.a.number);
    if (*kind == 'k') call.is_known = find_activation(reinterpret_cast<Handle>(*given), &call.a.kind);
    if (*kind == 'b' && (*given & 0xff)) call.a.flags |= op.flags[flag];
    flag += *kind == 'b';
  }
  const bool is_done = call.is_known && run(call);
  if (is_done || call.lacks_memory || *call.refusal) {
    for (Handle h : call.tensors)
      if (h) torch.delete_tensor_object(h);
    for (int i = 0; op.kinds[i]; ++i) {
      if (op.kinds[i] == 't') std::free(reinterpret_cast<void*>(stack[i]));  // PyTorch's operator new uses malloc
      if (op.kinds[i] == 'k') torch.delete_string(reinterpret_cast<Handle>(stack[i]));
    }
  }
  if (is_done) {
    for (int i = 0; op.results[i]; ++i) stack[i] = reinterpret_cast<Value>(call.outputs[i]);
    return;
  }
  for (Handle h : call.outputs)
    if (h) torch.delete_tensor_object(h);
  if (call.lacks_memory) {
    // With the results that were made: they are already freed.
    int64_t elements = call.a.workspace_bytes / hipops::dtype_bytes(call.a.out[0].dtype);
    for (int i = 0; op.results[i] && (i == 0 || call.outputs[i - 1]); ++i) elements += hipops::element_count(call.a.out[i]);
    fail_as_pytorch(elements, call.a.out[0].dtype, call.place);
    refuse(call, "PyTorch has no memory for the result");
  }
  if (!*call.refusal) {
    char name[64];
    std::snprintf(name, sizeof name, "hipops::_check_%s", op.name);
    std::strcpy(words_of_python, "PyTorch did not describe its tensors");
    torch.call_dispatcher(name, "", stack);  // frees the stack's tensors
    refuse(call, words_of_python);
  }
  torch.check(false, op.name, "hipops", 0, call.refusal);
}

template <int i>
void boxed(Value* stack, uint64_t, uint64_t) {
  call(kOps[i], stack);
}

template <int i = 0>
bool add(void* library) {
  const bool is_supported = torch.string_c_str || !std::strchr(kOps[i].kinds, 'k');
  if (is_supported && torch.library_impl(library, kOps[i].name, boxed<i>)) return false;
  if constexpr (i + 1 < kOpCount) return add<i + 1>(library);
  return true;
}

// ---- PyTorch's functions

template <typename F>
bool find(void* library, const char* name, F** f) {
  char whole[96];
  std::snprintf(whole, sizeof whole, "aoti_torch_%s", name);
  *f = reinterpret_cast<F*>(dlsym(library, whole));
  return *f != nullptr;
}

bool number(void* library, const char* name, int32_t* value) {
  int32_t (*f)() = nullptr;
  if (!find(library, name, &f)) return false;
  *value = f();
  return true;
}

bool find_torch(void* cpu, void* gpu) {
  torch.string_c_str = reinterpret_cast<decltype(torch.string_c_str)>(dlsym(cpu, "torch_string_c_str"));
  torch.delete_string = reinterpret_cast<decltype(torch.delete_string)>(dlsym(cpu, "torch_delete_string"));
  const char* dtypes[kDtypes] = {"float32", "float16", "bfloat16", "float64", "uint8", "int8",
                                 "int16",   "uint16",  "int32",    "uint32",  "int64", "uint64",
                                 "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz"};
  bool found = number(cpu, "layout_strided", &torch.strided) && number(cpu, "device_type_cuda", &torch.cuda);
  torch.aten_empty_strided = reinterpret_cast<AtenEmptyStrided*>(dlsym(cpu, kAtenEmptyStrided));
  for (int i = 0; i < kDtypes; ++i) {
    char name[32];
    std::snprintf(name, sizeof name, "dtype_%s", dtypes[i]);
    found = found && number(cpu, name, &torch.dtype[i + 1]);
  }
  found = found && find(cpu, "library_init_impl", &torch.library_init_impl) && find(cpu, "library_impl", &torch.library_impl) &&
          find(cpu, "call_dispatcher", &torch.call_dispatcher) && find(cpu, "check", &torch.check) &&
          find(cpu, "delete_tensor_object", &torch.delete_tensor_object) &&
          find(cpu, "empty_strided", &torch.empty_strided) && find(cpu, "get_data_ptr", &torch.get_data_ptr) &&
          find(cpu, "get_dim", &torch.get_dim) && find(cpu, "get_sizes", &torch.get_sizes) && find(cpu, "get_strides", &torch.get_strides) &&
          find(cpu, "get_dtype", &torch.get_dtype) && find(cpu, "get_layout", &torch.get_layout) &&
          find(cpu, "get_device_type", &torch.get_device_type) && find(cpu, "get_device_index", &torch.get_device_index);
  return found && (!gpu || (find(cpu, "get_current_device_index", &torch.get_current_device_index) &&
                            find(cpu, "create_device_guard", &torch.create_device_guard) &&
                            find(cpu, "delete_device_guard", &torch.delete_device_guard) &&
                            find(gpu, "get_current_cuda_stream", &torch.get_current_cuda_stream)));
}

}  // namespace

// Registers the kernels of the ops above for the CPU and, if PyTorch supports one, the GPU. Returns 2, or 1 if this
// PyTorch passes no strings, so that the ops that need one are left out. Returns 0, and registers nothing, if it lacks a
// function that the kernels need.
extern "C" __attribute__((visibility("default"))) int32_t hipops_torch_register(void) {
  void* cpu = dlopen("libtorch_cpu.so", RTLD_NOW | RTLD_NOLOAD);
  void* gpu = dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_NOLOAD);
  torch.gpu = gpu ? HIPOPS_BACKEND_CUDA : HIPOPS_BACKEND_HIP;
  if (!gpu) gpu = dlopen("libtorch_hip.so", RTLD_NOW | RTLD_NOLOAD);
  if (!cpu || !find_torch(cpu, gpu)) return 0;
  for (const char* key : {"CPU", "CUDA"}) {
    void* library = nullptr;  // never destroyed: that would remove the kernels
    if (!std::strcmp(key, "CUDA") && !gpu) continue;
    if (torch.library_init_impl("hipops", key, "hipops", 0, &library) || !add(library)) return 0;
  }
  return torch.string_c_str ? 2 : 1;
}

// Called by the op _check_... of hipops/torch/__init__.py with the error that it found in this thread's call.
extern "C" __attribute__((visibility("default"))) void hipops_torch_say(const char* words) {
  std::snprintf(words_of_python, sizeof words_of_python, "%s", words);
}

// Makes calls of this thread return HIPOPS_NO_DEVICE after all checks have passed. For tensors without memory.
extern "C" __attribute__((visibility("default"))) void hipops_torch_check_only(int32_t is_on) {
  hipops::check_only(is_on != 0);
}
