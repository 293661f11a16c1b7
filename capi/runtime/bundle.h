// The offload bundles in the library. The build may compress them (tools/cmake/compress.cmake).
#pragma once

#include <memory>

#include "runtime/code_object.h"
#include "runtime/runtime.h"

namespace hipops {

struct Bundle {
  const unsigned char* bytes = nullptr;
  size_t size = 0;
  std::unique_ptr<unsigned char, FreeMemory> memory;  // of an unpacked bundle
};

// The bundle of an image that has one: in the library's own pages, or unpacked to page-aligned memory.
// HIPOPS_INTERNAL_ERROR: out of memory, or the bundle is damaged.
hipops_status open_bundle(const Image& image, Bundle* out);

}  // namespace hipops
