// hipops_scatter_add: what it refuses, which kernels it chooses, and its results on the CPU with every kernel that it
// has.
#include "scatter_add.h"

#include "as_many.h"
#include "index/indices.h"
#include "move/scatter_tester.h"

using namespace hipops;
using namespace hipops_test;

namespace {

ScatterPlan plan_on_cpu(PlanOptions options, const ScatterTensors& t, uint32_t flags, bool with_workspace) {
  DeviceNumbers cpu;
  cpu.adds_vectors = true;
  return plan_scatter_add(options, t, flags, with_workspace, vector_atomics_from(options, cpu));
}

const ScatterOp kScatterAdd = {"scatter_add", hipops_scatter_add, hipops_scatter_add_workspace_bytes, plan_on_cpu};

constexpr hipops_dtype kAdded[] = {HIPOPS_F32, HIPOPS_F16, HIPOPS_BF16, HIPOPS_F64,
                                   HIPOPS_U8,  HIPOPS_I32, HIPOPS_U32,  HIPOPS_I64};

struct Way {
  uint32_t flags;
  bool workspace;
};

std::vector<Way> ways_of(hipops_dtype dtype) {
  if (dtype == HIPOPS_F16 || dtype == HIPOPS_BF16) return {{0, false}, {0, true}, {HIPOPS_DETERMINISTIC, true}};
  return {{0, false}, {HIPOPS_DETERMINISTIC, false}, {HIPOPS_DETERMINISTIC, true}};
}

// Whole numbers in floats, of which every sum is exact; any bits in integers, which wrap around.
void fill(HostTensor& t, Random& random) {
  if (!is_float(t.view.dtype)) return fill_with_bits(t, random);
  for (int64_t i = 0; i < t.count(); ++i) t.set(i, static_cast<double>(pick(random, -8, 8)));
}

// The bits that y must have, by a plain loop over the sources.
std::vector<uint64_t> sums_of(const ScatterOperands& t) {
  const hipops_dtype dtype = t.y.view.dtype;
  std::vector<double> sum;
  std::vector<uint64_t> bits;
  for (int64_t i = 0; i < t.y.count(); ++i)
    sum.push_back(is_float(dtype) ? t.y.get(i) : 0), bits.push_back(t.y.bits(i));
  const uint64_t mask = ~uint64_t{0} >> (64 - 8 * hipops::parity::dtype_size(dtype));
  for (int64_t i = 0; i < t.x.count(); ++i) {
    bool bad;
    const int64_t to = t.target_of(i, &bad);
    if (to < 0) continue;
    const size_t at = static_cast<size_t>(to);
    if (is_float(dtype)) bits[at] = hipops::parity::encode(dtype, sum[at] += t.x.get(i));
    else bits[at] = (bits[at] + t.x.bits(i)) & mask;
  }
  return bits;
}

void expect_sums(const ScatterOperands& t, const std::vector<uint64_t>& sums) {
  for (int64_t i = 0; i < t.y.count(); ++i)
    if (t.y.bits(i) != sums[static_cast<size_t>(i)])
      throw std::runtime_error("element " + std::to_string(i) + " is " + std::to_string(t.y.bits(i)) + ", expected " +
                               std::to_string(sums[static_cast<size_t>(i)]) + " (bits)");
}

void check_random() {
  const AsMany as_many;
  Random random(21);
  Seen seen(kScatterAdd.kernels());
  for (int round = 0; round < 30; ++round)
    for (hipops_dtype dtype : kAdded)
      for (hipops_dtype index_dtype : kIndexDtypes)
        for (Way way : ways_of(dtype)) {
          ScatterOperands t =
              random_operands(random, dtype, index_dtype, [&](HostTensor& tensor) { fill(tensor, random); });
          const std::vector<uint64_t> sums = sums_of(t);
          run(kScatterAdd, t, way.flags, way.workspace, random() % 4 != 0);
          expect_sums(t, sums);
          const ScatterPlan plan = plan_on_cpu(plan_options(), t.tensors(kScatterAdd), way.flags, way.workspace);
          for (int i = 0; i < plan.count; ++i) seen.add(plan.launch[i].kernel);
        }
  for (int i = 0; i < 5; ++i) seen.add(kScatterAdd.kernels().kernel_count - 1);  // `uniform`: see check_rows
  seen.expect_all(5);
}

// One block, which goes several rounds up to an end amid a tile; and the divisions of 64 bits that only walks of 2^31
// elements call for.
void check_rounds() {
  const AsMany as_many;
  Random random(22);
  for (hipops_dtype dtype : kAdded)
    for (int64_t columns : {32, 33, 32 + 256, 33 + 256})
      for (Way way : ways_of(dtype)) {
        const int64_t rows = 60;
        ScatterOperands t{HostTensor(dtype, {50, columns}, {columns + 16 - columns % 2, 1}),
                          HostTensor(dtype, {rows, columns}), HostTensor(HIPOPS_U32, {rows, columns}), 0};
        fill(t.x, random), fill(t.y, random);
        for (int64_t i = 0; i < t.index.count(); ++i) set_bits(t.index, i, random_index(random, 50, HIPOPS_U32));
        const std::vector<uint64_t> sums = sums_of(t);
        Workspace workspace((4 * 50 * columns + 15) / 16 * 16);
        hipops_index_report report = HIPOPS_INDEX_REPORT_INIT;
        ScatterPlan plan = plan_on_cpu(plan_options(), t.tensors(kScatterAdd), way.flags, way.workspace);
        for (int i = 0; i < plan.count; ++i) {
          ScatterAddArgs args{plan.launch[i].geometry, index_args(t.index.view, 50, &report), t.x.view.data,
                              t.y.view.data, static_cast<float*>(workspace.data()), nullptr, nullptr, nullptr};
          args.geometry.step /= plan.launch[i].grid;
          args.geometry.walk.small = columns < 256;
          expect_success(
              launch(kScatterAdd.kernels(), plan.launch[i].kernel, 1, kScatterBlock, &args, sizeof args, nullptr));
        }
        expect_sums(t, sums);
        EXPECT(t.y.guards_are_whole() && workspace.guards_are_whole());
        EXPECT_EQUAL(report.count, t.expected_report().count);
        EXPECT_EQUAL(report.first, t.expected_report().first);
      }
}

// What no index names keeps its bits, also those that the way to f32 and back would change: signalling NaN.
void check_untouched() {
  const AsMany as_many;
  for (hipops_dtype dtype : kAdded)
    for (int64_t columns : {64, 61})
      for (Way way : ways_of(dtype)) {
        Random random(23);
        ScatterOperands t{HostTensor(dtype, {4, columns}), HostTensor(dtype, {2, columns}),
                          HostTensor(HIPOPS_I16, {2, columns}), 0};
        fill(t.x, random);
        for (int64_t i = 0; i < t.y.count(); ++i)
          set_bits(t.y, i, dtype == HIPOPS_F16 ? 0x7c01u + i % 3 * 0x8000u : dtype == HIPOPS_BF16 ? 0x7f81u : random());
        for (int64_t i = 0; i < columns; ++i) {  // row 1 gets something, of row 2 every other element
          set_bits(t.y, columns + i, 0), set_bits(t.y, 2 * columns + i, i % 2 ? 0 : t.y.bits(i));
          t.index.set(i, 1), t.index.set(columns + i, i % 2 ? 2 : 7);
        }
        std::vector<uint64_t> expected = sums_of(t);
        run(kScatterAdd, t, way.flags, way.workspace, false);
        // In the same word as what is added to: a number stays, but an instruction for both halves makes a NaN quiet.
        expect_sums(t, expected);
      }
}

// In order: what is lost beside a large number, and what is not, depends on it.
void check_order() {
  const std::pair<hipops_dtype, double> of[] = {{HIPOPS_F32, 0x1p25}, {HIPOPS_F64, 0x1p54}, {HIPOPS_BF16, 0x1p25}};
  for (const auto& [dtype, large] : of) {
    ScatterOperands t{HostTensor(dtype, {1, 3}), HostTensor(dtype, {6, 3}), HostTensor(HIPOPS_I64, {6, 3}), 0};
    const double terms[6] = {1, large, 1, 1, -large, 1};
    for (int64_t i = 0; i < t.x.count(); ++i) t.x.set(i, terms[i / 3]), t.index.set(i, 0);
    for (int64_t i = 0; i < 3; ++i) t.y.set(i, 0);
    run(kScatterAdd, t, HIPOPS_DETERMINISTIC, true, false);
    for (int64_t i = 0; i < 3; ++i) EXPECT_EQUAL(t.y.get(i), 1.0);  // (((0 + 1) + large) + 1 + 1) - large is 0
  }
}

// Rows that are added whole, and those of which that is not known before it has been tried.
enum class RowIndex { same, expanded, one_differs, all_differ };

ScatterOperands rows_for(hipops_dtype dtype, hipops_dtype index_dtype, int64_t length, int64_t columns, RowIndex kind,
                         uint64_t seed) {
  Random random(seed);
  const int64_t rows = 40;
  ScatterOperands t{HostTensor(dtype, {rows, columns + 16}, {columns + 16, 1}),
                    HostTensor(dtype, {length, columns}),
                    kind == RowIndex::expanded ? HostTensor(index_dtype, {length, columns}, {1, 0})
                                               : HostTensor(index_dtype, {length, columns}), 0};
  fill(t.x, random), fill(t.y, random);
  for (int64_t j = 0; j < length; ++j) {
    uint64_t index = random_index(random, rows, index_dtype);
    for (int64_t c = 0; c < columns; ++c) {
      if (kind == RowIndex::all_differ) index = random_index(random, rows, index_dtype);
      set_bits(t.index, j * columns + c, index);
    }
  }
  const int64_t last = t.index.count() - 1;
  if (kind == RowIndex::one_differs) set_bits(t.index, last, (t.index.bits(last) + 1) % 7);
  return t;
}

void check_rows() {
  uint64_t seed = 0;
  for (hipops_dtype dtype : {HIPOPS_F32, HIPOPS_BF16, HIPOPS_F64, HIPOPS_U8})
    for (RowIndex kind : {RowIndex::same, RowIndex::expanded, RowIndex::one_differs, RowIndex::all_differ})
      for (hipops_dtype index_dtype : kIndexDtypes) {
        const int64_t columns = dtype == HIPOPS_U8 ? 128 : 64;
        ScatterOperands t = rows_for(dtype, index_dtype, 300, columns, kind, ++seed);
        const ScatterRows rows = plan_scatter_rows(t.tensors(kScatterAdd), HIPOPS_DETERMINISTIC);
        EXPECT(rows.is_index_add == (kind == RowIndex::expanded));
        EXPECT(rows.is_index_add || (rows.possible && rows.longest == UINT32_MAX));
        const std::vector<uint64_t> sums = sums_of(t);
        run(kScatterAdd, t, HIPOPS_DETERMINISTIC, true, seed % 4 != 0);
        expect_sums(t, sums);
      }
}

// Of an expanded index: in order, and of 16-bit types, by each way of index_add, which counts every element of the index that
// is out of range; and by atomics.
void check_expanded() {
  uint64_t seed = 1000;
  for (hipops_dtype dtype : {HIPOPS_F32, HIPOPS_BF16, HIPOPS_F64, HIPOPS_U8})
    for (const int64_t length : {5, 200, 300, 9000})
      for (const uint32_t flags : {0u, HIPOPS_DETERMINISTIC})
        for (const bool workspace : {true, false}) {
          ScatterOperands t = rows_for(dtype, HIPOPS_I32, length, length > 1000 ? 16 : 36, RowIndex::expanded, ++seed);
          for (const int64_t bad : {int64_t{3}, length - 1}) set_bits(t.index, bad * t.index.view.shape[1], 40);
          const bool needs_workspace = dtype == HIPOPS_BF16 && flags != 0 && length > 256;
          if (needs_workspace && !workspace) continue;
          const std::vector<uint64_t> sums = sums_of(t);
          run(kScatterAdd, t, flags, workspace, true);
          expect_sums(t, sums);
        }
}

// x [length, columns] of small whole numbers into y of so many rows, all ones, in any order: the row of each element is
// index[j * stride[0] + c * stride[1]], or none. The call tries to add rows whole, of up to `longest` sources, or knows it.
template <class Index>
void check_row_sums(int64_t rows, int64_t length, int64_t columns, std::vector<Index>& index, const int64_t (&stride)[2],
                    uint32_t longest, uint32_t flags = 0) {
  const auto at = [](auto& values, int64_t i) -> auto& { return values[static_cast<size_t>(i)]; };
  std::vector<float> y(static_cast<size_t>(rows * columns), 1), x(static_cast<size_t>(length * columns)), expected = y;
  hipops_index_report wrong = HIPOPS_INDEX_REPORT_INIT, report = wrong;
  for (int64_t j = 0; j < length; ++j)
    for (int64_t c = 0; c < columns; ++c) {
      const float value = static_cast<float>((j * columns + c) % 7 - 3);
      const int64_t row = at(index, j * stride[0] + c * stride[1]);
      at(x, j * columns + c) = value;
      if (row >= 0) at(expected, row * columns + c) += value;
      else wrong = {wrong.count + 1, std::min(wrong.first, static_cast<uint64_t>(j * columns + c))};
    }
  const hipops_dtype dtype = sizeof(Index) == 4 ? HIPOPS_I32 : HIPOPS_I64;
  const hipops_tensor to{y.data(), HIPOPS_F32, 2, {rows, columns}, {columns, 1}},
      from{x.data(), HIPOPS_F32, 2, {length, columns}, {columns, 1}},
      by{index.data(), dtype, 2, {length, columns}, {stride[0], stride[1]}};
  const ScatterRows plan = plan_scatter_rows({"scatter_add", &to, &from, &by, 0}, flags);
  EXPECT(stride[1] == 0 ? plan.is_index_add : plan.possible && plan.longest == longest);
  int64_t bytes = 0;
  expect_success(hipops_scatter_add_workspace_bytes(&to, &from, &by, 0, flags, &bytes));
  Workspace workspace(bytes);
  expect_success(hipops_scatter_add(&to, &from, &by, 0, flags, workspace.data(), bytes, &report, nullptr));
  EXPECT(y == expected && workspace.guards_are_whole());
  EXPECT_EQUAL(report.count, wrong.count);
  EXPECT_EQUAL(report.first, wrong.first);
}

// More rows than two digits tell apart: indices are ordered twice, by halves of the rows' numbers, and what looks like a
// long list in between is none.
void check_many_rows() {
  for (const int32_t apart : {10, 0}) {
    std::vector<int32_t> index(100000);
    for (size_t j = 0; j < index.size(); ++j) index[j] = static_cast<int32_t>(j) * apart;
    check_row_sums((1 << 20) + 1, 100000, 32, index, {1, 0}, 0, HIPOPS_DETERMINISTIC);
  }
}

// Where sums may be in any order, that an index of its own for each element is one a row is found out where there are 2^24
// elements or more. Rows that are not, and segments that are too long, are left to atomics; what is out of range is reported
// once all the same.
void check_many_found_out() {
  constexpr int64_t kLength = 1 << 18, kColumns = 64, kRows = 4096;
  std::vector<int64_t> index(kLength * kColumns);
  for (int64_t i = 0; i < kLength * kColumns; ++i) index[static_cast<size_t>(i)] = i / kColumns * 5 % kRows;
  std::fill_n(index.begin() + kColumns * 3, kColumns, -1);
  check_row_sums(kRows, kLength, kColumns, index, {kColumns, 1}, 256);
  std::vector<int64_t> one_is_long = index;
  std::fill_n(one_is_long.begin() + kColumns * 1000, kColumns * 257, 7);
  check_row_sums(kRows, kLength, kColumns, one_is_long, {kColumns, 1}, 256);
  ++index[kColumns * 77777 + 5];
  check_row_sums(kRows, kLength, kColumns, index, {kColumns, 1}, 256);
}

std::string kernels_of(const hipops_tensor& y, uint32_t flags = 0, bool with_workspace = false, bool vectors = false) {
  const Sizes shape(y.shape, y.shape + y.rank);
  const hipops_tensor x = view_of(1 << 20, y.dtype, shape), index = view_of(1 << 21, HIPOPS_I32, shape);
  const int64_t elements = 5 * 64;  // of y, unless it is another one
  const ScatterPlan plan = plan_scatter_add(plan_options(), {"scatter_add", &y, &x, &index, 0}, flags, with_workspace,
                                            vectors ? elements : elements + 100);
  std::string names;
  for (int i = 0; i < plan.count; ++i)
    names += (i ? " " : "") +
             std::string(kScatterAdd.kernels().kernel_names[plan.launch[i].kernel]).substr(std::strlen("scatter_add_"));
  return names;
}

}  // namespace

TEST_CASE("scatter_add refuses bad arguments", "[scatter_add]") {
  check_calls([] {
    check_refusals(kScatterAdd);
    for (uint32_t flags : {0u, HIPOPS_DETERMINISTIC})
      for (hipops_dtype dtype : {HIPOPS_F16, HIPOPS_BF16}) check_workspace_refusals(kScatterAdd, dtype, flags);
    for (hipops_dtype dtype : {HIPOPS_I8, HIPOPS_I16, HIPOPS_U16, HIPOPS_U64}) {
      ScatterCall call(kScatterAdd, dtype);
      const std::string message =
          std::string("x.dtype is ") + dtype_name(dtype) + ", expected f32, f16, bf16, f64, u8, i32, u32 or i64";
      call.refused(HIPOPS_UNSUPPORTED_DTYPE, message);
      call.bytes_refused(HIPOPS_UNSUPPORTED_DTYPE, message);
    }
    for (hipops_dtype dtype : {HIPOPS_F16, HIPOPS_BF16}) {
      ScatterCall call(kScatterAdd, dtype);
      call.flags = HIPOPS_DETERMINISTIC;
      call.refused(
          HIPOPS_INVALID_ARGUMENT,
          std::string("workspace is NULL, expected 128 bytes (HIPOPS_DETERMINISTIC with ") + dtype_name(dtype) + ")");
    }
  });
}

TEST_CASE("scatter_add of nothing is success", "[scatter_add]") {
  check_calls([] { check_empty(kScatterAdd); });
}

TEST_CASE("scatter_add is right for any shapes, strides and dtypes", "[scatter_add]") { on_cpu(check_random); }

TEST_CASE("scatter_add's kernels are right over several rounds of the grid", "[scatter_add]") { on_cpu(check_rounds); }

TEST_CASE("scatter_add leaves alone what no index names", "[scatter_add]") { on_cpu(check_untouched); }

TEST_CASE("scatter_add adds in order where that is asked for", "[scatter_add]") { on_cpu(check_order); }

TEST_CASE("scatter_add adds rows whole where all of a row has one index", "[scatter_add]") { on_cpu(check_rows); }

TEST_CASE("scatter_add by an expanded index is an index_add", "[scatter_add]") { on_cpu(check_expanded); }

TEST_CASE("scatter_add adds rows whole where there are more than 2^20 of them", "[scatter_add]") {
  on_cpu(check_many_rows);
}

TEST_CASE("scatter_add finds out that all of a row has one index where there are many elements", "[scatter_add]") {
  on_cpu(check_many_found_out);
}

TEST_CASE("scatter_add tries to add rows whole where that pays", "[scatter_add]") {
  auto rows = [](hipops_dtype dtype, int64_t length, int64_t columns, uint32_t flags, const Sizes& index_strides,
                 uintptr_t x_at = 1 << 16, int64_t targets = 2000) {
    const hipops_tensor y = view_of(1 << 20, dtype, {targets, columns}), x = view_of(x_at, dtype, {length, columns}),
                        index = view_of(1 << 24, HIPOPS_I64, {length, columns}, index_strides);
    const ScatterRows plan = plan_scatter_rows({"scatter_add", &y, &x, &index, 0}, flags);
    if (plan.is_index_add) return std::string("index_add");
    return std::string(plan.sort.bytes == 0 ? "no" : !plan.possible ? "bytes" : "tried");
  };
  const uint32_t in_order = HIPOPS_DETERMINISTIC;
  CHECK(rows(HIPOPS_F32, 262144, 64, 0, {64, 1}) == "tried");
  CHECK(rows(HIPOPS_F32, 262143, 64, 0, {64, 1}) == "no");  // fewer than 2^24
  CHECK(rows(HIPOPS_F32, 262143, 64, 0, {1, 0}, 1 << 16, 4000) == "index_add");
  CHECK(rows(HIPOPS_F32, 262143, 64, 0, {1, 0}) == "no");  // it would be sorted, and then summed
  CHECK(rows(HIPOPS_F32, 16383, 64, 0, {1, 0}) == "no");  // fewer than 2^20
  CHECK(rows(HIPOPS_F32, 1 << 24, 16, 0, {16, 1}) == "no");  // rows of 64 bytes
  CHECK(rows(HIPOPS_F32, 262144, 66, 0, {66, 1}) == "no");   // that are not aligned
  CHECK(rows(HIPOPS_F32, 262144, 64, 0, {65, 1}) == "no");
  CHECK(rows(HIPOPS_F32, 262144, 64, 0, {1, 262144}) == "no");
  CHECK(rows(HIPOPS_F32, 262144, 64, 0, {64, 1}, (1 << 16) + 4) == "bytes");  // which don't depend on addresses
  // Lists of up to 256 are added. Of 1024 rows some have as many at least, if all indices are valid.
  CHECK(rows(HIPOPS_F32, 262144, 64, 0, {64, 1}, 1 << 16, 1025) == "tried");
  CHECK(rows(HIPOPS_F32, 262144, 64, 0, {64, 1}, 1 << 16, 1024) == "no");
  CHECK(rows(HIPOPS_F32, 262144, 64, 0, {1, 0}, 1 << 16, 1) == "no");
  CHECK(rows(HIPOPS_BF16, 262144, 64, 0, {1, 0}, 1 << 16, 1) == "no");  // it would be a segment for few work-items
  CHECK(rows(HIPOPS_F32, 262144, 64, in_order, {1, 0}, 1 << 16, 1) == "index_add");
  CHECK(rows(HIPOPS_BF16, 1000, 64, 0, {1, 0}, 1 << 16, 512000) == "index_add");  // y has 32768 elements for each index
  CHECK(rows(HIPOPS_BF16, 1001, 64, 0, {1, 0}, 1 << 16, 512000) == "no");
  CHECK(rows(HIPOPS_F32, 1000, 64, 0, {1, 0}, 1 << 16, 512000) == "no");
  CHECK(rows(HIPOPS_F32, 262144, 64, in_order, {64, 1}, 1 << 16, 1) == "tried");
  CHECK(rows(HIPOPS_F32, 257, 64, in_order, {64, 1}) == "tried");
  CHECK(rows(HIPOPS_F32, 256, 64, in_order, {64, 1}) == "no");
  CHECK(rows(HIPOPS_U8, 257, 128, 0, {128, 1}) == "tried");
  CHECK(rows(HIPOPS_I32, 257, 128, in_order, {128, 1}) == "no");  // atomics do not show their order
}

TEST_CASE("scatter_add asks for 4 bytes for each element in reach, of 16-bit types", "[scatter_add]") {
  check_calls([] {
    for (hipops_dtype dtype : kAdded)
      for (uint32_t flags : {0u, HIPOPS_DETERMINISTIC}) {
        const hipops_tensor y = view_of(0, dtype, {100, 7}), x = view_of(0, dtype, {1000, 5}),
                            index = view_of(0, HIPOPS_I32, {1000, 5});
        int64_t bytes = -1;
        expect_success(hipops_scatter_add_workspace_bytes(&y, &x, &index, 0, flags, &bytes));
        EXPECT_EQUAL(bytes, dtype == HIPOPS_F16 || dtype == HIPOPS_BF16 ? 4 * 100 * 5 : 0);
      }
    // More than there can be is no less than that: of 2^61 - 8 elements, nearly as many as find addresses.
    constexpr int64_t kRows = (int64_t{1} << 29) - 1, kColumns = 8 * ((int64_t{1} << 29) + 1);
    const hipops_tensor y = view_of(1 << 16, HIPOPS_BF16, {kRows, kColumns}),
                        x = view_of(1 << 16, HIPOPS_BF16, {16384, kColumns}),
                        index = view_of(1 << 30, HIPOPS_I32, {16384, kColumns});
    int64_t bytes = -1;
    expect_success(hipops_scatter_add_workspace_bytes(&y, &x, &index, 0, 0, &bytes));
    EXPECT_EQUAL(bytes, INT64_MAX);
    // With an expanded index it follows the sources.
    const hipops_tensor expanded = view_of(1 << 30, HIPOPS_I32, {16384, kColumns}, {1, 0}),
                        by_rows = view_of(1 << 30, HIPOPS_I32, {16384});
    int64_t of_index_add = -1;
    expect_success(hipops_scatter_add_workspace_bytes(&y, &x, &expanded, 0, 0, &bytes));
    expect_success(hipops_index_add_workspace_bytes(&y, &x, &by_rows, 0, &of_index_add));
    EXPECT_EQUAL(bytes, of_index_add);
    EXPECT(bytes < 1 << 20);
  });
}

TEST_CASE("scatter_add uses atomics on 16 bits in whole words only", "[scatter_add]") {
  constexpr uintptr_t at = 1 << 16;
  CHECK(kernels_of(view_of(at, HIPOPS_BF16, {5, 64})) == "bf16_atomic");
  CHECK(kernels_of(view_of(at, HIPOPS_F16, {6, 5})) == "f16_atomic");                // rows run on
  CHECK(kernels_of(view_of(at, HIPOPS_F16, {5, 5})) == "f16_line");                  // 25 elements
  CHECK(kernels_of(view_of(at + 2, HIPOPS_F16, {5, 64})) == "f16_line");             // begins within a word
  CHECK(kernels_of(view_of(at, HIPOPS_F16, {5, 64}, {66, 1})) == "f16_atomic");
  CHECK(kernels_of(view_of(at, HIPOPS_F16, {5, 64}, {65, 1})) == "f16_line");        // so does every other row
  CHECK(kernels_of(view_of(at, HIPOPS_F16, {5, 63}, {64, 1})) == "f16_line");        // a row ends within a word
  CHECK(kernels_of(view_of(at, HIPOPS_F16, {5, 64}, {128, 2})) == "f16_line");
  CHECK(kernels_of(view_of(at, HIPOPS_F16, {5, 64}, {64, -1})) == "f16_line");
  CHECK(kernels_of(view_of(at + 2 * 4 * 64, HIPOPS_F16, {5, 64}, {-64, 1})) == "f16_atomic");
  CHECK(kernels_of(view_of(at, HIPOPS_F16, {1})) == "f16_line");
}

TEST_CASE("scatter_add's kernels by dtype and order", "[scatter_add]") {
  auto all = [](hipops_dtype dtype, uint32_t flags, bool with_workspace) {
    return kernels_of(view_of(1 << 16, dtype, {5, 64}), flags, with_workspace);
  };
  CHECK(kernels_of(view_of(1 << 16, HIPOPS_F32, {5, 64}), 0, false, true) == "f32_wide");
  CHECK(kernels_of(view_of((1 << 16) + 4, HIPOPS_F32, {5, 64}), 0, false, true) == "f32_atomic");
  CHECK(kernels_of(view_of(1 << 16, HIPOPS_F32, {5, 66}), 0, false, true) == "f32_atomic");
  CHECK(kernels_of(view_of(1 << 16, HIPOPS_F32, {5, 64}, {66, 1}), 0, false, true) == "f32_atomic");
  CHECK(kernels_of(view_of((1 << 16) + 4, HIPOPS_BF16, {5, 64}), 0, true, true) ==
        "bf16_widen bf16_f32_wide bf16_round");  // into the workspace
  CHECK(kernels_of(view_of(1 << 16, HIPOPS_BF16, {5, 64}), 0, false, true) == "bf16_wide");
  CHECK(kernels_of(view_of((1 << 16) + 4, HIPOPS_BF16, {5, 64}), 0, false, true) == "bf16_atomic");
  CHECK(kernels_of(view_of(1 << 16, HIPOPS_BF16, {5, 66}), 0, false, true) == "bf16_atomic");
  CHECK(kernels_of(view_of(1 << 16, HIPOPS_F64, {5, 64}), 0, false, true) == "f64_atomic");
  CHECK(all(HIPOPS_F32, 0, true) == "f32_atomic");
  CHECK(all(HIPOPS_F32, HIPOPS_DETERMINISTIC, true) == "f32_line");
  CHECK(all(HIPOPS_F64, 0, false) == "f64_atomic");
  CHECK(all(HIPOPS_F64, HIPOPS_DETERMINISTIC, false) == "f64_line");
  CHECK(all(HIPOPS_BF16, 0, true) == "bf16_widen bf16_f32_atomic bf16_round");
  CHECK(all(HIPOPS_F16, HIPOPS_DETERMINISTIC, true) == "f16_widen f16_f32_line f16_round");
  for (uint32_t flags : {0u, HIPOPS_DETERMINISTIC}) {
    CHECK(all(HIPOPS_U8, flags, false) == "u8_line");
    CHECK(all(HIPOPS_I32, flags, false) == "u32_atomic");
    CHECK(all(HIPOPS_U32, flags, false) == "u32_atomic");
    CHECK(all(HIPOPS_I64, flags, false) == "u64_atomic");
  }
}

TEST_CASE("scatter_add's plan holds for more than 2^31 elements", "[scatter_add]") {
  for (int32_t dim : {0, 1})
    for (hipops_dtype dtype : {HIPOPS_F32, HIPOPS_BF16}) {
      check_plan_of_many(kScatterAdd, dtype, 70000, 70001, dim);
      check_plan_of_many(kScatterAdd, dtype, 3, (int64_t{1} << 40) + 1, dim);
    }
}

TEST_CASE("scatter_add takes the types that it adds, with every dtype of an index", "[scatter_add]") {
  for (int dtype = HIPOPS_F32; dtype <= HIPOPS_U64; ++dtype) {
    const bool added = std::find(std::begin(kAdded), std::end(kAdded), dtype) != std::end(kAdded);
    CHECK(hipops_supports("scatter_add", static_cast<hipops_dtype>(dtype), HIPOPS_NONE) == added);
    for (hipops_dtype index : kIndexDtypes)
      CHECK(hipops_supports("scatter_add", static_cast<hipops_dtype>(dtype), index) == added);
  }
}
