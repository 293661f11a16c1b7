#include "runtime/tools/gpu_functions.h"

namespace hipops {

hipops_status bind_gpu_functions(const SharedObject& object, bool cuda, GpuFunctions* f) {
  Binder bind(object);
  const auto required = [&](const char* cuda_name, const char* hip_name, auto* function) {
    bind.required(cuda ? cuda_name : hip_name, function);
  };
  const auto optional = [&](const char* cuda_name, const char* hip_name, auto* function) {
    bind.optional(cuda ? cuda_name : hip_name, function);
  };
  required("cuStreamCreate", "hipStreamCreateWithFlags", &f->create_stream);
  required("cuStreamDestroy_v2", "hipStreamDestroy", &f->destroy_stream);
  required("cuStreamSynchronize", "hipStreamSynchronize", &f->synchronize);
  required("cuMemcpyDtoDAsync_v2", "hipMemcpyDtoDAsync", &f->copy);
  required("cuMemsetD32Async", "hipMemsetD32Async", &f->fill);
  required("cuEventCreate", "hipEventCreateWithFlags", &f->create_event);
  required("cuEventDestroy_v2", "hipEventDestroy", &f->destroy_event);
  required("cuEventRecord", "hipEventRecord", &f->record);
  required("cuEventElapsedTime", "hipEventElapsedTime", &f->milliseconds);
  required("cuDriverGetVersion", "hipDriverGetVersion", &f->driver_version);
  required("cuLaunchKernel", "hipModuleLaunchKernel", &f->launch);
  if (cuda) bind.optional("cuCtxResetPersistingL2Cache", &f->reset_persisting_cache);
  optional("cuStreamBeginCapture_v2", "hipStreamBeginCapture", &f->begin_capture);
  optional("cuStreamEndCapture", "hipStreamEndCapture", &f->end_capture);
  optional("cuGraphInstantiateWithFlags", "hipGraphInstantiateWithFlags", &f->instantiate);
  optional("cuGraphLaunch", "hipGraphLaunch", &f->replay);
  optional("cuGraphExecDestroy", "hipGraphExecDestroy", &f->destroy_executable);
  optional("cuGraphDestroy", "hipGraphDestroy", &f->destroy_graph);
  optional("cuGraphGetNodes", "hipGraphGetNodes", &f->nodes);
  optional("cuGraphGetEdges", "hipGraphGetEdges", &f->edges);
  if (cuda) bind.optional("cuGraphGetEdges_v2", &f->edges_of_any_kind);
  optional("cuGraphNodeGetType", "hipGraphNodeGetType", &f->node_type);
  optional("cuGraphKernelNodeGetParams_v2", "hipGraphKernelNodeGetParams", &f->kernel_parameters);
  if (cuda) bind.optional("cuGraphKernelNodeGetAttribute", &f->kernel_attribute);
  return bind.status();
}

}  // namespace hipops
