// The wave: its size, reductions over groups of its lanes, and exchange between lanes. Every lane of the wave must
// reach every call except uniform().
#pragma once

#include "device/core/reduction.h"

namespace hipops {
namespace {

#if defined(HIPOPS_AMD)
#if defined(__GFX9__)
constexpr int wave_size = 64;
#else
constexpr int wave_size = 32;
#endif
#elif defined(HIPOPS_NVIDIA)
constexpr int wave_size = 32;
#else
constexpr int wave_size = HIPOPS_CPU_WAVE;
#endif

HIPOPS_FN uint32_t lane_index() { return thread_index() % wave_size; }
HIPOPS_FN uint32_t wave_index() { return thread_index() / wave_size; }

// A bit for each lane of the wave.
template <int Lanes> struct MaskOf { using type = uint32_t; };
template <> struct MaskOf<64> { using type = uint64_t; };
using LaneMask = MaskOf<wave_size>::type;

#if defined(HIPOPS_NVIDIA)
HIPOPS_FN int count_bits(LaneMask mask) { return __popc(mask); }
HIPOPS_FN int first_bit(LaneMask mask) { return __ffs(int(mask)) - 1; }  // the mask is not 0
HIPOPS_FN int bits_in(uint32_t v) { return 32 - __clz(int(v)); }         // without leading zeros
#else
HIPOPS_FN int count_bits(LaneMask mask) { return __builtin_popcountll(mask); }
HIPOPS_FN int first_bit(LaneMask mask) { return __builtin_ctzll(mask); }
HIPOPS_FN int bits_in(uint32_t v) { return v == 0 ? 0 : 32 - __builtin_clz(v); }
#endif

HIPOPS_FN LaneMask lanes_below() { return (LaneMask(1) << lane_index()) - 1; }

#if !defined(HIPOPS_CPU)
// Applies a 32-bit lane exchange to each word of a value.
template <class Exchange, class T>
HIPOPS_FN T exchange_words(const T& v, Exchange exchange) {
  static_assert(sizeof(T) % 4 == 0, "lane exchanges work on whole words");
  struct Words { uint32_t word[sizeof(T) / 4]; };
  Words w = bit_cast<Words>(v);
#pragma unroll
  for (unsigned i = 0; i < sizeof(T) / 4; ++i) w.word[i] = exchange(w.word[i]);
  return bit_cast<T>(w);
}
#endif

#if defined(HIPOPS_AMD)
// DPP moves data within a row of 16 lanes, without cost, as an operand of the next instruction.
template <int Half>
struct SwapHalves {
  static constexpr int quad_perm_1032 = 0xb1, quad_perm_2301 = 0x4e, row_half_mirror = 0x141, row_mirror = 0x140;
  static constexpr int control = Half == 1   ? quad_perm_1032
                                 : Half == 2 ? quad_perm_2301
                                 : Half == 4 ? row_half_mirror
                                             : row_mirror;
  HIPOPS_METHOD uint32_t operator()(uint32_t w) const {
    return uint32_t(__builtin_amdgcn_update_dpp(0, int(w), control, 0xf, 0xf, true));
  }
};
#if !defined(__GFX9__)
template <>
struct SwapHalves<16> {
  HIPOPS_METHOD uint32_t operator()(uint32_t w) const {
    return __builtin_amdgcn_permlanex16(w, w, 0x76543210, 0xfedcba98, true, false);
  }
};
#endif

struct ReadLane {
  int lane;
  HIPOPS_METHOD uint32_t operator()(uint32_t w) const { return uint32_t(__builtin_amdgcn_readlane(int(w), lane)); }
};

struct ReadFirstLane {
  HIPOPS_METHOD uint32_t operator()(uint32_t w) const { return uint32_t(__builtin_amdgcn_readfirstlane(int(w))); }
};

// One lane's value, which is then uniform.
template <class T>
HIPOPS_FN T read_lane(const T& v, int lane) { return exchange_words(v, ReadLane{lane}); }
#elif defined(HIPOPS_NVIDIA)
template <int Half>
struct SwapHalves {
  HIPOPS_METHOD uint32_t operator()(uint32_t w) const { return __shfl_xor_sync(0xffffffffu, w, Half); }
};
#endif

// The value of a lane in the other half of this lane's group of 2 * Half lanes. Each half holds one value.
template <int Half, class T>
HIPOPS_FN T other_half(const T& v) {
#if defined(HIPOPS_CPU)
  T other = v;
  cpu::exchange(&other, sizeof(T), lane_index() ^ Half, wave_size, {__FILE__, __LINE__});
  return other;
#else
  return exchange_words(v, SwapHalves<Half>());
#endif
}

#if !defined(HIPOPS_AMD)
// The value of the previous lane in the group of Width lanes. The first lane gets the value of the last lane.
template <int Width, class T>
HIPOPS_FN T previous_lane(const T& v) {
  const uint32_t lane = lane_index(), from = lane / Width * Width + (lane + Width - 1) % Width;
#if defined(HIPOPS_CPU)
  T previous = v;
  cpu::exchange(&previous, sizeof(T), from, wave_size, {__FILE__, __LINE__});
  return previous;
#else
  return exchange_words(v, [from](uint32_t w) { return __shfl_sync(0xffffffffu, w, int(from)); });
#endif
}
#endif

// Reduces over each aligned group of Width lanes. Every lane of the group gets the same bits.
template <int Width, class T, class Op>
HIPOPS_FN T wave_reduce(T v, Op op) {
  static_assert(Width >= 1 && Width <= wave_size && (Width & (Width - 1)) == 0, "a power of two, within the wave");
  if constexpr (Width == wave_size && WholeWave<T, Op>::kExists) return WholeWave<T, Op>::of(v);
  if constexpr (Width >= 2) v = op(v, other_half<1>(v));
  if constexpr (Width >= 4) v = op(v, other_half<2>(v));
  if constexpr (Width >= 8) v = op(v, other_half<4>(v));
  if constexpr (Width >= 16) v = op(v, other_half<8>(v));
#if defined(HIPOPS_AMD)
  if constexpr (Width >= 32 && wave_size == 64) {
    // On GFX9, no DPP moves data both ways across rows of 16 lanes, and ds_swizzle costs more than four scalar reads.
    T low = op(read_lane(v, 0), read_lane(v, 16)), high = op(read_lane(v, 32), read_lane(v, 48));
    if constexpr (Width == 64) return op(low, high);
    return lane_index() < 32 ? low : high;
  }
#endif
  if constexpr (Width >= 32) v = op(v, other_half<16>(v));
  if constexpr (Width >= 64) v = op(v, other_half<32>(v));
  return v;
}

// Declares a value uniform that all lanes hold. Computations and branches that depend on it then run once for the wave.
// If only some lanes call it, they get the value of the first such lane.
template <class T>
HIPOPS_FN T uniform(const T& v) {
#if defined(HIPOPS_AMD)
  return exchange_words(v, ReadFirstLane());
#else
  return v;
#endif
}

HIPOPS_FN uint32_t first_lane_value(uint32_t v) {
#if defined(HIPOPS_NVIDIA)
  return __shfl_sync(0xffffffffu, v, 0);
#elif defined(HIPOPS_AMD)
  return read_lane(v, 0);
#else
  cpu::exchange(&v, sizeof v, 0, wave_size, {__FILE__, __LINE__});
  return v;
#endif
}

// The value of lane `lane_index() ^ Mask`, in groups of lanes_across neighbouring lanes. Mask: a power of two, or the largest
// number of some bits.
#if defined(__GFX9__)
constexpr int lanes_across = 16;
#else
constexpr int lanes_across = 32;
#endif
template <int Mask>
HIPOPS_FN uint32_t value_across(uint32_t v) {
#if defined(HIPOPS_AMD)
  if constexpr (Mask == 4 || Mask == 8) return value_across<Mask - 1>(value_across<2 * Mask - 1>(v));
  else if constexpr (Mask == 3 || Mask == 31) return value_across<Mask / 2>(SwapHalves<Mask / 2 + 1>()(v));
  else return SwapHalves<Mask == 7 || Mask == 15 ? Mask / 2 + 1 : Mask>()(v);
#else
  return other_half<Mask>(v);
#endif
}

HIPOPS_FN LaneMask ballot(bool condition) {
#if defined(HIPOPS_NVIDIA)
  return __ballot_sync(0xffffffffu, condition);
#elif defined(HIPOPS_AMD)
#if !__has_builtin(__builtin_amdgcn_ballot_w64)
  constexpr int kNotEqual = 33;  // older compilers have the comparison that a ballot is
  return LaneMask(__builtin_amdgcn_uicmp(uint32_t(condition), 0u, kNotEqual));
#elif defined(__GFX9__)
  return __builtin_amdgcn_ballot_w64(condition);
#else
  return __builtin_amdgcn_ballot_w32(condition);
#endif
#else
  return LaneMask(cpu::ballot(condition, wave_size, {__FILE__, __LINE__}));
#endif
}

// The lanes in which bit `bit` of v differs from this lane's.
HIPOPS_FN LaneMask lanes_with_other_bit(uint32_t v, int bit) {
#if defined(HIPOPS_AMD)
  const uint32_t own = uint32_t(__builtin_amdgcn_sbfe(int(v), uint32_t(bit), 1u));  // in all bits
  return ballot(own != 0) ^ LaneMask(own | uint64_t(own) << 32);
#elif defined(HIPOPS_NVIDIA)  // nvcc would shift the bit to the lowest place, and make a mask of it
  LaneMask other;
  asm volatile(
      "{\n .reg .pred own;\n and.b32 %0, %1, %2;\n setp.ne.u32 own, %0, 0;\n"
      " vote.sync.ballot.b32 %0, own, 0xffffffff;\n @own not.b32 %0, %0;\n}"
      : "=&r"(other)
      : "r"(v), "r"(1u << bit));
  return other;
#else
  const LaneMask own = 0 - LaneMask(v >> bit & 1);
  return ballot(own != 0) ^ own;
#endif
}

// Lanes of the wave can read shared memory after this call that other lanes of the wave wrote before it. On AMD it only
// forbids reordering: a wave's accesses are made in order. Elsewhere it also waits for the wave's lanes.
#if defined(HIPOPS_NVIDIA)
HIPOPS_FN void wave_barrier() { __syncwarp(); }
#elif defined(HIPOPS_AMD)
HIPOPS_FN void wave_barrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
  __builtin_amdgcn_wave_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}
#else
HIPOPS_FN void wave_barrier(cpu::Site site = {__builtin_FILE(), __builtin_LINE()}) {
  uint32_t nothing = 0;
  cpu::exchange(&nothing, sizeof nothing, lane_index(), wave_size, site);
}
#endif

}  // namespace
}  // namespace hipops
