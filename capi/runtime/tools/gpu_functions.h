// The entry points that libcuda and libamdhip64 have alike: what differs is their names. Addresses, which cuda.h has as
// integers, are passed the same way.
#pragma once

#include <cstddef>

#include "runtime/shared_object.h"

namespace hipops {

struct GpuFunctions {
  int (*create_stream)(void** stream, unsigned flags);
  int (*destroy_stream)(void* stream);
  int (*synchronize)(void* stream);
  int (*copy)(void* target, const void* source, size_t bytes, void* stream);
  int (*fill)(void* target, unsigned word, size_t words, void* stream);
  int (*create_event)(void** event, unsigned flags);
  int (*destroy_event)(void* event);
  int (*record)(void* event, void* stream);
  int (*milliseconds)(float* elapsed, void* begin, void* end);
  int (*driver_version)(int* version);
  int (*launch)(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                unsigned block_z, unsigned shared_bytes, void* stream, void** parameters, void** extra);

  // Null where the release lacks one of them.
  int (*reset_persisting_cache)();  // CUDA's alone
  int (*begin_capture)(void* stream, int mode);
  int (*end_capture)(void* stream, void** graph);
  int (*instantiate)(void** executable, void* graph, unsigned long long flags);
  int (*replay)(void* executable, void* stream);
  int (*destroy_executable)(void* executable);
  int (*destroy_graph)(void* graph);
  int (*nodes)(void* graph, void** nodes, size_t* count);
  int (*edges)(void* graph, void** from, void** to, size_t* count);
  int (*edges_of_any_kind)(void* graph, void** from, void** to, void* kinds, size_t* count);  // CUDA's from 12.3 on
  int (*node_type)(void* node, int* type);
  int (*kernel_parameters)(void* node, void* parameters);
  int (*kernel_attribute)(void* node, int attribute, void* value);  // CUDA's alone
};

// HIPOPS_NO_DEVICE naming the library and the function where one is missing that is needed.
hipops_status bind_gpu_functions(const SharedObject& object, bool cuda, GpuFunctions* functions);

}  // namespace hipops
