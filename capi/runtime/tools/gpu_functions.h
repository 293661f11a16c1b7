// Entry points that libcuda and libamdhip64 share, under different names. cuda.h declares addresses as integers; they
// are passed like pointers.
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

  // Null: the release lacks it.
  int (*reset_persisting_cache)();  // CUDA only
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
  int (*kernel_attribute)(void* node, int attribute, void* value);  // CUDA only
};

// HIPOPS_NO_DEVICE: a required function is missing. The message names it and the library.
hipops_status bind_gpu_functions(const SharedObject& object, bool cuda, GpuFunctions* functions);

}  // namespace hipops
