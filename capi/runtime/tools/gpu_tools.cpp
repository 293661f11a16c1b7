// libcuda and libamdhip64: the copy that the runtime in use has found.
#include <algorithm>
#include <fstream>
#include <map>

#include "tensor/error.h"
#include "runtime/cuda_library.h"
#include "runtime/hip_library.h"
#include "runtime/tools/device_tools.h"
#include "runtime/tools/gpu_functions.h"

namespace hipops {
namespace {

constexpr unsigned kNonBlocking = 1;   // a stream that does not wait for the default one
constexpr unsigned kDefaultEvent = 0;  // with timing
constexpr int kCaptureModeGlobal = 0;  // the strictest, and PyTorch's
constexpr int kKernelNode = 0;
constexpr int kNotSupported = 801;  // CUDA_ERROR_NOT_SUPPORTED

struct Graph {
  void* graph = nullptr;
  void* executable = nullptr;
};

// CUDA_KERNEL_NODE_PARAMS_v2
struct CudaKernelNode {
  void* function;
  unsigned grid[3], block[3], shared_bytes;
  void** parameters;
  void** extra;
  void* kernel;  // instead of the function, if a kernel was launched
  void* context;
};

// hipKernelNodeParams
struct HipKernelNode {
  unsigned block[3];
  void** extra;
  void* function;
  unsigned grid[3];
  void** parameters;
  unsigned shared_bytes;
};

// The version of a kernel module of Linux. "": unknown.
std::string module_version(const char* module) {
  std::ifstream file(std::string("/sys/module/") + module + "/version");
  std::string version;
  std::getline(file, version);
  return version;
}

class GpuTools : public DeviceTools {
 public:
  explicit GpuTools(const GpuFunctions& functions) : f_(functions) {}

  hipops_status create_stream(void** stream) override {
    return checked(f_.create_stream(stream, kNonBlocking), "create a stream");
  }
  hipops_status destroy_stream(void* stream) override { return checked(f_.destroy_stream(stream), "destroy a stream"); }
  hipops_status synchronize(void* stream) override { return checked(f_.synchronize(stream), "synchronize a stream"); }
  hipops_status copy_on_device(void* target, const void* source, size_t bytes, void* stream) override {
    return checked(f_.copy(target, source, bytes, stream), "copy on the device");
  }
  hipops_status fill(void* target, uint32_t word, size_t words, void* stream) override {
    return checked(f_.fill(target, word, words, stream), "fill memory");
  }

  hipops_status release_kept_lines() override {
    const int code = f_.reset_persisting_cache ? f_.reset_persisting_cache() : 0;
    return code == kNotSupported ? HIPOPS_SUCCESS : checked(code, "reset persisting lines");
  }

  hipops_status create_event(void** event) override {
    return checked(f_.create_event(event, kDefaultEvent), "create an event");
  }
  hipops_status destroy_event(void* event) override { return checked(f_.destroy_event(event), "destroy an event"); }
  hipops_status record(void* event, void* stream) override {
    return checked(f_.record(event, stream), "record an event");
  }
  hipops_status milliseconds(void* begin, void* end, float* elapsed) override {
    return checked(f_.milliseconds(elapsed, begin, end), "time between events");
  }

  bool has_graphs() const override {
    return f_.begin_capture && f_.end_capture && f_.instantiate && f_.replay && f_.destroy_executable &&
           f_.destroy_graph;
  }
  hipops_status begin_capture(void* stream) override {
    return checked(f_.begin_capture(stream, kCaptureModeGlobal), "begin a capture");
  }
  hipops_status end_capture(void* stream, void** graph) override;
  hipops_status replay(void* graph, void* stream) override {
    return checked(f_.replay(static_cast<Graph*>(graph)->executable, stream), "launch a graph");
  }
  hipops_status destroy_graph(void* graph) override;
  hipops_status kernels(void* graph, std::vector<KernelLaunch>* launches) override;
  int launch(const KernelLaunch& k, void* stream) override {
    return f_.launch(k.function, k.grid, 1, 1, k.block, 1, 1, k.shared_bytes, stream, k.parameters, nullptr);
  }

 protected:
  virtual std::string words_for(int code) const = 0;
  virtual KernelLaunch kernel_launch(void* node, int* code) const = 0;

  hipops_status checked(int code, const char* what) const {
    if (code == 0) return HIPOPS_SUCCESS;
    return fail_with_code(HIPOPS_RUNTIME_ERROR, code, "%s: %s (%d)", what, words_for(code).c_str(), code);
  }
  int driver_version() const {
    int version = 0;
    return f_.driver_version(&version) == 0 ? version : 0;
  }

  const GpuFunctions f_;

 private:
  hipops_status in_order(void* graph, std::vector<void*>* nodes) const;
};

hipops_status GpuTools::end_capture(void* stream, void** out) {
  auto graph = std::make_unique<Graph>();
  if (hipops_status status = checked(f_.end_capture(stream, &graph->graph), "end a capture")) return status;
  if (hipops_status status = checked(f_.instantiate(&graph->executable, graph->graph, 0), "instantiate a graph")) {
    f_.destroy_graph(graph->graph);
    return status;
  }
  *out = graph.release();
  return HIPOPS_SUCCESS;
}

hipops_status GpuTools::destroy_graph(void* graph) {
  std::unique_ptr<Graph> owned(static_cast<Graph*>(graph));
  const int first = f_.destroy_executable(owned->executable);
  const int second = f_.destroy_graph(owned->graph);
  return checked(first ? first : second, "destroy a graph");
}

// The graph of one stream's capture is a chain.
hipops_status GpuTools::in_order(void* graph, std::vector<void*>* nodes) const {
  size_t count = 0, links = 0;
  if (hipops_status status = checked(f_.nodes(graph, nullptr, &count), "nodes of a graph")) return status;
  nodes->resize(count);
  if (hipops_status status = checked(f_.nodes(graph, nodes->data(), &count), "nodes of a graph")) return status;
  if (count < 2) return HIPOPS_SUCCESS;
  // The plain function fails if a launch begins early (kMostBlocksEarly).
  std::vector<uint64_t> kinds;
  const auto edges = [&](void** from, void** to) {
    return checked(f_.edges_of_any_kind ? f_.edges_of_any_kind(graph, from, to, from ? kinds.data() : nullptr, &links)
                                        : f_.edges(graph, from, to, &links),
                   "edges of a graph");
  };
  if (hipops_status status = edges(nullptr, nullptr)) return status;
  std::vector<void*> from(links), to(links);
  kinds.resize(links);
  if (hipops_status status = edges(from.data(), to.data())) return status;
  std::map<void*, void*> next;
  for (size_t i = 0; i < links; ++i) next[from[i]] = to[i];
  const auto is_first = [&](void* node) { return std::find(to.begin(), to.end(), node) == to.end(); };
  void* node = *std::find_if(nodes->begin(), nodes->end() - 1, is_first);
  for (void*& place : *nodes) {
    place = node;
    node = next[node];
    if (!node && &place != &nodes->back()) return fail(HIPOPS_INTERNAL_ERROR, "the captured graph is not a chain");
  }
  return HIPOPS_SUCCESS;
}

hipops_status GpuTools::kernels(void* graph, std::vector<KernelLaunch>* launches) {
  if (!f_.nodes || !f_.edges || !f_.node_type || !f_.kernel_parameters)
    return fail(HIPOPS_RUNTIME_ERROR, "this release of the runtime does not tell what a graph consists of");
  std::vector<void*> nodes;
  if (hipops_status status = in_order(static_cast<Graph*>(graph)->graph, &nodes)) return status;
  for (void* node : nodes) {
    int type = 0;
    if (hipops_status status = checked(f_.node_type(node, &type), "type of a graph's node")) return status;
    if (type != kKernelNode) continue;
    int code = 0;
    launches->push_back(kernel_launch(node, &code));
    if (hipops_status status = checked(code, "parameters of a graph's kernel")) return status;
  }
  if (launches->empty()) return fail(HIPOPS_RUNTIME_ERROR, "this release of the runtime shows no kernels in a graph");
  return HIPOPS_SUCCESS;
}

class CudaTools final : public GpuTools {
 public:
  CudaTools(const CudaLibrary& library, const GpuFunctions& functions) : GpuTools(functions), cuda_(library) {}

  std::string driver() const override {
    const std::string module = module_version("nvidia");
    const int version = driver_version();
    return (module.empty() ? "" : module + ", ") + "CUDA " + std::to_string(version / 1000) + "." +
           std::to_string(version % 1000 / 10);
  }

 private:
  std::string words_for(int code) const override {
    const char* name = nullptr;
    return cuda_.get_error_name(code, &name) == 0 && name ? name : "?";
  }
  KernelLaunch kernel_launch(void* node, int* code) const override {
    CudaKernelNode kernel = {};
    *code = f_.kernel_parameters(node, &kernel);
    unsigned cluster[16] = {1};  // a CUlaunchAttributeValue: 0 where the launch has none
    if (*code == 0 && f_.kernel_attribute) *code = f_.kernel_attribute(node, cuda::kLaunchClusterDimension, cluster);
    return {kernel.function ? kernel.function : kernel.kernel, kernel.grid[0], kernel.block[0], kernel.shared_bytes,
            kernel.parameters, std::max(cluster[0], 1u)};
  }
  int launch(const KernelLaunch& k, void* stream) override {
    if (k.cluster == 1) return GpuTools::launch(k, stream);
    CudaLaunchAttribute attribute = {cuda::kLaunchClusterDimension, 0, {k.cluster, 1, 1}};
    const CudaLaunch launch = {{k.grid, 1, 1}, {k.block, 1, 1}, k.shared_bytes, stream, &attribute, 1};
    return cuda_.launch_kernel_ex(&launch, k.function, k.parameters, nullptr);
  }

  const CudaLibrary cuda_;
};

class HipTools final : public GpuTools {
 public:
  HipTools(const HipLibrary& library, const GpuFunctions& functions) : GpuTools(functions), hip_(library) {}

  std::string driver() const override {
    const std::string module = module_version("amdgpu");
    const int version = driver_version();  // major * 10^7 + minor * 10^5 + patch
    return (module.empty() ? "" : module + ", ") + "HIP " + std::to_string(version / 10000000) + "." +
           std::to_string(version / 100000 % 100) + "." + std::to_string(version % 100000);
  }

 private:
  std::string words_for(int code) const override {
    hip_.get_last_error();
    const char* name = hip_.get_error_name(code);
    return name ? name : "?";
  }
  KernelLaunch kernel_launch(void* node, int* code) const override {
    HipKernelNode kernel = {};
    *code = f_.kernel_parameters(node, &kernel);
    return {kernel.function, kernel.grid[0], kernel.block[0], kernel.shared_bytes, kernel.parameters};
  }

  const HipLibrary hip_;
};

}  // namespace

hipops_status open_gpu_tools(hipops_backend backend, std::unique_ptr<DeviceTools>* tools) {
  GpuFunctions functions = {};
  if (backend == HIPOPS_BACKEND_CUDA) {
    CudaLibrary library = {};
    if (hipops_status status = open_cuda_library(&library)) return status;
    if (hipops_status status = bind_gpu_functions(library.object, true, &functions)) return status;
    *tools = std::make_unique<CudaTools>(library, functions);
    return HIPOPS_SUCCESS;
  }
  HipLibrary library = {};
  if (hipops_status status = open_hip_library(&library)) return status;
  if (hipops_status status = bind_gpu_functions(library.object, false, &functions)) return status;
  *tools = std::make_unique<HipTools>(library, functions);
  return HIPOPS_SUCCESS;
}

}  // namespace hipops
