#include <algorithm>
#include <cmath>
#include <numeric>

#include "parity/ops/rows.h"

namespace hipops::parity {
namespace {

const std::vector<double> kFlags = {HIPOPS_SORTED, 0, HIPOPS_SMALLEST | HIPOPS_SORTED, HIPOPS_SMALLEST,
                                    HIPOPS_SORTED | HIPOPS_WINDOW_INDICES, HIPOPS_BATCH_INVARIANT};

// NaN is greater than all numbers.
bool is_above(double a, double b) { return std::isnan(a) ? !std::isnan(b) : a > b; }

struct RowWindow {
  int64_t begin, end;
};

RowWindow window_of(const Case& test, int64_t row, int64_t columns) {
  const auto number = [&](const char* name, int64_t usual) {
    if (!find_input(test, name)) return usual;
    const Operand numbers = input_of(test, name);
    const uint64_t bits = numbers.bits(row);
    return numbers.dtype() == HIPOPS_I64 ? static_cast<int64_t>(bits) : int64_t{static_cast<int32_t>(bits)};
  };
  const int64_t begin = std::clamp<int64_t>(number("row_begin", 0), 0, columns);
  return {begin, begin + std::clamp<int64_t>(number("lengths", columns), 0, columns - begin)};
}

// The columns of a row's results.
std::vector<int64_t> selected(const std::vector<double>& row, RowWindow window, size_t k, uint32_t flags) {
  std::vector<int64_t> columns(static_cast<size_t>(window.end - window.begin));
  std::iota(columns.begin(), columns.end(), window.begin);
  std::stable_sort(columns.begin(), columns.end(), [&](int64_t a, int64_t b) {
    const double of_a = row[static_cast<size_t>(a)], of_b = row[static_cast<size_t>(b)];
    return flags & HIPOPS_SMALLEST ? is_above(of_b, of_a) : is_above(of_a, of_b);
  });
  if (columns.size() > k) columns.resize(k);
  if (!(flags & HIPOPS_SORTED)) std::sort(columns.begin(), columns.end());
  return columns;
}

void reference(Case* test) {
  const Operand x = input_of(*test, "x");
  const uint32_t flags = flags_of(*test);
  const auto k = static_cast<size_t>(test->params.at("k"));
  const int64_t columns = x.shape().back();
  const hipops_dtype index = output_of(test, "indices").layout.dtype;
  const uint64_t none = index == HIPOPS_I64 ? UINT64_MAX : UINT32_MAX;
  const uint64_t absent = encode(x.dtype(), flags & HIPOPS_SMALLEST ? INFINITY : -INFINITY);
  test->tolerance_ulps = 0;
  std::vector<uint64_t> values, indices;
  std::vector<double> row(static_cast<size_t>(columns));
  for (int64_t first = 0; first < x.tensor.layout.elements; first += columns) {
    for (int64_t c = 0; c < columns; ++c) row[static_cast<size_t>(c)] = x.value(first + c);
    const RowWindow window = window_of(*test, first / columns, columns);
    const std::vector<int64_t> found = selected(row, window, k, flags);
    for (const int64_t column : found) {
      values.push_back(x.bits(first + column));
      indices.push_back(static_cast<uint64_t>(flags & HIPOPS_WINDOW_INDICES ? column - window.begin : column));
    }
    values.insert(values.end(), k - found.size(), absent);
    indices.insert(indices.end(), k - found.size(), none);
  }
  expect_bits(test, "indices", indices);
  if (find_output(test, "values")) expect_bits(test, "values", values);
}

Shape without_columns(Shape shape, bool keeps) {
  if (keeps) shape.back() = 1;
  else shape.pop_back();
  return shape;
}

void add_numbers_of_rows(RandomCase& m, const char* name, const Shape& x, int64_t least) {
  const Shape shape = without_columns(x, m.choices.one_in(2));
  const hipops_dtype dtype = m.choices.pick({HIPOPS_I64, HIPOPS_I32});
  const int64_t range = x.back() + 4 - least;
  m.add(tensor_of(name, random_layout(m.choices, dtype, shape, Use::kSource),
                  [=](uint64_t word, double) {
                    const auto number = static_cast<uint64_t>(least + static_cast<int64_t>(word % static_cast<uint64_t>(range)));
                    return dtype == HIPOPS_I64 ? number : number & UINT32_MAX;
                  },
                  m.choices.below(1 << 16)));
}

void random_topk(RandomCase& m) {
  m.pick_params();
  Shape shape = random_rows(m);
  if (m.choices.one_in(4)) shape = {m.choices.between(1, 2), m.choices.between(1000, m.choices.one_in(3) ? 40000 : 12000)};
  shape.back() = std::max<int64_t>(shape.back(), 1);
  const int64_t columns = shape.back(), most = std::min<int64_t>(columns, 1 << 16);
  const int64_t k = m.choices.one_in(3) ? m.choices.between(1, most) : std::min(most, m.choices.between(1, m.choices.one_in(3) ? 2048 : 200));
  m.test.params["k"] = static_cast<double>(k);
  m.choices.one_in(2) ? m.add_bits("x", shape) : m.add_numbers("x", shape);
  if (m.choices.one_in(3)) add_numbers_of_rows(m, "lengths", shape, -3);
  if (m.choices.one_in(4)) add_numbers_of_rows(m, "row_begin", shape, -3);
  if (k > 2048) m.test.params[kWorkspaceParam] = 1;
  shape.back() = k;
  if (m.choices.one_in(3) == false) m.add_output("values", random_layout(m.choices, m.test.dtype, shape, Use::kOutput));
  m.add_output("indices", random_layout(m.choices, m.choices.pick({HIPOPS_I64, HIPOPS_I32, HIPOPS_U32}), shape, Use::kOutput));
}

// ---- Past 2^31 elements and 4 GiB

struct LongRows {
  const char* name;
  hipops_dtype dtype, index;
  int64_t rows, columns, pitch, k;
  uint32_t flags;
  bool has_workspace;
};

// The greatest elements are the pattern's greatest element, at the pattern's period.
void run(large::Stage& stage, const LongRows& c) {
  const large::Pattern numbers = large::random_floats(c.dtype, 1, 4, 0, 1021);
  std::vector<uint64_t> table = numbers.table();
  constexpr int64_t kPeak = 7;
  table[kPeak] = encode(c.dtype, 5);
  const large::Pattern values(c.dtype, table);
  large::Memory& x = stage.memory("x", values, c.rows * c.pitch);
  large::Memory& found = stage.unwritten_memory("values", c.dtype, c.rows * c.k);
  large::Memory& places = stage.unwritten_memory("indices", c.index, c.rows * c.k);
  const hipops_tensor from = x.view({c.rows, c.columns}, {c.pitch, 1}), to = found.view({c.rows, c.k});
  const hipops_tensor of = places.view({c.rows, c.k});
  int64_t bytes = 0;
  const hipops_status status = hipops_topk_workspace_bytes(&to, &of, &from, nullptr, nullptr, c.k, c.flags, &bytes);
  void* const workspace = c.has_workspace ? stage.workspace(status, bytes) : nullptr;
  stage.called([&] {
    return hipops_topk(&to, &of, &from, nullptr, nullptr, c.k, c.flags, workspace, workspace ? bytes : 0, nullptr);
  });
  const int64_t period = values.period();
  stage.expect(found, large::elements_are(to, 0, found.pattern(), [=](const int64_t*) { return encode(c.dtype, 5); }));
  stage.expect(places, large::elements_are(of, 0, places.pattern(), [=](const int64_t* at) {
                 const int64_t first = (kPeak - at[0] * c.pitch % period + period) % period;
                 return static_cast<uint64_t>(first + at[1] * period);
               }));
  stage.expect_unchanged(x);
}

void add_large_cases(int64_t giant, std::vector<large::LargeCase>* cases) {
  const int64_t rows = giant / 8192 + 3, narrow = giant / 1024 + 3;
  const LongRows all[] = {
      {"one_row", HIPOPS_BF16, HIPOPS_I64, 1, giant + 9, giant + 9, 8, HIPOPS_SORTED, true},
      {"one_row_by_one_block", HIPOPS_F16, HIPOPS_U32, 1, giant + 9, giant + 9, 3, 0, false},
      {"rows", HIPOPS_F32, HIPOPS_I32, rows, 8192, 8192, 5, HIPOPS_SORTED, true},
      {"odd_rows", HIPOPS_BF16, HIPOPS_I32, rows, 8191, 8193, 4, 0, true},
      {"short_rows", HIPOPS_BF16, HIPOPS_I32, narrow, 1024, 1024, 1, HIPOPS_SORTED, false},
      {"far_rows", HIPOPS_F32, HIPOPS_I64, 5, 4096, giant / 4 + 4, 3, HIPOPS_SORTED, true},
  };
  for (const LongRows& c : all)
    cases->push_back({"topk", c.dtype, large::large_name(c.name, c.dtype), {c.rows, c.k},
                      [c](large::Stage& stage) { run(stage, c); }});
}

Shape results_of(const Shape&, const Shape& y, size_t) { return y; }
Shape number_of_rows(const Shape& x, const Shape&, size_t) { return without_columns(x, false); }

}  // namespace

OpEntry describe_topk() {
  OpEntry op = {"topk", {HIPOPS_F32, HIPOPS_F16, HIPOPS_BF16}};
  op.outputs = {{"values", Role::kData, true, results_of}, {"indices", Role::kIndex, false, results_of}};
  op.inputs = {kX, {"lengths", Role::kIndex, true, number_of_rows}, {"row_begin", Role::kIndex, true, number_of_rows}};
  op.params = {{"k", true, false}, {"flags", true, false, kFlags}, {kWorkspaceParam, true, false, {1, 0}}};
  op.bind = [](const Arguments& a) {
    return bound(hipops_topk, a["values"], a["indices"], a["x"], a["lengths"], a["row_begin"], a.integer("k"), a.flags(),
                 a.workspace(), a.workspace_bytes(), a.stream());
  };
  op.workspace_bytes = [](const Arguments& a, int64_t* bytes) {
    return hipops_topk_workspace_bytes(a["values"], a["indices"], a["x"], a["lengths"], a["row_begin"], a.integer("k"),
                                       a.flags(), bytes);
  };
  op.bench.sizes = 1;
  op.random_case = random_topk;
  op.reference = reference;
  op.large_cases = add_large_cases;
  return op;
}

}  // namespace hipops::parity
