// hipops_scatter_add: its workspace, elements that no index names, and its plans and kernels for many elements.
#include "scatter_add.h"

#include <limits>
#include <map>

#include "as_many.h"
#include "index/indices.h"
#include "move/scatter_tester.h"

using namespace hipops;
using namespace hipops_test;

namespace {

ScatterPlan plan_on_cpu(PlanOptions options, const ScatterTensors& t, uint32_t flags, bool with_workspace) {
  ScatterAtomics atomics{};
  atomics.sources_of_few = atomics.scattered_sources_of_few = 1;
  return plan_scatter_add(options, t, flags, with_workspace, atomics);
}

hipops_status launch_in_64_bits(const ScatterTensors& t, const ScatterLaunch& planned, void* workspace,
                                hipops_index_report* report) {
  const ScatterAddArgs args{planned.geometry,
                            index_args(*t.index, t.y->shape[t.dim], report),
                            t.x->data,
                            t.y->data,
                            static_cast<float*>(workspace),
                            nullptr,
                            nullptr,
                            nullptr,
                            {}};
  return launch(op_named("scatter_add"), planned.kernel, 1, kScatterBlock, &args, sizeof args, nullptr);
}

const ScatterOp kScatterAdd = {"scatter_add", hipops_scatter_add, hipops_scatter_add_workspace_bytes, plan_on_cpu,
                               launch_in_64_bits};

constexpr hipops_dtype kAdded[] = {HIPOPS_F32, HIPOPS_F16, HIPOPS_BF16, HIPOPS_F64,
                                   HIPOPS_U8,  HIPOPS_I32, HIPOPS_U32,  HIPOPS_I64};

struct Way {
  uint32_t flags;
  bool workspace;
};

std::vector<Way> ways_of(hipops_dtype dtype) {
  std::vector<Way> ways = {{0, false}, {HIPOPS_DETERMINISTIC, false}, {HIPOPS_DETERMINISTIC, true}};
  if (dtype == HIPOPS_F16 || dtype == HIPOPS_BF16) ways.push_back({0, true});
  return ways;
}

// Elements that no index names keep their bits, a signalling NaN too: a conversion to f32 and back would change it. Row
// 1 of y gets row 0 of x. Row 2 gets every other element of row 1, and shares words with NaN.
void check_untouched(hipops_dtype dtype, int64_t columns, Way way) {
  Random random(23);
  ScatterOperands t{HostTensor(dtype, {4, columns}), HostTensor(dtype, {2, columns}),
                    HostTensor(HIPOPS_I16, {2, columns})};
  fill_with_whole_numbers(t.x, random);
  std::vector<uint64_t> expected;
  for (int64_t i = 0; i < t.y.count(); ++i) {
    const int64_t row = i / columns, column = i % columns;
    const bool is_added = row == 1 || (row == 2 && column % 2 == 1);
    t.y.set_bits(i, is_added               ? 0
                    : dtype == HIPOPS_F16  ? 0x7c01u + i % 3 * 0x8000u
                    : dtype == HIPOPS_BF16 ? 0x7f81u
                                           : random() & (~uint64_t{0} >> (64 - 8 * dtype_bytes(dtype))));
    expected.push_back(is_added ? t.x.bits((row - 1) * columns + column) : t.y.bits(i));
    if (row < 2) t.index.set(i, row == 0 ? 1 : column % 2 ? 2 : 7);
  }
  run(kScatterAdd, t, way.flags, way.workspace, nullptr);
  const std::vector<uint64_t> bits = all_bits(t.y);
  EXPECT(bits == expected);
}

// Adds x [length, columns] of small whole numbers to y [rows, columns], which is 1 everywhere. The row of an element is
// index[j * stride[0] + c * stride[1]]. compares: whether the call checks if each row of x has one index. It need not
// check if the strides show it.
template <class Index>
void check_row_sums(int64_t rows, int64_t length, int64_t columns, std::vector<Index>& index,
                    const int64_t (&stride)[2], bool compares, uint32_t flags = 0) {
  const auto at = [](auto& values, int64_t i) -> auto& { return values[static_cast<size_t>(i)]; };
  std::vector<float> y(static_cast<size_t>(rows * columns), 1), x(static_cast<size_t>(length * columns)), expected = y;
  hipops_index_report wrong = HIPOPS_INDEX_REPORT_INIT, report = wrong;
  for (int64_t j = 0; j < length; ++j)
    for (int64_t c = 0; c < columns; ++c) {
      const float value = static_cast<float>((j * columns + c) % 7 - 3);
      const int64_t row = at(index, j * stride[0] + c * stride[1]);
      at(x, j * columns + c) = value;
      if (row >= 0)
        at(expected, row * columns + c) += value;
      else
        wrong = {wrong.count + 1, std::min(wrong.first, static_cast<uint64_t>(j * columns + c))};
    }
  const hipops_dtype dtype = sizeof(Index) == 4 ? HIPOPS_I32 : HIPOPS_I64;
  const hipops_tensor to{y.data(), HIPOPS_F32, 2, {rows, columns}, {columns, 1}},
      from{x.data(), HIPOPS_F32, 2, {length, columns}, {columns, 1}},
      by{index.data(), dtype, 2, {length, columns}, {stride[0], stride[1]}};
  const ScatterRows plan = plan_scatter_rows({"scatter_add", &to, &from, &by, 0}, flags);
  EXPECT(stride[1] == 0 ? plan.is_index_add : plan.possible == compares && plan.compares == compares);
  int64_t bytes = 0;
  expect_success(hipops_scatter_add_workspace_bytes(&to, &from, &by, 0, flags, &bytes));
  Workspace workspace(bytes);
  expect_success(hipops_scatter_add(&to, &from, &by, 0, flags, workspace.data(), bytes, &report, nullptr));
  EXPECT(y == expected && workspace.guards_are_whole());
  EXPECT_EQUAL(report.count, wrong.count);
  EXPECT_EQUAL(report.first, wrong.first);
}

// The rows' numbers have more bits than one pass of a sort. After the first pass, rows with equal low bits are neighbours.
void check_many_rows() {
  for (const int32_t apart : {10, 0}) {
    std::vector<int32_t> index(100000);
    for (size_t j = 0; j < index.size(); ++j) index[j] = static_cast<int32_t>(j) * apart;
    check_row_sums((1 << 20) + 1, 100000, 32, index, {1, 0}, false, HIPOPS_DETERMINISTIC);
  }
}

// In order, kernels check whether the elements of a row have one index. Lines add other rows. Indices out of range are
// reported once in either case. In any order, nothing is checked. There blocks keep vectors in shared memory (AsMany).
void check_found_out() {
  const AsMany as_many;
  constexpr int64_t kLength = 1 << 12, kColumns = 64, kRows = 512;
  std::vector<int64_t> index(kLength * kColumns);
  for (int64_t i = 0; i < kLength * kColumns; ++i) index[static_cast<size_t>(i)] = i / kColumns * 5 % kRows;
  std::fill_n(index.begin() + kColumns * 3, kColumns, -1);
  for (const uint32_t flags : {HIPOPS_DETERMINISTIC, 0u}) {
    const bool compares = flags != 0;
    check_row_sums(kRows, kLength, kColumns, index, {kColumns, 1}, compares, flags);
    std::vector<int64_t> one_is_long = index;
    std::fill_n(one_is_long.begin() + kColumns * 1000, kColumns * 2000, 7);
    check_row_sums(kRows, kLength, kColumns, one_is_long, {kColumns, 1}, compares, flags);
    std::vector<int64_t> one_differs = index;
    ++one_differs[kColumns * 777 + 5];
    check_row_sums(kRows, kLength, kColumns, one_differs, {kColumns, 1}, compares, flags);
  }
}

// Few elements with many sources: blocks add them in shared memory. Sources of y's last element are -0, and change no
// bit of it. y has gaps if `gap` is not 0: f32 sums are then not row-major.
void check_few(hipops_dtype dtype, int64_t rows, int64_t columns, int32_t dim, int64_t gap) {
  Random random(31);
  const int64_t length = 1024 * rows, last = rows * columns - 1;
  const std::vector<int64_t> of_y = dim == 0 ? std::vector<int64_t>{rows, columns} : std::vector<int64_t>{columns, rows},
                             of_x = dim == 0 ? std::vector<int64_t>{length, columns} : std::vector<int64_t>{columns, length};
  ScatterOperands t{HostTensor(dtype, of_y, {of_y[1] + gap, 1}), HostTensor(dtype, of_x), HostTensor(HIPOPS_I64, of_x)};
  t.dim = dim;
  std::vector<double> expected(static_cast<size_t>(rows * columns), 1);
  uint64_t wrong = 0;
  for (int64_t i = 0; i < t.y.count(); ++i) t.y.set(i, 1);
  for (int64_t i = 0; i < t.x.count(); ++i) {
    const int64_t other = dim == 0 ? i % columns : i / length;
    const int64_t row = i % 5 == 3 ? rows : i % 3 == 0 ? rows - 1 : pick(random, 0, rows - 1);
    const int64_t to = dim == 0 ? row * columns + other : other * rows + row;
    const double value = i % 1000 == 0 ? 1 : i % 1000 == 500 ? -1 : 0;
    wrong += row == rows ? 1 : 0;
    t.index.set(i, static_cast<double>(row));
    t.x.set(i, to == last ? -0.0 : value);
    if (row != rows && to != last) expected[static_cast<size_t>(to)] += value;
  }
  t.y.set(last, std::numeric_limits<double>::quiet_NaN());
  const uint64_t bits = t.y.bits(last);
  hipops_index_report report = HIPOPS_INDEX_REPORT_INIT;
  run(kScatterAdd, t, 0, true, &report);
  for (int64_t i = 0; i < last; ++i) EXPECT_EQUAL(t.y.get(i), expected[static_cast<size_t>(i)]);
  EXPECT_EQUAL(t.y.bits(last), bits);
  EXPECT_EQUAL(report.count, wrong);
  EXPECT_EQUAL(report.first, uint64_t{3});
}

// y is far larger than x, so only elements with sources are touched. Others keep their bits, here of NaNs. Most rows
// have one index. Other rows have different indices, indices out of range, or an index of another source's element.
// With a gap in y, all elements are copied.
void check_sparse(hipops_dtype dtype, int64_t columns, int64_t gap) {
  Random random(37);
  constexpr int64_t kRows = 40000, kLength = 2000;
  ScatterOperands t{HostTensor(dtype, {kRows, columns}, {columns + gap, 1}), HostTensor(dtype, {kLength, columns}),
                    HostTensor(HIPOPS_I64, {kLength, columns})};
  hipops_index_report wrong = HIPOPS_INDEX_REPORT_INIT, report = wrong;
  std::map<int64_t, double> sums;
  for (int64_t i = 0; i < t.y.count(); ++i) t.y.set_bits(i, dtype == HIPOPS_F16 ? 0x7c01u : 0x7f81u);
  for (int64_t j = 0; j < kLength; ++j) {
    const int64_t row = j % 3 == 0 ? pick(random, 0, 99) : pick(random, 0, kRows - 1);
    for (int64_t c = 0; c < columns; ++c) {
      const int64_t i = j * columns + c;
      const bool is_wrong = j % 100 == 50 || (j % 100 == 60 && c % 7 == 0);
      const int64_t to = is_wrong ? kRows : j % 10 == 4 ? pick(random, 0, kRows - 1) : j % 100 == 70 && c == 5 ? 8 : row;
      const double value = static_cast<double>(pick(random, -3, 3));
      t.index.set(i, static_cast<double>(to));
      t.x.set(i, value);
      if (is_wrong) {
        wrong = {wrong.count + 1, std::min(wrong.first, static_cast<uint64_t>(i))};
      } else {
        if (sums.emplace(to * columns + c, 1).second) t.y.set(to * columns + c, 1);
        sums[to * columns + c] += value;
      }
    }
  }
  std::vector<uint64_t> expected = all_bits(t.y);
  for (const auto& [i, sum] : sums) expected[static_cast<size_t>(i)] = parity::encode(dtype, sum);
  int64_t bytes = 0;
  expect_success(hipops_scatter_add_workspace_bytes(&t.y.view, &t.x.view, &t.index.view, 0, 0, &bytes));
  EXPECT((bytes > (4 * kRows * columns + 15) / 16 * 16) == (gap == 0));
  run(kScatterAdd, t, 0, true, &report);
  EXPECT(all_bits(t.y) == expected);
  EXPECT_EQUAL(report.count, wrong.count);
  EXPECT_EQUAL(report.first, wrong.first);
}

}  // namespace

TEST_CASE("scatter_add of 16 bits touches only named elements of a large y", "[scatter_add]") {
  on_cpu([] {
    for (hipops_dtype dtype : {HIPOPS_F16, HIPOPS_BF16}) {
      check_sparse(dtype, 64, 0);
      check_sparse(dtype, 61, 0);
      check_sparse(dtype, 64, 4);
    }
  });
}

TEST_CASE("scatter_add sums many sources of few elements in shared memory", "[scatter_add]") {
  on_cpu([] {
    for (hipops_dtype dtype : {HIPOPS_F32, HIPOPS_F16, HIPOPS_BF16})
      for (const int32_t dim : {0, 1})
        for (const int64_t gap : {0, 3}) {
          check_few(dtype, 7, 1, dim, gap);
          check_few(dtype, 3, 12, dim, gap);
          check_few(dtype, 2, 13, dim, gap);
          check_few(dtype, 40, 8, dim, gap);
        }
  });
}

TEST_CASE("scatter_add leaves elements alone that no index names", "[scatter_add]") {
  on_cpu([] {
    for (hipops_dtype dtype : kAdded)
      for (int64_t columns : {64, 61})
        for (Way way : ways_of(dtype)) check_untouched(dtype, columns, way);
  });
}

TEST_CASE("scatter_add's kernels divide in 64 bits", "[scatter_add]") {
  on_cpu([] {
    for (hipops_dtype dtype : kAdded)
      for (int64_t columns : {32, 33 + 256})
        for (Way way : ways_of(dtype)) check_64_bits(kScatterAdd, dtype, columns, way.flags, way.workspace);
  });
}

TEST_CASE("scatter_add adds rows whole if there are more than 2^20 of them", "[scatter_add]") {
  on_cpu(check_many_rows);
}

TEST_CASE("scatter_add in order detects rows with one index", "[scatter_add]") {
  on_cpu(check_found_out);
}

TEST_CASE("scatter_add requests 4 bytes for each element in reach, of 16-bit types, unless sums in order have chunks",
          "[scatter_add]") {
  check_calls([] {
    for (hipops_dtype dtype : kAdded)
      for (uint32_t flags : {0u, HIPOPS_DETERMINISTIC})
        for (int64_t length : {128, 129}) {
          const hipops_tensor y = view_of(0, dtype, {100, 7}), x = view_of(0, dtype, {length, 5}),
                              index = view_of(0, HIPOPS_I32, {length, 5});
          int64_t bytes = -1;
          expect_success(hipops_scatter_add_workspace_bytes(&y, &x, &index, 0, flags, &bytes));
          const bool has_sums = (dtype == HIPOPS_F16 || dtype == HIPOPS_BF16) && (flags == 0 || length == 128);
          EXPECT_EQUAL(bytes, has_sums ? 4 * 100 * 5 : 0);
        }
    // 2^61 - 8 elements, nearly the most that have addresses: a size beyond 64 bits is reported as INT64_MAX.
    constexpr int64_t kRows = (int64_t{1} << 29) - 1, kColumns = 8 * ((int64_t{1} << 29) + 1);
    const hipops_tensor y = view_of(1 << 16, HIPOPS_BF16, {kRows, kColumns}),
                        x = view_of(1 << 16, HIPOPS_BF16, {16384, kColumns}),
                        index = view_of(1 << 30, HIPOPS_I32, {16384, kColumns});
    int64_t bytes = -1;
    expect_success(hipops_scatter_add_workspace_bytes(&y, &x, &index, 0, 0, &bytes));
    EXPECT_EQUAL(bytes, INT64_MAX);
    // With an expanded index the call is an index_add, whose workspace depends on the sources.
    const hipops_tensor y_8 = view_of(1 << 16, HIPOPS_BF16, {kRows, 8}), x_8 = view_of(1 << 16, HIPOPS_BF16, {16384, 8}),
                        expanded = view_of(1 << 30, HIPOPS_I32, {16384, 8}, {1, 0}),
                        by_rows = view_of(1 << 30, HIPOPS_I32, {16384});
    int64_t of_index_add = -1;
    expect_success(hipops_scatter_add_workspace_bytes(&y_8, &x_8, &expanded, 0, 0, &bytes));
    expect_success(hipops_index_add_workspace_bytes(&y_8, &x_8, &by_rows, 0, &of_index_add));
    EXPECT_EQUAL(bytes, of_index_add);
    EXPECT(bytes < 1 << 20);
  });
}

TEST_CASE("scatter_add's plan holds for more than 2^31 elements", "[scatter_add]") {
  for (int32_t dim : {0, 1})
    for (hipops_dtype dtype : {HIPOPS_F32, HIPOPS_BF16}) {
      check_plan_of_many(kScatterAdd, dtype, 70000, 70001, dim);
      check_plan_of_many(kScatterAdd, dtype, 3, (int64_t{1} << 40) + 1, dim);
    }
}
