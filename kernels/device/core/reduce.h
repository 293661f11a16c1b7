// All-reduce over the work-items that share a row.
#pragma once

#include "device/core/wave.h"

namespace hipops {
namespace {

// A sum with about twice the digits of C. It is two numbers, and the second one is the rounding error of the first
// (Knuth's two-sum). For f32 it is one f64, if that needs fewer instructions.
template <class C> constexpr bool sums_in_f64 = fast_f64 && sizeof(C) == sizeof(float);
template <class C, bool InF64 = sums_in_f64<C>>
struct WideSum {
  C sum, lost;

  static HIPOPS_METHOD WideSum of(C v) { return {v, C(0)}; }

  HIPOPS_METHOD C high() const { return sum; }  // the rounded sum
  HIPOPS_METHOD C low() const { return lost; }  // the rounding error of high(); meaningless if that is infinite or NaN
  HIPOPS_METHOD C value() const { return sum - sum == C(0) ? sum + lost : sum; }

  friend HIPOPS_METHOD WideSum operator+(const WideSum& a, const WideSum& b) {
    C sum = a.sum + b.sum;
    C b_rounded = sum - a.sum;
    C lost = (a.sum - (sum - b_rounded)) + (b.sum - b_rounded);
    return {sum, a.lost + b.lost + lost};
  }
  friend HIPOPS_METHOD WideSum operator*(const WideSum& a, C factor) { return {a.sum * factor, a.lost * factor}; }
};
template <class C>
struct WideSum<C, true> {
  double sum;

  WideSum() = default;
  explicit HIPOPS_METHOD WideSum(double s) : sum(s) {}
  static HIPOPS_METHOD WideSum of(C v) { return WideSum(double(v)); }

  HIPOPS_METHOD C high() const { return C(sum); }
  HIPOPS_METHOD C low() const { return C(sum - double(C(sum))); }
  HIPOPS_METHOD C value() const { return C(sum); }

  friend HIPOPS_METHOD WideSum operator+(const WideSum& a, const WideSum& b) { return WideSum(a.sum + b.sum); }
  friend HIPOPS_METHOD WideSum operator*(const WideSum& a, C factor) { return WideSum(a.sum * double(factor)); }
};

#if defined(HIPOPS_NVIDIA)
template <class C>
struct WholeWave<WideSum<C, true>, SumByMatrix> {
  using Wide = WideSum<C, true>;
  using InF64 = WholeWave<double, SumByMatrix>;
  static constexpr bool kExists = InF64::kExists, kInF64 = false;
  static HIPOPS_METHOD Wide of_eight(Wide v) { return Wide(InF64::of_eight(v.sum)); }
  static HIPOPS_METHOD Wide of(Wide v) { return Wide(InF64::of(v.sum)); }
};
#endif

// A slot for a value of up to the size of Largest.
template <class Largest>
struct alignas(sizeof(Largest)) ReduceSlot {
  uint32_t word[sizeof(Largest) / 4];

  template <class T>
  static HIPOPS_METHOD ReduceSlot of(const T& v) {
    static_assert(sizeof(T) <= sizeof(ReduceSlot), "the value is larger than Largest");
    ReduceSlot slot{};
    __builtin_memcpy(&slot, &v, sizeof(T));
    return slot;
  }
  template <class T>
  HIPOPS_METHOD T as() const {
    T v;
    __builtin_memcpy(&v, this, sizeof(T));
    return v;
  }
};

// All-reduces values of up to the size of Largest. Threads <= 32: over each group of that many neighbouring lanes.
// Otherwise: over the whole block, of up to Threads work-items, with one barrier. A kernel makes one such object,
// before its loop over rows: shared memory belongs to the type, so a second object would use the same slots.
template <class Largest, int Threads>
class Reduce {
 public:
  explicit HIPOPS_METHOD Reduce(int threads) : partial_(storage()), waves_(threads / wave_size) {}

  // Every work-item of the block calls it, with the same op. The op commutes.
  template <class T, class Op>
  HIPOPS_METHOD T operator()(T v, Op op) {
    if constexpr (Threads <= kSmallestWave) {
      return wave_reduce<Threads>(v, op);
    } else if constexpr (WholeWave<T, Op>::kInF64 && sizeof(Slot) >= sizeof(double)) {
      return T((*this)(double(v), op));  // one conversion to f64 and back
    } else {
      return fold<T>(exchange(wave_reduce<wave_size>(v, op)), Identity(), op);
    }
  }

  // Each wave stores its v, which all its lanes hold, to shared memory, and waits for the other waves. Returns the slot
  // of the first wave's value, for fold(). Several calls of fold(), by different ops, may follow one exchange().
  template <class T>
  HIPOPS_METHOD int exchange(const T& v) {
    // Two sets of slots alternate. A wave that is early for the next reduction cannot overwrite a slot that a late wave
    // still reads: between two uses of a set is the barrier of the other set. So each reduction needs only one barrier.
    int first = turn_ * kWaves;
    turn_ ^= 1;
    if (lane_index() == 0) partial_[first + wave_index()] = Slot::of(v);
    barrier();
    return first;
  }

  // Reduces f(v) over all waves. Every wave reduces all values, which is cheaper than a second exchange.
  template <class T, class F, class Op>
  HIPOPS_METHOD auto fold(int first, F f, Op op) const {
    using Result = decltype(f(T()));
    using Whole = WholeWave<Result, Op>;
    const auto of_wave = [&](int wave) {
      const Slot left = partial_[first + (wave < waves_ ? wave : 0)];
      return wave < waves_ ? f(left.template as<T>()) : Op::template identity<Result>();
    };
    if constexpr (Whole::kExists && kWaves <= 8) {
      return Whole::of_eight(of_wave(lane_index() % 8));
    } else if constexpr (Whole::kExists && kWaves <= 2 * 8) {
      return Whole::of_eight(op(of_wave(lane_index() % 8), of_wave(lane_index() % 8 + 8)));
    } else {
      return wave_reduce<kWaves>(of_wave(lane_index() % kWaves), op);
    }
  }

 private:
  static constexpr int kSmallestWave = 32;
  static constexpr int kWaves = Threads <= wave_size ? 1 : Threads / wave_size;

  using Slot = ReduceSlot<Largest>;

  static HIPOPS_METHOD Shared<Slot> storage() {
    HIPOPS_SHARED(Slot, slots, 2 * kWaves);
    return slots;
  }

  Shared<Slot> partial_;
  int waves_;
  int turn_ = 0;
};

// All-reduces over groups of neighbouring lanes, a power of two up to 32 that the launch chooses. See Reduce.
class ReduceOverLanes {
 public:
  explicit HIPOPS_METHOD ReduceOverLanes(int lanes) : lanes_(lanes) {}

  template <class T, class Op>
  HIPOPS_METHOD T operator()(T v, Op op) {
    if (lanes_ == 32) return wave_reduce<32>(v, op);
    if (lanes_ >= 2) v = op(v, other_half<1>(v));
    if (lanes_ >= 4) v = op(v, other_half<2>(v));
    if (lanes_ >= 8) v = op(v, other_half<4>(v));
    if (lanes_ >= 16) v = op(v, other_half<8>(v));
    return v;
  }

 private:
  int lanes_;
};

}  // namespace
}  // namespace hipops
