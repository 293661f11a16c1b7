// The check for races in shared memory. Two accesses to a byte by different work-items, one of them a write, are a race
// unless something orders them: a barrier, or an exchange of the wave that both belong to.
//
// It is exact for the accesses that happen: it keeps, per byte, the last writer and two readers, chosen so that any
// access that conflicts with some earlier one conflicts with one of these three (see Shadow). The bytes of a word have
// them in common for as long as they are accessed together, as nearly all are. It says nothing about accesses that the
// kernel did not make on these inputs, nor about memory other than shared memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "device/core/cpu.h"

namespace hipops {
namespace cpu {

// Small, as three are kept for each word, and one is stored with each access: most of the check's time is for them to
// come into the cache.
struct Access {
  const char* file = nullptr;
  int line = 0;
  uint16_t lane = 0;
  uint8_t wave = 0;
  bool write = false;
  uint32_t epoch = 0;       // barriers and blocks before it: 0 is no access at all
  uint32_t wave_epoch = 0;  // exchanges of its wave before it, in this block

  Site site() const { return {file, line}; }
};

class RaceCheck {
 public:
  void start_block() { next_epoch(); }
  void passed_barrier() { next_epoch(); }

  // Takes note of an access to [offset, offset + bytes) of shared memory, whose `epoch` it fills in. Returns an earlier
  // access that it races with and sets `at` to the offset of the byte, or returns null.
  const Access* check(Access& access, size_t offset, size_t bytes, size_t* at);

 private:
  // What happened since the last barrier to a byte, or to all bytes of a word.
  //
  // One writer is enough: an earlier writer was ordered before this one, so whatever is ordered after this one is
  // ordered after both. Readers from before the last write are ordered before it in the same way. Of the later readers,
  // `reader` is the latest; `other_reader` is one of another wave if there is one (then a writer of any wave meets a
  // reader of a wave not its own), and else the latest among the other lanes (of one wave, the latest reader is in the
  // latest wave epoch).
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
  std::vector<Shadow> bytes_;  // of words that are apart; empty as long as there was none
};

}  // namespace cpu
}  // namespace hipops
