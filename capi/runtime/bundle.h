// The offload bundles that the library carries, which the build may have compressed (tools/cmake/compress.cmake).
#pragma once

#include <memory>

#include "runtime/code_object.h"
#include "runtime/runtime.h"

namespace hipops {

struct Bundle {
  const unsigned char* bytes = nullptr;
  size_t size = 0;
  std::unique_ptr<unsigned char, FreeMemory> memory;  // where it was unpacked to, if it was
};

// Where `image`, which has one, keeps its bundle: in the library's own pages, or unpacked to page-aligned memory.
// HIPOPS_INTERNAL_ERROR where memory ran out.
hipops_status open_bundle(const Image& image, Bundle* out);

}  // namespace hipops
