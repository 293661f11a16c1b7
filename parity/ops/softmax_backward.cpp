// softmax_backward and log_softmax_backward.
#include <algorithm>
#include <cmath>

#include "parity/ops/rows.h"

namespace hipops::parity {
namespace {

// The gradient, from dy, y, and the sum over the row.
using Formula = Real (*)(Real dy, Real y, Real sum);
Real of_softmax(Real dy, Real y, Real sum) { return y * (dy - sum); }
Real of_log_softmax(Real dy, Real y, Real sum) { return dy - std::exp(y) * sum; }

// A term of the sum is dy * y, or dy. An element's scale is the magnitude of the terms that may cancel.
template <Formula formula, bool sums_products>
void reference(Case* test) {
  const Operand dy = input_of(*test, "dy"), y = input_of(*test, "y");
  const auto scale = test->params.count("scale") == 0 ? 1 : static_cast<Real>(test->params.at("scale"));
  const size_t cols = static_cast<size_t>(y.shape().back()), count = static_cast<size_t>(y.tensor.layout.elements);
  ExpectedTensor& dx = output_of(test, "dx");
  test->tolerance_ulps = tolerance_of(test->dtype);
  std::vector<Real> terms(cols);
  for (size_t first = 0; first < count; first += cols) {
    const auto value = [&](const Operand& of, size_t c) { return static_cast<Real>(of.value(static_cast<int64_t>(first + c))); };
    Real magnitude = 0;
    for (size_t c = 0; c < cols; ++c) {
      terms[c] = value(dy, c) * (sums_products ? value(y, c) : 1);
      magnitude += std::fabs(terms[c]);
    }
    const Real total = static_cast<Real>(sum(terms));
    for (size_t c = 0; c < cols; ++c) {
      dx.values.push_back(static_cast<double>(scale * formula(value(dy, c), value(y, c), total)));
      Real size = std::fabs(scale * formula(std::fabs(value(dy, c)), value(y, c), -magnitude));
      // A y of 0 gives a zero of the sign of dy - sum. If that is within its rounding of 0, either sign is right.
      const Real lost = std::ldexp(std::fabs(value(dy, c)) + magnitude, test->dtype == HIPOPS_F64 ? -50 : -21);
      if (sums_products && std::fabs(value(dy, c) - total) <= lost) size = std::max<Real>(size, 0x1p-1022);
      dx.scale.push_back(static_cast<double>(size));
    }
  }
}

void random_call(RandomCase& m) {
  const Shape shape = random_rows(m);
  add_gradients(m, shape, "y");
  if (std::string(m.op.name) == "log_softmax_backward")
    for (InputTensor& input : m.test.inputs)
      if (input.name == "y")
        for (uint64_t& bits : input.bits) bits = encode(m.test.dtype, -std::fabs(decode(m.test.dtype, bits)));
  m.pick_params();
}

// ---- Past 2^31 elements and 4 GiB

struct LargeRows {
  const char* name;
  hipops_dtype dtype;
  int64_t rows, cols, half;  // 2 * half divides cols
  bool has_sum = true;       // otherwise the row is too long for a sum that f32 has
  int64_t step = 0;          // elements from a row of y and dx to the next; 0: contiguous
  int64_t column_step = 1;   // of y
};

// All elements of y are 1, or 0 for log_softmax, so dx is dy less the sum. All rows of dy are one row, which has a number for
// each of its opposite. With a sum each is larger by 1/2, so the sum is half of the columns.
void run(large::Stage& stage, const LargeRows& c, bool is_log) {
  std::vector<double> numbers(static_cast<size_t>(2 * c.half));
  std::vector<uint64_t> bits;
  for (size_t i = 0; i < numbers.size(); ++i) {
    const double number = static_cast<double>(i % static_cast<size_t>(c.half) * 7 % 5) - 3;
    numbers[i] = (i < numbers.size() / 2 ? number : -number) + (c.has_sum ? 0.5 : 0);
    bits.push_back(encode(c.dtype, numbers[i]));
  }
  const int64_t step = c.step == 0 ? c.cols : c.step;
  const uint64_t result = encode(c.dtype, is_log ? 0 : 1);
  large::Memory& dy = stage.memory("dy", large::Pattern(c.dtype, bits), c.cols);
  large::Memory& y = stage.memory("y", large::Pattern(c.dtype, {result, result}), (c.rows - 1) * step + (c.cols - 1) * c.column_step + 1);
  large::Memory& dx = stage.unwritten_memory("dx", c.dtype, (c.rows - 1) * step + c.cols);
  const hipops_tensor of_dy = dy.view({c.rows, c.cols}, {0, 1}), of_y = y.view({c.rows, c.cols}, {step, c.column_step}),
                      to = dx.view({c.rows, c.cols}, {step, 1});
  stage.called([&] {
    return is_log ? hipops_log_softmax_backward(&to, &of_dy, &of_y, 0, nullptr)
                  : hipops_softmax_backward(&to, &of_dy, &of_y, 2, 0, nullptr);
  });
  const double sum = c.has_sum ? static_cast<double>(c.cols) / 2 : 0, scale = is_log ? 1 : 2;
  stage.expect(dx, large::elements_are(to, 0, dx.pattern(), [=, dtype = c.dtype](const int64_t* index) {
                 return encode(dtype, scale * (numbers[static_cast<size_t>(index[1]) % numbers.size()] - sum));
               }));
  for (const large::Memory* input : {&dy, &y}) stage.expect_unchanged(*input);
}

template <bool is_log>
void add_large_cases(int64_t giant, std::vector<large::LargeCase>* cases) {
  const LargeRows all[] = {
      {"rows", HIPOPS_BF16, giant / 4000 + 3, 4000, 500},
      {"short_rows", HIPOPS_F16, giant / 40 + 5, 40, 20},
      {"rows_of_2", HIPOPS_BF16, giant / 2 + 5, 2, 1},
      {"one_row", HIPOPS_BF16, 1, (giant / 1000 + 1) * 1000, 500, false},
      {"one_row_of_every_second", HIPOPS_F16, 1, (giant / 2000 + 1) * 1000, 500, false, 0, 2},
      {"far_rows", HIPOPS_F32, 5, 1000, 100, true, giant / 4 + 4},
      {"far_odd_rows", HIPOPS_F64, 5, 1002, 3, true, giant / 4 + 1},
  };
  for (const LargeRows& c : all)
    cases->push_back({is_log ? "log_softmax_backward" : "softmax_backward", c.dtype, large::large_name(c.name, c.dtype), {c.rows, c.cols},
                      [c](large::Stage& stage) { run(stage, c, is_log); }});
}

const std::vector<TensorSpec> kInputs = {{"dy"}, {"y"}};
const ParamSpec kFlags = {"flags", true, true, {0, HIPOPS_BATCH_INVARIANT}};

}  // namespace

OpEntry describe_softmax_backward() {
  OpEntry op = {"softmax_backward", kFloats, {{"dx"}}, kInputs, {{"scale", false, false, {1, 0.125, 0.7}}, kFlags}};
  op.bind = [](const Arguments& a) {
    return bound(hipops_softmax_backward, a["dx"], a["dy"], a["y"], a.real("scale"), a.flags(), a.stream());
  };
  op.in_place = {{"dx", {"dy", "y"}}};
  op.by_rows = true;
  op.random_case = random_call;
  op.reference = reference<of_softmax, true>;
  op.large_cases = add_large_cases<false>;
  return op;
}

OpEntry describe_log_softmax_backward() {
  OpEntry op = {"log_softmax_backward", kFloats, {{"dx"}}, kInputs, {kFlags}};
  op.bind = [](const Arguments& a) {
    return bound(hipops_log_softmax_backward, a["dx"], a["dy"], a["y"], a.flags(), a.stream());
  };
  op.in_place = {{"dx", {"dy", "y"}}};
  op.by_rows = true;
  op.random_case = random_call;
  op.reference = reference<of_log_softmax, false>;
  op.large_cases = add_large_cases<true>;
  return op;
}

}  // namespace hipops::parity
