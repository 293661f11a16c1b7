#include <algorithm>
#include <cmath>
#include <numeric>

#include "parity/ops/index.h"
#include "parity/ops/rows.h"

namespace hipops::parity {
namespace {

// Elements of a row, in the order that hipops.h defines. NaN is greater than all numbers.
class Order {
 public:
  Order(const Operand& x, uint32_t flags) : x_(x), is_descending_((flags & HIPOPS_DESCENDING) != 0) {}
  bool operator()(int64_t a, int64_t b) const { return is_descending_ ? is_less(b, a) : is_less(a, b); }

 private:
  bool is_less(int64_t a, int64_t b) const {
    if (!is_float(x_.dtype())) {
      const uint64_t flip = x_.dtype() == HIPOPS_I64 ? uint64_t{1} << 63 : x_.dtype() == HIPOPS_I32 ? uint64_t{1} << 31 : 0;
      return (x_.bits(a) ^ flip) < (x_.bits(b) ^ flip);
    }
    const double of_a = x_.value(a), of_b = x_.value(b);
    return std::isnan(of_b) ? !std::isnan(of_a) : of_a < of_b;
  }
  const Operand x_;
  const bool is_descending_;
};

void reference(Case* test) {
  const Operand x = input_of(*test, "x");
  test->tolerance_ulps = 0;
  const int64_t columns = x.shape().back();
  std::vector<uint64_t> values, indices;
  std::vector<int64_t> places(static_cast<size_t>(columns));
  for (int64_t first = 0; first < x.tensor.layout.elements; first += columns) {
    std::iota(places.begin(), places.end(), first);
    std::stable_sort(places.begin(), places.end(), Order(x, flags_of(*test)));
    for (const int64_t place : places) {
      values.push_back(x.bits(place));
      indices.push_back(static_cast<uint64_t>(place - first));
    }
  }
  if (find_output(test, "values")) expect_bits(test, "values", values);
  if (find_output(test, "indices")) expect_bits(test, "indices", indices);
}

void random_sort(RandomCase& m) {
  m.pick_params();
  Shape shape = random_rows(m);
  if (m.choices.one_in(10)) shape = {m.choices.between(4000, 6000)};
  m.test.params[kWorkspaceParam] = shape.back() > 4096;
  m.choices.one_in(2) ? m.add_bits("x", shape) : m.add_numbers("x", shape);
  const uint64_t outputs = m.choices.below(3);
  if (outputs != 1) m.add_output("values", random_layout(m.choices, m.test.dtype, shape, Use::kOutput));
  if (outputs != 2)
    m.add_output("indices", random_layout(m.choices, m.choices.pick({HIPOPS_I64, HIPOPS_I32, HIPOPS_U32}), shape, Use::kOutput));
}

// ---- Past 2^31 elements and 4 GiB

struct Sorted {
  const char* name;
  hipops_dtype dtype, index;
  int64_t rows, columns, pitch;
  uint32_t flags;
};

// The columns of equal elements of a row, which has a pattern, are a period apart: whole rounds, and the rest.
class PatternOrder {
 public:
  PatternOrder(const large::Pattern& pattern, bool is_descending) : pattern_(pattern), is_descending_(is_descending) {}

  // The columns of a row with `columns` elements that begins at `shift` of the pattern, in order: groups of places of the
  // pattern with equal elements.
  struct Group {
    uint64_t bits;
    std::vector<int64_t> first;  // the first columns of its places, ascending
    int64_t begin;               // where the group's elements begin in the result
  };
  std::vector<Group> groups_of(int64_t shift, int64_t columns) const {
    const int64_t period = pattern_.period();
    std::vector<int64_t> places(static_cast<size_t>(std::min(period, columns)));
    std::iota(places.begin(), places.end(), int64_t{0});
    const auto value = [&](int64_t column) { return decode(pattern_.dtype(), pattern_(shift + column)); };
    std::stable_sort(places.begin(), places.end(),
                     [&](int64_t a, int64_t b) { return is_descending_ ? value(b) < value(a) : value(a) < value(b); });
    std::vector<Group> groups;
    int64_t begin = 0;
    for (const int64_t place : places) {
      if (groups.empty() || groups.back().bits != pattern_(shift + place)) groups.push_back({pattern_(shift + place), {}, begin});
      groups.back().first.push_back(place);
      begin += (columns - place + period - 1) / period;
    }
    return groups;
  }

 private:
  large::Pattern pattern_;
  bool is_descending_;
};

void run(large::Stage& stage, const Sorted& c) {
  const large::Pattern numbers = is_float(c.dtype) ? large::random_floats(c.dtype, 1, 4, 1, 1021) : large::random_integers(c.dtype, 1, 200, 1021);
  std::vector<uint64_t> table = numbers.table();
  for (uint64_t& bits : table)
    if (decode(c.dtype, bits) == 0) bits = 0;  // equal elements have equal bits
  const large::Pattern values(c.dtype, table);
  large::Memory& x = stage.memory("x", values, c.rows * c.pitch);
  large::Memory& sorted = stage.unwritten_memory("values", c.dtype, c.rows * c.columns);
  large::Memory& places = stage.unwritten_memory("indices", c.index, c.rows * c.columns);
  const hipops_tensor from = x.view({c.rows, c.columns}, {c.pitch, 1}), to = sorted.view({c.rows, c.columns});
  const hipops_tensor of = places.view({c.rows, c.columns});
  int64_t bytes = 0;
  const hipops_status status = hipops_sort_workspace_bytes(&to, &of, &from, c.flags, &bytes);
  void* const workspace = stage.workspace(status, bytes);
  stage.called([&] { return hipops_sort(&to, &of, &from, c.flags, workspace, bytes, nullptr); });
  const int64_t period = values.period();
  const auto order = std::make_shared<std::vector<std::vector<PatternOrder::Group>>>();
  for (int64_t shift = 0; shift < period; ++shift)
    order->push_back(c.rows == 1 && shift > 0 ? std::vector<PatternOrder::Group>()
                                              : PatternOrder(values, (c.flags & HIPOPS_DESCENDING) != 0).groups_of(shift, c.columns));
  const int64_t pitch = c.pitch;
  const auto group_at = [=](const int64_t* at) -> const PatternOrder::Group& {
    const auto& groups = (*order)[static_cast<size_t>(at[0] * pitch % period)];
    return *std::prev(std::upper_bound(groups.begin(), groups.end(), at[1],
                                       [](int64_t place, const PatternOrder::Group& g) { return place < g.begin; }));
  };
  stage.expect(sorted, large::elements_are(to, 0, sorted.pattern(), [=](const int64_t* at) { return group_at(at).bits; }));
  stage.expect(places, large::elements_are(of, 0, places.pattern(), [=](const int64_t* at) {
                 const PatternOrder::Group& g = group_at(at);
                 const int64_t place = at[1] - g.begin, each = static_cast<int64_t>(g.first.size());
                 return static_cast<uint64_t>(place / each * period + g.first[static_cast<size_t>(place % each)]);
               }));
  stage.expect_unchanged(x);
}

void add_large_cases(int64_t giant, std::vector<large::LargeCase>* cases) {
  const int64_t rows = giant / 8192 + 3, narrow = giant / 100 + 3;
  const Sorted all[] = {
      {"one_row", HIPOPS_U8, HIPOPS_U32, 1, giant + 1, giant + 1, 0},
      {"one_row_of_16_bits", HIPOPS_BF16, HIPOPS_I64, 1, giant + 9, giant + 9, HIPOPS_DESCENDING},
      {"rows", HIPOPS_F32, HIPOPS_I32, rows, 8192, 8192, 0},
      {"block_rows", HIPOPS_BF16, HIPOPS_I32, rows, 4096, 4096, 0},
      {"short_rows", HIPOPS_F16, HIPOPS_I32, narrow, 100, 100, HIPOPS_DESCENDING},
      {"far_rows", HIPOPS_F32, HIPOPS_I64, 5, 5000, giant / 4 + 4, 0},
  };
  for (const Sorted& c : all)
    cases->push_back({"sort", c.dtype, large::large_name(c.name, c.dtype), {c.rows, c.columns},
                      [c](large::Stage& stage) { run(stage, c); }});
}

Shape like_x(const Shape& x, const Shape&, size_t) { return x; }

}  // namespace

OpEntry describe_sort() {
  OpEntry op = {"sort", kAdded};
  op.outputs = {{"values", Role::kData, true, like_x}, {"indices", Role::kIndex, true, like_x}};
  op.inputs = {kX};
  op.params = {{"flags", true, false, {0, HIPOPS_DESCENDING, HIPOPS_DESCENDING | HIPOPS_BATCH_INVARIANT}}, {kWorkspaceParam, true}};
  op.bind = [](const Arguments& a) {
    return bound(hipops_sort, a["values"], a["indices"], a["x"], a.flags(), a.workspace(), a.workspace_bytes(), a.stream());
  };
  op.workspace_bytes = [](const Arguments& a, int64_t* bytes) {
    return hipops_sort_workspace_bytes(a["values"], a["indices"], a["x"], a.flags(), bytes);
  };
  op.random_case = random_sort;
  op.reference = reference;
  op.large_cases = add_large_cases;
  return op;
}

}  // namespace hipops::parity
