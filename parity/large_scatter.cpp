// scatter and scatter_add past 2^31 elements and 4 GiB.
#include "parity/large_cases.h"
#include "parity/large_sums.h"

namespace hipops::parity::large {
namespace {

enum class Flags { kAny, kDeterministic, kDeterministicWithoutWorkspace, kWithWorkspace };

struct Operation {
  hipops_dtype dtype;
  bool adds;
  Flags flags;

  const char* op() const { return adds ? "scatter_add" : "scatter"; }
  Pattern values(uint64_t seed, int64_t period = kPeriod) const { return summands(dtype, seed, period); }
  uint64_t result(uint64_t before, uint64_t source) const { return adds ? exact_sum(dtype, before, source) : source; }
};

void call(Stage& stage, const Operation& o, const hipops_tensor& y, const hipops_tensor& x, const hipops_tensor& index,
          int32_t dim) {
  const bool deterministic = o.flags == Flags::kDeterministic || o.flags == Flags::kDeterministicWithoutWorkspace;
  const uint32_t flags = deterministic ? HIPOPS_DETERMINISTIC : 0;
  void* workspace = nullptr;
  int64_t bytes = 0;
  if (o.flags == Flags::kDeterministic || o.flags == Flags::kWithWorkspace) {
    const hipops_status status = (o.adds ? hipops_scatter_add_workspace_bytes : hipops_scatter_workspace_bytes)(
        &y, &x, &index, dim, flags, &bytes);
    workspace = stage.workspace(status, bytes);
  }
  stage.called([&] {
    return (o.adds ? hipops_scatter_add : hipops_scatter)(&y, &x, &index, dim, flags, workspace, bytes, nullptr,
                                                          nullptr);
  });
}

// A few sources, each with its own target, all over a y of one dimension.
void far_targets(Stage& stage, const Operation& o, int64_t length) {
  constexpr int64_t kSources = 6007;  // a prime
  const int64_t step = length / kSources;
  std::vector<uint64_t> targets;
  for (int64_t j = 0; j < kSources; ++j) targets.push_back(static_cast<uint64_t>(j * 7919 % kSources * step));
  std::vector<int64_t> source_of(kSources);
  for (int64_t j = 0; j < kSources; ++j) source_of[targets[static_cast<size_t>(j)] / static_cast<uint64_t>(step)] = j;

  const Pattern before = o.values(5), sources = o.values(6);
  Memory& y = stage.memory("y", before, length);
  Memory& x = stage.memory("x", sources, kSources);
  Memory& index = stage.memory("index", Pattern(HIPOPS_I64, targets), kSources);
  call(stage, o, y.view({length}), x.view({kSources}), index.view({kSources}), 0);
  stage.expect(y, each_is(o.dtype, [=](int64_t place) {
                 const int64_t nth = place / step;
                 if (place % step != 0 || nth >= kSources) return before(place);
                 return o.result(before(place), sources(source_of[static_cast<size_t>(nth)]));
               }));
}

// Many short lines along the last dimension. The patterns have kKinds different lines.
void lines(Stage& stage, const Operation& o, int64_t count, int64_t y_length, int64_t x_length) {
  constexpr int64_t kKinds = 1021;
  const bool in_order = o.flags != Flags::kAny || o.adds;
  const Pattern before = o.values(7, kKinds * y_length), sources = o.values(8, kKinds * x_length);
  Pattern indices = random_integers(HIPOPS_U8, 9, y_length, kKinds * x_length);
  if (!in_order) {  // no two targets of a line are equal
    std::vector<uint64_t> table;
    for (int64_t i = 0; i < kKinds * x_length; ++i)
      table.push_back(static_cast<uint64_t>((i % x_length * 5 + i / x_length * 3) % y_length));
    indices = Pattern(HIPOPS_U8, table);
  }
  std::vector<uint64_t> table = before.table();
  for (int64_t i = 0; i < kKinds * x_length; ++i) {
    uint64_t& to = table[static_cast<size_t>(i / x_length * y_length) + indices(i)];
    to = o.result(to, sources(i));
  }

  Memory& y = stage.memory("y", before, count * y_length);
  Memory& x = stage.memory("x", sources, count * x_length);
  Memory& index = stage.memory("index", indices, count * x_length);
  call(stage, o, y.view({count, y_length}), x.view({count, x_length}), index.view({count, x_length}), 1);
  stage.expect(y, is_pattern(Pattern(o.dtype, table)));
  stage.expect_unchanged(x);
  stage.expect_unchanged(index);
}

// Three rows of sources, added to or stored in very long rows. The index has an entry for each element or for each row.
void long_rows(Stage& stage, const Operation& o, int64_t rows, int64_t length, bool whole) {
  const Pattern before = o.values(10), sources = o.values(11);
  const Pattern indices = whole ? Pattern(HIPOPS_I32, {2, 0, 1}) : random_integers(HIPOPS_U8, 12, rows + 1);
  Memory& y = stage.memory("y", before, rows * length);
  Memory& x = stage.memory("x", sources, 3 * length);
  Memory& index = stage.memory("index", indices, whole ? 3 : 3 * length);
  const hipops_tensor at = whole ? index.view({3, length}, {1, 0}) : index.view({3, length});
  call(stage, o, y.view({rows, length}), x.view({3, length}), at, 0);
  stage.expect(y, elements_are(y.view({rows, length}), 0, before, [=](const int64_t* i) {
                 uint64_t bits = before(i[0] * length + i[1]);
                 for (int64_t j = 0; j < 3; ++j) {
                   const uint64_t target = indices(whole ? j : j * length + i[1]);
                   if (target == static_cast<uint64_t>(i[0])) bits = o.result(bits, sources(j * length + i[1]));
                 }
                 return bits;
               }));
}

// Rows are far apart in each tensor. Element i of row j has the target row (i + j) % 6, so no target is shared.
void far_apart(Stage& stage, const Operation& o, int64_t far) {
  constexpr int64_t kRows = 6, kSources = 4, kLength = 50;
  const Pattern before = o.values(13), sources = o.values(14), indices(HIPOPS_I16, {0, 1, 2, 3, 4, 5});
  const int64_t y_step = far + 2, x_step = far, index_step = far / 3 * kRows + 1;
  Memory& y = stage.memory("y", before, (kRows - 1) * y_step + kLength);
  Memory& x = stage.memory("x", sources, (kSources - 1) * x_step + kLength);
  Memory& index = stage.memory("index", indices, (kSources - 1) * index_step + kLength);
  const hipops_tensor to = y.view({kRows, kLength}, {y_step, 1});
  call(stage, o, to, x.view({kSources, kLength}, {x_step, 1}), index.view({kSources, kLength}, {index_step, 1}), 0);
  const Expectation scattered = elements_are(to, 0, before, [=](const int64_t* i) {
    uint64_t bits = before(i[0] * y_step + i[1]);
    for (int64_t j = 0; j < kSources; ++j) {
      if (indices(j * index_step + i[1]) == static_cast<uint64_t>(i[0]))
        bits = o.result(bits, sources(j * x_step + i[1]));
    }
    return bits;
  });
  std::vector<int64_t> touched;
  for (int64_t i = 0; i < kRows; ++i) touched.push_back(i * y_step);
  stage.expect_samples(y, scattered, touched);
}

}  // namespace

void add_scatter_cases(int64_t giant, std::vector<LargeCase>* cases) {
  constexpr hipops_dtype u8 = HIPOPS_U8, f32 = HIPOPS_F32, f16 = HIPOPS_F16, bf16 = HIPOPS_BF16, f64 = HIPOPS_F64;
  constexpr Flags any = Flags::kAny, ordered = Flags::kDeterministic, with = Flags::kWithWorkspace,
                  line = Flags::kDeterministicWithoutWorkspace;
  const auto add = [&](const Operation& o, const std::string& name, std::vector<int64_t> shape, auto body) {
    const char* suffix[] = {"", "_deterministic", "_deterministic_line", "_with_workspace"};
    cases->push_back({o.op(), o.dtype, large_name((name + suffix[static_cast<int>(o.flags)]).c_str(), o.dtype),
                      std::move(shape), [=](Stage& stage) { body(stage, o); }});
  };
  const auto add_far_targets = [&](const Operation& o, int64_t length) {
    add(o, "far_targets", {length}, [=](Stage& s, const Operation& op) { far_targets(s, op, length); });
  };
  const auto add_lines = [&](const Operation& o, int64_t count, int64_t y_length, int64_t x_length) {
    add(o, "lines", {count, y_length},
        [=](Stage& s, const Operation& op) { lines(s, op, count, y_length, x_length); });
  };
  const auto add_long_rows = [&](const Operation& o, int64_t rows, int64_t length, bool whole) {
    add(o, whole ? "whole_rows" : "long_rows", {rows, length},
        [=](Stage& s, const Operation& op) { long_rows(s, op, rows, length, whole); });
  };
  const auto add_far_apart = [&](const Operation& o, int64_t far) {
    add(o, "far_apart", {6, 50}, [=](Stage& s, const Operation& op) { far_apart(s, op, far); });
  };
  const int64_t half = giant / 2, short_lines = giant / 32 + 1;

  add_far_targets({u8, false, any}, 3 * giant);
  add_far_targets({f64, false, any}, half + giant / 8);
  add_lines({bf16, false, any}, short_lines, 33, 32);
  add_lines({u8, false, ordered}, short_lines, 33, 40);
  add_long_rows({u8, false, any}, 3, giant + 8, true);
  add_long_rows({bf16, false, line}, 2, half + 5, false);
  add_long_rows({u8, false, ordered}, 2, half + 1005, false);
  add_far_apart({f32, false, any}, giant / 3);
  add_far_apart({u8, false, ordered}, half);

  add_far_targets({f32, true, any}, giant + giant / 8);
  add_far_targets({HIPOPS_I64, true, any}, half + giant / 8);
  add_far_targets({u8, true, line}, 3 * giant);
  add_far_targets({bf16, true, with}, giant + giant / 8);
  add_lines({bf16, true, any}, short_lines, 32, 33);
  add_lines({f16, true, with}, short_lines, 33, 32);
  add_lines({f16, true, ordered}, short_lines, 33, 32);
  add_long_rows({bf16, true, any}, 3, giant + 8, true);
  add_long_rows({f32, true, line}, 2, half + 5, false);
  add_far_apart({f32, true, any}, giant / 3);
  add_far_apart({bf16, true, ordered}, half);
}

}  // namespace hipops::parity::large
