// layer_norm: y = (x - mean) / sqrt(var + eps) * weight + bias, over the last dimension; var = mean((x - mean)^2).
//
//   x, y          [rows, cols], any strides; f32, f16, bf16, f64, computed in f32 (f64: in f64) and rounded once
//   weight, bias  [cols], each optional, in x's type or f32
//   bytes         rows * cols * 2 * sizeof(element) must move; weight and bias stay in the cache
//   range         |x - mean| up to 1.8e19 / sqrt(cols) (f64: 1.3e154 / sqrt(cols)), and sums of x that are finite: they
//                 and the squares are summed as they are
//
// The variance is taken of the row on chip, from differences to the mean. Where waves share a row they find it sooner as
// E[x^2] - mean^2, in one meeting, and use that if the mean is so near to 0 that no digit is lost that results have
// (moments.h). The mean is kept as two numbers: rounded to one, it would be off by more than the results can bear where
// x is close to it, or where it is thousands of standard deviations.
//
// resident variants read a row once and keep it in registers: up to 16384 16-bit elements, 8192 f32, 4096 f64; 2048
// where the elements have gaps between them. Short rows share a wave; a long row has a block of as many work-items as
// it needs.
// staged ones are resident, too: many rows of 32 columns and less in one piece, read and written by way of shared memory.
// Few of those, and few of 16 bits at odd addresses of up to 512 columns, go element by element (any).
// queued ones, of 16-bit elements and not for AMD, are resident, too, with next rows in shared memory (row_queue.h); so
// are, not for AMD either, passing ones, of very many such rows, whose blocks have one each, and load its weights when it
// wants them; and those with weights aside, at odd addresses, with these there (WeightsAside); and few rows of f32, of
// over 4096 columns, with weights early: with registers for them, in blocks that are alone on their unit.
// clustered ones take longer rows, up to 32768, 16384 and 8192, and on AMD from gfx90a on twice that; on NVIDIA from
// sm_90 on up to 16 blocks share a row, which may be 16 times as long, and keep the weights in shared memory.
// streaming variants read longer rows three times, after the first out of the L2 cache as far as it holds them.
// partial, merge and apply are the steps in which few such rows are split over many blocks (split_row.h): read twice.
// Their tiles have a mean each, and the variance is of squared deviations from those, merged.
//
// Alone: hipcc --genco --offload-arch=gfx942 -O3 -std=c++17 -I kernels kernels/layer_norm.hip -o layer_norm.co
#include "layer_norm.h"

#include "device/rows/clustered_row.h"
#include "device/rows/moments.h"
#include "device/nvidia/row_queue.h"
#include "device/rows/split_row.h"

namespace hipops {
namespace {

// What x less the mean is multiplied by.
template <class M, class C>
HIPOPS_FN C row_scale(const LayerNormArgs& a, const M& mean, C sum_of_squares) {
  const NormTerms<C>& terms = norm_terms<C>(a);
  return inverse_square_root(mean.variance(sum_of_squares * terms.inverse_cols) + terms.eps);
}

template <class Shape>
HIPOPS_FN Weights<Shape> weight_of(const LayerNormArgs& a) {
  return {a.weight, a.weight_stride, 1};
}
template <class Shape>
HIPOPS_FN Weights<Shape> bias_of(const LayerNormArgs& a) {
  return {a.bias, a.bias_stride, 0};
}

template <class Shape>
HIPOPS_FN void expect_weights(const LayerNormArgs& a) {
  weight_of<Shape>(a).expect(a.geometry, a.weights_are_f32);
  bias_of<Shape>(a).expect(a.geometry, a.weights_are_f32);
}

template <class Shape, class Weight, class Bias, class Scaled>
HIPOPS_FN void store_affine(const RowTile<Shape>& tile, const Rows<Shape>& rows, int64_t base, const Weight& weight,
                            const Bias& bias, const Scaled& scaled) {
  using C = typename Shape::Compute;
  tile.store(rows, base, [&](const auto& place, const auto& x, auto& y) {
    constexpr int n = sizeof(x) / sizeof(C);
    C w[n], b[n];
    weight.get(place, w);
    bias.get(place, b);
#pragma unroll
    for (int i = 0; i < n; ++i) y[i] = fused_multiply_add(scaled(x[i]), w[i], b[i]);
  });
}

template <class Shape, class Scaled>
HIPOPS_FN void store_at_use(const LayerNormArgs& a, const RowTile<Shape>& tile, const Rows<Shape>& rows, int64_t base,
                            const Scaled& scaled) {
  with_weights_type<typename Shape::Element>(a.weights_are_f32 != 0, [&](auto type) {
    using W = decltype(type);
    store_affine(tile, rows, base, weight_of<Shape>(a).template at_use<W>(), bias_of<Shape>(a).template at_use<W>(),
                 scaled);
  });
}

// Whether nvcc keeps what it has widened up to a branch after it, in registers that there are not: f16 takes it an
// instruction that it does not repeat.
template <class T> constexpr bool kWidenedStays = false;
template <> [[maybe_unused]] constexpr bool kWidenedStays<f16> = true;

// Aligned rows of f32 with one or two vectors a work-item, or by a kernel of their own: what is chosen where rows are few,
// or no more than the device holds at once (capi/rows/row_own.cpp), so that little else runs while one waits for its weights.
template <class Shape>
constexpr bool few_in_f32 = Shape::kWeightsEarly || (sizeof(typename Shape::Element) == 4 && Shape::kWide &&
                                                     Shape::kBlock == 512 && Shape::kVectors <= 2);

// Rows of 16-bit elements take the longer to compute, for their bytes, and weights at odd addresses long to load: those
// in x's type stay in registers, where there are enough, and more than one row.
template <class Shape>
constexpr bool weights_stay = !Shape::kPassing &&
                              (sizeof(typename Shape::Element) == 2 || few_in_f32<Shape> ||
                               (sizeof(typename Shape::Element) == 4 && Shape::kEdged)) &&
                              !(few_registers && Shape::kBlock > 256);

template <class Shape, int which>
using StayingWeights = typename Choose<Shape::kWeightsAside, WeightsAside<Shape, which>, WeightsOfRows<Shape>>::type;

// Whether aligned rows without weights take ones for them. (On AMD f16 would lose a wave of seven to the registers.)
template <class Shape>
constexpr bool takes_ones = Shape::kWide && !on_amd;

// Of such rows the next one is taken ahead, but for short aligned ones, of which many others are under way, and where
// there is none.
template <class Shape, class Load, class F>
HIPOPS_FN void go_over_rows(const LayerNormArgs& a, Load load, F f) {
  if constexpr ((Shape::kWide && Shape::kRowsPerBlock > 1) || few_in_f32<Shape> || Shape::kOnce) {
    for_each_row<Shape>(a.geometry, a.x, a.y, load, f);
  } else if constexpr (Shape::kQueued) {
    for_each_queued_row<Shape>(a.geometry, a.x, a.y, load, f);
  } else {
    constexpr bool kFindTwice = short_of_registers && Shape::kRowsPerBlock > 1 && Shape::kVectors >= 4;
    for_each_row_ahead<Shape, kFindTwice>(a.geometry, a.x, a.y, load, f);
  }
}

// Queued rows' waves, of which a block may have sixteen, are up to 2 % slower by matrices.
template <class Shape>
using WavesSum = typename Choose<Shape::kQueued, Sum, SumByMatrix>::type;

// Whether a row's waves meet once (moments.h). Within a wave a meeting costs less than what this takes, and f64 has no
// digits to lose; in AMD's clustered rows of 16 bits less is asked for at a time with a second way to the variance, and
// with weights aside it spills. Which odd rows have those depends on the grid, and their bits do not: neither do the
// variants meet once that stand for them.
template <class Shape>
constexpr bool has_weights_aside = Shape::kEdged && Shape::kVectors == 4;

template <class Shape>
constexpr bool meets_once = Shape::kRowsPerBlock == 1 && sizeof(typename Shape::Element) <= 4 && !has_weights_aside<Shape> &&
                            !(Shape::kClustered && sizeof(typename Shape::Element) == 2 && short_of_registers);

template <class Shape>
using RowSums = typename Choose<meets_once<Shape>, Moments<RowSum<Shape>>, RowSum<Shape>>::type;

template <class Shape, class Meeting, class M>
HIPOPS_FN auto squares_about(const M& mean, const Rows<Shape>& rows, const RowTile<Shape>& tile, Meeting& reduce) {
  return reduce(tile.reduce(rows, 0, Sum(), SquaredDeviation<M>{mean}), WavesSum<Shape>());
}

template <class Shape>
HIPOPS_FN void normalize_rows(const LayerNormArgs& a) {
  using T = typename Shape::Element;
  using C = typename Shape::Compute;
  using RowMean = Mean<T>;
  using W = RowSum<Shape>;
  RowReduce<Shape, RowSums<Shape>> reduce(threads_of<Shape>(a.geometry));
  // f(the row, what makes of it the row less its mean, scaled).
  const auto normalized = [&](const Rows<Shape>& rows, const RowTile<Shape>& tile, auto f) {
    if constexpr (meets_once<Shape>) {
      const NormTerms<C>& terms = norm_terms<C>(a);
      const Moments<W, C> own = moments_of(tile, rows);
      const Moments<W> all = reduce(Moments<W>{own.sum, W::of(own.squares)}, WavesSum<Shape>());
      const RowMean mean(all.sum, terms);
      const auto& again = widened_anew(tile);
      C squares = fused_multiply_add(-mean.high * terms.cols, mean.high, all.squares.value());
      if (!__builtin_expect(uniform(int(are_moments_enough<T>(mean.high, squares, terms.cols))), 1)) {
        if constexpr (Shape::kClustered && sizeof(T) == 2) squares = reduce(squares_read_again(mean, rows), WavesSum<Shape>());
        else squares = squares_about(mean, rows, again, reduce);
      }
      f(again, mean.scaled(row_scale(a, mean, squares)));
    } else {
      const RowMean mean(reduce(sum_of(tile, rows, 0), WavesSum<Shape>()), norm_terms<C>(a));
      const auto& again = widened_anew(tile);
      f(again, mean.scaled(row_scale(a, mean, squares_about(mean, rows, again, reduce))));
    }
  };
  if constexpr (Shape::kClustered) {
    const KeptWeights<Shape, 0> w(a.weight, 1, a.geometry);
    const KeptWeights<Shape, 1> b(a.bias, 0, a.geometry);
    WeightsArrival arrival;
    const auto from_kept = [&](const Rows<Shape>& rows, const RowTile<Shape>& tile, const auto& scaled) {
      arrival.wait();
      store_affine(tile, rows, 0, w, b, scaled);
    };
    const auto at_use = [&](const Rows<Shape>& rows, const RowTile<Shape>& tile, const auto& scaled) {
      store_at_use(a, widened_anew(tile), rows, first_tile(), scaled);
    };
    constexpr bool kFindTwice = sizeof(typename Shape::Element) == 2;  // widened, they take the registers of two rows
    const auto fetch = [&](const Rows<Shape>&) { w.fetch(a.geometry), b.fetch(a.geometry); };
    const auto for_each = [&](auto store) {
      for_each_clustered_row<Shape, kFindTwice>(a.geometry, a.x, a.y, fetch, [&](const auto& rows, const auto& tile) {
        normalized(rows, tile, [&](const auto& again, const auto& scaled) { store(rows, again, scaled); });
      });
    };
    if constexpr (kWidenedStays<typename Shape::Element>) {
      weights_kept(a.geometry) ? for_each(from_kept) : for_each(at_use);
    } else {
      for_each([&](const auto& rows, const auto& tile, const auto& scaled) {
        weights_kept(a.geometry) ? from_kept(rows, tile, scaled) : at_use(rows, tile, scaled);
      });
    }
  } else if constexpr (Shape::kStaged) {
    StagedWeights<Shape> w, b;
    const auto load = [&](const Rows<Shape>& rows) {
      with_weights_type<typename Shape::Element>(a.weights_are_f32 != 0, [&](auto type) {
        w.template load<decltype(type)>(weight_of<Shape>(a), rows);
        b.template load<decltype(type)>(bias_of<Shape>(a), rows);
      });
    };
    for_each_staged_row<Shape>(a.geometry, a.x, a.y, load, [&](const Rows<Shape>& rows, const RowTile<Shape>& tile) {
      normalized(rows, tile, [&](const auto& again, const auto& scaled) { store_affine(again, rows, 0, w, b, scaled); });
    });
  } else {
    const auto at_use = [&](const Rows<Shape>& rows, const RowTile<Shape>& tile) {
      normalized(rows, tile, [&](const auto& again, const auto& scaled) { store_at_use(a, again, rows, 0, scaled); });
    };
    const bool has_neither = a.weight == nullptr && a.bias == nullptr;
    // nvcc lays out first what is not to be jumped to: what most calls do, with weights and a bias in x's type, is in one
    // piece so, and few rows take 2 to 5 % less time.
    if constexpr (!weights_stay<Shape>) {
      expect_weights<Shape>(a);
      for_each_row<Shape>(a.geometry, a.x, a.y, NothingForAll(), at_use);
    } else if (!Shape::kWeightsAside && __builtin_expect(!weights_may_stay<T>(a.weight, a.weights_are_f32 != 0) &&
                                                         !(takes_ones<Shape> && has_neither), 0)) {
      expect_weights<Shape>(a);
      go_over_rows<Shape>(a, NothingForAll(), at_use);
    } else {
      StayingWeights<Shape, 0> weights(weight_of<Shape>(a), a.geometry);
      const auto with_bias = [&](auto load, auto bias_of_rows) {
        go_over_rows<Shape>(a, load, [&](const Rows<Shape>& rows, const RowTile<Shape>& tile) {
          const auto& w = weights.of(rows);
          const auto& b = bias_of_rows(rows);
          normalized(rows, tile, [&](const auto& again, const auto& scaled) {
            store_affine(again, rows, 0, w, b, scaled);
          });
        });
      };
      // Aligned rows without a bias are as fast as they can be, with ones where there are no weights either; others take
      // zeros, and are compiled once.
      if (Shape::kWide && __builtin_expect(a.bias == nullptr, 0)) {
        const auto load = [&](const Rows<Shape>& rows) {
          takes_ones<Shape> ? weights.load_any(rows) : weights.load(rows);
          weights.arrive();
        };
        with_bias(load, [](const Rows<Shape>&) { return NoWeights<Shape>{0}; });
      } else {
        StayingWeights<Shape, 1> biases(bias_of<Shape>(a), a.geometry);
        const auto load = [&](const Rows<Shape>& rows) {
          weights.load(rows), biases.load(rows);
          weights.arrive(), biases.arrive();
        };
        with_bias(load, [&](const Rows<Shape>& rows) -> const auto& { return biases.of(rows); });
      }
    }
  }
}

// Aligned rows of 16 bits with a block each take 3 to 6 % less time where nvcc knows that they are there, and where
// blocks go over them 2 % more, as each is copied between registers once more: so there are two ways. Odd rows in
// clusters would spill. (Not on AMD. On the CPU, which shows that either is right.)
template <class Shape>
constexpr bool takes_two_ways = !on_amd && Shape::kWide && Shape::kRowsPerBlock == 1 && !Shape::kClustered &&
                                !Shape::kPassing && sizeof(typename Shape::Element) == 2;

template <class Shape>
HIPOPS_FN void layer_norm_resident(const LayerNormArgs& a) {
  constexpr bool kWouldSpill = !on_amd && Shape::kClustered && Shape::kEdged;
  if constexpr (takes_two_ways<Shape> && !Shape::kQueued) {
    if (a.geometry.row_step >= a.geometry.rows) return normalize_rows<Once<Shape>>(a);
  }
  normalize_rows<AskingForRow<Shape, takes_two_ways<Shape> || kWouldSpill>>(a);
}

template <class Shape>
HIPOPS_FN void layer_norm_streaming(const LayerNormArgs& args) {
  using C = typename Shape::Compute;
  using RowMean = Mean<typename Shape::Element>;
  const Rows<Shape> all(args.geometry, args.x, args.y);
  Reduce<WideSum<C>, Shape::kThreads> reduce(threads_of<Shape>(args.geometry));
  RowTile<Shape> tile;
  int64_t first = all.begin();
  do {
    const LayerNormArgs& a = read_anew(args);
    Rows<Shape> rows(a.geometry, a.x, a.y);
    rows.select(first);
    WideSum<C> sum = WideSum<C>::of(0);
    for (int64_t base = 0; rows.has_tile(base); base = rows.next_tile(base)) {
      tile.load(rows, base);
      sum = sum + sum_of(tile, rows, base);
    }
    RowMean mean(reduce(sum, Sum()), long_row_terms<C>(a));

    WideSum<C> squares = WideSum<C>::of(0);
    for (int64_t base = 0; rows.has_tile(base); base = rows.next_tile(base)) {
      tile.load(rows, base);
      squares = squares + WideSum<C>::of(tile.reduce(rows, base, Sum(), SquaredDeviation<RowMean>{mean}));
    }
    auto scaled = mean.scaled(row_scale(a, mean, reduce(squares.value(), Sum())));

    for (int64_t base = 0; rows.has_tile(base); base = rows.next_tile(base)) {
      tile.load(rows, base);
      store_at_use(a, tile, rows, base, scaled);
    }
    first = all.next(first);
  } while (all.more(first));
}

template <class Shape>
HIPOPS_FN void layer_norm_queued(const LayerNormArgs& a) { layer_norm_resident<Shape>(a); }
template <class Shape>
HIPOPS_FN void layer_norm_passing(const LayerNormArgs& a) { layer_norm_resident<Shape>(a); }
template <class Shape>
HIPOPS_FN void layer_norm_weights_aside(const LayerNormArgs& a) { layer_norm_resident<Shape>(a); }
template <class Shape>
HIPOPS_FN void layer_norm_weights_early(const LayerNormArgs& a) { layer_norm_resident<Shape>(a); }

template <class Shape>
HIPOPS_FN void layer_norm_clustered(const LayerNormArgs& a) {
  if constexpr (few_registers) {
    layer_norm_streaming<typename Shape::Streaming>(a);
  } else {
    layer_norm_resident<Shape>(a);
  }
}

// Of a tile: its sum, and the squared deviations from its own mean.
template <class C>
struct TileMoments {
  WideSum<C> sum;
  C squares;
};

template <class C>
HIPOPS_FN NormTerms<C> terms_of(int elements) { return {0, C(elements), C(1) / C(elements)}; }

template <class Shape>
HIPOPS_FN void layer_norm_partial(const LayerNormArgs& a) {
  using C = typename Shape::Compute;
  using TileMean = Mean<typename Shape::Element>;
  Reduce<WideSum<C>, Shape::kThreads> reduce(Shape::kThreads);
  for_each_tile<Shape>(a.geometry, a.x, a.y, false, [&](const Rows<Shape>& rows, int64_t base) {
    RowTile<Shape> tile;
    tile.load(rows, base);
    const WideSum<C> sum = reduce(sum_of(tile, rows, base), Sum());
    const TileMean mean(sum, terms_of<C>(elements_of(rows, base)));
    const C squares = reduce(tile.reduce(rows, base, Sum(), SquaredDeviation<TileMean>{mean}), Sum());
    if (thread_index() == 0) leave_in(rows.y_from(base), TileMoments<C>{sum, squares});
  });
}

// Squared deviations from the row's mean are those from a tile's own, and as many times what lies between the means
// (Chan, Golub and LeVeque).
template <class Shape>
HIPOPS_FN void layer_norm_merge(const LayerNormArgs& a) {
  using C = typename Shape::Compute;
  using RowMean = Mean<typename Shape::Element>;
  Reduce<WideSum<C>, Shape::kThreads> reduce(Shape::kThreads);
  for_each_split_row<Shape>(a.geometry, a.x, a.y, [&](const Rows<Shape>& rows) {
    WideSum<C> sum = WideSum<C>::of(0), squares = sum;
    for_each_place(rows, [&](int64_t base) { sum = sum + found_in<TileMoments<C>>(rows.y_from(base)).sum; });
    const RowMean mean(reduce(sum, Sum()), long_row_terms<C>(a));
    for_each_place(rows, [&](int64_t base) {
      const auto of_tile = found_in<TileMoments<C>>(rows.y_from(base));
      const int elements = elements_of(rows, base);
      const RowMean of_its_own(of_tile.sum, terms_of<C>(elements));
      squares = squares + WideSum<C>::of(of_tile.squares) + WideSum<C>::of(elements * of_its_own.square_apart(mean));
    });
    const auto scaled = mean.scaled(row_scale(a, mean, reduce(squares, Sum()).value()));
    for_each_place(rows, [&](int64_t base) { leave_in(rows.y_from(base), scaled); });
  });
}

template <class Shape>
HIPOPS_FN void layer_norm_apply(const LayerNormArgs& a) {
  for_each_tile<Shape>(a.geometry, a.x, a.y, true, [&](const Rows<Shape>& rows, int64_t base) {
    RowTile<Shape> tile;
    tile.load(rows, base);
    const auto scaled = found_in<typename Mean<typename Shape::Element>::Scaled>(rows.y_from(base));
    barrier();
    store_at_use(a, tile, rows, base, scaled);
  });
}

}  // namespace

// Where the next row is taken ahead, all blocks of a launch are to run at a time. Wide elements are few in a vector.
constexpr int room(RowAccess access, RowMode mode, int threads, int block, int vectors, int element_bytes) {
  if (mode >= partial) return 2;
  if (mode == passing) return kPassingThreads / block;
  if (access == staged) return element_bytes > 4 ? 2 : 4;
  if (mode != resident || (access != edged && access != wide)) return 1;
  // Both weights take registers: 54 of two vectors.
  if (access == wide && element_bytes == 4 && block == 512 && vectors <= 2) return 2;
  if (element_bytes == 8) return block == 512 && vectors <= 4 ? 2 : 1;
  if (access == wide && element_bytes == 4) return blocks_with_room(access, block, vectors, 4);
  if (access == wide && threads < block) return blocks_beside_weights(block, vectors);
  const int at_a_time = resident_threads(vectors, true);
  return block < at_a_time ? at_a_time / block : 1;
}

#define KERNEL(name, T, threads, vectors, block, access, mode)                                           \
  HIPOPS_KERNEL_UP_TO(launch_bound(block, mode, sizeof(T)), room(access, mode, threads, block, vectors, sizeof(T))) \
  name(HIPOPS_ARGS(LayerNormArgs) a) {                                                                   \
    follow_launch_before();                                                                              \
    layer_norm_##mode<ByWaves<RowShape<T, threads, vectors, block, access, mode>>>(a);                   \
  }
HIPOPS_LAYER_NORM_KERNELS(KERNEL)

HIPOPS_KERNEL_TABLE(layer_norm, LayerNormArgs, HIPOPS_LAYER_NORM_KERNELS)

}  // namespace hipops
