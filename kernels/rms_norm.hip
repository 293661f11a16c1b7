// rms_norm: y = x / sqrt(mean(x^2) + eps) * weight, over the last dimension.
//
//   x, y     [rows, cols], any strides; f32, f16, bf16, f64, computed in f32 (f64: in f64) and rounded once
//   weight   [cols], optional, in x's type or f32
//   bytes    rows * cols * 2 * sizeof(element) must move; the weights stay in the cache
//   range    |x| up to 1.8e19 / sqrt(cols) (f64: 1.3e154 / sqrt(cols)): the squares are summed as they are
//
// resident variants read a row once and keep it in registers: up to 16384 16-bit elements, 8192 f32, 4096 f64; 2048
// where the elements have gaps between them. Short rows share a wave; a long row has a block of as many work-items as
// it needs. The weights are loaded with the row, so that nobody waits for them after the reduction, where there are
// registers for them, or rows are few.
// staged ones are resident, too: many rows of 32 columns and less in one piece, read and written by way of shared memory.
// Few of those go element by element (any).
// clustered ones take longer rows, up to 32768, 16384 and 8192, and on AMD from gfx90a on twice that; on NVIDIA from
// sm_90 on up to 16 blocks share a row, which may be 16 times as long, and keep the weights in shared memory; many odd
// rows of 16 bits have one such block each from 12296 columns on, which takes the next row ahead.
// streaming variants read longer rows twice, the second time out of the L2 cache as far as it holds them.
// partial, merge and apply are the steps in which few such rows are split over many blocks (split_row.h).
//
// Alone: hipcc --genco --offload-arch=gfx942 -O3 -std=c++17 -I kernels kernels/rms_norm.hip -o rms_norm.co
#include "rms_norm.h"

#include "device/rows/clustered_row.h"
#include "device/rows/norm.h"
#include "device/rows/split_row.h"

namespace hipops {
namespace {

template <class Shape>
HIPOPS_FN Weights<Shape> weight_of(const RmsNormArgs& a) {
  return {a.weight, a.weight_stride, 1};
}

// What each element of a row is multiplied by.
template <class C>
HIPOPS_FN C row_scale(const RmsNormArgs& a, C sum_of_squares) {
  const NormTerms<C>& terms = norm_terms<C>(a);
  return inverse_square_root(sum_of_squares * terms.inverse_cols + terms.eps);
}

template <class Shape, class Weight>
HIPOPS_FN void store_scaled(const RowTile<Shape>& tile, const Rows<Shape>& rows, int64_t base, const Weight& weight,
                            typename Shape::Compute scale) {
  using C = typename Shape::Compute;
  tile.store(rows, base, [&](const auto& place, const auto& x, auto& y) {
    constexpr int n = sizeof(x) / sizeof(C);
    C w[n];
    weight.get(place, w);
#pragma unroll
    for (int i = 0; i < n; ++i) y[i] = x[i] * scale * w[i];
  });
}

template <class Shape>
HIPOPS_FN void store_at_use(const RmsNormArgs& a, const RowTile<Shape>& tile, const Rows<Shape>& rows, int64_t base,
                            typename Shape::Compute scale) {
  with_weights_type<typename Shape::Element>(a.weight_is_f32 != 0, [&](auto type) {
    store_scaled(tile, rows, base, weight_of<Shape>(a).template at_use<decltype(type)>(), scale);
  });
}

// Those in x's type stay in registers, where a work-item has enough: f32 needs none for what is widened.
template <class Shape>
constexpr bool weights_stay = (Shape::kBlock <= 256 && (Shape::kVectors <= 4 || Shape::kEdged)) ||
                              Shape::kVectors <= (sizeof(typename Shape::Element) == 4 ? 4 : 2);

// Of few rows, while one waits for weights nothing else runs: they are loaded with it, at the price of registers that
// spill on NVIDIA. (At odd addresses more of them do, and it takes longer.)
template <class Shape>
HIPOPS_FN bool weights_come_early(const RowGeometry& g) {
  return Shape::kWide && Shape::kRowsPerBlock == 1 && has(g, rows_are_few);
}

// Eight elements at an odd address take long to load: there the next row is taken ahead.
template <class Shape, class Load, class F>
HIPOPS_FN void go_over_rows(const RmsNormArgs& a, Load load, F f) {
  if constexpr (Shape::kEdged && Shape::kRowsPerBlock > 1 && sizeof(typename Shape::Element) == 2) {
    for_each_row_ahead<Shape>(a.geometry, a.x, a.y, load, f);
  } else {
    for_each_row<Shape>(a.geometry, a.x, a.y, load, f);
  }
}

// With the weights in registers, or loaded when they are used. scale_of(rows, tile) is what a row is multiplied by.
template <class Shape, class ScaleOf>
HIPOPS_FN void rms_norm_beside_weights(const RmsNormArgs& a, const ScaleOf& scale_of) {
  WeightsOfRows<Shape> weights(weight_of<Shape>(a), a.geometry);
  const auto load = [&](const Rows<Shape>& rows) { weights.load(rows); };
  go_over_rows<Shape>(a, load, [&](const Rows<Shape>& rows, const RowTile<Shape>& tile) {
    const auto& w = weights.of(rows);
    store_scaled(tile, rows, 0, w, scale_of(rows, tile));
  });
}
template <class Shape, class ScaleOf>
HIPOPS_FN void rms_norm_at_use(const RmsNormArgs& a, const ScaleOf& scale_of) {
  weight_of<Shape>(a).expect(a.geometry, a.weight_is_f32);
  go_over_rows<Shape>(a, NothingForAll(), [&](const Rows<Shape>& rows, const RowTile<Shape>& tile) {
    store_at_use(a, tile, rows, 0, scale_of(rows, tile));
  });
}

template <class Shape>
HIPOPS_FN void rms_norm_resident(const RmsNormArgs& a) {
  using C = typename Shape::Compute;
  RowReduce<Shape, C> reduce(threads_of<Shape>(a.geometry));
  const auto scale_of = [&](const Rows<Shape>& rows, const RowTile<Shape>& tile) {
    return row_scale(a, reduce(tile.reduce(rows, 0, Sum(), Square()), Sum()));
  };
  if constexpr (Shape::kClustered) {
    const KeptWeights<Shape, 0> kept(a.weight, 1, a.geometry);
    WeightsArrival arrival;
    const auto fetch = [&](const Rows<Shape>&) { kept.fetch(a.geometry); };
    for_each_clustered_row<Shape>(a.geometry, a.x, a.y, fetch, [&](const Rows<Shape>& rows, const RowTile<Shape>& tile) {
      const C scale = scale_of(rows, tile);
      if (!weights_kept(a.geometry)) return store_at_use(a, widened_anew(tile), rows, first_tile(), scale);
      arrival.wait();
      store_scaled(tile, rows, 0, kept, scale);
    });
  } else if constexpr (Shape::kStaged) {
    StagedWeights<Shape> weight;
    const auto load = [&](const Rows<Shape>& rows) {
      with_weights_type<typename Shape::Element>(a.weight_is_f32 != 0, [&](auto type) {
        weight.template load<decltype(type)>(weight_of<Shape>(a), rows);
      });
    };
    for_each_staged_row<Shape>(a.geometry, a.x, a.y, load, [&](const Rows<Shape>& rows, const RowTile<Shape>& tile) {
      store_scaled(tile, rows, 0, weight, scale_of(rows, tile));
    });
  } else {
    const bool may_stay = weights_may_stay<typename Shape::Element>(a.weight, a.weight_is_f32 != 0);
    // nvcc lays out first what is not to be jumped to: where weights always stay, what most calls do is in one piece so,
    // and few rows take 1 to 4 % less time. (Where it depends on the rows, they take up to 15 % more by it.)
    if constexpr (weights_stay<Shape>) {
      if (__builtin_expect(!may_stay, 0)) rms_norm_at_use<Shape>(a, scale_of);
      else rms_norm_beside_weights<Shape>(a, scale_of);
    } else if (may_stay && weights_come_early<Shape>(a.geometry)) {
      rms_norm_beside_weights<Shape>(a, scale_of);
    } else {
      rms_norm_at_use<Shape>(a, scale_of);
    }
  }
}

template <class Shape>
HIPOPS_FN void rms_norm_streaming(const RmsNormArgs& a) {
  using C = typename Shape::Compute;
  Rows<Shape> rows(a.geometry, a.x, a.y);
  Reduce<C, Shape::kThreads> reduce(threads_of<Shape>(a.geometry));
  RowTile<Shape> tile;
  int64_t first = rows.begin();
  do {
    rows.select(first);
    WideSum<C> sum = WideSum<C>::of(0);
    for (int64_t base = 0; rows.has_tile(base); base = rows.next_tile(base)) {
      tile.load(rows, base);
      sum = sum + WideSum<C>::of(tile.reduce(rows, base, Sum(), Square()));
    }
    C scale = row_scale(a, reduce(sum.value(), Sum()));
    for (int64_t base = 0; rows.has_tile(base); base = rows.next_tile(base)) {
      tile.load(rows, base);
      store_at_use(a, tile, rows, base, scale);
    }
    first = rows.next(first);
  } while (rows.more(first));
}

template <class Shape>
HIPOPS_FN void rms_norm_clustered(const RmsNormArgs& a) {
  if constexpr (few_registers) {
    rms_norm_streaming<typename Shape::Streaming>(a);
  } else {
    rms_norm_resident<Shape>(a);
  }
}

template <class Shape>
HIPOPS_FN void rms_norm_partial(const RmsNormArgs& a) {
  using C = typename Shape::Compute;
  Reduce<C, Shape::kThreads> reduce(Shape::kThreads);
  for_each_tile<Shape>(a.geometry, a.x, a.y, false, [&](const Rows<Shape>& rows, int64_t base) {
    RowTile<Shape> tile;
    tile.load(rows, base);
    const C sum = reduce(tile.reduce(rows, base, Sum(), Square()), Sum());
    if (thread_index() == 0) leave_in(rows.y_from(base), sum);
  });
}

template <class Shape>
HIPOPS_FN void rms_norm_merge(const RmsNormArgs& a) {
  using C = typename Shape::Compute;
  Reduce<WideSum<C>, Shape::kThreads> reduce(Shape::kThreads);
  for_each_split_row<Shape>(a.geometry, a.x, a.y, [&](const Rows<Shape>& rows) {
    WideSum<C> sum = WideSum<C>::of(0);
    for_each_place(rows, [&](int64_t base) { sum = sum + WideSum<C>::of(found_in<C>(rows.y_from(base))); });
    const C scale = row_scale(a, reduce(sum, Sum()).value());
    for_each_place(rows, [&](int64_t base) { leave_in(rows.y_from(base), scale); });
  });
}

template <class Shape>
HIPOPS_FN void rms_norm_apply(const RmsNormArgs& a) {
  for_each_tile<Shape>(a.geometry, a.x, a.y, true, [&](const Rows<Shape>& rows, int64_t base) {
    RowTile<Shape> tile;
    tile.load(rows, base);
    const auto scale = found_in<typename Shape::Compute>(rows.y_from(base));
    barrier();
    store_at_use(a, tile, rows, base, scale);
  });
}

// More would be spilled than is, and few rows take 5 % longer.
template <class Shape>
constexpr bool asks = Shape::kWide && Shape::kBlock == 512 && Shape::kVectors == 4 &&
                      sizeof(typename Shape::Element) == 2;

}  // namespace

// Aligned rows in f32 need nothing widened: of one vector or two a work-item 32 registers are enough, with which as many
// waves run as there can be. (With four, the weights' come to 52, which is as fast where there are many rows.)
constexpr int room(RowAccess access, RowMode mode, int block, int vectors, int element_bytes) {
  if (access == wide && mode == resident && block == 512 && element_bytes == 4 && vectors <= 2) return 4;
  if (access == edged && vectors == 6) return resident_threads(vectors, true) / block;
  return blocks_with_room(access, block, vectors, access == staged ? element_bytes : 2);
}

// On NVIDIA, blocks of 352 and 384 work-items with four vectors are three to a multiprocessor with 56 registers, and two
// with the 64 that those of 512 leave: 8 to 10 % of rows of 11264 and 12288 columns.
constexpr int work_items(int block, RowMode mode, int vectors, int element_bytes) {
  if (on_nvidia && mode == resident && block == 512 && vectors == 4 && element_bytes != 4) return 576;
  return launch_bound(block, mode, element_bytes);
}

#define KERNEL(name, T, threads, vectors, block, access, mode)                                  \
  HIPOPS_KERNEL_UP_TO(work_items(block, mode, vectors, sizeof(T)), room(access, mode, block, vectors, sizeof(T))) \
  name(HIPOPS_ARGS(RmsNormArgs) a) {                                                            \
    follow_launch_before();                                                                     \
    using Shape = RowShape<T, threads, vectors, block, access, mode>;                           \
    rms_norm_##mode<AskingForRow<ByWaves<Shape>, asks<Shape>>>(a);                              \
  }
HIPOPS_RMS_NORM_KERNELS(KERNEL)

HIPOPS_KERNEL_TABLE(rms_norm, RmsNormArgs, HIPOPS_RMS_NORM_KERNELS)

}  // namespace hipops
