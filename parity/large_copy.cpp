// strided_copy and copy2d past 2^31 elements and 4 GiB.
#include <cmath>

#include "parity/large_cases.h"

namespace hipops::parity::large {
namespace {

struct View {
  std::vector<int64_t> stride;
  int64_t offset;
};

// The number of elements of a memory that ends with the view's last element.
int64_t reach(const std::vector<int64_t>& shape, const View& view) {
  Layout layout;
  layout.dtype = HIPOPS_U8;
  layout.shape = shape;
  layout.stride = view.stride;
  const std::string problem = measure(&layout);
  if (!problem.empty()) throw std::logic_error(problem);
  return view.offset + layout.last + 1;
}

struct Copy {
  const char* name;
  hipops_dtype dtype;
  std::vector<int64_t> shape;
  View y, x;
  bool far = false;  // few elements are far apart
  bool copy2d = false;
};

void run(Stage& stage, const Copy& c) {
  const Pattern values = random_bits(c.dtype, 1);
  Memory& x = stage.memory("x", values, reach(c.shape, c.x));
  Memory& y = stage.unwritten_memory("y", c.dtype, reach(c.shape, c.y));
  const hipops_tensor to = y.view(c.shape, c.y.stride, c.y.offset), from = x.view(c.shape, c.x.stride, c.x.offset);
  stage.called([&] {
    if (!c.copy2d) return hipops_strided_copy(&to, &from, nullptr);
    return hipops_copy2d(to.data, from.data, c.dtype, to.shape[0], to.shape[1], to.stride[0], from.stride[0], nullptr);
  });

  const int rank = to.rank;
  const int64_t offset = c.x.offset;
  const Expectation copied = elements_are(to, c.y.offset, y.pattern(), [=](const int64_t* index) {
    int64_t place = offset;
    for (int d = 0; d < rank; ++d) place += index[d] * from.stride[d];
    return values(place);
  });
  if (!c.far) {
    stage.expect(y, copied);
  } else {
    std::vector<int64_t> touched;
    for (int64_t i = 0; i < c.shape[0]; ++i) touched.push_back(c.y.offset + i * c.y.stride[0]);
    stage.expect_samples(y, copied, touched);
  }
  stage.expect_unchanged(x);
}

}  // namespace

void add_copy_cases(int64_t giant, std::vector<LargeCase>* cases) {
  const int64_t side = static_cast<int64_t>(std::ceil(std::sqrt(static_cast<double>(giant))));
  const int64_t wide = (side + 63) / 64 * 64, few = giant / 1155 + 1, far = giant / 2 + 3;
  const Copy copies[] = {
      {"one_run_misaligned", HIPOPS_U8, {2 * giant + 1001}, {{1}, 3}, {{1}, 1}},
      {"one_run", HIPOPS_F64, {giant / 2 + 5}, {{1}, 0}, {{1}, 0}},
      {"reversed", HIPOPS_BF16, {giant + 7}, {{1}, 0}, {{-1}, giant + 6}},
      {"reversed_y", HIPOPS_U8, {3, giant + 7}, {{giant + 9, -1}, giant + 6}, {{giant + 7, 1}, 0}},
      {"transpose_tile_any", HIPOPS_U8, {side + 33, side + 5}, {{side + 5, 1}, 0}, {{1, side + 33}, 0}},
      {"transpose_tile_any", HIPOPS_BF16, {side + 33, side + 5}, {{side + 5, 1}, 0}, {{1, side + 33}, 0}},
      {"transpose_tile_wide", HIPOPS_F32, {wide + 64, wide}, {{wide, 1}, 0}, {{1, wide + 64}, 0}},
      {"transpose_thin", HIPOPS_U8, {giant + 5, 2}, {{2, 1}, 0}, {{1, giant + 5}, 0}},
      {"transpose_long", HIPOPS_U8, {17, giant / 8 + 3}, {{giant / 8 + 3, 1}, 0}, {{1, 17}, 0}},
      {"permuted", HIPOPS_U8, {5, 7, few, 3, 11}, {{231 * few, 33 * few, 33, 11, 1}, 0},
       {{7, 1, 35, 35 * few, 105 * few}, 0}},
      {"expanded_rows", HIPOPS_F16, {3, giant / 2 + 1}, {{giant / 2 + 1, 1}, 0}, {{0, 1}, 0}},
      {"expanded_elements", HIPOPS_U8, {giant / 4 + 3, 5}, {{5, 1}, 0}, {{1, 0}, 0}},
      {"pitched_rows", HIPOPS_BF16, {giant / 8 + 3, 8}, {{11, 1}, 0}, {{9, 1}, 0}},
      {"far_apart", HIPOPS_U8, {7, 3, 2}, {{far, 9, 1}, 0}, {{far - 2, 4, 2}, 0}, true},
      {"far_apart", HIPOPS_F32, {3, 40}, {{giant / 2 + 48, 1}, 0}, {{-far, 1}, 2 * far}, true},
      {"far_apart_tiles", HIPOPS_BF16, {5, 33, 20}, {{far, 20, 1}, 0}, {{far + 5, 1, 33}, 0}, true},
      {"few_rows", HIPOPS_U8, {2, giant + 5}, {{giant + 9, 1}, 0}, {{giant + 11, 1}, 0}, false, true},
      {"many_rows", HIPOPS_U8, {giant + 5, 1}, {{2, 1}, 0}, {{3, 1}, 0}, false, true},
      {"far_pitch", HIPOPS_F32, {4, 7}, {{far, 1}, 0}, {{far / 2, 1}, 0}, true, true},
      {"one_row", HIPOPS_F64, {1, giant / 2 + 3}, {{giant, 1}, 0}, {{giant, 1}, 0}, false, true},
      {"same_row", HIPOPS_F32, {giant / 4096 + 3, 4096}, {{4096, 1}, 0}, {{0, 1}, 0}, false, true},
  };
  for (const Copy& c : copies) {
    cases->push_back({c.copy2d ? "copy2d" : "strided_copy", c.dtype, large_name(c.name, c.dtype), c.shape,
                      [c](Stage& stage) { run(stage, c); }});
  }
}

}  // namespace hipops::parity::large
