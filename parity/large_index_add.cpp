// index_add past 2^31 elements and 4 GiB.
#include <algorithm>

#include "parity/large_cases.h"
#include "parity/large_sums.h"
#include "parity/temporary_options.h"

namespace hipops::parity::large {
namespace {

void call(Stage& stage, const hipops_tensor& y, const hipops_tensor& x, const hipops_tensor& index, int32_t dim,
          bool with_workspace) {
  void* workspace = nullptr;
  int64_t bytes = 0;
  if (with_workspace) {
    const hipops_status status = hipops_index_add_workspace_bytes(&y, &x, &index, dim, &bytes);
    workspace = stage.workspace(status, bytes);
  }
  TemporaryOptions temporary;
  SumsPolicy& sums = temporary.options.sums;
  sums.few = sums.scan = !with_workspace;
  stage.called([&] { return hipops_index_add(&y, &x, &index, dim, workspace, bytes, nullptr, nullptr); });
}

// From this number on the call gets a workspace, in which it orders indices.
constexpr int64_t kManyIndices = 300;

// A few rows of sources are added to rows all over y, `step` elements apart. Each target has two or more sources.
void far_rows(Stage& stage, hipops_dtype dtype, int64_t rows, int64_t columns, int64_t step, int64_t targets,
              bool with_workspace) {
  const int64_t sources = with_workspace ? std::max(5 * targets / 2, kManyIndices) : 5 * targets / 2;
  const int64_t apart = (rows - 1) / (targets - 1);
  std::vector<uint64_t> of_source;
  for (int64_t j = 0; j < sources; ++j) of_source.push_back(static_cast<uint64_t>(j % targets * apart));
  const Pattern before = summands(dtype, 16), values = summands(dtype, 17);
  Memory& y = stage.memory("y", before, (rows - 1) * step + columns);
  Memory& x = stage.memory("x", values, sources * columns);
  Memory& index = stage.memory("index", Pattern(HIPOPS_I64, of_source), sources);
  const hipops_tensor to = y.view({rows, columns}, {step, 1});
  call(stage, to, x.view({sources, columns}), index.view({sources}), 0, with_workspace);
  const Expectation added = elements_are(to, 0, before, [=](const int64_t* i) {
    uint64_t bits = before(i[0] * step + i[1]);
    if (i[0] % apart != 0 || i[0] / apart >= targets) return bits;
    for (int64_t j = i[0] / apart; j < sources; j += targets) bits = exact_sum(dtype, bits, values(j * columns + i[1]));
    return bits;
  });
  if (step == columns) return stage.expect(y, added);
  std::vector<int64_t> touched;
  for (int64_t i = 0; i < rows; ++i) touched.push_back(i * step);
  stage.expect_samples(y, added, touched);
}

// More than 2^31 indices into few elements. One period of x and of the index determines all sums.
void many_indices(Stage& stage, hipops_dtype dtype, int64_t count) {
  constexpr int64_t kElements = 250;
  const Pattern before = summands(dtype, 18), values = summands(dtype, 19);
  const Pattern indices = random_integers(HIPOPS_U8, 20, 256);
  Memory& y = stage.memory("y", before, kElements);
  Memory& x = stage.memory("x", values, count);
  Memory& index = stage.memory("index", indices, count);
  std::vector<uint64_t> sums(256);
  for (int64_t i = 0; i < kPeriod; ++i)
    sums[indices(i)] += values(i) * static_cast<uint64_t>(count / kPeriod + (i < count % kPeriod ? 1 : 0));
  call(stage, y.view({kElements}), x.view({count}), index.view({count}), 0, true);
  stage.expect(y, each_is(dtype, [=](int64_t i) { return exact_sum(dtype, before(i), sums[static_cast<size_t>(i)]); }));
}

// Along the last dimension: y [lines, columns], x [lines, indices].
void along_lines(Stage& stage, hipops_dtype dtype, int64_t lines, int64_t columns, int64_t indices,
                 bool with_workspace) {
  std::vector<uint64_t> targets;
  std::vector<std::vector<int64_t>> sources_of(static_cast<size_t>(columns));
  for (int64_t j = 0; j < indices; ++j) {
    targets.push_back(static_cast<uint64_t>(j * j * 7 % (columns - 1)));
    sources_of[targets.back()].push_back(j);
  }
  const Pattern before = summands(dtype, 21), values = summands(dtype, 22);
  Memory& y = stage.memory("y", before, lines * columns);
  Memory& x = stage.memory("x", values, lines * indices);
  Memory& index = stage.memory("index", Pattern(HIPOPS_I16, targets), indices);
  const hipops_tensor to = y.view({lines, columns});
  call(stage, to, x.view({lines, indices}), index.view({indices}), 1, with_workspace);
  stage.expect(y, elements_are(to, 0, before, [=](const int64_t* i) {
                 uint64_t bits = before(i[0] * columns + i[1]);
                 for (const int64_t j : sources_of[static_cast<size_t>(i[1])])
                   bits = exact_sum(dtype, bits, values(i[0] * indices + j));
                 return bits;
               }));
  stage.expect_unchanged(x);
}

// Half of the indices name one row, as a padding token does, and the others all rows in turn.
void crowded_row(Stage& stage, hipops_dtype dtype, int64_t rows, int64_t columns, int64_t indices,
                 bool with_workspace) {
  const int64_t crowded = rows / 3;
  std::vector<uint64_t> targets;
  std::vector<std::vector<int64_t>> sources_of(static_cast<size_t>(rows));
  for (int64_t j = 0; j < indices; ++j) {
    targets.push_back(static_cast<uint64_t>(j % 2 == 0 ? crowded : j * 7919 % rows));
    sources_of[targets.back()].push_back(j);
  }
  const Pattern before = summands(dtype, 23), values = summands(dtype, 24);
  Memory& y = stage.memory("y", before, rows * columns);
  Memory& x = stage.memory("x", values, indices * columns);
  Memory& index = stage.memory("index", Pattern(HIPOPS_I32, targets), indices);
  const hipops_tensor to = y.view({rows, columns});
  call(stage, to, x.view({indices, columns}), index.view({indices}), 0, with_workspace);
  stage.expect(y, elements_are(to, 0, before, [=](const int64_t* i) {
                 uint64_t bits = before(i[0] * columns + i[1]);
                 for (const int64_t j : sources_of[static_cast<size_t>(i[0])])
                   bits = exact_sum(dtype, bits, values(j * columns + i[1]));
                 return bits;
               }));
}

}  // namespace

void add_index_add_cases(int64_t giant, std::vector<LargeCase>* cases) {
  constexpr hipops_dtype u8 = HIPOPS_U8, f32 = HIPOPS_F32, bf16 = HIPOPS_BF16, i32 = HIPOPS_I32;
  const auto add_far_rows = [&](const char* name, hipops_dtype dtype, int64_t rows, int64_t columns, int64_t step,
                                int64_t targets, bool with_workspace) {
    const std::string form = std::string(name) + (with_workspace ? "" : "_without_workspace");
    cases->push_back({"index_add", dtype, large_name(form.c_str(), dtype), {rows, columns}, [=](Stage& stage) {
                        far_rows(stage, dtype, rows, columns, step, targets, with_workspace);
                      }});
  };
  const int64_t rows = giant / 256 + 5, lines = giant / 256 + 1;
  add_far_rows("far_rows", bf16, rows, 300, 300, 90, true);
  add_far_rows("far_rows", bf16, rows, 304, 304, 90, false);
  add_far_rows("far_rows_wide", bf16, rows, 304, 304, 110, true);
  // Enough indices for the kernels that join digits and add in one launch.
  const int64_t targets = std::max<int64_t>(giant / 143165, 110), step = std::max<int64_t>(giant / 400000 * 8, 312);
  add_far_rows("far_rows_joined", bf16, 4 * targets, 304, step, targets, true);
  add_far_rows("rows_of_one", u8, giant + giant / 8, 1, 1, 1000, true);
  add_far_rows("rows_past_32_bits", u8, 3 * giant, 1, 1, 1000, true);  // too many rows to sort
  add_far_rows("far_apart", f32, 5, 70, giant / 3, 4, false);
  add_far_rows("far_apart", f32, 5, 70, giant / 3, 4, true);
  add_far_rows("far_apart", u8, 5, 70, giant / 3, 4, false);  // each block scans all indices
  const auto add = [&](const char* name, hipops_dtype dtype, std::vector<int64_t> shape, auto run) {
    cases->push_back({"index_add", dtype, large_name(name, dtype), std::move(shape), run});
  };
  add("many_indices", u8, {250}, [=](Stage& stage) { many_indices(stage, u8, giant + 5); });
  add("many_indices", i32, {250}, [=](Stage& stage) { many_indices(stage, i32, giant / 2 + 5); });
  add("lines", bf16, {lines, 256}, [=](Stage& stage) { along_lines(stage, bf16, lines, 256, 60, true); });
  add("lines_of_few", bf16, {lines, 256}, [=](Stage& stage) { along_lines(stage, bf16, lines, 256, 60, false); });
  add("lines_ordered", bf16, {lines, 256}, [=](Stage& stage) {
    along_lines(stage, bf16, lines, 256, kManyIndices, true);
  });
  // Joined digits: a dtype whose long rows several blocks add, and one without; more than 2^16 rows, and few. Scanned
  // rows too.
  for (const hipops_dtype dtype : {f32, i32})
    add("crowded_row", dtype, {70001, 64}, [=](Stage& stage) { crowded_row(stage, dtype, 70001, 64, 1 << 16, true); });
  add("crowded_row_of_few", f32, {2001, 512}, [=](Stage& stage) { crowded_row(stage, f32, 2001, 512, 1 << 13, true); });
  add("crowded_row_without_workspace", f32, {5003, 72}, [=](Stage& stage) {
    crowded_row(stage, f32, 5003, 72, 9000, false);
  });
}

}  // namespace hipops::parity::large
