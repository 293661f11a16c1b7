#include "inspect/code_object.h"

#include <elf.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

namespace hipops::inspect {
namespace {

using nlohmann::json;

constexpr uint16_t kMachineAmdgpu = 224;
constexpr unsigned char kOsAmdHsa = 64;
constexpr unsigned kVersionOfAbiZero = 2;  // the ELF header's ABI version counts from code object version 2
constexpr uint32_t kNoteMetadata = 32;
constexpr char kNoteOwner[] = "AMDGPU";
constexpr char kTriple[] = "amdgcn-amd-amdhsa--";
constexpr char kBundleMagic[] = "__CLANG_OFFLOAD_BUNDLE__";
constexpr char kCompressedMagic[] = "CCOB";

// Bytes with their bounds. All reads use this class.
class Bytes {
 public:
  Bytes(const unsigned char* data, uint64_t size) : data_(data), size_(size) {}

  uint64_t size() const { return size_; }
  const unsigned char* data() const { return data_; }

  Bytes part(uint64_t offset, uint64_t length, const char* what) const {
    if (offset > size_ || length > size_ - offset)
      throw CodeObjectError(std::string(what) + " is outside of the file");
    return {data_ + offset, length};
  }

  template <class T>
  T at(uint64_t offset, const char* what) const {
    T value;
    std::memcpy(&value, part(offset, sizeof value, what).data_, sizeof value);
    return value;
  }

  bool begins(const char* magic) const {
    const size_t length = std::strlen(magic);
    return size_ >= length && std::memcmp(data_, magic, length) == 0;
  }

  // The string that begins at `offset` and ends with a null.
  std::string text(uint64_t offset, const char* what) const {
    const Bytes rest = part(offset, offset < size_ ? size_ - offset : 1, what);
    const void* end = std::memchr(rest.data_, 0, static_cast<size_t>(rest.size_));
    if (end == nullptr) throw CodeObjectError(std::string(what) + " has no end");
    return {reinterpret_cast<const char*>(rest.data_), static_cast<const char*>(end)};
  }

  std::string all() const { return {reinterpret_cast<const char*>(data_), static_cast<size_t>(size_)}; }

 private:
  const unsigned char* data_;
  uint64_t size_;
};

uint64_t round_up_to_word(uint64_t bytes) { return (bytes + 3) / 4 * 4; }

// ---- The ELF file

template <class Visit>
void for_each_table_entry(const Bytes& file, uint64_t offset, uint64_t count, uint64_t entry, const char* what,
                          Visit visit) {
  if (count == 0) return;
  if (entry == 0 || count > file.size() / entry) throw CodeObjectError(std::string(what) + " is outside of the file");
  const Bytes table = file.part(offset, count * entry, what);
  for (uint64_t i = 0; i < count; ++i) visit(table.part(i * entry, entry, what));
}

Elf64_Ehdr header_of(const Bytes& file) {
  if (!file.begins(ELFMAG)) throw CodeObjectError("it is no ELF file");
  const auto header = file.at<Elf64_Ehdr>(0, "the ELF header");
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
    throw CodeObjectError("it is no 64-bit little-endian ELF file");
  if (header.e_machine != kMachineAmdgpu || header.e_ident[EI_OSABI] != kOsAmdHsa)
    throw CodeObjectError("it is an ELF file, but no AMD code object");
  return header;
}

// The metadata note's payload in a segment of notes, or an empty part.
Bytes metadata_in(const Bytes& notes) {
  for (uint64_t at = 0; at + sizeof(Elf64_Nhdr) <= notes.size();) {
    const auto note = notes.at<Elf64_Nhdr>(at, "a note");
    at += sizeof note;
    const Bytes owner = notes.part(at, note.n_namesz, "a note's owner");
    at += round_up_to_word(note.n_namesz);
    const Bytes payload = notes.part(at, note.n_descsz, "a note");
    at += round_up_to_word(note.n_descsz);
    if (note.n_type == kNoteMetadata && owner.size() == sizeof kNoteOwner && owner.begins(kNoteOwner)) return payload;
  }
  return {nullptr, 0};
}

Bytes metadata_of(const Bytes& file, const Elf64_Ehdr& header) {
  Bytes metadata{nullptr, 0};
  for_each_table_entry(file, header.e_phoff, header.e_phnum, header.e_phentsize, "the program header",
                       [&](const Bytes& entry) {
                         const auto segment = entry.at<Elf64_Phdr>(0, "the program header");
                         if (segment.p_type != PT_NOTE || metadata.size() > 0) return;
                         metadata = metadata_in(file.part(segment.p_offset, segment.p_filesz, "a segment of notes"));
                       });
  if (metadata.size() == 0) throw CodeObjectError("it has no AMDGPU metadata");
  return metadata;
}

std::vector<std::string> undefined_symbols(const Bytes& file, const Elf64_Ehdr& header) {
  std::vector<Elf64_Shdr> sections;
  for_each_table_entry(file, header.e_shoff, header.e_shnum, header.e_shentsize, "the section header",
                       [&](const Bytes& entry) { sections.push_back(entry.at<Elf64_Shdr>(0, "the section header")); });
  std::vector<std::string> names;
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != SHT_DYNSYM) continue;
    if (section.sh_link >= sections.size() || section.sh_entsize == 0)
      throw CodeObjectError("its symbol table is damaged");
    const Elf64_Shdr& strings = sections[section.sh_link];
    const Bytes text = file.part(strings.sh_offset, strings.sh_size, "the symbols' names");
    bool first = true;  // the table begins with an empty entry
    for_each_table_entry(file, section.sh_offset, section.sh_size / section.sh_entsize, section.sh_entsize,
                         "the symbol table", [&](const Bytes& entry) {
                           const auto symbol = entry.at<Elf64_Sym>(0, "the symbol table");
                           if (!first && symbol.st_shndx == SHN_UNDEF)
                             names.push_back(text.text(symbol.st_name, "a symbol's name"));
                           first = false;
                         });
  }
  return names;
}

// ---- The metadata

Kernel kernel_from(const json& facts) {
  Kernel kernel;
  kernel.name = facts.at(".name");
  for (const json& argument : facts.value(".args", json::array()))
    kernel.arguments.push_back({argument.at(".offset"), argument.at(".size"), argument.at(".value_kind")});
  kernel.argument_bytes = facts.at(".kernarg_segment_size");
  kernel.argument_align = facts.at(".kernarg_segment_align");
  kernel.largest_block = facts.at(".max_flat_workgroup_size");
  kernel.wave = facts.at(".wavefront_size");
  kernel.vgprs = facts.at(".vgpr_count");
  if (facts.contains(".agpr_count")) kernel.agprs = facts.at(".agpr_count").get<uint64_t>();
  kernel.sgprs = facts.at(".sgpr_count");
  kernel.vgpr_spills = facts.value(".vgpr_spill_count", uint64_t{0});
  kernel.sgpr_spills = facts.value(".sgpr_spill_count", uint64_t{0});
  kernel.scratch_bytes = facts.at(".private_segment_fixed_size");
  kernel.lds_bytes = facts.at(".group_segment_fixed_size");
  kernel.dynamic_stack = facts.value(".uses_dynamic_stack", false);
  return kernel;
}

void take_metadata(const Bytes& note, CodeObject* object) {
  try {
    const auto* text = reinterpret_cast<const char*>(note.data());
    const json metadata = json::from_msgpack(text, text + note.size());
    const std::string target = metadata.at("amdhsa.target");
    if (target.rfind(kTriple, 0) != 0) throw CodeObjectError("its target is " + target + ", which is no AMD GPU");
    object->target = target.substr(sizeof kTriple - 1);
    for (const json& facts : metadata.at("amdhsa.kernels")) object->kernels.push_back(kernel_from(facts));
  } catch (const json::exception& problem) {
    throw CodeObjectError(std::string("its AMDGPU metadata is damaged: ") + problem.what());
  }
}

}  // namespace

const Kernel* CodeObject::find(const std::string& name) const {
  for (const Kernel& kernel : kernels) {
    if (kernel.name == name) return &kernel;
  }
  return nullptr;
}

CodeObject read_code_object(const unsigned char* bytes, size_t size) {
  const Bytes file(bytes, size);
  const Elf64_Ehdr header = header_of(file);
  CodeObject object;
  object.version = header.e_ident[EI_ABIVERSION] + kVersionOfAbiZero;
  take_metadata(metadata_of(file, header), &object);
  object.missing = undefined_symbols(file, header);
  return object;
}

bool is_bundle(const unsigned char* bytes, size_t size) {
  const Bytes file(bytes, size);
  return file.begins(kBundleMagic) || file.begins(kCompressedMagic);
}

std::vector<BundleEntry> read_bundle(const unsigned char* bytes, size_t size) {
  const Bytes file(bytes, size);
  if (file.begins(kCompressedMagic)) throw CodeObjectError("it is a compressed offload bundle");
  if (!file.begins(kBundleMagic)) throw CodeObjectError("it is no offload bundle");
  uint64_t at = sizeof kBundleMagic - 1;
  const auto count = file.at<uint64_t>(at, "the bundle's header");
  at += sizeof count;
  std::vector<BundleEntry> entries;
  for (uint64_t i = 0; i < count; ++i) {
    const auto offset = file.at<uint64_t>(at, "the bundle's header");
    const auto length = file.at<uint64_t>(at + 8, "the bundle's header");
    const auto id_length = file.at<uint64_t>(at + 16, "the bundle's header");
    BundleEntry entry;
    entry.id = file.part(at + 24, id_length, "an entry's name").all();
    const Bytes content = file.part(offset, length, "an entry");
    entry.bytes = content.data();
    entry.size = static_cast<size_t>(content.size());
    // The host's entry has no target. Entries of compilers from before 2021 have hip, and later entries hipv4.
    const size_t target = entry.id.find(kTriple);
    if (entry.id.rfind("hip", 0) == 0 && target != std::string::npos)
      entry.target = entry.id.substr(target + sizeof kTriple - 1);
    entries.push_back(std::move(entry));
    at += 24 + id_length;
  }
  return entries;
}

std::vector<unsigned char> read_file(const std::string& path) {
  try {
    std::ifstream stream(path, std::ios::binary);
    std::vector<unsigned char> bytes{std::istreambuf_iterator<char>(stream), {}};
    if (stream) return bytes;
  } catch (const std::ios_base::failure&) {  // the path is a folder
  }
  throw CodeObjectError("cannot read " + path);
}

}  // namespace hipops::inspect
