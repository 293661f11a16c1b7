// Damaged code objects: the check reads no byte past their end, and detects truncation.
#include <sys/mman.h>
#include <unistd.h>

#include <random>

#include "catch.h"
#include "runtime/fake_code_object.h"
#include "runtime/code_object.h"

using namespace hipops;
using namespace hipops_test;

namespace {

// Bytes that end at an unmapped page.
class AtPage {
 public:
  explicit AtPage(size_t most) : page_(static_cast<size_t>(sysconf(_SC_PAGESIZE))), room_((most / page_ + 1) * page_) {
    void* base = mmap(nullptr, room_ + page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(base != MAP_FAILED);
    base_ = static_cast<unsigned char*>(base);
    REQUIRE(mprotect(base_ + room_, page_, PROT_NONE) == 0);
  }
  ~AtPage() { munmap(base_, room_ + page_); }
  AtPage(const AtPage&) = delete;
  AtPage& operator=(const AtPage&) = delete;

  const unsigned char* put(const Bytes& bytes) {
    return static_cast<unsigned char*>(std::memcpy(base_ + room_ - bytes.size(), bytes.data(), bytes.size()));
  }

 private:
  const size_t page_, room_;
  unsigned char* base_;
};

Bytes compressed(uint16_t version, uint64_t size) {
  Bytes bytes;
  append_text(&bytes, "CCOB");
  append(&bytes, version);
  append(&bytes, uint16_t{1});
  if (version == 2) append(&bytes, static_cast<uint32_t>(size));
  if (version == 3) append(&bytes, size);
  bytes.resize(static_cast<size_t>(size), 'z');
  return bytes;
}

}  // namespace

TEST_CASE("the check of a code object reads nothing past any bytes", "[code_object]") {
  const Bytes originals[] = {fake_bundle({{"gfx942", fake_elf({"a", "b"})}, {"gfx1100", fake_elf({"a"})}}),
                             fake_elf({"a", "b"}), compressed(2, 100), compressed(3, 100)};
  constexpr int kDamaged = 50000;
  std::mt19937 random(7);
  AtPage page(1 << 16);
  int refused = 0;
  for (const Bytes& original : originals) {
    REQUIRE(code_object_fault(page.put(original), original.size()) == nullptr);
    for (int i = 0; i < kDamaged; ++i) {
      Bytes bytes = original;
      for (unsigned flips = random() % 8 + 1; flips > 0; --flips)
        bytes[random() % (flips % 2 ? 128 : bytes.size()) % bytes.size()] = static_cast<unsigned char>(random());
      if (random() % 2) bytes.resize(random() % bytes.size());
      refused += code_object_fault(page.put(bytes), bytes.size()) != nullptr;
    }
  }
  CHECK(refused > kDamaged);
}

TEST_CASE("a compressed bundle that is shorter than its header states is truncated", "[code_object]") {
  for (const uint16_t version : {uint16_t{2}, uint16_t{3}}) {
    const Bytes whole = compressed(version, 5000);
    CHECK(code_object_fault(whole.data(), whole.size()) == nullptr);
    for (size_t length = 4; length < whole.size(); ++length) {
      const Bytes cut(whole.begin(), whole.begin() + static_cast<long>(length));
      if (!code_object_fault(cut.data(), cut.size())) FAIL_CHECK("version " << version << ", " << length << " bytes");
    }
  }
}
