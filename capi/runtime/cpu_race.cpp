#include "runtime/cpu_race.h"

namespace hipops {
namespace cpu {

const Access* RaceCheck::check(Access& access, size_t offset, size_t bytes, size_t* at) {
  access.epoch = epoch_;
  if (bytes_.size() < offset + bytes) bytes_.resize(offset + bytes);
  for (size_t i = offset; i < offset + bytes; ++i) {
    if (const Access* earlier = conflict(bytes_[i], access)) {
      *at = i;
      return earlier;
    }
    note(bytes_[i], access);
  }
  return nullptr;
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
