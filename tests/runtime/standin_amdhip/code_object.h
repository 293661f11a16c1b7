// How the stand-in reads code objects: bundles, and the names of kernels in AMDGPU ELF files. Like HIP, it gets no
// size.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace standin {

enum class Outcome { kFound, kMalformed, kNoEntry };

struct BundleEntry {
  std::string id;  // as "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-"
  uint64_t offset;
  uint64_t size;
};

// The entries of an uncompressed offload bundle. False if it is none, if entries overlap the header or each other, or
// if an entry is not at a multiple of 4096.
bool read_bundle(const unsigned char* image, std::vector<BundleEntry>* entries);

// "gfx942" for "hipv4-amdgcn-amd-amdhsa--gfx942:xnack-". Empty for the host's entry.
std::string processor_of(const std::string& id);

// "gfx9-4-generic" for "gfx942". Empty for a target without a generic one.
std::string generic_of(const std::string& arch);

// Names of the kernels in an AMDGPU ELF: its dynamic symbols that end in ".kd", without the ending. False if it is no
// such file.
bool read_kernels(const unsigned char* elf, std::vector<std::string>* kernels);

// Names of the kernels in a bundle's entry for `arch`, or in its generic entry, or in an ELF without a bundle.
Outcome find_kernels(const unsigned char* image, const std::string& arch, std::vector<std::string>* kernels);

}  // namespace standin
