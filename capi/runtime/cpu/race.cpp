#include "runtime/cpu/race.h"

namespace hipops {
namespace cpu {

const Access* RaceCheck::check(Access& access, size_t offset, size_t bytes, size_t* at) {
  access.epoch = epoch_;
  const size_t end = offset + bytes;
  cover(end);
  for (size_t i = offset; i < end;) {
    const size_t word = i / kWordBytes;
    const bool whole = i % kWordBytes == 0 && end - i >= kWordBytes && words_[word].apart_in != epoch_;
    if (!whole) take_apart(word);
    Shadow& shadow = whole ? words_[word].whole : bytes_[i];
    if (const Access* earlier = conflict(shadow, access)) {
      *at = i;
      return earlier;
    }
    note(shadow, access);
    i += whole ? kWordBytes : 1;
  }
  return nullptr;
}

void RaceCheck::next_epoch() {
  if (++epoch_ != 0) return;
  words_.clear();  // accesses of earlier epochs with the same numbers
  bytes_.clear();
  epoch_ = 1;
}

void RaceCheck::cover(size_t end) {
  const size_t words = (end + kWordBytes - 1) / kWordBytes;
  if (words_.size() < words) words_.resize(words);
}

void RaceCheck::take_apart(size_t word) {
  if (words_[word].apart_in == epoch_) return;
  words_[word].apart_in = epoch_;
  if (bytes_.size() < words_.size() * kWordBytes) bytes_.resize(words_.size() * kWordBytes);
  for (size_t i = 0; i < kWordBytes; ++i) bytes_[word * kWordBytes + i] = words_[word].whole;
}

bool RaceCheck::races(const Access& earlier, const Access& now) const {
  if (!current(earlier) || earlier.lane == now.lane) return false;
  return earlier.wave != now.wave || earlier.wave_epoch == now.wave_epoch;
}

const Access* RaceCheck::conflict(const Shadow& shadow, const Access& now) const {
  if (races(shadow.writer, now)) return &shadow.writer;
  if (!now.write) return nullptr;
  if (races(shadow.reader, now)) return &shadow.reader;
  if (races(shadow.other_reader, now)) return &shadow.other_reader;
  return nullptr;
}

void RaceCheck::note(Shadow& shadow, const Access& now) const {
  if (now.write) {
    shadow.writer = now;
    shadow.reader = shadow.other_reader = Access();
    return;
  }
  const bool replaces_other =
      current(shadow.reader) && shadow.reader.lane != now.lane &&
      (shadow.reader.wave != now.wave || !current(shadow.other_reader) || shadow.other_reader.wave == now.wave);
  if (replaces_other) shadow.other_reader = shadow.reader;
  shadow.reader = now;
}

}  // namespace cpu
}  // namespace hipops
