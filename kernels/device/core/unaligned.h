// Vectors of 16 bytes at any address.
//
// AMD's accesses may begin anywhere. NVIDIA's begin at multiples of their width. There, a load reads the two aligned
// vectors around an unaligned one. A store gets its missing first elements from the previous lane. The CPU follows AMD
// with waves of 64, and NVIDIA with waves of 32.
#pragma once

#include "device/core/aligned_span.h"
#include "device/core/cache.h"
#include "device/core/wave.h"

namespace hipops {
namespace {

#if defined(HIPOPS_CPU)
constexpr bool has_unaligned_vectors = wave_size == 64;
#else
constexpr bool has_unaligned_vectors = on_amd;
#endif

struct alignas(kWideBytes) VectorWords {
  uint32_t word[kWideBytes / 4];
};

// The 16 bytes of low and high together that begin at byte `bytes` (0 to 15).
HIPOPS_FN VectorWords funnel(const VectorWords& low, const VectorWords& high, int bytes) {
  constexpr int kWords = kWideBytes / 4;
  uint32_t w[2 * kWords];
#pragma unroll
  for (int i = 0; i < kWords; ++i) w[i] = low.word[i], w[kWords + i] = high.word[i];
  const int words = bytes / 4, bits = bytes % 4 * 8;
#pragma unroll
  for (int i = 0; i + 2 < 2 * kWords; ++i)
    if (words & 2) w[i] = w[i + 2];
#pragma unroll
  for (int i = 0; i <= kWords; ++i)
    if (words & 1) w[i] = w[i + 1];
  VectorWords result;
#pragma unroll
  for (int i = 0; i < kWords; ++i) result.word[i] = uint32_t((uint64_t(w[i + 1]) << 32 | w[i]) >> bits);
  return result;
}

// The least number of elements before a row's first unaligned vector, and after its last. A load of either vector then
// reads only aligned vectors that are inside of the row.
template <class T>
constexpr int kLeastEnd = has_unaligned_vectors ? 0 : kWideBytes / int(sizeof(T));

// Vectors in flight that have one misalignment. Issue all loads, then call shift() once, then value(). kHasNext: the 16
// bytes after an aligned vector may be loaded, too. Then no branch is needed.
template <class T, int n, bool kHasNext>
class IncomingVectors {
 public:
  static constexpr int kLength = kWideBytes / int(sizeof(T)), kCount = n;

  // Vector v begins at from[place]. Call it for all v in order, then issue_rest().
  template <class Place>
  HIPOPS_METHOD void issue_load(int v, const T* from, Place place) {
    if constexpr (has_unaligned_vectors) {
      low_[v] = bit_cast<VectorWords>(load_vector_anywhere<kLength>(from + place));
    } else {
      if (v == 0) {
        before_ = misalignment(from + place);
        begin_ = keep_one_address(from - before_);
      }
      low_[v] = load_words(begin_ + place);
    }
  }
  // place(v): the same places.
  template <class F>
  HIPOPS_METHOD void issue_rest([[maybe_unused]] F place) {
    if constexpr (!has_unaligned_vectors) {
      if (!kHasNext && before_ == 0) return;
#pragma unroll
      for (int v = 0; v < n; ++v) high_[v] = load_words(begin_ + place(v) + kLength);
    }
  }
  template <class F>
  HIPOPS_METHOD void issue_loads(const T* from, F place) {
#pragma unroll
    for (int v = 0; v < n; ++v) issue_load(v, from, place(v));
    issue_rest(place);
  }
  // See compiler.h.
  HIPOPS_METHOD void issue_before_use(int v) {
#pragma unroll
    for (uint32_t& word : low_[v].word) hipops::issue_before_use(word);
  }
  // Makes each vector from its two aligned vectors. All lanes of a row follow the same branch.
  HIPOPS_METHOD void shift() { shift_all(*this); }
  // The same for vectors of several tensors that have one misalignment, with one branch.
  template <class... Others>
  static HIPOPS_METHOD void shift_all(IncomingVectors& first, Others&... others) {
    if constexpr (!has_unaligned_vectors) {
      if (!kHasNext && first.before_ == 0) return;
      const uint32_t bytes = uint32_t(first.before_) * uint32_t(sizeof(T));
      // Elements of 4 or 8 bytes never use the last word. nvcc must not know that. Otherwise the word's register gets another
      // value while the load is in flight, and that value waits for the load.
      switch (sizeof(T) < 4 ? bytes / 4 : hide_range(bytes / 4)) {
        case 0: return each([&](auto& one) { one.template shift_words<0>(bytes); }, first, others...);
        case 1: return each([&](auto& one) { one.template shift_words<1>(bytes); }, first, others...);
        case 2: return each([&](auto& one) { one.template shift_words<2>(bytes); }, first, others...);
        case 3: return each([&](auto& one) { one.template shift_words<3>(bytes); }, first, others...);
        default: return each([&](auto& one) { one.use_last_words(); }, first, others...);
      }
    }
  }
  HIPOPS_METHOD VectorWords words(int v) const { return low_[v]; }
  HIPOPS_METHOD Packed<T, kLength> value(int v) const {
    return Packed<T, kLength>(low_[v].word[0], low_[v].word[1], low_[v].word[2], low_[v].word[3]);
  }

 private:
  // The type is words: nvcc would give each 16-bit element a register, and wait for the load.
  static HIPOPS_METHOD VectorWords load_words(const T* at) { return load_evict_last(reinterpret_cast<const VectorWords*>(at)); }

  template <class F, class... All>
  static HIPOPS_METHOD void each(F f, All&... all) { (..., f(all)); }

  template <int kFirst>
  HIPOPS_METHOD void shift_words(uint32_t bytes) {
    constexpr int kWords = kWideBytes / 4;
    const uint32_t bits = sizeof(T) < 4 ? bytes % 4 * 8 : 0;
#pragma unroll
    for (int v = 0; v < n; ++v) {
      uint32_t w[2 * kWords];
#pragma unroll
      for (int i = 0; i < kWords; ++i) w[i] = low_[v].word[i], w[kWords + i] = high_[v].word[i];
#pragma unroll
      for (int i = 0; i < kWords; ++i)
        low_[v].word[i] = uint32_t((uint64_t(w[i + kFirst + 1]) << 32 | w[i + kFirst]) >> bits);
    }
  }
  HIPOPS_METHOD void use_last_words() {
#pragma unroll
    for (int v = 0; v < n; ++v) low_[v] = high_[v];
  }

  VectorWords low_[n], high_[n];
  const T* begin_;  // the aligned vector of place p is at begin_ + p
  int before_ = 0;  // elements of the first aligned vector that are before this one
};

// A row of `cols` elements: `vectors` of 16 bytes, aligned in y, and other elements before and after. A load may read two
// aligned vectors of an input, which are both inside of the row.
template <class T>
struct ShiftedRow {
  static constexpr int kLength = kWideBytes / int(sizeof(T));
  int32_t vectors, begin, others;

  template <int K>
  HIPOPS_METHOD ShiftedRow(const T* const (&x)[K], const T* y, int32_t cols) {
    const int32_t in_y = misalignment(y);
    int32_t first = 0, end = 0;
#pragma unroll
    for (int k = 0; k < K; ++k) {
      const int32_t apart = (misalignment(x[k]) - in_y) & (kLength - 1);
      const int32_t first_of_k = (in_y + apart + kLength - 1) / kLength;
      const int32_t end_of_k = (cols + in_y + apart - (apart != 0 ? kLength : 0)) / kLength;
      first = k == 0 || first_of_k > first ? first_of_k : first;
      end = k == 0 || end_of_k < end ? end_of_k : end;
    }
    vectors = end > first ? end - first : 0;
    begin = first * kLength - in_y;
    others = cols - vectors * kLength;
  }

  HIPOPS_METHOD int32_t vector(int32_t i) const { return begin + i * kLength; }
  HIPOPS_METHOD int32_t other(int32_t i) const { return i < begin ? i : i + vectors * kLength; }
};

// Stores a row's vectors. A lane stores its vectors one after the other. A run is kRun lanes with neighbouring vectors;
// the same lanes' next vectors are behind them. All lanes of a wave call it together, with or without a vector.
template <class T, int kRun>
class OutgoingVectors {
 public:
  static constexpr int kLength = kWideBytes / int(sizeof(T));

  // `has_next`: the row has a vector after this one. `is_first`, `is_last`: among the lane's vectors.
  HIPOPS_METHOD void store(T* at, bool is_present, [[maybe_unused]] bool has_next, [[maybe_unused]] bool is_first,
                         [[maybe_unused]] bool is_last, const Vector<T, kLength>& v) {
    if constexpr (has_unaligned_vectors) {
      if (is_present) store_vector_anywhere<kLength>(at, v);
    } else {
#if !defined(HIPOPS_AMD)
      const int ahead = misalignment(at);  // elements of the aligned vector that belong to the previous one
      if (kRun == wave_size && ahead == 0) {
        if (is_present) store_vector<kLength>(at, v);
        return;
      }
      const VectorWords own = bit_cast<VectorWords>(v), of_lane_before = previous_lane<kRun>(own);
      const int lane = int(lane_index()) % kRun;
      const VectorWords before = lane == 0 && !is_first ? of_last_lane_ : of_lane_before;
      const bool has_before = lane > 0 || !is_first;
      of_last_lane_ = of_lane_before;
      if (!is_present) return;
      if (ahead == 0) return store_vector<kLength>(at, v);
      const Packed<T, kLength> elements = v;
      if (has_before) {
        const VectorWords aligned = funnel(before, own, kWideBytes - ahead * int(sizeof(T)));
        store_vector<kLength>(at - ahead, bit_cast<Vector<T, kLength>>(aligned));
      } else {
#pragma unroll
        for (int i = 0; i < kLength; ++i)
          if (i < kLength - ahead) at[i] = elements[i];
      }
      if (!has_next || (is_last && lane == kRun - 1)) {
#pragma unroll
        for (int i = 0; i < kLength; ++i)
          if (i >= kLength - ahead) at[i] = elements[i];
      }
#endif
    }
  }

 private:
  VectorWords of_last_lane_;  // lane 0: the previous vector of the run's last lane
};

}  // namespace
}  // namespace hipops
