// static_quantize: q = x / scale, rounded to an 8-bit type.
//
//   q, x     one shape of rank 0 to 8, any strides. x: f32, f16, bf16. q: i8, and the 8-bit floats
//   scale    f32, one number, or of x's shape with any strides
//   bytes    elements * (1 + sizeof(element of x)) must move
//
// `wide` serves rows without gaps: a work-item loads 32 bytes of x, and loads the next 32 before it computes. `any` serves
// all other layouts. The type of q is a uniform branch.
//
// Alone: hipcc --genco --offload-arch=gfx942 -O3 -std=c++17 -I kernels kernels/static_quantize.hip -o static_quantize.co
#include "static_quantize.h"

#include "device/core/float8.h"
#include "device/core/strided.h"
#include "device/map/incoming_elements.h"

namespace hipops {
namespace {

using Args = StaticQuantizeArgs;

// Past the end, AMD repeats loads and ignores them: without a branch, loads stay in flight over the stores. In a row
// that is not whole vectors, the last vector begins earlier, so some elements are computed twice.
template <class T>
HIPOPS_FN void quantize_wide(const Args& a) {
  constexpr int n = kQuantizeVector<T>;
  load_walk_arguments(a.walk, a.q, a.x, a.scale, a.step, a.cols, a.x_access, a.overlaps);
  struct {
    IncomingElements<T, n> x;
    float scale;
    int32_t back;  // elements that it has in common with the vector before it
  } next;
  int64_t i = int64_t(block_index()) * kMapBlock + thread_index();
  Offsets<4> at{};
  const auto issue_loads = [&] {
    int64_t x = at.of[1], scale = at.of[2];
    int32_t access = a.x_access;
    next.back = 0;
    if (a.overlaps) {
      const int64_t past = at.of[3] + n - a.cols;
      next.back = past > 0 ? int32_t(past) : 0;
      x -= next.back, scale -= next.back * a.scale_step;
      if (past > 0) access = sizeof(T);
    }
    next.x.issue_load(static_cast<const T*>(a.x) + x, access);
    next.scale = a.scale[scale];
  };
  if (i < a.walk.count) {
    at = locate(a.walk, i);
    issue_loads();
  }
  Quotient quotient(1);
#pragma unroll 1
  while (i < a.walk.count) {
    const auto now = next;
    const int64_t q = at.of[0] - now.back, scale = at.of[2] - now.back * a.scale_step;
    i += a.step;
    const bool is_last = i >= a.walk.count;
    if (!loads_are_predicated || !is_last) {
      if (a.advances) {
#pragma unroll
        for (int k = 0; k < 4; ++k) at.of[k] += is_last ? 0 : a.advance[k];
      } else {
        at = locate(a.walk, is_last ? i - a.step : i);
      }
      issue_loads();
    }
    const Args& args = reload_arguments(a);
    float x[n];
    now.x.widen_all(x);
    if (args.scale_step == 0) quotient.change_scale(now.scale);
    if (args.scale_step == 0 && quotient.has_inverse()) {
      quotient.multiply(x);
    } else {
#pragma unroll
      for (int e = 0; e < n; ++e) x[e] = x[e] / args.scale[scale + e * args.scale_step];
    }
    store_vector_anywhere<n>(static_cast<uint8_t*>(args.q) + q, narrow_to_eight_bits(args.to, args.format, x));
  }
}

template <class T>
HIPOPS_FN void quantize_any(const Args& a) {
  load_walk_arguments(a.walk, a.q, a.x, a.scale, a.apart, a.step);
  for (int64_t i = int64_t(block_index()) * kMapBlock + thread_index(); i < a.walk.count; i += a.step) {
    int64_t place[kQuantizeElements];
    Offsets<4> at[kQuantizeElements];
    T in[kQuantizeElements];
    float scale[kQuantizeElements];
#pragma unroll
    for (int d = 0; d < kQuantizeElements; ++d) place[d] = i + d * a.apart < a.walk.count ? i + d * a.apart : i;
    locate(a.walk, place, at);
#pragma unroll
    for (int d = 0; d < kQuantizeElements; ++d) {
      in[d] = load_evict_last(static_cast<const T*>(a.x) + at[d].of[1]);
      scale[d] = a.scale[at[d].of[2]];
    }
    const Args& args = reload_arguments(a);
#pragma unroll
    for (int d = 0; d < kQuantizeElements; ++d) {
      const float x[1] = {widen(in[d]) / scale[d]};
      const uint8_t code = narrow_to_eight_bits(args.to, args.format, x)[0];
      if (d == 0 || place[d] != i) static_cast<uint8_t*>(args.q)[at[d].of[0]] = code;
    }
  }
}

template <class T, MapMode mode>
HIPOPS_FN void quantize(const Args& a) {
  if constexpr (mode == MapMode::wide) quantize_wide<T>(a);
  else quantize_any<T>(a);
}

}  // namespace

#define KERNEL(name, T, mode)                                                          \
  HIPOPS_KERNEL(kMapBlock, kQuantizeBlocks) name(HIPOPS_ARGS(StaticQuantizeArgs) a) { \
    follow_launch_before();                                                            \
    quantize<T, MapMode::mode>(a);                                                     \
  }
HIPOPS_STATIC_QUANTIZE_KERNELS(KERNEL)

HIPOPS_KERNEL_TABLE(static_quantize, StaticQuantizeArgs, HIPOPS_STATIC_QUANTIZE_KERNELS)

}  // namespace hipops
