// hipops_scatter: what it refuses, which kernels it chooses, and its results on the CPU with every kernel that it has.
#include "scatter.h"

#include "index/indices.h"
#include "move/scatter_tester.h"

using namespace hipops;
using namespace hipops_test;

namespace {

const ScatterOp kScatter = {"scatter", hipops_scatter, hipops_scatter_workspace_bytes, plan_scatter};

// Of each element of y, what it may hold: what it held, or its sources, in order.
std::vector<std::vector<uint64_t>> candidates_of(const ScatterOperands& t) {
  std::vector<std::vector<uint64_t>> of(static_cast<size_t>(t.y.count()));
  for (int64_t i = 0; i < t.y.count(); ++i) of[static_cast<size_t>(i)] = {t.y.bits(i)};
  for (int64_t i = 0; i < t.x.count(); ++i) {  // row-major order is the order along dim for the sources of one element
    bool bad;
    const int64_t to = t.target_of(i, &bad);
    if (to >= 0) of[static_cast<size_t>(to)].push_back(t.x.bits(i));
  }
  return of;
}

void expect_scattered(const ScatterOperands& t, const std::vector<std::vector<uint64_t>>& candidates, bool last) {
  for (int64_t i = 0; i < t.y.count(); ++i) {
    const std::vector<uint64_t>& of = candidates[static_cast<size_t>(i)];
    const uint64_t got = t.y.bits(i);
    const bool right = last || of.size() == 1 ? got == of.back() : std::find(of.begin() + 1, of.end(), got) != of.end();
    if (!right)
      throw std::runtime_error("element " + std::to_string(i) + " is " + std::to_string(got) + ", expected " +
                               std::to_string(of.back()) + (last ? ", the last" : " or another") + " of " +
                               std::to_string(of.size() - 1) + " sources");
  }
}

void check_random() {
  Random random(11);
  Seen seen(kScatter.kernels());
  for (int round = 0; round < 6; ++round)
    for (int dtype = HIPOPS_F32; dtype <= HIPOPS_U64; ++dtype)
      for (hipops_dtype index_dtype : kIndexDtypes)
        for (int way = 0; way < 3; ++way) {
          ScatterOperands t = random_operands(random, static_cast<hipops_dtype>(dtype), index_dtype,
                                              [&](HostTensor& tensor) { fill_with_bits(tensor, random); });
          const uint32_t flags = way == 0 ? 0 : HIPOPS_DETERMINISTIC;
          const auto candidates = candidates_of(t);
          run(kScatter, t, flags, way == 2, random() % 4 != 0);
          expect_scattered(t, candidates, flags != 0);
          const ScatterPlan plan = plan_scatter(plan_options(), t.tensors(kScatter), flags, way == 2);
          for (int i = 0; i < plan.count; ++i) seen.add(plan.launch[i].kernel);
        }
  seen.expect_all(5);
}

// One block, which goes several rounds up to an end amid a tile; and the divisions of 64 bits that only walks of 2^31
// elements call for.
void check_rounds() {
  Random random(12);
  for (hipops_dtype dtype : kMoved)
    for (int64_t columns : {32, 33, 32 + 256, 33 + 256})
      for (int way = 0; way < 3; ++way) {
        const int64_t rows = 200;
        ScatterOperands t{HostTensor(dtype, {50, columns}, {columns + 16 - columns % 2, 1}),
                          HostTensor(dtype, {rows, columns}), HostTensor(HIPOPS_I32, {rows, columns}, {1, 0}), 0};
        fill_with_bits(t.x, random), fill_with_bits(t.y, random);
        for (int64_t i = 0; i < t.index.count(); ++i) set_bits(t.index, i, random_index(random, 50, HIPOPS_I32));
        const auto candidates = candidates_of(t);
        Workspace workspace((4 * 50 * columns + 15) / 16 * 16);
        hipops_index_report report = HIPOPS_INDEX_REPORT_INIT;
        ScatterPlan plan = plan_scatter(plan_options(), t.tensors(kScatter), way == 0 ? 0 : HIPOPS_DETERMINISTIC, way == 2);
        for (int i = 0; i < plan.count; ++i) {
          ScatterArgs args{plan.launch[i].geometry, index_args(t.index.view, 50, &report), t.x.view.data, t.y.view.data,
                           static_cast<uint32_t*>(workspace.data())};
          args.geometry.step /= plan.launch[i].grid;
          args.geometry.walk.small = columns < 256;
          expect_success(
              launch(kScatter.kernels(), plan.launch[i].kernel, 1, kScatterBlock, &args, sizeof args, nullptr));
        }
        expect_scattered(t, candidates, way != 0);
        EXPECT(t.y.guards_are_whole() && workspace.guards_are_whole());
        EXPECT_EQUAL(report.count, t.expected_report().count);
        EXPECT_EQUAL(report.first, t.expected_report().first);
      }
}

// y [5, 64] and x [9, 64] along dim 0, rows by an index that is the same along them: the names of the kernels.
std::string kernels_of(const hipops_tensor& y, const hipops_tensor& x, const hipops_tensor& index, uint32_t flags,
                       bool with_workspace, int32_t dim = 0) {
  const ScatterPlan plan = plan_scatter(plan_options(), {"scatter", &y, &x, &index, dim}, flags, with_workspace);
  std::string names;
  for (int i = 0; i < plan.count; ++i)
    names += (i ? " " : "") + std::string(kScatter.kernels().kernel_names[plan.launch[i].kernel]);
  return names;
}

}  // namespace

TEST_CASE("scatter refuses bad arguments", "[scatter]") {
  check_calls([] {
    check_refusals(kScatter);
    check_workspace_refusals(kScatter, HIPOPS_F32, HIPOPS_DETERMINISTIC);
    check_workspace_refusals(kScatter, HIPOPS_U8, HIPOPS_DETERMINISTIC);
  });
}

TEST_CASE("scatter of nothing is success", "[scatter]") {
  check_calls([] { check_empty(kScatter); });
}

TEST_CASE("scatter into nothing looks at no address of it", "[scatter]") {
  on_cpu([] {
    HostTensor x(HIPOPS_F32, {4}), index(HIPOPS_I64, {4});
    for (int64_t i = 0; i < 4; ++i) index.set(i, 7);
    for (const uint32_t flags : {0u, uint32_t{HIPOPS_DETERMINISTIC}})
      for (const uintptr_t address : {uintptr_t{0}, uintptr_t{1}, uintptr_t{2}, uintptr_t{3}}) {
        const hipops_tensor y = view_of(address, HIPOPS_F32, {0});
        hipops_index_report report{};
        EXPECT_EQUAL(hipops_scatter(&y, &x.view, &index.view, 0, flags, nullptr, 0, &report, nullptr), HIPOPS_SUCCESS);
      }
  });
}

TEST_CASE("scatter is right for any shapes, strides and dtypes", "[scatter]") { on_cpu(check_random); }

TEST_CASE("scatter's kernels are right over several rounds of the grid", "[scatter]") { on_cpu(check_rounds); }

TEST_CASE("scatter asks for 4 bytes for each element in reach, where order counts", "[scatter]") {
  check_calls([] {
    const hipops_tensor y = view_of(0, HIPOPS_U8, {100, 7}), x = view_of(0, HIPOPS_U8, {1000, 5}),
                        index = view_of(0, HIPOPS_I32, {1000, 5});
    int64_t bytes = -1;
    expect_success(hipops_scatter_workspace_bytes(&y, &x, &index, 0, HIPOPS_DETERMINISTIC, &bytes));
    EXPECT_EQUAL(bytes, 4 * 100 * 5);
    expect_success(hipops_scatter_workspace_bytes(&y, &x, &index, 0, 0, &bytes));
    EXPECT_EQUAL(bytes, 0);
    // 64 bits, and none where a position along dim does not fit a winner.
    const hipops_tensor large = view_of(0, HIPOPS_U8, {int64_t{1} << 40, 7}), one = view_of(0, HIPOPS_U8, {1, 7}),
                        at = view_of(0, HIPOPS_I32, {1, 7});
    expect_success(hipops_scatter_workspace_bytes(&large, &one, &at, 0, HIPOPS_DETERMINISTIC, &bytes));
    EXPECT_EQUAL(bytes, (int64_t{28} << 40));
    for (int64_t length : {int64_t{UINT32_MAX} - 1, int64_t{UINT32_MAX}}) {
      const hipops_tensor line = view_of(0, HIPOPS_U8, {length}), where = view_of(0, HIPOPS_I64, {length}),
                          into = view_of(0, HIPOPS_U8, {4});
      expect_success(hipops_scatter_workspace_bytes(&into, &line, &where, 0, HIPOPS_DETERMINISTIC, &bytes));
      EXPECT_EQUAL(bytes, length < int64_t{UINT32_MAX} ? 16 : 0);
    }
  });
}

TEST_CASE("scatter moves vectors where the index is the same along them", "[scatter]") {
  const hipops_tensor y = view_of(1 << 16, HIPOPS_F32, {5, 64}), x = view_of(1 << 17, HIPOPS_F32, {9, 64});
  const hipops_tensor rows = view_of(1 << 18, HIPOPS_I32, {9, 64}, {1, 0}),
                      each = view_of(1 << 18, HIPOPS_I32, {9, 64});
  CHECK(kernels_of(y, x, rows, 0, false) == "scatter_b128_any");
  CHECK(kernels_of(y, x, each, 0, false) == "scatter_b32_any");
  CHECK(kernels_of(y, x, rows, HIPOPS_DETERMINISTIC, false) == "scatter_b128_line");
  CHECK(kernels_of(y, x, each, HIPOPS_DETERMINISTIC, false) == "scatter_b32_line");
  CHECK(kernels_of(y, x, rows, HIPOPS_DETERMINISTIC, true) == "scatter_clear scatter_claim scatter_b128_winner");
  CHECK(kernels_of(y, x, each, HIPOPS_DETERMINISTIC, true) == "scatter_clear scatter_claim scatter_b32_winner");
  CHECK(kernels_of(y, x, rows, 0, true) == "scatter_b128_any");
  for (uintptr_t off : {4, 8}) {
    const std::string expected = off == 8 ? "scatter_b64_any" : "scatter_b32_any";
    CHECK(kernels_of(view_of((1 << 16) + off, HIPOPS_F32, {5, 64}), x, rows, 0, false) == expected);
    CHECK(kernels_of(y, view_of((1 << 17) + off, HIPOPS_F32, {9, 64}), rows, 0, false) == expected);
  }
  CHECK(kernels_of(view_of(1 << 16, HIPOPS_F32, {5, 64}, {66, 1}), x, rows, 0, false) == "scatter_b64_any");
  CHECK(kernels_of(y, view_of(1 << 17, HIPOPS_F32, {9, 64}, {65, 1}), rows, 0, false) == "scatter_b32_any");
  CHECK(kernels_of(y, view_of(1 << 17, HIPOPS_F32, {9, 64}, {128, 2}), rows, 0, false) == "scatter_b32_any");
  // dim itself is no dimension to move vectors along.
  const hipops_tensor wide = view_of(1 << 16, HIPOPS_F32, {9, 64}),
                      zeros = view_of(1 << 18, HIPOPS_I32, {9, 64}, {0, 0});
  CHECK(kernels_of(wide, x, zeros, 0, false, 1) == "scatter_b32_any");
  CHECK(kernels_of(wide, x, zeros, HIPOPS_DETERMINISTIC, true, 1) == "scatter_clear scatter_claim scatter_b32_winner");
}

TEST_CASE("scatter's plan holds for more than 2^31 elements", "[scatter]") {
  for (int32_t dim : {0, 1}) {
    check_plan_of_many(kScatter, HIPOPS_U8, 70000, 70001, dim);
    check_plan_of_many(kScatter, HIPOPS_U8, 3, (int64_t{1} << 40) + 1, dim);
  }
}

TEST_CASE("scatter takes elements of every dtype, with every dtype of an index", "[scatter]") {
  for (int dtype = HIPOPS_F32; dtype <= HIPOPS_U64; ++dtype) {
    CHECK(hipops_supports("scatter", static_cast<hipops_dtype>(dtype), HIPOPS_NONE) == 1);
    for (hipops_dtype index : kIndexDtypes)
      CHECK(hipops_supports("scatter", static_cast<hipops_dtype>(dtype), index) == 1);
    CHECK(hipops_supports("scatter", static_cast<hipops_dtype>(dtype), HIPOPS_F32) == 0);
  }
  CHECK(hipops_supports("scatter", HIPOPS_NONE, HIPOPS_I64) == 0);
}
