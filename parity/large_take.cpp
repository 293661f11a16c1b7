// gather and index_select past 2^31 elements and 4 GiB.
#include <algorithm>
#include <random>

#include "parity/large_cases.h"

namespace hipops::parity::large {
namespace {

int64_t product(const std::vector<int64_t>& shape) {
  int64_t elements = 1;
  for (const int64_t extent : shape) elements *= extent;
  return elements;
}

int64_t reach(const std::vector<int64_t>& shape, const std::vector<int64_t>& stride) {
  if (stride.empty()) return product(shape);
  int64_t last = 0;
  for (size_t d = 0; d < shape.size(); ++d) last += (shape[d] - 1) * stride[d];
  return last + 1;
}

// Values below `bound`. Every second value is near a multiple of `border` or near the bound.
Pattern far_integers(hipops_dtype dtype, int64_t bound, int64_t border) {
  constexpr int64_t kNear = 500;
  std::mt19937_64 random(4);
  std::vector<uint64_t> table;
  for (int64_t i = 0; i < kPeriod; ++i) {
    int64_t value = static_cast<int64_t>(random() % static_cast<uint64_t>(bound));
    if (i % 2 != 0) {
      const int64_t nearest = std::min((value + border / 2) / border * border, bound);
      value = nearest + static_cast<int64_t>(random() % (2 * kNear)) - kNear;
    }
    table.push_back(static_cast<uint64_t>(std::clamp<int64_t>(value, 0, bound - 1)));
  }
  return Pattern(dtype, std::move(table));
}

// y and x are 1-D, or 2-D with `dim` 0 or 1. Empty strides mean contiguous.
struct Take {
  const char* op;
  const char* name;
  hipops_dtype dtype, index_dtype;
  int32_t dim;
  std::vector<int64_t> y_shape, x_shape, index_shape;
  int64_t bound;  // above all indices; those past x give 0, and are reported unless they are the mark
  std::vector<int64_t> index_stride = {};
  std::vector<int64_t> y_stride = {}, x_stride = {};
  bool far = false;       // few elements are far apart
  int64_t bad_at = -1;    // the place in the index that is set to -5
};

// Expects the report of an index memory that is used once from end to end.
void expect_report(Stage& stage, const Memory& index, const Memory& report, int64_t size, int64_t mark,
                   int64_t bad_at) {
  uint64_t count = 0, first = UINT64_MAX;
  const std::vector<uint64_t>& table = index.pattern().table();
  for (int64_t i = 0; i < index.pattern().period() && i < index.elements(); ++i) {
    const int64_t value = static_cast<int64_t>(table[static_cast<size_t>(i)]);
    if (value < size || value == mark) continue;
    count += static_cast<uint64_t>((index.elements() - 1 - i) / index.pattern().period() + 1);
    first = std::min(first, static_cast<uint64_t>(i));
  }
  if (bad_at >= 0) {
    if (static_cast<int64_t>(index.pattern()(bad_at)) < size) ++count;
    first = std::min(first, static_cast<uint64_t>(bad_at));
  }
  stage.expect(report, each_is(HIPOPS_U64, [=](int64_t i) { return i == 0 ? count : first; }));
}

hipops_status call(const Take& t, const hipops_tensor& y, const hipops_tensor& x, const hipops_tensor& index,
                   const Memory& report) {
  auto* to = static_cast<hipops_index_report*>(report.data());
  return std::string(t.op) == "gather" ? hipops_gather(&y, &x, &index, t.dim, to, nullptr)
                                       : hipops_index_select(&y, &x, &index, t.dim, to, nullptr);
}

void run(Stage& stage, const Take& t) {
  const Pattern values = random_bits(t.dtype, 3);
  const bool far_sources = t.bound > kPeriod;
  const int64_t row = product(t.x_shape) / t.x_shape[static_cast<size_t>(t.dim)];
  const Pattern indices = far_sources ? far_integers(t.index_dtype, t.bound, stage.giant() / 2 / row)
                                      : random_integers(t.index_dtype, 4, t.bound);
  Memory& x = stage.memory("x", values, reach(t.x_shape, t.x_stride));
  Memory& index = stage.memory("index", indices, reach(t.index_shape, t.index_stride));
  Memory& y = stage.unwritten_memory("y", t.dtype, reach(t.y_shape, t.y_stride));
  Memory& report = stage.memory("report", Pattern(HIPOPS_U64, {0, UINT64_MAX}), 2);
  if (t.bad_at >= 0) index.set(t.bad_at, encode(t.index_dtype, -5));
  const hipops_tensor to = y.view(t.y_shape, t.y_stride), from = x.view(t.x_shape, t.x_stride),
                      at = index.view(t.index_shape, t.index_stride);
  stage.called([&] { return call(t, to, from, at, report); });

  const bool gathers = std::string(t.op) == "gather";
  // No index equals the mark of another dtype.
  const int64_t size = from.shape[t.dim], bad_at = t.bad_at, mark = t.index_dtype == HIPOPS_U8 ? 255 : -1;
  const int32_t dim = t.dim, other = 1 - t.dim;
  const bool plane = from.rank == 2;
  const Expectation expected = elements_are(to, 0, y.pattern(), [=](const int64_t* i) {
    int64_t place = i[dim] * at.stride[gathers ? dim : 0];
    if (gathers && plane) place += i[other] * at.stride[other];
    const int64_t source = static_cast<int64_t>(indices(place));
    if (place == bad_at || source >= size) return uint64_t{0};
    return values(source * from.stride[dim] + (plane ? i[other] * from.stride[other] : 0));
  });
  if (!t.far) {
    stage.expect(y, expected);
  } else {
    std::vector<int64_t> touched;
    for (int64_t i = 0; i < t.y_shape[0]; ++i) touched.push_back(i * to.stride[0]);
    stage.expect_samples(y, expected, touched);
  }
  if (index.elements() == product(t.index_shape)) expect_report(stage, index, report, size, mark, bad_at);
  stage.expect_unchanged(x);
  stage.expect_unchanged(index, {bad_at});
}

}  // namespace

void add_take_cases(int64_t giant, std::vector<LargeCase>* cases) {
  constexpr hipops_dtype u8 = HIPOPS_U8, u16 = HIPOPS_U16, f32 = HIPOPS_F32, f16 = HIPOPS_F16, bf16 = HIPOPS_BF16;
  constexpr hipops_dtype i16 = HIPOPS_I16, i32 = HIPOPS_I32, u32 = HIPOPS_U32, i64 = HIPOPS_I64, f64 = HIPOPS_F64;
  const int64_t half = giant / 2, far = half + 3, lines = giant / 64 + 1, rows = giant / 1024 + 3;
  const int64_t few = giant / 8 + 9, doubles = giant / 64 + 3;
  const int64_t many_lines = lines + 65536;  // enough for shared memory, however small `giant` is
  const Take takes[] = {
      {"gather", "far_sources", u8, i64, 0, {100003}, {3 * giant}, {100003}, 3 * giant},
      {"gather", "far_sources", bf16, u32, 0, {100003}, {giant + 1000}, {100003}, giant + 1000},
      {"gather", "far_sources", f64, i32, 0, {100003}, {half + 999}, {100003}, half + 999},
      {"gather", "many_indices", bf16, u8, 0, {giant + 5}, {200}, {giant + 5}, 256},
      {"gather", "late_report", u8, i32, 0, {giant + 5}, {100}, {giant + 5}, 100, {}, {}, {}, false, giant + 3},
      {"gather", "rows", bf16, i32, 0, {rows, 1024}, {1000, 1024}, {rows, 1024}, 1003, {1, 0}},
      {"gather", "long_rows", u8, u8, 0, {2, giant + 7}, {3, giant + 7}, {2, giant + 7}, 4},
      {"gather", "lines", f16, i16, 1, {lines, 70}, {lines, 40}, {lines, 70}, 42},
      {"gather", "many_lines", f16, i16, 1, {many_lines, 72}, {many_lines, 40}, {many_lines, 72}, 42},
      {"gather", "far_apart", u16, i16, 0, {5, 50}, {4, 50}, {5, 50}, 4, {}, {far, 1}, {far - 2, 1}, true},
      {"gather", "far_apart", f32, i64, 1, {4, 9}, {5, 50}, {4, 9}, 51, {}, {far, 2}, {far / 2, 1}, true},
      {"index_select", "far_rows", bf16, i64, 0, {4099, 16}, {few, 16}, {4099}, few + 10},
      {"index_select", "far_rows", f64, u32, 0, {4099, 33}, {doubles, 33}, {4099}, doubles},
      {"index_select", "far_elements", u8, i64, 0, {100003}, {3 * giant}, {100003}, 3 * giant},
      {"index_select", "far_rows", u8, i32, 0, {4099, 33}, {giant / 11, 33}, {4099}, giant / 11},
      {"index_select", "many_rows", bf16, i32, 0, {rows, 1024}, {300, 1024}, {rows}, 301},
      {"index_select", "many_indices", f16, u8, 0, {giant + 5}, {250}, {giant + 5}, 256},
      {"index_select", "late_report", u8, i32, 0, {giant + 5}, {100}, {giant + 5}, 100, {}, {}, {}, false, giant + 3},
      {"index_select", "lines", u8, u8, 1, {lines, 70}, {lines, 40}, {70}, 42},
      {"index_select", "many_lines", u8, u8, 1, {many_lines, 72}, {many_lines, 41}, {72}, 43},
      {"index_select", "long_rows", u8, i32, 0, {3, giant + 9}, {2, giant + 9}, {3}, 3},
      {"index_select", "far_apart", u16, i16, 0, {5, 50}, {4, 50}, {5}, 4, {}, {far, 1}, {far - 2, 1}, true},
      {"index_select", "far_apart", f32, i64, 1, {4, 9}, {4, 50}, {9}, 51, {}, {far, 2}, {far / 2, 1}, true},
  };
  for (const Take& t : takes)
    cases->push_back({t.op, t.dtype, large_name(t.name, t.dtype), t.y_shape, [t](Stage& stage) { run(stage, t); }});
}

}  // namespace hipops::parity::large
