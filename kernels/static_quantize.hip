// static_quantize: q = x / scale, rounded to an 8-bit type.
//
//   q, x     one shape of rank 0 to 8, any strides. x: f32, f16, bf16. q: i8, and the 8-bit floats
//   scale    f32, one number, or of x's shape with any strides
//   bytes    elements * (1 + sizeof(element of x)) must move
//
// `wide` serves rows without gaps: a work-item loads eight elements and stores eight bytes, and loads the next eight before
// it computes. `any` serves all other layouts. The type of q is a uniform branch.
//
// Alone: hipcc --genco --offload-arch=gfx942 -O3 -std=c++17 -I kernels kernels/static_quantize.hip -o static_quantize.co
#include "static_quantize.h"

#include "device/core/float8.h"
#include "device/core/strided.h"
#include "device/map/eight_elements.h"

namespace hipops {
namespace {

using Args = StaticQuantizeArgs;
constexpr int n = kQuantizeVector;

// Past the end, the loads are repeated and ignored. A row's last vector begins earlier if it would be shorter, so some
// elements are computed twice. No branch: loads stay in flight over the stores.
template <class T>
HIPOPS_FN void quantize_wide(const Args& a) {
  load_walk_arguments(a.walk, a.q, a.x, a.scale, a.step, a.cols, a.x_access);
  struct {
    int64_t q, scale;
    EightElements<T> x;
    float first_scale;
  } next;
  int64_t i = int64_t(block_index()) * kMapBlock + thread_index();
  Offsets<4> at{};
  const auto issue_loads = [&] {
    const int64_t past = at.of[3] + n - a.cols, back = past > 0 ? past : 0;
    next.q = at.of[0] - back;
    next.scale = at.of[2] - back * a.scale_step;
    next.x.issue_load(static_cast<const T*>(a.x) + at.of[1] - back, back == 0 ? a.x_access : int32_t(sizeof(T)));
    next.first_scale = a.scale[next.scale];
  };
  if (i < a.walk.count) {
    at = locate(a.walk, i);
    issue_loads();
  }
#pragma unroll 1
  while (i < a.walk.count) {
    const auto now = next;
    i += a.step;
    const bool is_last = i >= a.walk.count;
    if (a.advances) {
#pragma unroll
      for (int k = 0; k < 4; ++k) at.of[k] += is_last ? 0 : a.advance[k];
    } else {
      at = locate(a.walk, is_last ? i - a.step : i);
    }
    issue_loads();
    const Args& args = reload_arguments(a);
    float x[n];
    now.x.widen_all(x);
    if (args.scale_step == 0) {
      Quotient(now.first_scale).apply(x);
    } else {
#pragma unroll
      for (int e = 0; e < n; ++e) x[e] = x[e] / args.scale[now.scale + e * args.scale_step];
    }
    store_vector_anywhere<n, true>(static_cast<uint8_t*>(args.q) + now.q, narrow_to_eight_bits(args.to, args.format, x));
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
      float x[1] = {widen(in[d])};
      Quotient(scale[d]).apply(x);
      const uint8_t code = narrow_to_eight_bits(args.to, args.format, x).element[0];
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

#define KERNEL(name, T, mode)                                  \
  HIPOPS_KERNEL(kMapBlock) name(HIPOPS_ARGS(StaticQuantizeArgs) a) { \
    follow_launch_before();                                    \
    quantize<T, MapMode::mode>(a);                             \
  }
HIPOPS_STATIC_QUANTIZE_KERNELS(KERNEL)

HIPOPS_KERNEL_TABLE(static_quantize, StaticQuantizeArgs, HIPOPS_STATIC_QUANTIZE_KERNELS)

}  // namespace hipops
