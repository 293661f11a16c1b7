// The row ops past 2^31 elements, past 2^31 rows, and on single rows of more than 2^31 elements.
#include <algorithm>
#include <cmath>

#include "parity/large_cases.h"

namespace hipops::parity::large {
namespace {

constexpr double kEps = 0.125;  // shows in rows of one element

struct RowsCase {
  const char* name;
  hipops_dtype dtype;
  int64_t rows, cols;
  // If there are more than kFewRows kinds of rows: x is contiguous, and its pattern has this number of whole rows.
  int64_t kinds = 0;
  int64_t x_row = 0, y_row = 0;  // elements from a row to the next; 0: contiguous
  int64_t x_step = 1;            // from an element of x to the next
  int64_t shift = 0;             // elements before the first row of x and y
  bool weighted = false;
  bool whole = false;  // checks every element
};

constexpr int64_t kFewRows = 16;

enum class RowOp { kLayerNorm, kRmsNorm, kSoftmax, kFusedAddRmsNorm, kFusedAddLayerNorm, kLogSoftmax, kSoftmaxExt };
bool adds_residual(RowOp op) { return op == RowOp::kFusedAddRmsNorm || op == RowOp::kFusedAddLayerNorm; }
bool adds_x_twice(RowOp op) { return adds_residual(op) || op == RowOp::kSoftmaxExt; }  // x is the residual, or the mask
bool is_softmax(RowOp op) { return op == RowOp::kSoftmax || op == RowOp::kSoftmaxExt; }
bool subtracts_mean(RowOp op) { return op == RowOp::kLayerNorm || op == RowOp::kFusedAddLayerNorm; }

const char* name_of(RowOp op) {
  switch (op) {
    case RowOp::kLayerNorm: return "layer_norm";
    case RowOp::kRmsNorm: return "rms_norm";
    case RowOp::kFusedAddRmsNorm: return "fused_add_rms_norm";
    case RowOp::kFusedAddLayerNorm: return "fused_add_layer_norm";
    case RowOp::kLogSoftmax: return "log_softmax";
    case RowOp::kSoftmaxExt: return "softmax_ext";
    case RowOp::kSoftmax: break;
  }
  return "softmax";
}

// The result of each kind of row at each place of the pattern. Elements a whole period apart are equal.
struct Results {
  int64_t length = 0;  // of a kind
  std::vector<double> value, scale;
  std::vector<uint64_t> bits;
  double rounding = 0;
};

double power_of_two_below(double v) { return v == 0 ? 0 : std::ldexp(1.0, std::ilogb(v)); }

// Adds a row that begins at `start` of the pattern.
class RowModel {
 public:
  RowModel(RowOp op, const RowsCase& c, const Pattern& x, const Pattern& weight, const Pattern& bias, Results* results)
      : op_(op), c_(c), x_(x), weight_(weight), bias_(bias), results_(*results) {
    results_.length = std::min(c.cols, x.period());
  }

  void add_row(int64_t start) {
    std::vector<long double> v(static_cast<size_t>(results_.length));
    for (int64_t e = 0; e < results_.length; ++e) {
      const int64_t place = (start + e * c_.x_step) % x_.period();
      v[static_cast<size_t>(e)] = decode(c_.dtype, x_(place < 0 ? place + x_.period() : place));
      if (adds_x_twice(op_)) v[static_cast<size_t>(e)] *= 2;
    }
    is_softmax(op_) || op_ == RowOp::kLogSoftmax ? softmax(v) : normalise(v);
  }

 private:
  // The number of the row's elements that have element e of the pattern.
  long double times(int64_t e) const {
    return static_cast<long double>(c_.cols / results_.length + (e < c_.cols % results_.length ? 1 : 0));
  }

  template <class F>
  long double sum(F f) const {
    long double total = 0;
    for (int64_t e = 0; e < results_.length; ++e) total += times(e) * f(static_cast<size_t>(e));
    return total;
  }

  void softmax(const std::vector<long double>& v) {
    const long double most = *std::max_element(v.begin(), v.end());
    const long double total = sum([&](size_t e) { return std::exp(v[e] - most); });
    for (const long double x : v) {
      const long double log = x - most - std::log(total);
      if (is_softmax(op_)) add(std::exp(x - most) / total, 0);
      else add(log, power_of_two_below(std::max(std::fabs(static_cast<double>(log)), 1.0)));
    }
  }

  void normalise(const std::vector<long double>& v) {
    const long double n = static_cast<long double>(c_.cols);
    const long double mean = subtracts_mean(op_) ? sum([&](size_t e) { return v[e]; }) / n : 0;
    const long double square = sum([&](size_t e) { return (v[e] - mean) * (v[e] - mean); }) / n;
    const long double deviation = std::sqrt(square + static_cast<long double>(kEps));
    for (size_t e = 0; e < v.size(); ++e) {
      long double y = (v[e] - mean) / deviation;
      if (!c_.weighted) {
        add(y, 0);
        continue;
      }
      const int64_t place = static_cast<int64_t>(e);
      y *= decode(HIPOPS_F32, weight_(place));
      const double more = subtracts_mean(op_) ? decode(HIPOPS_F32, bias_(place)) : 0;
      // The terms may cancel, so the error is in ULPs of the larger term.
      const double terms = std::max(std::fabs(static_cast<double>(y)), std::fabs(more));
      add(y + static_cast<long double>(more), more == 0 ? 0 : power_of_two_below(terms));
    }
  }

  void add(long double value, double scale) {
    const double rounded = static_cast<double>(value);
    results_.value.push_back(rounded);
    results_.scale.push_back(scale);
    results_.bits.push_back(encode(c_.dtype, rounded));
    results_.rounding =
        std::max(results_.rounding, error_in_ulps(c_.dtype, rounded, scale, results_.bits.back()));
  }

  RowOp op_;
  const RowsCase& c_;
  const Pattern &x_, &weight_, &bias_;
  Results& results_;
};

hipops_status call(RowOp op, const hipops_tensor& y, const hipops_tensor& x, const hipops_tensor* weight,
                   const hipops_tensor* bias) {
  if (op == RowOp::kLayerNorm) return hipops_layer_norm(&y, nullptr, nullptr, &x, weight, bias, kEps, 0, nullptr);
  if (op == RowOp::kRmsNorm) return hipops_rms_norm(&y, nullptr, &x, weight, kEps, 0, nullptr);
  if (op == RowOp::kFusedAddRmsNorm)
    return hipops_fused_add_rms_norm(&y, nullptr, nullptr, &x, &x, weight, kEps, 0, nullptr);
  if (op == RowOp::kFusedAddLayerNorm)
    return hipops_fused_add_layer_norm(&y, nullptr, nullptr, nullptr, &x, &x, weight, bias, kEps, 0, nullptr);
  if (op == RowOp::kLogSoftmax) return hipops_log_softmax(&y, &x, 0, nullptr);
  if (op == RowOp::kSoftmaxExt) return hipops_softmax_ext(&y, &x, &x, nullptr, nullptr, 1, 0, nullptr);
  return hipops_softmax(&y, &x, 0, nullptr);
}

void run(Stage& stage, RowOp op, const RowsCase& c) {
  const int64_t x_row = c.x_row == 0 ? c.cols : c.x_row, y_row = c.y_row == 0 ? c.cols : c.y_row;
  const bool few = c.rows <= kFewRows;
  const Pattern values = random_floats(c.dtype, 30, 4, 0, few ? kPeriod : c.kinds * c.cols);
  const Pattern weights = random_floats(HIPOPS_F32, 31, 2, 0, values.period());
  const Pattern biases = random_floats(HIPOPS_F32, 32, 2, 0, values.period());
  const int64_t row_reach = (c.cols - 1) * std::llabs(c.x_step) + 1;
  const int64_t x_first = c.shift + (c.x_step < 0 ? row_reach - 1 : 0);
  Memory& x = stage.memory("x", values, c.shift + (c.rows - 1) * x_row + row_reach);
  Memory& y = stage.unwritten_memory("y", c.dtype, c.shift + (c.rows - 1) * y_row + c.cols);
  const hipops_tensor to = y.view({c.rows, c.cols}, {y_row, 1}, c.shift),
                      from = x.view({c.rows, c.cols}, {x_row, c.x_step}, x_first);
  hipops_tensor weight = {}, bias = {};
  if (c.weighted) {
    weight = stage.memory("weight", weights, c.cols).view({c.cols});
    bias = stage.memory("bias", biases, c.cols).view({c.cols});
  }
  stage.called([&] { return call(op, to, from, c.weighted ? &weight : nullptr, c.weighted ? &bias : nullptr); });

  Results results;
  RowModel model(op, c, values, weights, biases, &results);
  for (int64_t row = 0; row < (few ? c.rows : c.kinds); ++row) model.add_row(x_first + row * x_row);
  const Modulo kind_of(few ? kFewRows : c.kinds), element_of(std::max<int64_t>(results.length, 2));
  const bool repeats = results.length < c.cols;
  const int64_t length = results.length;
  const auto at = [=](const int64_t* i) {
    return static_cast<size_t>(kind_of(i[0]) * length + (repeats ? element_of(i[1]) : i[1]));
  };
  const std::vector<uint64_t>& bits = results.bits;
  Expectation expected = elements_are(to, c.shift, y.pattern(), [&bits, at](const int64_t* i) { return bits[at(i)]; });
  const Places places(to, c.shift);
  expected.error = [&, places](int64_t place, uint64_t got) {
    int64_t index[HIPOPS_MAX_RANK] = {}, run;
    if (!places.find(place, index, &run)) return HUGE_VAL;
    return error_in_ulps(c.dtype, results.value[at(index)], results.scale[at(index)], got);
  };
  expected.tolerance = dtype_size(c.dtype) == 2 ? 1 : 4;
  expected.rounding = results.rounding;
  std::vector<int64_t> touched;
  for (int64_t row = 0; row < std::min(c.rows, kFewRows); ++row) touched.push_back(c.shift + row * y_row);
  c.whole ? stage.expect(y, expected) : stage.expect_samples(y, expected, touched);
  stage.expect_unchanged(x);
}

}  // namespace

void add_row_cases(int64_t giant, std::vector<LargeCase>* cases) {
  constexpr hipops_dtype f32 = HIPOPS_F32, f16 = HIPOPS_F16, bf16 = HIPOPS_BF16, f64 = HIPOPS_F64;
  const int64_t half = giant / 2;
  RowsCase weighted = {"few_rows", bf16, 3, half + 1000}, edged = {"one_row_edged", f32, 1, giant + 5};
  weighted.weighted = true;
  edged.shift = 1;
  RowsCase backwards = {"one_row_any", bf16, 1, giant + 3}, apart = {"far_apart", bf16, 5, 40};
  backwards.x_step = -1;
  apart.x_row = half + 3, apart.y_row = half + 4;
  RowsCase one_row = {"one_row", bf16, 1, giant + 8};
  one_row.whole = true;
  RowsCase padded = {"padded_rows", bf16, giant / 1000 + 1, 1000, 67};
  padded.y_row = 1003;
  const RowsCase common[] = {
      one_row, edged, backwards, weighted, padded, apart,
      {"short_rows", f16, giant + 5, 2, 32003},
      {"many_rows", f32, giant / 1024 + 3, 1024, 61},
      {"many_rows", f64, half / 128 + 1, 128, 509},
  };
  for (const RowOp op : {RowOp::kLayerNorm, RowOp::kRmsNorm, RowOp::kSoftmax, RowOp::kFusedAddRmsNorm, RowOp::kFusedAddLayerNorm, RowOp::kLogSoftmax,
                          RowOp::kSoftmaxExt}) {
    const auto add = [&](const RowsCase& c) {
      if (adds_x_twice(op) && c.dtype == f64) return;
      RowsCase of_op = c;
      if (is_softmax(op) || op == RowOp::kLogSoftmax) of_op.weighted = false;
      cases->push_back({name_of(op), c.dtype, large_name(c.name, c.dtype), {c.rows, c.cols},
                        [=](Stage& stage) { run(stage, op, of_op); }});
    };
    for (const RowsCase& c : common) add(c);
    if (op == RowOp::kRmsNorm) add({"rows_of_one", f16, 2 * giant + 7, 1, 65521});
    // With 13 kinds, a cluster's next row, 14 to 16 rows later, has another kind.
    if (op == RowOp::kSoftmax) add({"rows_of_a_vocabulary", f32, half / 151936 + 1, 151936, 13});
  }
}

}  // namespace hipops::parity::large
