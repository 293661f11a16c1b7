// rms_norm_backward and layer_norm_backward.
#include <cmath>
#include <tuple>

#include "parity/ops/rows.h"

namespace hipops::parity {
namespace {

// dx has the roundings of two sums, a reciprocal and a root.
double tolerance(hipops_dtype dtype) { return dtype_size(dtype) == 2 ? 1 : 8; }

// The scale that allows an error of 2^-20 (f64: 2^-49) of `terms`, a sum of magnitudes, and `more`.
double scale_of(hipops_dtype x, hipops_dtype dw, Real terms, Real more) {
  const int mantissa = dw == HIPOPS_F64 ? 52 : dw == HIPOPS_F32 ? 23 : dw == HIPOPS_F16 ? 10 : 7;
  const Real error = std::ldexp(terms, x == HIPOPS_F64 ? -49 : -20) + more;
  return static_cast<double>(std::ldexp(error, mantissa) / static_cast<Real>(tolerance(x)));
}

void reference(Case* test) {
  const uint32_t flags = flags_of(*test);
  const hipops_dtype dtype = test->dtype;
  const Operand x = input_of(*test, "x"), dy = input_of(*test, "dy");
  const InputTensor* rstds = find_input(*test, "rstd");
  std::vector<Real> weight = weights_of(*test, "weight", 1);
  if (find_input(*test, "weight") != nullptr && (flags & HIPOPS_WEIGHT_PLUS_ONE))
    for (Real& w : weight) w += 1;
  const bool rounds = (flags & HIPOPS_ROUND_BEFORE_WEIGHT) && dtype_size(dtype) == 2;
  const size_t cols = static_cast<size_t>(x.shape().back()), count = static_cast<size_t>(x.tensor.layout.elements);
  ExpectedTensor& dx = output_of(test, "dx");
  test->tolerance_ulps = tolerance(dtype);
  std::vector<Wide> sums(cols);
  std::vector<Real> magnitudes(cols), ties(cols), row(cols);
  const auto rounded = [&](Real v) { return decode(dtype, encode(dtype, static_cast<double>(v))); };
  for (size_t first = 0; first < count; first += cols) {
    const auto gradient = [&](size_t c) { return static_cast<Real>(dy.value(static_cast<int64_t>(first + c))); };
    for (size_t c = 0; c < cols; ++c) row[c] = x.value(static_cast<int64_t>(first + c));
    Real rstd = 1 / std::sqrt(mean_of_squares(row) + static_cast<Real>(test->params.at("eps")));
    if (rstds != nullptr) rstd = Operand{*rstds}.value(static_cast<int64_t>(first / cols));
    Wide products = 0;
    Real terms = 0;
    for (size_t c = 0; c < cols; ++c) {
      products += static_cast<Wide>(gradient(c) * weight[c]) * static_cast<Wide>(row[c]);
      terms += std::fabs(gradient(c) * weight[c] * row[c]);
    }
    const Real mean = static_cast<Real>(products) / static_cast<Real>(cols) * rstd;
    for (size_t c = 0; c < cols; ++c) {
      Real normalized = row[c] * rstd;
      dx.values.push_back(static_cast<double>(rstd * (gradient(c) * weight[c] - normalized * mean)));
      const Real of_mean = std::fabs(normalized * rstd) * terms / static_cast<Real>(cols);
      const Real scale = std::fabs(rstd) * (std::fabs(gradient(c) * weight[c]) + of_mean);
      dx.scale.push_back(static_cast<double>(scale));
      if (rounds) {  // f32 cannot resolve values near a tie, so both neighbours are right
        const Real margin = 4 * std::max<Real>(std::fabs(normalized) * 0x1p-23, 0x1p-149);
        const Real low = rounded(normalized - margin), high = rounded(normalized + margin);
        normalized = (low + high) / 2;
        ties[c] += 2 * std::fabs(gradient(c)) * (high - low);  // 4 times the error: dw is rounded, too, and a scale is a binade
      }
      sums[c] += static_cast<Wide>(gradient(c)) * static_cast<Wide>(normalized);
      magnitudes[c] += std::fabs(gradient(c) * normalized);
    }
  }
  ExpectedTensor* dw = find_output(test, "dw");
  if (dw == nullptr) return;
  for (size_t c = 0; c < cols; ++c) {
    dw->values.push_back(static_cast<double>(sums[c]));
    dw->scale.push_back(scale_of(dtype, dw->layout.dtype, magnitudes[c], ties[c]));
  }
}

void reference_of_layer(Case* test) {
  const hipops_dtype dtype = test->dtype;
  const Operand x = input_of(*test, "x"), dy = input_of(*test, "dy");
  const InputTensor *means = find_input(*test, "mean"), *rstds = find_input(*test, "rstd");
  const std::vector<Real> weight = weights_of(*test, "weight", 1);
  const size_t cols = static_cast<size_t>(x.shape().back()), count = static_cast<size_t>(x.tensor.layout.elements);
  const Real number = static_cast<Real>(cols);
  ExpectedTensor& dx = output_of(test, "dx");
  test->tolerance_ulps = tolerance(dtype);
  std::vector<Wide> of_weight(cols), of_bias(cols);
  std::vector<Real> weight_size(cols), bias_size(cols), row(cols), squares(cols), size(cols), g(cols), products(cols);
  for (size_t first = 0; first < count; first += cols) {
    const auto gradient = [&](size_t c) { return static_cast<Real>(dy.value(static_cast<int64_t>(first + c))); };
    const auto given = [&](const InputTensor* of) { return static_cast<Real>(Operand{*of}.value(static_cast<int64_t>(first / cols))); };
    Real magnitude = 0, of_g = 0, of_products = 0;
    for (size_t c = 0; c < cols; ++c) row[c] = x.value(static_cast<int64_t>(first + c));
    const Wide mean = means != nullptr ? static_cast<Wide>(given(means)) : sum(row) / static_cast<Wide>(number);
    // A computed mean has the digits of two numbers. Each deviation is rounded.
    for (size_t c = 0; c < cols && means == nullptr; ++c) magnitude += std::ldexp(std::fabs(row[c]) / number, dtype == HIPOPS_F64 ? -51 : -22);
    for (size_t c = 0; c < cols; ++c) row[c] = static_cast<Real>(static_cast<Wide>(row[c]) - mean), magnitude += std::fabs(row[c]) / number;
    for (size_t c = 0; c < cols; ++c) size[c] = std::fabs(row[c]) + magnitude;
    const Real rstd = rstds != nullptr ? given(rstds) : 1 / std::sqrt(mean_of_squares(row) + static_cast<Real>(test->params.at("eps")));
    for (size_t c = 0; c < cols; ++c) {
      row[c] *= rstd, size[c] *= std::fabs(rstd);
      g[c] = gradient(c) * weight[c], products[c] = g[c] * row[c];
      of_g += std::fabs(g[c]) / number, of_products += std::fabs(g[c]) * size[c] / number;
      of_weight[c] += static_cast<Wide>(gradient(c)) * static_cast<Wide>(row[c]), of_bias[c] += static_cast<Wide>(gradient(c));
      weight_size[c] += std::fabs(gradient(c)) * size[c], bias_size[c] += std::fabs(gradient(c));
    }
    const Real mean_of_g = static_cast<Real>(sum(g)) / number, factor = static_cast<Real>(sum(products)) / number;
    for (size_t c = 0; c < cols; ++c) {
      dx.values.push_back(static_cast<double>(rstd * (g[c] - mean_of_g - row[c] * factor)));
      // With a scale above 0 a zero may have either sign.
      const Real scale = std::fabs(rstd) * (std::fabs(g[c]) + of_g + size[c] * of_products);
      dx.scale.push_back(std::max(static_cast<double>(scale), 0x1p-1022));
    }
  }
  for (const auto& [name, sums, sizes] : {std::tuple{"dw", &of_weight, &weight_size}, {"db", &of_bias, &bias_size}}) {
    ExpectedTensor* const output = find_output(test, name);
    for (size_t c = 0; output != nullptr && c < cols; ++c) {
      output->values.push_back(static_cast<double>((*sums)[c]));
      output->scale.push_back(scale_of(dtype, output->layout.dtype, (*sizes)[c], 0));
    }
  }
}

// Makes rstd so small that normalized elements are at most 8, about as norms have them. Terms of dx hold their squares: much
// larger terms, which cancel, have errors of more than an ULP of f16's largest number.
void fit_rstd(Case* test) {
  double largest = 0, size = 0;  // of rstd; of x and mean
  InputTensor* rstd = nullptr;
  for (InputTensor& input : test->inputs) {
    if (input.name == "rstd") rstd = &input;
    if (input.name != "rstd" && input.name != "x" && input.name != "mean") continue;
    double most = 0;
    for (const uint64_t bits : input.bits) most = std::max(most, std::fabs(decode(input.layout.dtype, bits)));
    (input.name == "rstd" ? largest : size) += most;
  }
  const double factor = 8 / (largest * size);
  if (rstd == nullptr || !(factor < 1)) return;
  for (uint64_t& bits : rstd->bits) bits = encode(rstd->layout.dtype, factor * decode(rstd->layout.dtype, bits));
}

void random_call(RandomCase& m) {
  const Shape shape = random_rows(m), of_rows(shape.begin(), shape.end() - 1);
  const hipops_dtype dtype = m.weight_dtype(), scalar = scalar_dtype(m.test.dtype);
  const bool is_layer = m.op.find_input("mean") != nullptr;
  const auto add_sum = [&](const char* name) { m.add_output(name, random_layout(m.choices, dtype, {shape.back()}, Use::kOutput)); };
  add_gradients(m, shape, "x");
  if (!m.choices.one_in(4)) {
    m.add_weight("weight", dtype, {shape.back()});
    if (!m.choices.one_in(4)) add_sum("dw");
  }
  if (is_layer && !m.choices.one_in(4)) add_sum("db");
  if (is_layer && m.choices.one_in(2)) m.add_weight("mean", scalar, of_rows);
  if (m.choices.one_in(2)) m.add_weight("rstd", scalar, of_rows);
  fit_rstd(&m.test);
  m.pick_params();
}

// ---- Past 2^31 elements and 4 GiB

struct LargeRows {
  const char* name;
  hipops_dtype dtype;
  int64_t rows, cols, half;  // 2 * half divides cols
  int64_t step = 0;          // elements from a row of x and dx to the next; 0: contiguous
};

// All elements of x are 1 and eps is 3, so rstd is 1/2. All rows of dy are one row, which has a number for each of its
// opposite: dx is dy / 2, and dw is the number of rows times dy / 2. All sums are exact. For layer_norm, elements of x are 1
// and -1 in turn, and the mean of dy * x may be another number than 0.
void run(large::Stage& stage, const LargeRows& c, bool is_layer) {
  std::vector<double> numbers(static_cast<size_t>(2 * c.half));
  std::vector<uint64_t> bits;
  for (size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = i < numbers.size() / 2 ? static_cast<double>(i * 7 % 5) - 3 : -numbers[i - numbers.size() / 2];
    bits.push_back(encode(c.dtype, numbers[i]));
  }
  const auto one = [](hipops_dtype dtype, double second) { return large::Pattern(dtype, {encode(dtype, 1), encode(dtype, second)}); };
  const int64_t step = c.step == 0 ? c.cols : c.step, reach = (c.rows - 1) * step + c.cols;
  large::Memory& dy = stage.memory("dy", large::Pattern(c.dtype, bits), c.cols);
  large::Memory& x = stage.memory("x", one(c.dtype, is_layer ? -1 : 1), reach);
  large::Memory& weight = stage.memory("weight", one(HIPOPS_F32, 1), c.cols);
  large::Memory& dx = stage.unwritten_memory("dx", c.dtype, reach);
  large::Memory& dw = stage.unwritten_memory("dw", HIPOPS_F32, c.cols);
  large::Memory* const db = is_layer ? &stage.unwritten_memory("db", HIPOPS_F32, c.cols) : nullptr;
  const hipops_tensor of_dy = dy.view({c.rows, c.cols}, {0, 1}), of_x = x.view({c.rows, c.cols}, {step, 1}),
                      of_weight = weight.view({c.cols}), to_dx = dx.view({c.rows, c.cols}, {step, 1}), to_dw = dw.view({c.cols}),
                      to_db = is_layer ? db->view({c.cols}) : hipops_tensor{};
  int64_t bytes = 0;
  const hipops_status status =
      is_layer ? hipops_layer_norm_backward_workspace_bytes(&to_dx, &to_dw, &to_db, &of_dy, &of_x, &of_weight, nullptr, nullptr, &bytes)
               : hipops_rms_norm_backward_workspace_bytes(&to_dx, &to_dw, &of_dy, &of_x, &of_weight, nullptr, &bytes);
  void* const workspace = stage.workspace(status, bytes);
  stage.called([&] {
    return is_layer ? hipops_layer_norm_backward(&to_dx, &to_dw, &to_db, &of_dy, &of_x, &of_weight, nullptr, nullptr, 3, 0, workspace,
                                                 bytes, nullptr)
                    : hipops_rms_norm_backward(&to_dx, &to_dw, &of_dy, &of_x, &of_weight, nullptr, 3, 0, workspace, bytes, nullptr);
  });
  const auto half_of = [numbers](int64_t col) { return numbers[static_cast<size_t>(col) % numbers.size()] / 2; };
  const auto sign = [is_layer](int64_t col) { return is_layer && col % 2 != 0 ? -1 : 1; };
  double mean = 0;  // of dy * n, where n is half of x
  for (size_t i = 0; is_layer && i < numbers.size(); ++i) mean += half_of(static_cast<int64_t>(i)) * sign(static_cast<int64_t>(i));
  mean /= static_cast<double>(numbers.size());
  stage.expect(dx, large::elements_are(to_dx, 0, dx.pattern(), [=, dtype = c.dtype](const int64_t* index) {
                 // layer_norm's zeros are +0: they are sums with -mean(dy), which is +0.
                 return encode(dtype, half_of(index[1]) - mean * sign(index[1]) / 4 + (is_layer ? 0.0 : -0.0));
               }));
  stage.expect(dw, large::elements_are(to_dw, 0, dw.pattern(), [=, rows = c.rows](const int64_t* index) {
                 return encode(HIPOPS_F32, static_cast<double>(rows) * half_of(index[0]) * sign(index[0]) + 0.0);
               }));
  if (is_layer)
    stage.expect(*db, large::elements_are(to_db, 0, db->pattern(), [=, rows = c.rows](const int64_t* index) {
                   return encode(HIPOPS_F32, static_cast<double>(rows) * 2 * half_of(index[0]) + 0.0);
                 }));
  for (const large::Memory* input : {&dy, &x, &weight}) stage.expect_unchanged(*input);
}

template <bool is_layer>
void add_large_cases(int64_t giant, std::vector<large::LargeCase>* cases) {
  const LargeRows all[] = {
      {"rows", HIPOPS_BF16, giant / 4000 + 3, 4000, 500},
      {"short_rows", HIPOPS_F16, giant / 40 + 5, 40, 20},
      {"rows_of_2", HIPOPS_BF16, giant / 2 + 5, 2, 1},
      {"one_row", HIPOPS_BF16, 1, (giant - giant / 1000) / 1000 * 1000, 500},  // about the longest row that the ops accept
      {"far_rows", HIPOPS_F32, 5, 1000, 100, giant / 4 + 4},
      {"far_odd_rows", HIPOPS_F64, 5, 1002, 3, giant / 4 + 1},
  };
  for (const LargeRows& c : all) {
    if (is_layer && c.step % 2 != 0) continue;  // elements of x would have another sign in the next row
    cases->push_back({is_layer ? "layer_norm_backward" : "rms_norm_backward", c.dtype, large::large_name(c.name, c.dtype),
                      {c.rows, c.cols}, [c](large::Stage& stage) { run(stage, c, is_layer); }});
  }
}

}  // namespace

OpEntry describe_rms_norm_backward() {
  OpEntry op = {"rms_norm_backward", kFloats};
  op.outputs = {{"dx"}, columns_of_x("dw")};
  op.inputs = {{"dy"}, kX, columns_of_x("weight"), scalar_of_rows("rstd")};
  op.params = {eps_param(),
               {"flags", true, true,
                {0, HIPOPS_WEIGHT_PLUS_ONE, HIPOPS_ROUND_BEFORE_WEIGHT,
                 HIPOPS_WEIGHT_PLUS_ONE | HIPOPS_ROUND_BEFORE_WEIGHT, HIPOPS_BATCH_INVARIANT}},
               {kWorkspaceParam, true, false, {1}}};
  op.bind = [](const Arguments& a) {
    return bound(hipops_rms_norm_backward, a["dx"], a["dw"], a["dy"], a["x"], a["weight"], a["rstd"], a.real("eps"),
                 a.flags(), a.workspace(), a.workspace_bytes(), a.stream());
  };
  op.workspace_bytes = [](const Arguments& a, int64_t* bytes) {
    return hipops_rms_norm_backward_workspace_bytes(a["dx"], a["dw"], a["dy"], a["x"], a["weight"], a["rstd"], bytes);
  };
  op.in_place = {{"dx", {"dy", "x"}}};
  op.random_case = random_call;
  op.reference = reference;
  op.large_cases = add_large_cases<false>;
  return op;
}

OpEntry describe_layer_norm_backward() {
  OpEntry op = {"layer_norm_backward", kFloats};
  op.outputs = {{"dx"}, columns_of_x("dw"), columns_of_x("db")};
  op.inputs = {{"dy"}, kX, columns_of_x("weight"), scalar_of_rows("mean"), scalar_of_rows("rstd")};
  op.params = {eps_param(), {"flags", true, true, {0, HIPOPS_BATCH_INVARIANT}}, {kWorkspaceParam, true, false, {1}}};
  op.bind = [](const Arguments& a) {
    return bound(hipops_layer_norm_backward, a["dx"], a["dw"], a["db"], a["dy"], a["x"], a["weight"], a["mean"], a["rstd"],
                 a.real("eps"), a.flags(), a.workspace(), a.workspace_bytes(), a.stream());
  };
  op.workspace_bytes = [](const Arguments& a, int64_t* bytes) {
    return hipops_layer_norm_backward_workspace_bytes(a["dx"], a["dw"], a["db"], a["dy"], a["x"], a["weight"], a["mean"], a["rstd"],
                                                      bytes);
  };
  op.in_place = {{"dx", {"dy", "x"}}};
  op.random_case = random_call;
  op.reference = reference_of_layer;
  op.large_cases = add_large_cases<true>;
  return op;
}

}  // namespace hipops::parity
