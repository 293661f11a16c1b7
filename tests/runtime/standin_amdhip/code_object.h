// What the stand-in reads of code objects: bundles and the kernels' names in AMDGPU ELF files. Like HIP, it is told
// no size.
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

// The entries of an uncompressed offload bundle; false if it is none, or its entries overlap its header, each other,
// or are not at multiples of 4096 as -bundle-align=4096 has them.
bool read_bundle(const unsigned char* image, std::vector<BundleEntry>* entries);

// "gfx942" of "hipv4-amdgcn-amd-amdhsa--gfx942:xnack-"; empty for the host's entry.
std::string processor_of(const std::string& id);

// "gfx9-4-generic" for "gfx942"; empty where there is none.
std::string generic_of(const std::string& arch);

// Names of the kernels in an AMDGPU ELF: its dynamic symbols that end in ".kd", without that. False if it is none.
bool read_kernels(const unsigned char* elf, std::vector<std::string>* kernels);

// Of a bundle's entry for `arch`, its own one or else the generic one; or of a lone ELF.
Outcome find_kernels(const unsigned char* image, const std::string& arch, std::vector<std::string>* kernels);

}  // namespace standin
