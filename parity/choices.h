// The choices that make a random case. Each is a number below a bound, and 0 is the simplest. A seed, a fuzzer's bytes
// or a recorded sequence yields them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace hipops::parity {

class Choices {
 public:
  Choices() = default;
  Choices(const Choices&) = delete;
  Choices& operator=(const Choices&) = delete;
  virtual ~Choices() = default;

  uint64_t below(uint64_t bound) {
    used_.push_back(next(bound));
    return used_.back();
  }
  int64_t between(int64_t least, int64_t most) {
    return least + static_cast<int64_t>(below(static_cast<uint64_t>(most - least) + 1));
  }
  // True one time in `n`. False is simpler.
  bool one_in(uint64_t n) { return below(n) + 1 == n; }
  // The first value is the simplest.
  template <class T>
  T pick(std::initializer_list<T> values) {
    return values.begin()[below(values.size())];
  }
  template <class T>
  const T& pick(const std::vector<T>& values) {
    return values[below(values.size())];
  }

  const std::vector<uint64_t>& used() const { return used_; }

 private:
  virtual uint64_t next(uint64_t bound) = 0;
  std::vector<uint64_t> used_;
};

// The choices of case `number` of a seed.
class SeededChoices : public Choices {
 public:
  SeededChoices(uint64_t seed, uint64_t number) : seed_(seed), number_(number) {}

 private:
  uint64_t next(uint64_t bound) override;
  const uint64_t seed_, number_;
  uint64_t made_ = 0;
};

// A recorded sequence, then 0.
class GivenChoices : public Choices {
 public:
  explicit GivenChoices(std::vector<uint64_t> given) : given_(std::move(given)) {}

 private:
  uint64_t next(uint64_t bound) override;
  const std::vector<uint64_t> given_;
  size_t at_ = 0;
};

// A fuzzer's bytes, then 0. A choice with a bound of at most 256 uses one byte, any other uses four.
class ByteChoices : public Choices {
 public:
  ByteChoices(const uint8_t* bytes, size_t count) : bytes_(bytes), left_(count) {}

 private:
  uint64_t next(uint64_t bound) override;
  const uint8_t* bytes_;
  size_t left_;
};

}  // namespace hipops::parity
