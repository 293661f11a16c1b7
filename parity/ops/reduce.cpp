#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

#include "parity/large_sums.h"
#include "parity/ops/rows.h"

namespace hipops::parity {
namespace {

const std::vector<double> kReductions = {HIPOPS_REDUCE_SUM, HIPOPS_REDUCE_MEAN, HIPOPS_REDUCE_MAX, HIPOPS_REDUCE_MIN,
                                         HIPOPS_REDUCE_LOGSUMEXP, HIPOPS_REDUCE_ARGMAX, HIPOPS_REDUCE_ARGMIN};

uint32_t dims_of(const Case& test) { return static_cast<uint32_t>(test.params.at("dims")); }

// The shape of y, with size 1 where x is reduced, or without these dimensions.
Shape reduced_shape(const Shape& x, uint32_t dims, bool keeps) {
  Shape y;
  for (size_t d = 0; d < x.size(); ++d) {
    const bool is_reduced = dims >> d & 1;
    if (!is_reduced || keeps) y.push_back(is_reduced ? 1 : x[d]);
  }
  return y;
}

// The position in y of each element of x.
std::vector<size_t> results_of(const Shape& x, uint32_t dims) {
  const Shape y = reduced_shape(x, dims, true);
  std::vector<size_t> results;
  for_each_index(x, [&](Index at, int64_t) {
    for (size_t d = 0; d < x.size(); ++d)
      if (dims >> d & 1) at[d] = 0;
    results.push_back(static_cast<size_t>(position_of(y, at)));
  });
  return results;
}

// The scale that allows an error of 2^-20 (f64: 2^-49) of `terms`, a magnitude. docs/ops/reduce.md names this bound.
double scale_of(hipops_dtype x, hipops_dtype y, Real terms, double tolerance) {
  const int mantissa = y == HIPOPS_F64 ? 52 : y == HIPOPS_F32 ? 23 : y == HIPOPS_F16 ? 10 : 7;
  return static_cast<double>(terms * std::ldexp(Real(1), mantissa - (x == HIPOPS_F64 ? 49 : 20)) / Real(tolerance));
}

bool is_position(hipops_reduction reduction) {
  return reduction == HIPOPS_REDUCE_ARGMAX || reduction == HIPOPS_REDUCE_ARGMIN;
}
bool is_exact(hipops_reduction reduction) {
  return reduction == HIPOPS_REDUCE_MAX || reduction == HIPOPS_REDUCE_MIN || is_position(reduction);
}

// The first of the greatest, or least, elements. The first NaN comes before all numbers.
size_t position_in(hipops_reduction reduction, const std::vector<Real>& elements) {
  const Real sign = reduction == HIPOPS_REDUCE_ARGMIN ? -1 : 1;
  size_t first = 0;
  for (size_t i = 0; i < elements.size(); ++i) {
    if (std::isnan(elements[i])) return i;
    if (sign * elements[i] > sign * elements[first]) first = i;
  }
  return first;
}

struct Result {
  Real value, terms;
};
Result result_of(hipops_reduction reduction, const std::vector<Real>& elements) {
  constexpr Real kInfinity = std::numeric_limits<Real>::infinity();
  const Real sign = reduction == HIPOPS_REDUCE_MIN ? -1 : 1, count = static_cast<Real>(elements.size());
  Real greatest = -kInfinity, terms = 0;
  bool has_nan = false;
  for (const Real v : elements) {
    greatest = std::max(greatest, sign * v);
    has_nan = has_nan || std::isnan(v);
    terms += std::fabs(v);
  }
  if (reduction == HIPOPS_REDUCE_LOGSUMEXP) {
    if (has_nan || std::isinf(greatest)) return {has_nan ? std::nanl("") : greatest, 0};
    std::vector<Real> powers;
    for (const Real v : elements) powers.push_back(std::exp(v - greatest));
    return {greatest + std::log(static_cast<Real>(sum(powers))), 0.5L};
  }
  if (is_exact(reduction)) return {has_nan ? std::nanl("") : sign * greatest + 0, 0};
  const Real divisor = reduction == HIPOPS_REDUCE_MEAN ? count : 1;
  return {static_cast<Real>(sum(elements)) / divisor, elements.empty() ? 0 : terms / divisor};
}

void reference(Case* test) {
  const Operand x = input_of(*test, "x");
  ExpectedTensor& y = output_of(test, "y");
  test->tolerance_ulps = tolerance_of(x.dtype());
  std::vector<std::vector<Real>> elements(static_cast<size_t>(y.layout.elements));
  const std::vector<size_t> results = results_of(x.shape(), dims_of(*test));
  if (!elements.empty())
    for (size_t i = 0; i < results.size(); ++i) elements[results[i]].push_back(x.value(static_cast<int64_t>(i)));
  const auto reduction = static_cast<hipops_reduction>(test->params.at("reduction"));
  if (is_exact(reduction)) test->tolerance_ulps = 0;
  if (is_position(reduction)) {
    std::vector<uint64_t> positions;
    for (const std::vector<Real>& of_result : elements) positions.push_back(position_in(reduction, of_result));
    return expect_bits(test, "y", positions);
  }
  for (const std::vector<Real>& of_result : elements) {
    const Result result = result_of(reduction, of_result);
    y.values.push_back(static_cast<double>(result.value));
    if (!is_exact(reduction))
      y.scale.push_back(scale_of(x.dtype(), y.layout.dtype, result.terms, test->tolerance_ulps));
  }
}

void random_reduce(RandomCase& m) {
  m.pick_params();
  Shape shape = random_shape(m.choices, random_rank(m.choices, 0), m.budget);
  const auto dims = static_cast<uint32_t>(m.choices.below(uint64_t{1} << shape.size()));
  m.test.params["dims"] = dims;
  if (is_exact(static_cast<hipops_reduction>(m.test.params["reduction"]))) {
    for (int64_t& size : shape) size = std::max<int64_t>(size, 1);
    m.add_bits("x", shape);
  } else {
    m.add_terms("x", shape);
  }
  hipops_dtype dtype = m.test.dtype == HIPOPS_F64 ? HIPOPS_F64 : m.weight_dtype();
  if (is_position(static_cast<hipops_reduction>(m.test.params["reduction"])))
    dtype = m.choices.pick({HIPOPS_I64, HIPOPS_I32, HIPOPS_U32});
  m.add_output("y", random_layout(m.choices, dtype, reduced_shape(shape, dims, m.choices.one_in(2)), Use::kOutput));
}

// ---- Past 2^31 elements and 4 GiB

struct Reduced {
  const char* name;
  hipops_dtype dtype;
  Shape shape, stride;  // of x
  uint32_t dims;
  bool has_workspace;
};

void run(large::Stage& stage, const Reduced& c) {
  const large::Pattern values = large::random_floats(c.dtype, 1, 4, 1);
  int64_t last = 0;
  for (size_t d = 0; d < c.shape.size(); ++d) last += (c.shape[d] - 1) * c.stride[d];
  large::Memory& x = stage.memory("x", values, last + 1);
  const Shape shape = reduced_shape(c.shape, c.dims, false);
  const int64_t results = std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<int64_t>());
  const hipops_dtype dtype = c.dtype == HIPOPS_F64 ? HIPOPS_F64 : HIPOPS_F32;
  large::Memory& y = stage.unwritten_memory("y", dtype, results);
  const hipops_tensor from = x.view(c.shape, c.stride), to = y.view(shape);
  int64_t bytes = 0;
  const hipops_status status = hipops_reduce_workspace_bytes(&to, &from, HIPOPS_REDUCE_SUM, c.dims, 0, &bytes);
  void* workspace = c.has_workspace ? stage.workspace(status, bytes) : nullptr;
  stage.called([&] {
    return hipops_reduce(&to, &from, HIPOPS_REDUCE_SUM, c.dims, 0, workspace, workspace ? bytes : 0, nullptr);
  });
  // One dimension is reduced, and at most one is left.
  const size_t reduced = c.dims == 1 ? 0 : 1;
  const auto sums = std::make_shared<large::PatternSums>(values, c.stride[reduced] % values.period());
  const int64_t step = c.shape.size() == 1 ? 0 : c.stride[1 - reduced], count = c.shape[reduced];
  stage.expect(y, large::elements_are(to, 0, y.pattern(), [=](const int64_t* index) {
                 return encode(dtype, sums->of(to.rank == 0 ? 0 : index[0] * step, count));
               }));
  stage.expect_unchanged(x);
}

void add_large_cases(int64_t giant, std::vector<large::LargeCase>* cases) {
  const int64_t third = giant / 3 + 5, few = giant / 8192 + 3;
  const Reduced all[] = {
      {"all", HIPOPS_BF16, {giant + 7}, {1}, 1, true},
      {"all_by_one_block", HIPOPS_F16, {giant + 7}, {1}, 1, false},
      {"all_apart", HIPOPS_F16, {third}, {3}, 1, true},
      {"rows", HIPOPS_F32, {few, 8192}, {8192, 1}, 2, true},
      {"rows_of_3", HIPOPS_BF16, {third, 3}, {3, 1}, 2, true},
      {"rows_far", HIPOPS_F64, {5, 100}, {giant / 4, 1}, 2, true},
      {"columns", HIPOPS_BF16, {few, 8192}, {8192, 1}, 1, true},
      {"columns_of_3", HIPOPS_F16, {3, third}, {third, 1}, 1, true},
      {"three_columns", HIPOPS_F32, {third, 3}, {3, 1}, 1, true},
  };
  for (const Reduced& c : all)
    cases->push_back({"reduce", c.dtype, large::large_name(c.name, c.dtype), reduced_shape(c.shape, c.dims, true),
                      [c](large::Stage& stage) { run(stage, c); }});
}

}  // namespace

OpEntry describe_reduce() {
  OpEntry op = {"reduce", kFloats, {{"y", Role::kResult}}, {kX}};
  op.params = {{"reduction", true, false, kReductions},
               {"dims", true, false},
               {"flags", true, true, {0, HIPOPS_BATCH_INVARIANT}},
               {kWorkspaceParam, true, false, {1, 0}}};
  op.bind = [](const Arguments& a) {
    return bound(hipops_reduce, a["y"], a["x"], static_cast<hipops_reduction>(a.integer("reduction")),
                 static_cast<uint32_t>(a.integer("dims")), a.flags(), a.workspace(), a.workspace_bytes(), a.stream());
  };
  op.workspace_bytes = [](const Arguments& a, int64_t* bytes) {
    return hipops_reduce_workspace_bytes(a["y"], a["x"], static_cast<hipops_reduction>(a.integer("reduction")),
                                         static_cast<uint32_t>(a.integer("dims")), a.flags(), bytes);
  };
  op.bench.reduces = true;
  op.random_case = random_reduce;
  op.reference = reference;
  op.large_cases = add_large_cases;
  return op;
}

}  // namespace hipops::parity
