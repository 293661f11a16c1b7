#include "code_object.h"

#include <elf.h>

#include <algorithm>
#include <cstring>

namespace standin {
namespace {

constexpr char kMagic[] = "__CLANG_OFFLOAD_BUNDLE__";
constexpr uint64_t kMagicBytes = sizeof kMagic - 1;
constexpr uint64_t kAlign = 4096;
constexpr uint16_t kMachineAmdgpu = 224;
constexpr uint64_t kMostEntries = 1000, kLongestId = 1000;  // a file with more is no bundle

template <class T>
T read_at(const unsigned char* bytes, uint64_t offset) {
  T value;
  std::memcpy(&value, bytes + offset, sizeof value);
  return value;
}

bool begins(const std::string& text, const char* with) { return text.compare(0, std::strlen(with), with) == 0; }

bool are_apart(std::vector<BundleEntry> entries, uint64_t header_end) {
  std::sort(entries.begin(), entries.end(),
            [](const BundleEntry& a, const BundleEntry& b) { return a.offset < b.offset; });
  uint64_t end = header_end;
  for (const BundleEntry& entry : entries) {
    if (entry.size == 0) continue;
    if (entry.offset < end || entry.offset % kAlign) return false;
    end = entry.offset + entry.size;
  }
  return true;
}

const Elf64_Shdr* find_section(const unsigned char* elf, const Elf64_Ehdr& header, uint32_t type) {
  const auto* sections = reinterpret_cast<const Elf64_Shdr*>(elf + header.e_shoff);
  for (unsigned i = 0; i < header.e_shnum; ++i)
    if (sections[i].sh_type == type) return &sections[i];
  return nullptr;
}

}  // namespace

bool read_bundle(const unsigned char* image, std::vector<BundleEntry>* entries) {
  if (std::memcmp(image, kMagic, kMagicBytes) != 0) return false;
  const auto count = read_at<uint64_t>(image, kMagicBytes);
  uint64_t at = kMagicBytes + 8;
  if (count > kMostEntries) return false;
  for (uint64_t i = 0; i < count; ++i) {
    const auto offset = read_at<uint64_t>(image, at), size = read_at<uint64_t>(image, at + 8);
    const auto length = read_at<uint64_t>(image, at + 16);
    if (length > kLongestId) return false;
    entries->push_back({std::string(reinterpret_cast<const char*>(image) + at + 24, length), offset, size});
    at += 24 + length;
  }
  return are_apart(*entries, at);
}

std::string processor_of(const std::string& id) {
  if (!begins(id, "hip")) return {};
  const size_t begin = id.find("--");
  if (begin == std::string::npos) return {};
  return id.substr(begin + 2, id.find(':', begin) - begin - 2);
}

std::string generic_of(const std::string& arch) {
  if (begins(arch, "gfx94") || arch == "gfx950") return "gfx9-4-generic";
  if (arch == "gfx908" || arch == "gfx90a") return {};
  if (begins(arch, "gfx90")) return "gfx9-generic";
  if (begins(arch, "gfx103")) return "gfx10-3-generic";
  if (begins(arch, "gfx11")) return "gfx11-generic";
  if (arch == "gfx1200" || arch == "gfx1201") return "gfx12-generic";
  return {};
}

bool read_kernels(const unsigned char* elf, std::vector<std::string>* kernels) {
  if (reinterpret_cast<uintptr_t>(elf) % 8 || std::memcmp(elf, ELFMAG, SELFMAG) != 0) return false;
  const auto header = read_at<Elf64_Ehdr>(elf, 0);
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != kMachineAmdgpu || header.e_shoff % 8) return false;
  const Elf64_Shdr* symbols = find_section(elf, header, SHT_DYNSYM);
  if (!symbols || symbols->sh_entsize != sizeof(Elf64_Sym) || symbols->sh_link >= header.e_shnum) return false;
  const auto* names_section = reinterpret_cast<const Elf64_Shdr*>(elf + header.e_shoff) + symbols->sh_link;
  const auto* names = reinterpret_cast<const char*>(elf + names_section->sh_offset);
  for (uint64_t i = 0; i < symbols->sh_size / sizeof(Elf64_Sym); ++i) {
    const auto symbol = read_at<Elf64_Sym>(elf, symbols->sh_offset + i * sizeof(Elf64_Sym));
    if (symbol.st_name >= names_section->sh_size) return false;
    const std::string name = names + symbol.st_name;
    const size_t dot = name.rfind(".kd");
    if (dot != std::string::npos && dot > 0 && dot + 3 == name.size()) kernels->push_back(name.substr(0, dot));
  }
  return true;
}

Outcome find_kernels(const unsigned char* image, const std::string& arch, std::vector<std::string>* kernels) {
  if (!std::memcmp(image, ELFMAG, SELFMAG)) return read_kernels(image, kernels) ? Outcome::kFound : Outcome::kMalformed;
  std::vector<BundleEntry> entries;
  if (!read_bundle(image, &entries)) return Outcome::kMalformed;
  for (const std::string& target : {arch, generic_of(arch)})
    for (const BundleEntry& entry : entries)
      if (!target.empty() && processor_of(entry.id) == target)
        return read_kernels(image + entry.offset, kernels) ? Outcome::kFound : Outcome::kMalformed;
  return Outcome::kNoEntry;
}

}  // namespace standin
