#include "fuzz/shrink.h"

#include <algorithm>
#include <cstddef>

namespace hipops::fuzz {
namespace {

bool is_simpler(const std::vector<uint64_t>& a, const std::vector<uint64_t>& b) {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

class Shrinker {
 public:
  Shrinker(std::vector<uint64_t> best, int most_runs, const Attempt& fails)
      : best_(std::move(best)), left_(most_runs), fails_(fails) {}

  std::vector<uint64_t> run() {
    bool better = true;
    while (better && left_ > 0) {
      better = false;
      for (const size_t length : {16, 8, 4, 2, 1}) better = remove_blocks(length) || better;
      better = lower_each() || better;
      if (!better) better = change_kinds();
    }
    return best_;
  }

 private:
  bool accept(const std::vector<uint64_t>& candidate) {
    if (left_ <= 0 || !is_simpler(candidate, best_)) return false;
    --left_;
    std::vector<uint64_t> used = fails_(candidate);
    if (used.empty() || !is_simpler(used, best_)) return false;
    best_ = std::move(used);
    return true;
  }

  bool remove_blocks(size_t length) {
    bool better = false;
    for (size_t at = best_.size(); at-- > 0;) {
      if (at >= best_.size()) continue;
      std::vector<uint64_t> candidate = best_;
      const size_t end = std::min(at + length, candidate.size());
      candidate.erase(candidate.begin() + static_cast<ptrdiff_t>(at), candidate.begin() + static_cast<ptrdiff_t>(end));
      better = accept(candidate) || better;
    }
    return better;
  }

  bool lower_each() {
    bool better = false;
    for (size_t at = 0; at < best_.size(); ++at) {
      for (const auto lower : {+[](uint64_t) { return uint64_t{0}; }, +[](uint64_t v) { return v / 2; },
                               +[](uint64_t v) { return v - 1; }}) {
        while (at < best_.size() && best_[at] > 0) {
          std::vector<uint64_t> candidate = best_;
          candidate[at] = lower(candidate[at]);
          if (!accept(candidate)) break;
          better = true;
        }
      }
    }
    return better;
  }

  // A choice may decide the meaning of the next choice, so a lower choice is tried with other next choices.
  bool change_kinds() {
    constexpr uint64_t kMost = 4;
    for (size_t at = 0; at + 1 < best_.size(); ++at) {
      for (uint64_t next = 0; next <= kMost && best_[at] > 0; ++next) {
        std::vector<uint64_t> candidate = best_;
        candidate[at] = 0;
        candidate[at + 1] = next;
        if (accept(candidate)) return true;
      }
    }
    return false;
  }

  std::vector<uint64_t> best_;
  int left_;
  const Attempt& fails_;
};

}  // namespace

std::vector<uint64_t> shrink(std::vector<uint64_t> choices, int most_runs, const Attempt& fails) {
  return Shrinker(std::move(choices), most_runs, fails).run();
}

}  // namespace hipops::fuzz
