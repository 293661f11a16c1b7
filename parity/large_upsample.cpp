// upsample_nearest1d and upsample_nearest2d past 2^31 elements and 4 GiB.
#include <algorithm>

#include "parity/large_cases.h"

namespace hipops::parity::large {
namespace {

// The source of an element, by hipops.h's definitions.
class Source {
 public:
  Source(hipops_nearest rule, int64_t in, int64_t out, bool planes, double scale)
      : rule_(rule),
        last_(in - 1),
        same_(in == out && (planes ? rule != HIPOPS_NEAREST_CANDLE : rule == HIPOPS_NEAREST_PYTORCH && scale == 0)),
        half_(rule == HIPOPS_NEAREST_PYTORCH && scale == 0 && 2 * in == out),
        ratio_(scale > 0 ? 1 / scale : static_cast<double>(in) / static_cast<double>(out)),
        ratio32_(scale > 0 ? static_cast<float>(ratio_) : static_cast<float>(in) / static_cast<float>(out)) {}

  int64_t operator()(int64_t i) const {
    if (same_) return i;
    if (half_) return i / 2;
    if (rule_ == HIPOPS_NEAREST_CANDLE) return std::min(static_cast<int64_t>(static_cast<double>(i) * ratio_), last_);
    const float place = static_cast<float>(i) + (rule_ == HIPOPS_NEAREST_EXACT ? 0.5f : 0.0f);
    return std::min(static_cast<int64_t>(place * ratio32_), last_);
  }

 private:
  hipops_nearest rule_;
  int64_t last_;
  bool same_, half_;
  double ratio_;
  float ratio32_;
};

struct Resize {
  const char* name;
  hipops_dtype dtype;
  hipops_nearest rule;
  std::vector<int64_t> x_shape, y_shape;
  std::vector<int64_t> x_stride = {}, y_stride = {};
  double scale = 0;
  bool far = false;  // few elements are far apart
};

int64_t reach(const std::vector<int64_t>& shape, const std::vector<int64_t>& stride) {
  int64_t elements = 1, last = 0;
  for (size_t d = 0; d < shape.size(); ++d) {
    elements *= shape[d];
    if (!stride.empty()) last += (shape[d] - 1) * stride[d];
  }
  return stride.empty() ? elements : last + 1;
}

void run(Stage& stage, const Resize& r) {
  const Pattern values = random_bits(r.dtype, 2);
  Memory& x = stage.memory("x", values, reach(r.x_shape, r.x_stride));
  Memory& y = stage.unwritten_memory("y", r.dtype, reach(r.y_shape, r.y_stride));
  const hipops_tensor to = y.view(r.y_shape, r.y_stride), from = x.view(r.x_shape, r.x_stride);
  const bool planes = to.rank == 4;
  stage.called([&] {
    return planes ? hipops_upsample_nearest2d(&to, &from, r.rule, r.scale, r.scale, nullptr)
                  : hipops_upsample_nearest1d(&to, &from, r.rule, r.scale, nullptr);
  });

  std::vector<Source> source;
  for (int d = 0; d < to.rank; ++d) source.emplace_back(r.rule, from.shape[d], to.shape[d], planes, r.scale);
  const Expectation resized = elements_are(to, 0, y.pattern(), [=](const int64_t* index) {
    int64_t place = index[0] * from.stride[0] + index[1] * from.stride[1];
    for (size_t d = 2; d < source.size(); ++d) place += source[d](index[d]) * from.stride[d];
    return values(place);
  });
  if (!r.far) {
    stage.expect(y, resized);
  } else {
    std::vector<int64_t> touched;
    for (int64_t i = 0; i < r.y_shape[0]; ++i) touched.push_back(i * to.stride[0]);
    stage.expect_samples(y, resized, touched);
  }
  stage.expect_unchanged(x);
}

}  // namespace

void add_upsample_cases(int64_t giant, std::vector<LargeCase>* cases) {
  constexpr hipops_nearest torch = HIPOPS_NEAREST_PYTORCH, candle = HIPOPS_NEAREST_CANDLE, exact = HIPOPS_NEAREST_EXACT;
  const int64_t quarter = giant / 4 + 1, h = giant / 30720 + 1, far = giant / 2 + 3;
  const Resize resizes[] = {
      {"doubled", HIPOPS_U8, torch, {2, 2, quarter}, {2, 2, 2 * quarter}},
      {"one_row", HIPOPS_U8, torch, {1, 1, 30011}, {1, 1, giant + 5}},
      {"one_row_candle", HIPOPS_BF16, candle, {1, 1, giant / 3}, {1, 1, giant + 5}},
      {"one_row_exact", HIPOPS_U8, exact, {1, 1, giant / 7}, {1, 1, 2 * giant + 21}},
      {"one_row_scale", HIPOPS_F16, torch, {1, 1, giant / 2}, {1, 1, giant + 9}, {}, {}, 1.75},
      {"many_rows", HIPOPS_F32, exact, {giant / 8 + 1, 1, 5}, {giant / 8 + 1, 1, 9}},
      {"shrunk", HIPOPS_U8, candle, {1, 1, 3 * giant + 6}, {1, 1, 1001}},
      {"shrunk_rows", HIPOPS_U8, torch, {giant / 8 + 1, 2, 9}, {giant / 8 + 1, 2, 5}},
      {"far_apart", HIPOPS_BF16, torch, {3, 2, 11}, {3, 2, 29}, {far, 40, 3}, {far + 2, 31, 1}, 0, true},
      {"doubled", HIPOPS_BF16, torch, {3, 5, h, 512}, {3, 5, 2 * h, 1024}},
      {"enlarged", HIPOPS_U8, exact, {3, 5, h, 1000}, {3, 5, 2 * h, 1100}},
      {"tall", HIPOPS_U8, candle, {1, 1, 101, 1}, {1, 1, 2 * giant + 5, 1}},
      {"many_images", HIPOPS_BF16, torch, {quarter, 1, 1, 1}, {quarter, 1, 2, 2}},
      {"shrunk", HIPOPS_U8, candle, {1, 1, 3 * giant / 128 + 1, 130}, {1, 1, 7, 9}},
      {"channels_last", HIPOPS_BF16, torch, {2, 16, h, 500}, {2, 16, h + 9, 1100},
       {h * 8000, 1, 8000, 16}, {(h + 9) * 17600, 1, 17600, 16}},
      {"channels_last", HIPOPS_U8, candle, {2, 15, h, 501}, {2, 15, 2 * h + 1, 600},
       {h * 7515, 1, 7515, 15}, {(2 * h + 1) * 9000, 1, 9000, 15}},
      {"far_apart", HIPOPS_F32, torch, {2, 2, 3, 4}, {2, 2, 7, 9}, {far, 40, 9, 2}, {far + 2, 99, 11, 1}, 0, true},
  };
  for (const Resize& r : resizes) {
    cases->push_back({r.y_shape.size() == 4 ? "upsample_nearest2d" : "upsample_nearest1d", r.dtype,
                      large_name(r.name, r.dtype), r.y_shape, [r](Stage& stage) { run(stage, r); }});
  }
}

}  // namespace hipops::parity::large
