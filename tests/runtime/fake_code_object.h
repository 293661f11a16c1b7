// Code objects with names and no code, for tests of the search and the loading: an AMDGPU ELF whose dynamic symbols are
// kernel descriptors, and offload bundles of several ELF files. And a folder for them.
#pragma once

#include <elf.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace hipops_test {

using Bytes = std::vector<unsigned char>;

template <class T>
void append(Bytes* bytes, const T& value) {
  const auto* begin = reinterpret_cast<const unsigned char*>(&value);
  bytes->insert(bytes->end(), begin, begin + sizeof value);
}

inline void append_text(Bytes* bytes, const std::string& text) {
  bytes->insert(bytes->end(), text.begin(), text.end());
}

// The file has a header, a table of sections, symbols and names, in this order.
inline Bytes fake_elf(const std::vector<std::string>& kernels, uint16_t machine = 224) {
  std::string names(1, '\0');
  std::vector<Elf64_Sym> symbols(1);
  for (const std::string& kernel : kernels) {
    Elf64_Sym symbol = {};
    symbol.st_name = static_cast<uint32_t>(names.size());
    symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT);
    symbols.push_back(symbol);
    names += kernel + ".kd" + '\0';
  }
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_machine = machine;
  header.e_shoff = sizeof header;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 3;
  Elf64_Shdr sections[3] = {};
  sections[1].sh_type = SHT_DYNSYM;
  sections[1].sh_offset = sizeof header + sizeof sections;
  sections[1].sh_size = symbols.size() * sizeof(Elf64_Sym);
  sections[1].sh_entsize = sizeof(Elf64_Sym);
  sections[1].sh_link = 2;
  sections[2].sh_type = SHT_STRTAB;
  sections[2].sh_offset = sections[1].sh_offset + sections[1].sh_size;
  sections[2].sh_size = names.size();
  Bytes elf;
  append(&elf, header);
  append(&elf, sections);
  for (const Elf64_Sym& symbol : symbols) append(&elf, symbol);
  append_text(&elf, names);
  return elf;
}

// `entries` are targets with their ELF, as {"gfx942", elf}. The first entry is the host's, which is empty, as in
// bundles of clang-offload-bundler.
inline Bytes fake_bundle(const std::vector<std::pair<std::string, Bytes>>& entries) {
  constexpr uint64_t kAlign = 4096;
  std::vector<std::pair<std::string, Bytes>> all = {{"host-x86_64-unknown-linux-gnu", {}}};
  for (const auto& entry : entries) all.push_back({"hipv4-amdgcn-amd-amdhsa--" + entry.first, entry.second});
  Bytes bundle;
  append_text(&bundle, "__CLANG_OFFLOAD_BUNDLE__");
  append(&bundle, static_cast<uint64_t>(all.size()));
  uint64_t offset = kAlign;
  for (const auto& entry : all) {
    append(&bundle, offset);
    append(&bundle, static_cast<uint64_t>(entry.second.size()));
    append(&bundle, static_cast<uint64_t>(entry.first.size()));
    append_text(&bundle, entry.first);
    offset += (entry.second.size() + kAlign - 1) / kAlign * kAlign;
  }
  offset = kAlign;
  for (const auto& entry : all) {
    bundle.resize(offset);
    bundle.insert(bundle.end(), entry.second.begin(), entry.second.end());
    offset += (entry.second.size() + kAlign - 1) / kAlign * kAlign;
  }
  return bundle;
}

// A temporary folder. The destructor removes it with its files.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "hipops-test-XXXXXX").string();
    if (!mkdtemp(name.data())) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string path() const { return path_.string(); }

  void write(const std::string& name, const Bytes& bytes) const {
    const std::filesystem::path file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary).write(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }

 private:
  std::filesystem::path path_;
};

}  // namespace hipops_test
