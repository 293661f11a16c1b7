#include <cmath>
#include <memory>

#include "parity/large_sums.h"
#include "parity/ops/index.h"

namespace hipops::parity {
namespace {

using Real = long double;

// The scale that allows an error of 2^-20 (f64: 2^-49) of `terms`, a magnitude. docs/ops/cumsum.md names this bound.
double scale_of(hipops_dtype dtype, Real terms, double tolerance) {
  const int mantissa = dtype == HIPOPS_F64 ? 52 : dtype == HIPOPS_F32 ? 23 : dtype == HIPOPS_F16 ? 10 : 7;
  return static_cast<double>(std::ldexp(terms, mantissa - (dtype == HIPOPS_F64 ? 49 : 20)) / Real(tolerance));
}

void reference(Case* test) {
  const Operand x = input_of(*test, "x");
  ExpectedTensor& y = output_of(test, "y");
  const size_t dim = dim_of(*test);
  const bool is_exact = !is_float(x.dtype());
  test->tolerance_ulps = is_exact ? 0 : tolerance_of(x.dtype());
  // The sum of a line's elements before this one, by the place of the line's first element.
  std::vector<Real> sums(static_cast<size_t>(y.layout.elements), 0), terms = sums;
  std::vector<uint64_t> integers(sums.size(), 0), bits;
  for_each_index(x.shape(), [&](Index at, int64_t position) {
    at[dim] = 0;
    const auto line = static_cast<size_t>(position_of(x.shape(), at));
    if (is_exact) {
      uint64_t v = x.bits(position);
      if (x.dtype() == HIPOPS_I32) v = static_cast<uint64_t>(int64_t{static_cast<int32_t>(v)});
      bits.push_back((integers[line] += v) & low_bits(y.layout.dtype));
    } else {
      sums[line] += x.value(position);
      terms[line] += std::fabs(static_cast<Real>(x.value(position)));
      y.values.push_back(static_cast<double>(sums[line]));
      y.scale.push_back(std::isfinite(sums[line]) ? scale_of(x.dtype(), terms[line], test->tolerance_ulps) : 0);
    }
  });
  if (is_exact) expect_bits(test, "y", bits);
}

void random_cumsum(RandomCase& m) {
  Shape shape = random_shape(m.choices, random_rank(m.choices, 1), m.budget);
  const size_t dim = m.pick_dim(shape);
  m.test.params[kWorkspaceParam] = static_cast<double>(m.choices.below(2));
  if (m.choices.one_in(4)) {  // long lines, and few
    for (int64_t& size : shape) size = std::min<int64_t>(size, 2);
    shape[dim] = m.choices.between(1, 2 * m.budget.elements);
  }
  const bool in_place = m.choices.one_in(4);
  const Layout& x = m.add_terms("x", shape, in_place ? Use::kOutput : Use::kSource);
  if (in_place) {
    m.add_output("y", x);
    m.test.in_place = {"y", "x"};
    return;
  }
  const bool is_widened = !is_float(m.test.dtype) && m.choices.one_in(2);
  m.add_output("y", random_layout(m.choices, is_widened ? HIPOPS_I64 : m.test.dtype, shape, Use::kOutput));
}

// ---- Past 2^31 elements and 4 GiB

struct Summed {
  const char* name;
  hipops_dtype dtype;
  Shape shape;
  size_t dim;
  bool has_workspace;
};

void run(large::Stage& stage, const Summed& c) {
  const large::Pattern values = is_float(c.dtype) ? large::random_floats(c.dtype, 1, 4, 1) : large::random_integers(c.dtype, 1, 200);
  const int64_t columns = c.shape.size() == 1 ? 1 : c.shape[1], count = c.shape[0] * columns;
  large::Memory& x = stage.memory("x", values, count);
  large::Memory& y = stage.unwritten_memory("y", c.dtype, count);
  const hipops_tensor from = x.view(c.shape), to = y.view(c.shape);
  const auto dim = static_cast<int32_t>(c.dim);
  int64_t bytes = 0;
  const hipops_status status = hipops_cumsum_workspace_bytes(&to, &from, dim, &bytes);
  void* workspace = c.has_workspace ? stage.workspace(status, bytes) : nullptr;
  stage.called([&] { return hipops_cumsum(&to, &from, dim, workspace, workspace ? bytes : 0, nullptr); });
  const int64_t step = c.dim == 0 ? columns : 1;
  const auto sums = std::make_shared<large::PatternSums>(values, step % values.period());
  const bool is_line = c.shape.size() == 1;
  stage.expect(y, large::elements_are(to, 0, y.pattern(), [=](const int64_t* index) {
                 const int64_t first = is_line ? 0 : dim == 0 ? index[1] : index[0] * columns;
                 const double sum = sums->of(first, index[dim] + 1);
                 if (is_float(c.dtype)) return encode(c.dtype, sum);
                 return static_cast<uint64_t>(static_cast<int64_t>(sum)) & low_bits(c.dtype);
               }));
  stage.expect_unchanged(x);
}

void add_large_cases(int64_t giant, std::vector<large::LargeCase>* cases) {
  const int64_t third = giant / 3 + 5, few = giant / 8192 + 3;
  const Summed all[] = {
      {"line", HIPOPS_BF16, {giant + 7}, 0, true},         {"line_by_one_block", HIPOPS_F16, {giant + 7}, 0, false},
      {"line_of_bytes", HIPOPS_U8, {giant + 1}, 0, true},  {"lines", HIPOPS_F32, {few, 8192}, 1, true},
      {"lines_of_3", HIPOPS_BF16, {third, 3}, 1, true},    {"columns", HIPOPS_BF16, {few, 8192}, 0, true},
      {"three_columns", HIPOPS_F32, {third, 3}, 0, true},  {"columns_of_3", HIPOPS_F16, {3, third}, 0, true},
  };
  for (const Summed& c : all)
    cases->push_back({"cumsum", c.dtype, large::large_name(c.name, c.dtype), c.shape, [c](large::Stage& stage) { run(stage, c); }});
}

}  // namespace

OpEntry describe_cumsum() {
  OpEntry op = {"cumsum", kAdded, {{"y", Role::kResult}}, {kX}};
  op.params = {{"dim", true}, {kWorkspaceParam, true, false, {1, 0}}};
  op.bind = [](const Arguments& a) {
    return bound(hipops_cumsum, a["y"], a["x"], a.dim(), a.workspace(), a.workspace_bytes(), a.stream());
  };
  op.workspace_bytes = [](const Arguments& a, int64_t* bytes) {
    return hipops_cumsum_workspace_bytes(a["y"], a["x"], a.dim(), bytes);
  };
  op.in_place = {{"y", {"x"}}};
  op.random_case = random_cumsum;
  op.reference = reference;
  op.large_cases = add_large_cases;
  return op;
}

}  // namespace hipops::parity
