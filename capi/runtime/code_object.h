// Code objects from files, for HIPOPS_CODE_OBJECT_DIR: for kernel authors, and for GPUs that the library was not built
// for.
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
  std::unique_ptr<unsigned char, FreeMemory> bytes;  // page-aligned: the runtime may use code objects in place
  size_t size = 0;
};

// Reads <folder>/<target>/<op>.co, or <folder>/<op>.hipfb if the first does not exist. HIPOPS_NO_CODE_OBJECT: neither
// exists, or the file is no code object; the message names the files or the fault. `target` may be empty.
hipops_status read_code_object(const char* folder, const std::string& target, const char* op, CodeObjectFile* out);

// The error in the size or the headers of an AMDGPU ELF, an offload bundle or a compressed bundle. Null: no error. GPU
// runtimes trust their input, and crash on a truncated file.
const char* code_object_fault(const unsigned char* bytes, size_t size);

}  // namespace hipops
