// cross_entropy: the loss of each row of logits for the row's target, and its gradient in the same pass.
//
// loss = (1 - s) * (lse - x[target]) + s * (lse - mean(x)) + z_loss * lse^2, with lse = log(sum(exp(x))), s = label_smoothing.
// dx = dloss * (exp(x - lse) * (1 + 2 * z_loss * lse) - s / classes - (1 - s at the target, otherwise 0)).
//
//   x, dx         [rows, classes], any strides; f32, f16, bf16, f64, computed in f32 (f64: in f64). dx is optional, and may be x
//   target        [rows]; i32 or i64
//   loss, lse     [rows], lse optional; f32 (f64: f64)
//   dloss         [rows], optional: the gradient of each loss; f32 (f64: f64)
//   bytes         rows * classes * 2 * sizeof(element) must move; without dx half of that
//   limits        a row that is ignored, or whose target is out of range, has the loss 0 and a dx of 0
//
// Rows are vocabularies: most are too long for a block's registers. Blocks of a cluster keep an aligned row on chip. Other
// long rows are read twice. The target, dloss and x[target] are loaded ahead of where they are needed.
//
// Alone: hipcc --genco --offload-arch=gfx942 -O3 -std=c++17 -I kernels kernels/cross_entropy.hip -o cross_entropy.co
#include "cross_entropy.h"

#include "device/index/indices.h"
#include "device/rows/softmax.h"

namespace hipops {
namespace {

// A power is e^(x - maximum) times a number of the row: kSumScale for the sum, kScale for the gradient. For f16 and bf16 the
// number is `of_maximum`. The maximum may be -inf: see TileExponential.
template <class T>
struct Powers {  // f16, bf16
  static constexpr float kSumScale = 1;
  // 2^(x * log2(e) + offset), by one multiply-add. All powers and `of_maximum` have the error of the rounded offset, so it
  // cancels. From |maximum| = 2^20 on, all smaller elements have the power 0. The factor 1 is enough for that, and exact.
  template <int kAdded>
  struct Power {
    float factor, offset, of_maximum;
    explicit HIPOPS_METHOD Power(float maximum) : factor(fabsf(maximum) < 0x1p20f ? 1.44269504f : 1.0f) {
      offset = fused_multiply_add(-maximum, factor, float(kAdded));
      of_maximum = (*this)(maximum);
    }
    HIPOPS_METHOD float operator()(float x) const { return exp2_fast(fused_multiply_add(x, factor, offset)); }
  };
  using OfSum = Power<0>;  // the loss is f32, so no factor of 2^24 rounds the exponent
  using OfGradient = Power<24>;
  static HIPOPS_METHOD float over_power(float sum, const OfSum& power) { return quotient(sum, power.of_maximum); }
  static HIPOPS_METHOD float factor_of(float part_maximum, float, const OfSum& power) { return over_power(power(part_maximum), power); }
  static HIPOPS_METHOD float scale_of(const OfGradient& power) { return power.of_maximum; }
};
template <>
struct Powers<f32> {
  static constexpr float kSumScale = kExpScale, kScale = kExpScale;
  using OfSum = ScaledExponential<float>;
  using OfGradient = ScaledExponential<float>;
  template <class Sum> static HIPOPS_METHOD Sum over_power(const Sum& sum, const OfSum&) { return sum; }
  static HIPOPS_METHOD float factor_of(float part_maximum, float maximum, const OfSum&) { return exp_difference(part_maximum, maximum); }
  static HIPOPS_METHOD float scale_of(const OfGradient&) { return kScale; }
};
template <>
struct Powers<f64> {
  static constexpr double kSumScale = 1, kScale = 1;
  struct OfSum {
    double maximum;
    HIPOPS_METHOD double operator()(double x) const { return exp_difference(x, maximum); }
  };
  using OfGradient = OfSum;
  template <class Sum> static HIPOPS_METHOD Sum over_power(const Sum& sum, const OfSum&) { return sum; }
  static HIPOPS_METHOD double factor_of(double part_maximum, double maximum, const OfSum&) { return exp_difference(part_maximum, maximum); }
  static HIPOPS_METHOD double scale_of(const OfGradient&) { return kScale; }
};

// number / sum, as one number for f16 and bf16. Otherwise as two, so that results lack the quotient's rounding.
template <class T>
struct Factor {
  using C = compute_t<T>;
  static constexpr bool kIsOne = sizeof(T) == 2;
  C high, low = 0;

  // `lost`: the rounding error of `number`.
  HIPOPS_METHOD Factor(const WideSum<C>& sum, C number, C lost) {
    const typename Precision<T>::Divide divide(sum);
    high = divide.inverse * number;
    if constexpr (!kIsOne)
      low = fused_multiply_add(divide.inverse, number, -high) + fused_multiply_add(divide.rest, number, divide.inverse * lost);
  }
  HIPOPS_METHOD C times(C v, C plus) const {  // times(v) + plus
    return fused_multiply_add(v, high, kIsOne ? plus : fused_multiply_add(v, low, plus));
  }
};

template <class T>
struct CrossEntropy : RowOp {
  using Args = CrossEntropyArgs;
  using C = compute_t<T>;
  using P = Powers<T>;
  using Sums = WideSum<C>;
  // A wave's maximum and sum. A cluster sends 4, 8 or 16 bytes, so it is padded to 16.
  struct alignas(16) OfWave {
    C maximum;
    Sums sum;
  };
  using Largest = OfWave;
  static constexpr int kScalars = 2, kGiven = 2;
  static constexpr bool kLooksUp = true, kAdds = true;
  struct Part {
    C maximum = -C(INFINITY);
    Sums sum{}, below{};  // of e^(x - maximum) * kSumScale, and of maximum - x
  };
  template <class Column>
  struct Found {  // as loaded: conversions would wait
    uint32_t low, high;  // of the target
    C dloss;
    T element;
    Column target;  // kNothing: the row is left out
  };
  template <class Column>
  struct Row {
    typename P::OfGradient power;
    Factor<T> factor;
    C loss, lse, of_element, at_target;
    Column target;
  };

  template <class Rows>
  static HIPOPS_METHOD Found<typename Rows::Column> look_up(const Args& a, const Rows& rows) {
    const C dloss = a.rows.data[RowStreams<2, 2, 0, 2>::kFirstGiven] == nullptr ? C(1) : rows.template given_as<C>(0);
    return {rows.template given_as<uint32_t>(1), rows.template given_as<uint32_t>(1, a.target.type == kIndexI64), dloss, {}, 0};
  }
  template <class Rows, class Column>
  static HIPOPS_METHOD void load_element(const Args& a, const Rows& rows, int64_t number, Found<Column>& found) {
    const int64_t target = a.target.type == kIndexI64 ? int64_t(uint64_t{found.high} << 32 | found.low) : int32_t(found.low);
    found.target = Column(checked_index(a.target, target, a.ignored, number, rows.rank() == 0 && rows.has_row()));
    found.dloss = with_plain_nan<T>(found.dloss);
    const Column at = found.target == kNothing ? 0 : found.target;
    found.element = loaded(rows.stream(0)[Rows::kByElement ? at * rows.step(0) : at]);
  }
  // Waits on AMD: behind the next barrier another wave may store its results over the element.
  static HIPOPS_METHOD f32 loaded(f32 v) { return wait_for_load(v); }
  template <class Half>
  static HIPOPS_METHOD Half loaded(Half v) { return {uint16_t(hide_origin(v.bits))}; }
  static HIPOPS_METHOD double loaded(double v) {
    const uint64_t bits = bit_cast<uint64_t>(v);
    return bit_cast<double>(uint64_t{hide_origin(uint32_t(bits >> 32))} << 32 | hide_origin(uint32_t(bits)));
  }

  template <class View>
  static HIPOPS_METHOD Part part(const Args& a, const View& view) {
    Part part;
    if constexpr (View::kSharedByWaves) {  // waves exchange a maximum and a sum together
      const C of_wave = view.reduce_in_wave(Maximum(), Identity());
      const typename P::OfSum power{finite(of_wave)};
      part = merge_sums(view.exchange(OfWave{of_wave, total_of_wave(view, power)}));
    } else {
      part.maximum = view.reduce(Maximum(), Identity());
      const typename P::OfSum power{finite(part.maximum)};
      part.sum = Sums::of(P::over_power(view.reduce(SumByMatrix(), power), power));
    }
    const C reference = finite(part.maximum);
    if (smooths(a)) part.below = total(view.second_pass(), [reference](C x) { return reference - x; });
    return part;
  }
  template <class View>
  static HIPOPS_METHOD void add(const Args& a, Part& all, int64_t elements, const View& view) {
    const C maximum = Maximum()(all.maximum, view.reduce(Maximum(), Identity())), reference = finite(maximum);
    const typename P::OfSum power{reference};
    if (maximum > all.maximum) {
      all.sum = all.sum * P::factor_of(all.maximum, reference, power);
      if (elements > 0) all.below = all.below + Sums::of(C(elements) * (reference - finite(all.maximum)));
      all.maximum = maximum;
    }
    all.sum = all.sum + Sums::of(P::over_power(view.reduce(SumByMatrix(), power), power));
    if (smooths(a)) all.below = all.below + total(view.second_pass(), [reference](C x) { return reference - x; });
  }
  template <class Parts>
  static HIPOPS_METHOD Part merge(const Args& a, const Parts& parts) {
    Part all = merge_sums(parts);
    const C reference = finite(all.maximum);
    if (smooths(a))
      all.below = parts.reduce(Sum(), [reference](const Part& p, int64_t n) {
        return p.below + Sums::of(C(n) * (reference - finite(p.maximum)));
      });
    return all;
  }
  template <class Column>
  static HIPOPS_METHOD Row<Column> finalize(const Args& a, const Part& part, const Found<Column>& found) {
    const C log_sum = logarithm(part.sum.value() / P::kSumScale), lse = part.maximum + log_sum, element = C(widen(found.element));
    const LossTerms<C>& terms = terms_of(reload_arguments(a), C());
    C loss = (part.maximum - element) + log_sum;
    if (smooths(a)) loss = terms.of_target * loss + terms.smoothing * (fused_multiply_add(part.below.value(), terms.inverse_columns, log_sum));
    const bool is_left_out = found.target == kNothing;
    const typename P::OfGradient power{finite(part.maximum)};
    const C twice_z = 2 * terms.z_loss, slope = fused_multiply_add(twice_z, lse, C(1)), factor = found.dloss * slope;
    const C lost = fused_multiply_add(found.dloss, slope, -factor) + found.dloss * fused_multiply_add(twice_z, lse, 1 - slope);
    const Factor<T> times(part.sum * (P::scale_of(power) / P::kSumScale), factor, lost);
    const C of_element = smooths(a) ? -(found.dloss * terms.of_element) : -C(0);  // -0 keeps the sign of a product that is 0
    return {power,
            times,
            is_left_out ? C(0) : fused_multiply_add(terms.z_loss * lse, lse, loss),
            lse,
            of_element,
            times.times(power(element), of_element) - found.dloss * terms.of_target,
            found.target};
  }
  template <class Column>
  static HIPOPS_METHOD void scalars(const Row<Column>& row, C (&out)[2]) { out[0] = row.loss, out[1] = row.lse; }

  static HIPOPS_METHOD bool stores(const Args& a) { return a.stores_gradient != 0; }
  template <class Column, int n>
  static HIPOPS_METHOD void apply(const Args&, const Row<Column>& row, const C (&x)[n], C (&)[1][n], C (&out)[1][n]) {
#pragma unroll
    for (int i = 0; i < n; ++i) out[0][i] = row.factor.times(row.power(x[i]), row.of_element);
  }

 private:
  template <class Parts>
  static HIPOPS_METHOD Part merge_sums(const Parts& parts) {
    const C maximum = parts.reduce(Maximum(), [](const auto& p, int64_t) { return p.maximum; });
    const C reference = finite(maximum);
    const typename P::OfSum power{reference};
    const auto of_part = [&](const auto& p, int64_t) { return p.sum * P::factor_of(p.maximum, reference, power); };
    return {maximum, parts.reduce(SumByMatrix(), of_part), {}};
  }
  // A lane adds its elements in C. Lanes of a row on chip are added as a WideSum, except for 16-bit types.
  template <class View, class F>
  static HIPOPS_METHOD Sums total(const View& view, F f) {
    const auto of = [](C sum) { return Sums::of(sum); };
    if constexpr (View::kIsRow && sizeof(T) > 2) return view.reduce(SumByMatrix(), f, Identity(), of);
    else return Sums::of(view.reduce(SumByMatrix(), f));
  }
  template <class View>
  static HIPOPS_METHOD Sums total_of_wave(const View& view, const typename P::OfSum& power) {
    const auto of = [](C sum) { return Sums::of(sum); };
    if constexpr (sizeof(T) > 2) return view.reduce_in_wave(SumByMatrix(), power, of);
    else return Sums::of(P::over_power(view.reduce_in_wave(SumByMatrix(), power), power));
  }
  static HIPOPS_METHOD C finite(C maximum) { return maximum == -C(INFINITY) ? C(0) : maximum; }
  static HIPOPS_METHOD bool smooths(const Args& a) { return reload_arguments(a).terms.smoothing != 0; }
  static HIPOPS_METHOD const LossTerms<float>& terms_of(const Args& a, float) { return a.terms; }
  static HIPOPS_METHOD const LossTerms<double>& terms_of(const Args& a, double) { return a.terms_in_f64; }
};

}  // namespace

#define KERNEL(...) HIPOPS_ROW_KERNEL(CrossEntropy, CrossEntropyArgs, __VA_ARGS__)
HIPOPS_CROSS_ENTROPY_KERNELS(KERNEL)

HIPOPS_KERNEL_TABLE(cross_entropy, CrossEntropyArgs, HIPOPS_CROSS_ENTROPY_KERNELS)

}  // namespace hipops
