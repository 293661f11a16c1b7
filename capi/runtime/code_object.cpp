#include "runtime/code_object.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <system_error>

#include "tensor/error.h"

namespace hipops {
namespace {

constexpr char kBundleMagic[] = "__CLANG_OFFLOAD_BUNDLE__";
constexpr char kCompressedMagic[] = "CCOB";
constexpr size_t kCompressedHeader = 20;  // of version 1: magic, version, method, uncompressed size, hash
constexpr uint16_t kMachineAmdgpu = 224;
constexpr size_t kPage = 4096;

template <class T>
T read_at(const unsigned char* bytes, uint64_t offset) {
  T value;
  std::memcpy(&value, bytes + offset, sizeof value);
  return value;
}

bool inside(uint64_t offset, uint64_t length, uint64_t size) { return offset <= size && length <= size - offset; }

const char* elf_fault(const unsigned char* bytes, size_t size) {
  if (size < sizeof(Elf64_Ehdr)) return "is a truncated ELF file";
  const auto header = read_at<Elf64_Ehdr>(bytes, 0);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return "holds something that is no ELF file";
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != kMachineAmdgpu)
    return "is an ELF file, but not for an AMD GPU";
  if (header.e_phnum && header.e_phentsize != sizeof(Elf64_Phdr)) return "has a damaged ELF header";
  if (!inside(header.e_phoff, uint64_t{header.e_phnum} * header.e_phentsize, size)) return "is a truncated ELF file";
  if (!inside(header.e_shoff, uint64_t{header.e_shnum} * header.e_shentsize, size)) return "is a truncated ELF file";
  for (uint64_t i = 0; i < header.e_phnum; ++i) {
    const auto segment = read_at<Elf64_Phdr>(bytes, header.e_phoff + i * sizeof(Elf64_Phdr));
    if (!inside(segment.p_offset, segment.p_filesz, size)) return "is a truncated ELF file";
  }
  return nullptr;
}

const char* bundle_fault(const unsigned char* bytes, size_t size) {
  uint64_t at = sizeof kBundleMagic - 1;
  if (!inside(at, 8, size)) return "is a truncated offload bundle";
  const auto count = read_at<uint64_t>(bytes, at);
  at += 8;
  for (uint64_t i = 0; i < count; ++i) {
    if (!inside(at, 24, size)) return "is a truncated offload bundle";
    const auto offset = read_at<uint64_t>(bytes, at), length = read_at<uint64_t>(bytes, at + 8);
    const auto id_length = read_at<uint64_t>(bytes, at + 16);
    at += 24;
    if (!inside(at, id_length, size) || !inside(offset, length, size)) return "is a truncated offload bundle";
    const bool for_gpu = id_length >= 3 && !std::memcmp(bytes + at, "hip", 3);
    at += id_length;
    if (!for_gpu) continue;
    if (const char* fault = elf_fault(bytes + offset, static_cast<size_t>(length))) return fault;
  }
  return nullptr;
}

// Version 2 has its whole size in 32 bits after the method, version 3 in 64 bits. Version 1 has no size. Later versions
// are left to the runtime.
const char* compressed_fault(const unsigned char* bytes, size_t size) {
  constexpr size_t kVersion = 4, kSize = 8;
  if (size < kCompressedHeader) return "is a truncated compressed offload bundle";
  const auto version = read_at<uint16_t>(bytes, kVersion);
  const uint64_t whole = version == 2   ? read_at<uint32_t>(bytes, kSize)
                         : version == 3 ? read_at<uint64_t>(bytes, kSize)
                                        : kCompressedHeader;
  return size < whole || whole < kCompressedHeader ? "is a truncated compressed offload bundle" : nullptr;
}

struct File {
  int descriptor;
  ~File() {
    if (descriptor >= 0) close(descriptor);
  }
};

std::string words(int error) { return std::generic_category().message(error); }

// Sets *found. A file that exists and cannot be read is a failure; a missing file is none.
hipops_status read_file(const std::string& path, CodeObjectFile* out, bool* found) {
  // Does not wait for the writer of a pipe, which is refused below.
  File file{open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  *found = file.descriptor >= 0;
  if (!*found && (errno == ENOENT || errno == ENOTDIR)) return HIPOPS_SUCCESS;
  struct stat facts = {};
  if (!*found || fstat(file.descriptor, &facts) != 0)
    return fail(HIPOPS_NO_CODE_OBJECT, "%s: %s", path.c_str(), words(errno).c_str());
  if (!S_ISREG(facts.st_mode)) return fail(HIPOPS_NO_CODE_OBJECT, "%s is no regular file", path.c_str());
  out->path = path;
  out->size = static_cast<size_t>(facts.st_size);
  const size_t room = (out->size / kPage + 1) * kPage;
  out->bytes.reset(static_cast<unsigned char*>(std::aligned_alloc(kPage, room)));
  if (!out->bytes) return fail(HIPOPS_INTERNAL_ERROR, "out of host memory for %s", path.c_str());
  for (size_t done = 0; done < out->size;) {
    const ssize_t got = read(file.descriptor, out->bytes.get() + done, out->size - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(HIPOPS_NO_CODE_OBJECT, "%s: %s", path.c_str(), words(errno).c_str());
    if (got == 0) return fail(HIPOPS_NO_CODE_OBJECT, "%s was cut short while it was read", path.c_str());
    done += static_cast<size_t>(got);
  }
  return HIPOPS_SUCCESS;
}

}  // namespace

const char* code_object_fault(const unsigned char* bytes, size_t size) {
  auto begins = [&](const char* magic, size_t length) { return size >= length && !std::memcmp(bytes, magic, length); };
  if (begins(ELFMAG, SELFMAG)) return elf_fault(bytes, size);
  if (begins(kBundleMagic, sizeof kBundleMagic - 1)) return bundle_fault(bytes, size);
  if (begins(kCompressedMagic, sizeof kCompressedMagic - 1)) return compressed_fault(bytes, size);
  return "is neither an ELF file nor an offload bundle";
}

hipops_status read_code_object(const char* folder, const std::string& target, const char* op, CodeObjectFile* out) {
  const std::string base = std::string(folder) + "/", bundle = base + op + ".hipfb";
  const std::string exact = target.empty() ? std::string() : base + target + "/" + op + ".co";
  bool found = false;
  if (!exact.empty())
    if (hipops_status status = read_file(exact, out, &found)) return status;
  if (!found)
    if (hipops_status status = read_file(bundle, out, &found)) return status;
  if (!found)
    return fail(HIPOPS_NO_CODE_OBJECT, "%s: HIPOPS_CODE_OBJECT_DIR is set, and there is neither %s nor %s", op,
                exact.empty() ? "an exact file (the device's target is unknown)" : exact.c_str(), bundle.c_str());
  if (const char* fault = code_object_fault(out->bytes.get(), out->size))
    return fail(HIPOPS_NO_CODE_OBJECT, "%s: %s %s", op, out->path.c_str(), fault);
  return HIPOPS_SUCCESS;
}

}  // namespace hipops
