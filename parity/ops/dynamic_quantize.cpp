#include <cfloat>

#include "parity/ops/quantised.h"
#include "parity/ops/rows.h"

namespace hipops::parity {
namespace {

// max|x| is scaled to this number.
float most_of(hipops_dtype q, uint32_t flags) {
  if (q == HIPOPS_I8) return 127;
  if (is_e5m2(q)) return 57344;
  return q == HIPOPS_F8_E4M3FN ? 448 : flags & HIPOPS_FNUZ_240 ? 240 : 224;
}

float scale_of(hipops_dtype q, float largest, const float* bound, uint32_t flags) {
  const float most = most_of(q, flags), least = q == HIPOPS_I8 ? FLT_EPSILON : 1 / (most * 512);
  if (bound != nullptr && largest > *bound) largest = *bound;
  return largest / most < least ? least : largest / most;
}

void reference(Case* test) {
  const Operand x = input_of(*test, "x");
  const hipops_dtype q = output_of(test, "q").layout.dtype;
  const auto given = static_cast<int64_t>(test->params.at("group"));
  const int64_t group = given > 0 ? given : given == 0 ? x.tensor.layout.columns() : x.tensor.layout.elements;
  test->tolerance_ulps = 0;
  float bound = 0;
  if (find_input(*test, "scale_ub")) bound = static_cast<float>(input_of(*test, "scale_ub").value(0));
  std::vector<uint64_t> codes;
  for (int64_t first = 0; first < x.tensor.layout.elements; first += group) {
    float largest = 0;
    for (int64_t i = first; i < first + group; ++i) {
      const float magnitude = static_cast<float>(std::fabs(x.value(i)));
      if (magnitude > largest || std::isnan(magnitude)) largest = magnitude;
    }
    const float scale = scale_of(q, largest, find_input(*test, "scale_ub") ? &bound : nullptr, flags_of(*test));
    output_of(test, "scale").values.push_back(scale);
    for (int64_t i = first; i < first + group; ++i) codes.push_back(quantised_quotient(q, x.value(i), scale));
  }
  expect_bits(test, "q", codes);
}

void random_dynamic_quantize(RandomCase& m) {
  m.budget.elements /= 8;  // a short row has a block of its own, which the CPU executes slowly
  Shape shape = random_rows(m);
  const int64_t groups = m.choices.pick<int64_t>({0, 0, 1, 2, 3, 5, HIPOPS_WHOLE_TENSOR});
  if (shape.size() == HIPOPS_MAX_RANK) shape.erase(shape.begin());
  if (groups < 0 ? std::count(shape.begin(), shape.end(), 0) != 0 : shape.back() == 0)
    shape = {3, 7};  // other sizes may be large next to a 0
  if (groups > 0) shape.back() = (shape.back() - 1) / groups * groups + groups;
  m.choices.one_in(3) ? m.add_bits("x", shape) : m.add_numbers("x", shape);
  m.pick_params();
  m.test.params["group"] = static_cast<double>(groups > 0 ? shape.back() / groups : groups);
  const hipops_dtype q = m.choices.pick(kQuantised);
  m.add_output("q", random_layout(m.choices, q, shape, Use::kOutput));
  Shape scales = shape;
  if (groups < 0) scales.assign(m.choices.below(3), 1);
  else scales.back() = std::max<int64_t>(groups, 1);
  if (groups == 0 && scales.size() > 1 && m.choices.one_in(2)) scales.pop_back();
  m.add_output("scale", random_layout(m.choices, HIPOPS_F32, scales, Use::kOutput));
  if (!m.choices.one_in(3)) return;
  m.add(tensor_of("scale_ub", plain_layout(HIPOPS_F32, {}), [](uint64_t, double) { return encode(HIPOPS_F32, 1.5); }, 0));
}

// ---- Past 2^31 elements and 4 GiB

struct QuantisedRows {
  const char* name;
  hipops_dtype dtype, q;
  int64_t rows, cols, pitch, group;

  bool is_whole() const { return group == HIPOPS_WHOLE_TENSOR; }
};

// Each group has the pattern's elements from one of few places on, so that a table has all scales.
void run(large::Stage& stage, const QuantisedRows& c) {
  const int64_t group = c.group > 0 ? c.group : c.is_whole() ? c.rows * c.cols : c.cols;
  const large::Pattern values = large::random_floats(c.dtype, 1, 8, 0, 1021);
  large::Memory& from = stage.memory("x", values, c.rows * c.pitch);
  const std::vector<int64_t> of_scale = {c.is_whole() ? 1 : c.rows, c.is_whole() ? 1 : c.cols / group};
  large::Memory& scales = stage.unwritten_memory("scale", HIPOPS_F32, of_scale[0] * of_scale[1]);
  large::Memory& q = stage.unwritten_memory("q", c.q, c.rows * c.cols);
  const hipops_tensor x = from.view({c.rows, c.cols}, {c.pitch, 1}), to = q.view({c.rows, c.cols});
  const hipops_tensor scale = scales.view(of_scale);
  int64_t bytes = 0;
  const hipops_status status = hipops_dynamic_quantize_workspace_bytes(&to, &scale, &x, nullptr, c.group, 0, &bytes);
  void* const workspace = c.is_whole() ? stage.workspace(status, bytes) : nullptr;
  stage.called([&] { return hipops_dynamic_quantize(&to, &scale, &x, nullptr, c.group, 0, workspace, bytes, nullptr); });
  std::vector<float> of_start(static_cast<size_t>(values.period()));
  for (int64_t start = 0; start < values.period(); ++start) {
    float largest = 0;
    for (int64_t i = 0; i < std::min(group, values.period()); ++i)
      largest = std::max(largest, static_cast<float>(std::fabs(decode(c.dtype, values(start + i)))));
    of_start[static_cast<size_t>(start)] = scale_of(c.q, largest, nullptr, 0);
  }
  const auto scale_at = [=](int64_t place) { return of_start[static_cast<size_t>(place % values.period())]; };
  const auto start_of = [=](int64_t row, int64_t in_row) { return c.is_whole() ? 0 : row * c.pitch + in_row * group; };
  stage.expect(scales, large::elements_are(scale, 0, scales.pattern(), [=](const int64_t* index) {
                 return encode(HIPOPS_F32, scale_at(start_of(index[0], index[1])));
               }));
  stage.expect(q, large::elements_are(to, 0, q.pattern(), [=](const int64_t* index) {
                 const double element = decode(c.dtype, values(index[0] * c.pitch + index[1]));
                 return quantised_quotient(c.q, element, scale_at(start_of(index[0], index[1] / group)));
               }));
  stage.expect_unchanged(from);
}

void add_large_cases(int64_t giant, std::vector<large::LargeCase>* cases) {
  const int64_t rows = giant / 4096 + 3, odd = giant / 201 + 3, narrow = giant / 128 + 5;
  const QuantisedRows all[] = {
      {"rows", HIPOPS_BF16, HIPOPS_F8_E4M3FN, rows, 4096, 4096, 0},
      {"groups", HIPOPS_BF16, HIPOPS_F8_E4M3FN, rows, 4096, 4104, 128},
      {"short_rows", HIPOPS_F32, HIPOPS_I8, narrow, 128, 128, 0},
      {"odd_rows", HIPOPS_F16, HIPOPS_F8_E4M3FNUZ, odd, 201, 203, 0},
      {"one_row", HIPOPS_BF16, HIPOPS_F8_E5M2, 1, giant + 9, giant + 9, 0},
      {"one_scale", HIPOPS_BF16, HIPOPS_F8_E4M3FN, rows, 4096, 4104, HIPOPS_WHOLE_TENSOR},
  };
  for (const QuantisedRows& c : all)
    cases->push_back({"dynamic_quantize", c.dtype, large::large_name(c.name, c.dtype), {c.rows, c.cols},
                      [c](large::Stage& stage) { run(stage, c); }});
}

}  // namespace

OpEntry describe_dynamic_quantize() {
  OpEntry op = {"dynamic_quantize", {HIPOPS_F32, HIPOPS_F16, HIPOPS_BF16}, {{"q", Role::kQuantised}, scalar_of_rows("scale")}, {kX}};
  op.outputs.back().optional = false;
  op.inputs.push_back({"scale_ub", Role::kScalar, true, [](const Shape&, const Shape&, size_t) { return Shape{}; }});
  op.params = {{"group", true, false},
               {"flags", true, false, {0, HIPOPS_FNUZ_240, HIPOPS_BATCH_INVARIANT}},
               {kWorkspaceParam, true, false, {1, 0}}};
  op.bind = [](const Arguments& a) {
    return bound(hipops_dynamic_quantize, a["q"], a["scale"], a["x"], a["scale_ub"], a.integer("group"), a.flags(), a.workspace(),
                 a.workspace_bytes(), a.stream());
  };
  op.workspace_bytes = [](const Arguments& a, int64_t* bytes) {
    return hipops_dynamic_quantize_workspace_bytes(a["q"], a["scale"], a["x"], a["scale_ub"], a.integer("group"), a.flags(), bytes);
  };
  op.random_case = random_dynamic_quantize;
  op.reference = reference;
  op.large_cases = add_large_cases;
  return op;
}

}  // namespace hipops::parity
