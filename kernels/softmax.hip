// softmax: y = exp(x - max(x)) / sum(exp(x - max(x))), over the last dimension.
//
//   x, y     [rows, cols], any strides; f32, f16, bf16, f64, computed in f32 (f64: in f64) and rounded once
//   bytes    rows * cols * 2 * sizeof(element) must move
//   limits   a row that is all -inf, or holds +inf or a NaN, is NaN
//
// resident variants read a row once and keep it in registers, and take each exponential once: two an element would cost
// more time than the bytes. Up to 16384 16-bit elements, 8192 f32, 4096 f64; 2048 where the elements have gaps between
// them. Short rows share a wave; a long row has a block of as many work-items as it needs.
// staged ones are resident, too: many rows of 32 columns and less in one piece, read and written by way of shared memory.
// Few of those go element by element (any).
// clustered ones take longer rows, up to 32768, 16384 and 8192, and on AMD from gfx90a on twice that; on NVIDIA from
// sm_90 on up to 16 blocks share a row, which may be 16 times as long; many odd rows of 16 bits have one such block
// each from 10248 columns on, and rows of f64 from 2561 on, which takes the next row ahead.
// a tailed one, of f32 and not for AMD, has what eight blocks (one, where there are no clusters) do not hold in
// registers wait in shared memory (row_tail.h): rows up to 2.6 times as long, depending on the device.
// full ones, of 16 bits and not for AMD, are clustered ones whose blocks have an eighth more: eight hold 294912.
// streaming variants read longer rows twice: once for maximum and sum together, the sum being rescaled when what comes is
// much larger than what it is taken under.
// partial, merge and apply are the steps in which few such rows are split over many blocks (split_row.h).
//
// Alone: hipcc --genco --offload-arch=gfx942 -O3 -std=c++17 -I kernels kernels/softmax.hip -o softmax.co
#include "softmax.h"

#include "device/rows/clustered_row.h"
#include "device/rows/row_tail.h"
#include "device/rows/split_row.h"

namespace hipops {
namespace {

// How exactly results of type T need exponentials, their sum, and the division by it. `exp` comes times kScale;
// Exponential(maximum), of the values of one row, times a factor that is the same for all of them. kScalesLater: whether
// they bear it that parts of a row are scaled by a factor each once the row's maximum is known.
template <class T>
struct Precision {  // f16, bf16: f32 has digits to spare
  using SumType = float;
  static constexpr float kScale = kExpScale;
  static constexpr bool kScalesLater = true;
  static HIPOPS_METHOD float exp(float x, float m) { return exp_difference_fast(x, m); }
  static HIPOPS_METHOD float of_vector(float sum) { return sum; }

  struct Exponential {
    float maximum;
    HIPOPS_METHOD float operator()(float x) const { return exp(x, maximum); }
  };
  struct Divide {
    float inverse;
    explicit HIPOPS_METHOD Divide(float sum) : inverse(1.0f / sum) {}
    HIPOPS_METHOD float operator()(float v) const { return v * inverse; }
  };
};

template <class C>
struct FullPrecision {
  using SumType = WideSum<C>;
  static constexpr C kScale = 1;
  static constexpr bool kScalesLater = false;
  static HIPOPS_METHOD C exp(C x, C m) { return exp_difference(x, m); }
  static HIPOPS_METHOD SumType of_vector(C sum) { return SumType::of(sum); }

  // Times the inverse, kept as two numbers: rounded once, for two operations an element where a division is ten.
  struct Divide {
    C inverse, rest;
    Divide() = default;
    explicit HIPOPS_METHOD Divide(const WideSum<C>& sum) : inverse(C(1) / sum.high()) {
      rest = (fused_multiply_add(-inverse, sum.high(), C(1)) - inverse * sum.low()) * inverse;
    }
    HIPOPS_METHOD C operator()(C v) const { return fused_multiply_add(v, inverse, v * rest); }
  };
};
template <> struct Precision<f32> : FullPrecision<float> {
  using Exponential = ScaledExponential<float>;
};

// The sum of a row on chip, of numbers up to 2^65: of each what is a multiple of 2^31, which add up exactly, and the
// rest, which is small (the extraction of Rump, Ogita and Oishi's AccSum). It takes two operations where WideSum takes
// eight; a plain sum would be off by half an ULP more for each of a tree's levels where one number is most of it.
template <class C>
struct ExtractedSum {
  C high, low;

  static HIPOPS_METHOD ExtractedSum of(C v) {
    constexpr C kGrid = 0x1p83;  // over 2^17 such numbers, the most that a row on chip has
    const C high = (v + kGrid) - kGrid;
    return {high, v - high};
  }
  HIPOPS_METHOD operator WideSum<C>() const {
    const C sum = high + low;
    return {sum, low - (sum - high)};
  }
  friend HIPOPS_METHOD ExtractedSum operator+(const ExtractedSum& a, const ExtractedSum& b) {
    return {a.high + b.high, a.low + b.low};
  }
};
template <class C>
struct WholeWave<ExtractedSum<C>, SumByMatrix> {
  using Each = WholeWave<C, SumByMatrix>;
  static constexpr bool kExists = Each::kExists, kInF64 = false;
  static HIPOPS_METHOD ExtractedSum<C> of_eight(const ExtractedSum<C>& v) {
    return {Each::of_eight(v.high), Each::of_eight(v.low)};
  }
  static HIPOPS_METHOD ExtractedSum<C> of(const ExtractedSum<C>& v) { return {Each::of(v.high), Each::of(v.low)}; }
};
template <> struct Precision<f64> : FullPrecision<double> {
  using SumType = ExtractedSum<double>;
  using Exponential = ScaledExponential<double>;
  static HIPOPS_METHOD SumType of_vector(double sum) { return SumType::of(sum); }
};

// Stores values over their sum.
template <class Tile, class Rows, class Divide>
HIPOPS_FN void store_quotients(const Tile& tile, const Rows& rows, int64_t base, const Divide& divide) {
  tile.store(rows, base, [&](const auto&, const auto& x, auto& y) {
    constexpr int n = sizeof(x) / sizeof(x[0]);
#pragma unroll
    for (int i = 0; i < n; ++i) y[i] = divide(x[i]);
  });
}

// Of a wave's part of a row.
struct alignas(8) WaveSum {
  float maximum, sum;
};

// The waves that share a row meet once, not once for the maximum and once for the sum: each takes exponentials under
// its own maximum, and scales them when it knows the others'.
template <class Shape, class Reduction>
HIPOPS_FN void softmax_by_waves(const Rows<Shape>& rows, const RowTile<Shape>& tile, Reduction& reduce) {
  using P = Precision<typename Shape::Element>;
  const float own = wave_reduce<wave_size>(tile.reduce(rows, 0, Maximum(), Identity()), Maximum());
  // -inf - -inf is no number: what is all -inf counts for nothing.
  const RowTile<Shape, float> exponentials = tile.map(typename P::Exponential{own == -INFINITY ? 0.0f : own});
  const float sum = wave_reduce<wave_size>(exponentials.reduce(rows, 0, Sum(), Identity()), SumByMatrix());
  const int all = reduce.exchange(WaveSum{own, sum});
  const float maximum = reduce.template fold<WaveSum>(all, [](const WaveSum& w) { return w.maximum; }, Maximum());
  const auto scale = [maximum](float of_wave) { return P::exp(of_wave, maximum); };  // NaN where all is -inf
  typename P::Divide divide(
      reduce.template fold<WaveSum>(all, [&](const WaveSum& w) { return w.sum * scale(w.maximum); }, SumByMatrix()));
  const float own_scale = scale(own);
  store_quotients(exponentials, rows, 0, [&](float v) { return divide(v * own_scale); });
}

template <class Shape>
HIPOPS_FN void softmax_resident(const SoftmaxArgs& a) {
  using C = typename Shape::Compute;
  using P = Precision<typename Shape::Element>;
  constexpr bool kByWaves = P::kScalesLater && Shape::kRowsPerBlock == 1;
  using Largest = typename Choose<kByWaves, WaveSum, typename P::SumType>::type;
  RowReduce<Shape, Largest> reduce(threads_of<Shape>(a.geometry));
  const auto softmax = [&](const Rows<Shape>& rows, const RowTile<Shape>& tile) {
    if constexpr (kByWaves) {
      softmax_by_waves(rows, tile, reduce);
    } else {
      C maximum = reduce(tile.reduce(rows, 0, Maximum(), Identity()), Maximum());
      RowTile<Shape, C> exponentials = tile.map(typename P::Exponential{maximum});
      typename P::Divide divide(reduce(exponentials.reduce(rows, 0, Sum(), Identity(), P::of_vector), SumByMatrix()));
      store_quotients(exponentials, rows, 0, divide);
    }
  };
  if constexpr (Shape::kClustered) {
    for_each_clustered_row<Shape>(a.geometry, a.x, a.y, NothingForAll(), softmax);
    // Several rows a wave at odd addresses: their first and last elements are long to wait for.
  } else if constexpr (Shape::kEdged && Shape::kRowsPerBlock > 1 && sizeof(C) == 4) {
    for_each_row_ahead<Shape>(a.geometry, a.x, a.y, NothingForAll(), softmax);
  } else if constexpr (Shape::kStaged) {
    for_each_staged_row<Shape>(a.geometry, a.x, a.y, NothingForAll(), softmax);
  } else {
    for_each_row<Shape>(a.geometry, a.x, a.y, NothingForAll(), softmax);
  }
}

template <class Shape>
HIPOPS_FN void softmax_clustered(const SoftmaxArgs& a) { softmax_resident<Shape>(a); }

template <class Shape>
HIPOPS_FN void softmax_full(const SoftmaxArgs& a) { softmax_resident<Shape>(a); }

// Exponentials are taken under the first tile's maximum, or of a later one that is larger by more than kRise. Under each
// new maximum, a row that rises steadily would have its sum rescaled at every tile, by a factor that is rounded the same
// way each time: 130 ULP of a million elements. A few times in a row, and what is older counts for e^-32 as much.
template <class Shape>
HIPOPS_FN void softmax_streaming(const SoftmaxArgs& args) {
  using C = typename Shape::Compute;
  constexpr C kRise = 32;  // exponentials of that have room, and the sum of any number of them
  using P = Precision<typename Shape::Element>;
  const C lowest = -C(INFINITY);
  const Rows<Shape> all(args.geometry, args.x, args.y);
  Reduce<WideSum<C>, Shape::kThreads> reduce(threads_of<Shape>(args.geometry));
  RowTile<Shape> tile;
  int64_t first = all.begin();
  do {
    const SoftmaxArgs& a = read_anew(args);
    Rows<Shape> rows(a.geometry, a.x, a.y);
    rows.select(first);
    C maximum = lowest;  // or nearly, as said above
    WideSum<C> sum = WideSum<C>::of(0);
    for (int64_t base = 0; rows.has_tile(base); base = rows.next_tile(base)) {
      tile.load(rows, base);
      C larger = Maximum()(maximum, tile.reduce(rows, base, Maximum(), Identity()));
      if (larger > maximum + kRise) {
        C factor = P::exp(maximum, larger) / P::kScale;
        sum = sum * factor;
        maximum = larger;
      }
      // -inf - -inf is no number: while all that was seen is -inf, it counts for nothing.
      C reference = maximum == lowest ? C(0) : maximum;
      auto exponential = [reference](C x) { return P::exp(x, reference); };
      sum = sum + WideSum<C>::of(tile.reduce(rows, base, Sum(), exponential));
    }
    C of_row = reduce(maximum, Maximum());
    C factor = P::exp(maximum, of_row) / P::kScale;  // NaN where of_row is -inf, and so will be the row
    sum = reduce(sum * factor, Sum());
    typename FullPrecision<C>::Divide divide(sum);
    // The row is found again, as gfx9 has no scalar registers in which its place could wait.
    const SoftmaxArgs& again = read_anew(args);
    Rows<Shape> out(again.geometry, again.x, again.y);
    out.select(first);
    for (int64_t base = 0; out.has_tile(base); base = out.next_tile(base)) {
      tile.load(out, base);
      store_quotients(tile, out, base, [of_row, divide](C x) { return divide(P::exp(x, of_row)); });
    }
    first = all.next(first);
  } while (all.more(first));
}

template <class Shape>
HIPOPS_FN void softmax_tailed(const SoftmaxArgs& a) {
  using C = typename Shape::Compute;
  using P = Precision<typename Shape::Element>;
  RowReduce<Shape, typename P::SumType> reduce(threads_of<Shape>(a.geometry));
  RowTail<Shape> tail(a.geometry, Rows<Shape>(a.geometry, a.x, a.y));
  const auto softmax = [&](const Rows<Shape>& rows, const RowTile<Shape>& tile) {
    const C largest = tile.reduce(rows, 0, Maximum(), Identity());
    const C maximum = reduce(Maximum()(largest, tail.reduce(Maximum(), Identity(), Identity())), Maximum());
    const typename P::Exponential exponential{maximum};
    const RowTile<Shape, C> exponentials = tile.map(exponential);
    tail.map(exponential);
    const auto sum = exponentials.reduce(rows, 0, Sum(), Identity(), P::of_vector);
    const typename P::Divide divide(reduce(sum + tail.reduce(Sum(), Identity(), P::of_vector), SumByMatrix()));
    store_quotients(exponentials, rows, 0, divide);
    tail.store(rows, divide);
  };
  for_each_row_ahead<Shape>(a.geometry, a.x, a.y, tail, NothingForAll(), softmax);
}

// Of a tile: its maximum, and the sum of the exponentials of what its elements are under it.
template <class C>
struct TileSum {
  C maximum;
  WideSum<C> sum;
};
// Of a row.
template <class C>
struct RowSum {
  C maximum;
  typename FullPrecision<C>::Divide divide;
};

template <class Shape>
HIPOPS_FN void softmax_partial(const SoftmaxArgs& a) {
  using C = typename Shape::Compute;
  using P = Precision<typename Shape::Element>;
  Reduce<WideSum<C>, Shape::kThreads> reduce(Shape::kThreads);
  for_each_tile<Shape>(a.geometry, a.x, a.y, false, [&](const Rows<Shape>& rows, int64_t base) {
    RowTile<Shape> tile;
    tile.load(rows, base);
    const C maximum = reduce(tile.reduce(rows, base, Maximum(), Identity()), Maximum());
    const C reference = maximum == -C(INFINITY) ? C(0) : maximum;
    const C sum = tile.reduce(rows, base, Sum(), [reference](C x) { return P::exp(x, reference); });
    const TileSum<C> of_tile = {maximum, reduce(WideSum<C>::of(sum), Sum())};
    if (thread_index() == 0) leave_in(rows.y_from(base), of_tile);
  });
}

template <class Shape>
HIPOPS_FN void softmax_merge(const SoftmaxArgs& a) {
  using C = typename Shape::Compute;
  using P = Precision<typename Shape::Element>;
  Reduce<WideSum<C>, Shape::kThreads> reduce(Shape::kThreads);
  for_each_split_row<Shape>(a.geometry, a.x, a.y, [&](const Rows<Shape>& rows) {
    C maximum = -C(INFINITY);
    for_each_place(rows, [&](int64_t base) {
      maximum = Maximum()(maximum, found_in<TileSum<C>>(rows.y_from(base)).maximum);
    });
    const C of_row = reduce(maximum, Maximum());
    WideSum<C> sum = WideSum<C>::of(0);
    for_each_place(rows, [&](int64_t base) {
      const auto of_tile = found_in<TileSum<C>>(rows.y_from(base));
      const C factor = P::exp(of_tile.maximum, of_row) / P::kScale;  // NaN where of_row is -inf, and so will be the row
      sum = sum + of_tile.sum * factor;
    });
    const RowSum<C> result = {of_row, typename FullPrecision<C>::Divide(reduce(sum, Sum()))};
    for_each_place(rows, [&](int64_t base) { leave_in(rows.y_from(base), result); });
  });
}

template <class Shape>
HIPOPS_FN void softmax_apply(const SoftmaxArgs& a) {
  using C = typename Shape::Compute;
  using P = Precision<typename Shape::Element>;
  for_each_tile<Shape>(a.geometry, a.x, a.y, true, [&](const Rows<Shape>& rows, int64_t base) {
    RowTile<Shape> tile;
    tile.load(rows, base);
    const auto of_row = found_in<RowSum<C>>(rows.y_from(base));
    barrier();
    store_quotients(tile, rows, base, [of_row](C x) { return of_row.divide(P::exp(x, of_row.maximum)); });
  });
}

// By waves, clusters are faster in wide rows (2 %; in f64 it takes gfx9 more scalar registers than there are), and
// slower in edged ones (4 %); blocks the other way round.
template <class Shape>
constexpr bool by_waves = Shape::kClustered ? Shape::kWide && sizeof(typename Shape::Element) < 8 : !Shape::kWide;

// On NVIDIA 64 bytes would be spilled of edged rows in clusters, which would take 10 % longer, and 8 of those that fill
// the registers; on gfx942 a row in tiles would take 75 registers instead of 64.
template <class Shape>
constexpr bool asks = sizeof(typename Shape::Element) == 2 &&
                      (on_nvidia ? Shape::kClustered && (Shape::kEdged || Shape::kVectors > 8) : !Shape::kResident);

}  // namespace

#define KERNEL(name, T, threads, vectors, block, access, mode)                                        \
  HIPOPS_KERNEL_UP_TO(launch_bound(block, mode, sizeof(T)), blocks_with_room(access, block, vectors, sizeof(T))) \
  name(HIPOPS_ARGS(SoftmaxArgs) a) {                                                                  \
    follow_launch_before();                                                                           \
    using Shape = RowShape<T, threads, vectors, block, access, mode>;                                 \
    softmax_##mode<AskingForRow<ByWaves<Shape, by_waves<Shape>>, asks<Shape>>>(a);                    \
  }
HIPOPS_SOFTMAX_KERNELS(KERNEL)

HIPOPS_KERNEL_TABLE(softmax, SoftmaxArgs, HIPOPS_SOFTMAX_KERNELS)

}  // namespace hipops
