// The check for races in shared memory. Two accesses to a byte race if different work-items make them and one writes,
// unless a barrier or an exchange of their wave orders them.
//
// The check is exact for the accesses that happen. It keeps the last writer and two readers of each byte. If an access
// conflicts with any earlier access, it also conflicts with one of the three (see Shadow). The bytes of a word share
// them while all accesses are to the whole word. The check covers only shared memory, and only the accesses on these
// inputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "device/core/cpu.h"

namespace hipops {
namespace cpu {

// Small, because the check keeps three for each word and stores one with each access. Most of the check's time is cache
// misses on them.
struct Access {
  const char* file = nullptr;
  int line = 0;
  uint16_t lane = 0;
  uint8_t wave = 0;
  bool write = false;
  uint32_t epoch = 0;       // number of barriers and blocks before it; 0: no access
  uint32_t wave_epoch = 0;  // number of its wave's exchanges before it, in this block

  Site site() const { return {file, line}; }
};

class RaceCheck {
 public:
  void start_block() { next_epoch(); }
  void passed_barrier() { next_epoch(); }

  // Records an access to [offset, offset + bytes) of shared memory, and sets its `epoch`. Returns an earlier access
  // that races with it, and sets `at` to the offset of the byte. Null: no race.
  const Access* check(Access& access, size_t offset, size_t bytes, size_t* at);

 private:
  // The accesses since the last barrier to a byte, or to all bytes of a word.
  //
  // One writer is enough: earlier writers were ordered before it, so an access that is ordered after it is ordered
  // after all. The same holds for readers before the last write. `reader` is the latest of the later readers.
  // `other_reader` is a reader of another wave if there is one; so every writer is checked against a reader of another
  // wave. Otherwise it is the latest reader among the other lanes: within one wave, the latest reader has the latest
  // wave epoch.
  struct Shadow {
    Access writer;
    Access reader;
    Access other_reader;
  };

  struct Word {
    Shadow whole;
    uint32_t apart_in = 0;  // the epoch in which its bytes have shadows of their own
  };
  static constexpr size_t kWordBytes = 4;

  void next_epoch();
  void cover(size_t end);
  void take_apart(size_t word);

  bool current(const Access& earlier) const { return earlier.epoch == epoch_; }
  bool races(const Access& earlier, const Access& now) const;
  const Access* conflict(const Shadow& shadow, const Access& now) const;
  void note(Shadow& shadow, const Access& now) const;

  uint32_t epoch_ = 0;
  std::vector<Word> words_;
  std::vector<Shadow> bytes_;  // of words that are apart; empty until the first of them
};

}  // namespace cpu
}  // namespace hipops
