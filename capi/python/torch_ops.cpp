// torch.ops.hipops' kernels where a call's host time counts: what hipops/torch.py registers in Python otherwise, by PyTorch's C
// functions for extensions (torch/csrc/stable/c/shim.h), which are found at run time: hipops needs no PyTorch to be built.
#include <dlfcn.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include "hipops/hipops.h"

namespace {

using Value = uint64_t;  // PyTorch's StableIValue
using Handle = void*;    // of a tensor
using Error = int32_t;
using Kernel = void (*)(Value*, uint64_t, uint64_t);

constexpr int kMostTensors = 4, kMostOutputs = 2, kDtypes = 12;

struct Torch {
  Error (*library_init_impl)(const char* space, const char* key, const char* file, uint32_t line, void** library);
  Error (*library_impl)(void* library, const char* name, Kernel kernel);
  Error (*call_dispatcher)(const char* op, const char* overload, Value* stack);
  void (*check)(bool condition, const char* function, const char* file, uint32_t line, const char* text);
  Error (*new_tensor_handle)(Handle of, Handle* made);
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
  int32_t dtype[kDtypes + 1];  // PyTorch's of hipops'
  int32_t strided, cuda;
  hipops_backend gpu;
} torch;

// ---- The ops

struct Arguments {
  hipops_tensor in[kMostTensors], out[kMostOutputs];
  const hipops_tensor* given[kMostTensors];  // NULL: not given
  double number;
  uint32_t flags;
  void* stream;
};

struct Op {
  const char* name;
  const char* kinds;  // of its arguments: T a tensor, t one that there may be, d a number, b a flag
  const char* names[kMostTensors];
  uint32_t flags[3];
  int outputs;
  hipops_status (*call)(Arguments& a);
};

#define HIPOPS_ROPE(op)                                                                                             \
  {#op, "TTTt", {"x", "cos", "sin", "positions"}, {}, 1, [](Arguments& a) {                                         \
     return hipops_##op(&a.out[0], a.given[0], a.given[1], a.given[2], a.given[3], a.stream);                       \
   }}

const Op kOps[] = {
    {"layer_norm", "Tttd", {"x", "weight", "bias"}, {}, 1,
     [](Arguments& a) { return hipops_layer_norm(&a.out[0], a.given[0], a.given[1], a.given[2], a.number, a.stream); }},
    {"rms_norm", "Ttdbb", {"x", "weight"}, {HIPOPS_WEIGHT_PLUS_ONE, HIPOPS_ROUND_BEFORE_WEIGHT}, 1,
     [](Arguments& a) { return hipops_rms_norm(&a.out[0], a.given[0], a.given[1], a.number, a.flags, a.stream); }},
    {"fused_add_rms_norm", "TTtdbbb", {"x", "residual", "weight"},
     {HIPOPS_ROUND_SUM, HIPOPS_WEIGHT_PLUS_ONE, HIPOPS_ROUND_BEFORE_WEIGHT}, 2,
     [](Arguments& a) {
       return hipops_fused_add_rms_norm(&a.out[0], &a.out[1], a.given[0], a.given[1], a.given[2], a.number, a.flags, a.stream);
     }},
    {"softmax", "T", {"x"}, {}, 1, [](Arguments& a) { return hipops_softmax(&a.out[0], a.given[0], a.stream); }},
    HIPOPS_ROPE(rope),
    HIPOPS_ROPE(rope_i),
    HIPOPS_ROPE(rope_thd),
};
constexpr int kOpCount = sizeof kOps / sizeof *kOps;

// ---- A call

struct Text {
  char text[512] = "";
  bool operator()(const char* format, ...) __attribute__((format(printf, 2, 3))) {
    va_list list;
    va_start(list, format);
    std::vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return false;
  }
};

struct Place {
  int32_t type, index;
};

bool describe(const Op& op, const char* name, Handle tensor, hipops_tensor* made, Place* place, Text& fail) {
  int64_t rank = 0, *shape = nullptr, *stride = nullptr;
  int32_t dtype = 0, layout = 0;
  if (torch.get_layout(tensor, &layout) || layout != torch.strided) return fail("%s: %s is no strided tensor", op.name, name);
  if (torch.get_dim(tensor, &rank) || torch.get_sizes(tensor, &shape) || torch.get_strides(tensor, &stride) ||
      torch.get_dtype(tensor, &dtype) || torch.get_data_ptr(tensor, &made->data) || torch.get_device_type(tensor, &place->type) ||
      torch.get_device_index(tensor, &place->index))
    return fail("%s: %s has no memory that PyTorch tells of", op.name, name);
  if (rank > HIPOPS_MAX_RANK)
    return fail("%s: %s has %lld dimensions, expected %d at most", op.name, name, static_cast<long long>(rank), HIPOPS_MAX_RANK);
  int known = kDtypes;
  while (known > 0 && torch.dtype[known] != dtype) --known;
  if (known == 0) return fail("%s: %s is of a dtype that hipops has not", op.name, name);
  made->dtype = static_cast<hipops_dtype>(known);
  made->rank = static_cast<int32_t>(rank);
  std::memcpy(made->shape, shape, rank * sizeof *shape);
  std::memcpy(made->stride, stride, rank * sizeof *stride);
  return true;
}

// As torch.empty_like: of a tensor that is not contiguous PyTorch says how the result lies.
bool empty_like(Handle x, const hipops_tensor& of, const Place& place, Handle* made) {
  const hipops_tensor dense = hipops_contiguous(nullptr, of.dtype, of.rank, of.shape);
  bool is_dense = true;
  for (int d = 0; d < of.rank; ++d) is_dense = is_dense && (of.shape[d] == 1 || of.stride[d] == dense.stride[d]);
  if (is_dense)
    return !torch.empty_strided(of.rank, of.shape, of.stride, torch.dtype[of.dtype], place.type, place.index, made);
  Value stack[6] = {};  // self, dtype, layout, device, pin_memory, memory_format: none of them given
  Handle own = nullptr;
  if (torch.new_tensor_handle(x, &own)) return false;
  stack[0] = reinterpret_cast<Value>(own);
  if (torch.call_dispatcher("aten::empty_like", "", stack)) return false;
  *made = reinterpret_cast<Handle>(stack[0]);
  return true;
}

bool run(const Op& op, Handle* tensors, Arguments& a, Handle* outputs, Text& fail) {
  Place first = {}, place = {};
  for (int i = 0; i < kMostTensors; ++i) {
    a.given[i] = nullptr;
    if (!tensors[i]) continue;
    if (!describe(op, op.names[i], tensors[i], &a.in[i], &place, fail)) return false;
    if (i == 0) first = place;
    if (place.type != first.type || place.index != first.index)
      return fail("%s: %s is on another device than x: expected all on one", op.name, op.names[i]);
    a.given[i] = &a.in[i];
  }
  const bool is_gpu = first.type == torch.cuda;
  const hipops_backend backend = is_gpu ? torch.gpu : HIPOPS_BACKEND_CPU;
  if (hipops_backend_in_use() != backend && hipops_init(std::getenv("HIPOPS_BACKEND") ? HIPOPS_BACKEND_AUTO : backend))
    return fail("%s: %s", op.name, hipops_last_error());
  if (hipops_backend_in_use() != backend)
    return fail("%s: x is on %s, and this process uses another backend", op.name, is_gpu ? "a GPU" : "the CPU");
  void* guard = nullptr;
  int32_t current = first.index;
  a.stream = nullptr;
  if (is_gpu) {
    if (torch.get_current_cuda_stream(first.index, &a.stream) || torch.get_current_device_index(&current) ||
        (current != first.index && torch.create_device_guard(first.index, &guard)))
      return fail("%s: PyTorch does not tell the current stream", op.name);
  }
  bool is_done = true;
  for (int i = 0; i < op.outputs && is_done; ++i) {
    is_done = empty_like(tensors[0], a.in[0], first, &outputs[i]);
    if (!is_done) fail("%s: PyTorch has no memory for the result", op.name);
    is_done = is_done && describe(op, "y", outputs[i], &a.out[i], &place, fail);
  }
  if (is_done && op.call(a)) is_done = fail("%s", hipops_last_error());
  if (guard) torch.delete_device_guard(guard);
  return is_done;
}

// The stack's tensors are this function's to delete; results replace them. PyTorch raises, once nothing is left to be freed.
void call(const Op& op, Value* stack) {
  Text fail;
  Arguments a;
  Handle tensors[kMostTensors] = {}, outputs[kMostOutputs] = {};
  int tensor = 0, flag = 0;
  a.flags = 0;
  for (const char* kind = op.kinds; *kind; ++kind, ++stack) {
    if (*kind == 'T') {
      tensors[tensor++] = reinterpret_cast<Handle>(*stack);
    } else if (*kind == 't') {
      auto* given = reinterpret_cast<Value*>(*stack);
      tensors[tensor++] = given ? reinterpret_cast<Handle>(*given) : nullptr;
      std::free(given);  // as PyTorch's operator new had it
    } else if (*kind == 'd') {
      std::memcpy(&a.number, stack, sizeof a.number);
    } else {
      if (*stack & 0xff) a.flags |= op.flags[flag];
      ++flag;
    }
  }
  stack -= std::strlen(op.kinds);
  const bool is_done = run(op, tensors, a, outputs, fail);
  for (Handle h : tensors)
    if (h) torch.delete_tensor_object(h);
  for (int i = 0; i < op.outputs; ++i) {
    if (is_done) stack[i] = reinterpret_cast<Value>(outputs[i]);
    else if (outputs[i]) torch.delete_tensor_object(outputs[i]);
  }
  if (!is_done) torch.check(false, op.name, "hipops", 0, fail.text);
}

template <int i>
void boxed(Value* stack, uint64_t, uint64_t) {
  call(kOps[i], stack);
}

template <int i = 0>
bool add(void* library) {
  if (torch.library_impl(library, kOps[i].name, boxed<i>)) return false;
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
  const char* dtypes[kDtypes] = {"float32", "float16", "bfloat16", "float64", "uint8", "int8",
                                 "int16",   "uint16",  "int32",    "uint32",  "int64", "uint64"};
  bool found = number(cpu, "layout_strided", &torch.strided) && number(cpu, "device_type_cuda", &torch.cuda);
  for (int i = 0; i < kDtypes; ++i) {
    char name[32];
    std::snprintf(name, sizeof name, "dtype_%s", dtypes[i]);
    found = found && number(cpu, name, &torch.dtype[i + 1]);
  }
  found = found && find(cpu, "library_init_impl", &torch.library_init_impl) && find(cpu, "library_impl", &torch.library_impl) &&
          find(cpu, "call_dispatcher", &torch.call_dispatcher) && find(cpu, "check", &torch.check) &&
          find(cpu, "new_tensor_handle", &torch.new_tensor_handle) && find(cpu, "delete_tensor_object", &torch.delete_tensor_object) &&
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

// Registers the kernels of the ops above for the CPU and, where PyTorch has one, the GPU. 1: done; 0: this PyTorch lacks a
// function that they need, and nothing was registered.
extern "C" __attribute__((visibility("default"))) int32_t hipops_torch_register(void) {
  void* cpu = dlopen("libtorch_cpu.so", RTLD_NOW | RTLD_NOLOAD);
  void* gpu = dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_NOLOAD);
  torch.gpu = gpu ? HIPOPS_BACKEND_CUDA : HIPOPS_BACKEND_HIP;
  if (!gpu) gpu = dlopen("libtorch_hip.so", RTLD_NOW | RTLD_NOLOAD);
  if (!cpu || !find_torch(cpu, gpu)) return 0;
  for (const char* key : {"CPU", "CUDA"}) {
    void* library = nullptr;  // kept: its end would take the kernels away
    if (!std::strcmp(key, "CUDA") && !gpu) continue;
    if (torch.library_init_impl("hipops", key, "hipops", 0, &library) || !add(library)) return 0;
  }
  return 1;
}
