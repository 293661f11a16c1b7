// Code objects from files, for HIPOPS_CODE_OBJECT_DIR: a kernel author's loop, and a way to serve a GPU that the
// library was not built for.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string>

#include "hipops/hipops.h"

namespace hipops {

struct FreeMemory {
  void operator()(unsigned char* memory) const { std::free(memory); }
};

struct CodeObjectFile {
  std::string path;
  std::unique_ptr<unsigned char, FreeMemory> bytes;  // page-aligned: the runtime may use code objects where they lie
  size_t size = 0;
};

// Reads <folder>/<target>/<op>.co or else <folder>/<op>.hipfb. HIPOPS_NO_CODE_OBJECT naming both where there is none,
// and naming the fault where the file cannot be a code object. `target` may be empty.
hipops_status read_code_object(const char* folder, const std::string& target, const char* op, CodeObjectFile* out);

// What is wrong with an AMDGPU ELF, an offload bundle or a compressed one, as far as its size and headers tell; null
// if nothing. GPU runtimes trust their input, and crash on a truncated one.
const char* code_object_fault(const unsigned char* bytes, size_t size);

}  // namespace hipops
