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

struct VectorWords {
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

// A vector in flight. Issue the loads of all vectors before the first call of value().
template <class T>
class IncomingVector {
 public:
  static constexpr int kLength = kWideBytes / int(sizeof(T));

  HIPOPS_METHOD void issue_load(const T* at) {
    if constexpr (has_unaligned_vectors) {
      low_ = bit_cast<VectorWords>(load_vector_anywhere<kLength>(at));
    } else {
      before_ = misalignment(at);  // elements of the aligned vector before this one
      low_ = bit_cast<VectorWords>(load_vector_evict_last<kLength>(at - before_));
      if (before_ != 0) high_ = bit_cast<VectorWords>(load_vector_evict_last<kLength>(at - before_ + kLength));
    }
  }
  // See compiler.h.
  HIPOPS_METHOD void issue_before_use() {
#pragma unroll
    for (uint32_t& word : low_.word) hipops::issue_before_use(word);
  }
  HIPOPS_METHOD Vector<T, kLength> value() const {
    VectorWords words = low_;
    if constexpr (!has_unaligned_vectors) {
      if (before_ != 0) words = funnel(low_, high_, before_ * int(sizeof(T)));
    }
    return bit_cast<Vector<T, kLength>>(words);
  }

 private:
  VectorWords low_{}, high_{};
  int before_ = 0;
};

// A row of `cols` elements: `vectors` of 16 bytes, aligned in y, and others before and after. Loads of the vectors stay in
// the row of each input, also where they read the two aligned vectors around an unaligned one.
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
