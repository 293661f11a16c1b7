// hipops.hpp with exceptions for failures. It is linked with returns_status.cpp, which has none.
#include <hipops/hipops.hpp>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

bool returns_status();

namespace {

int wrong = 0;
void expect(bool holds, const char* what) {
  if (!holds) ++wrong, std::printf("FAIL %s\n", what);
}
template <class E, class F>
void expect_thrown(const char* message, F f) {
  try {
    f();
    expect(false, message);
  } catch (const E& e) {
    if (!std::strstr(e.what(), message)) ++wrong, std::printf("FAIL '%s', expected '%s'\n", e.what(), message);
  }
}

// Functions that return a size.
void expect_workspaces(const hipops::tensor& y, const hipops::const_tensor& x) {
  const std::vector<int64_t> rows(8, 1);
  const hipops::const_tensor index(rows.data(), {2}), wide(rows.data(), {2, 4});
  int64_t of_index_add = -1, of_scatter = -1, of_scatter_add = -1;
  hipops::check(hipops_index_add_workspace_bytes(&y, &x, &index, 0, &of_index_add));
  hipops::check(hipops_scatter_workspace_bytes(&y, &x, &wide, 1, HIPOPS_DETERMINISTIC, &of_scatter));
  hipops::check(hipops_scatter_add_workspace_bytes(&y, &x, &wide, 1, 0, &of_scatter_add));
  expect(of_scatter > 0, "the workspace of scatter");
  expect(hipops::index_add_workspace(y, x, index, 0) == of_index_add, "index_add_workspace");
  expect(hipops::scatter_workspace(y, x, wide, 1, HIPOPS_DETERMINISTIC) == of_scatter, "scatter_workspace");
  expect(hipops::scatter_add_workspace(y, x, wide, 1) == of_scatter_add, "scatter_add_workspace");
  expect_thrown<hipops::error>("index_add: dim is 2, expected 0 to 1",
                               [&] { expect(hipops::index_add_workspace(y, x, index, 2) < 0, "no size"); });
}

void all_ops() {
  using hipops::const_tensor, hipops::tensor;
  const std::vector<float> x = {1, 2, 3, 4, 5, 6, 7, 8}, table = {1, 1};  // cosines of 1, and sines that are 0
  const float zeros[2] = {};
  std::vector<float> y(8), sum(8);
  const const_tensor in(x.data(), {2, 4}), weight(x.data(), {4});
  const tensor out(y.data(), {2, 4});

  hipops::rms_norm(out, nullptr, in, nullptr, 1e-5);
  expect(std::fabs(y[0] - 0.365148f) < 1e-5 && std::fabs(y[7] - 1.212957f) < 1e-5, "rms_norm");
  hipops::optional_tensor ones, bias;  // each of them outlives the tensor that it copies
  bias = const_tensor(x.data(), {4});
  const std::vector<float> of_ones(4, 1);
  ones = const_tensor(of_ones.data(), {4});
  hipops::layer_norm(out, nullptr, nullptr, in, ones, bias, 0);
  expect(std::fabs(y[0] + y[3] - 5) < 1e-4, "layer_norm with a bias");
  hipops::fused_add_rms_norm(out, tensor(sum.data(), {2, 4}), nullptr, in, in, weight, 0);
  expect(sum[7] == 16, "fused_add_rms_norm");
  hipops::fused_add_rms_norm(out, nullptr, nullptr, in, in, nullptr, 0);
  hipops::activation_and_mul(out, in, in, HIPOPS_ACTIVATION_RELU);
  expect(y[7] == 64, "activation_and_mul");
  unsigned char codes[8];
  const float one = 1;
  hipops::static_quantize(tensor(codes, HIPOPS_F8_E4M3FN, {2, 4}), in, const_tensor(&one, {}));
  expect(codes[0] == 0x38 && codes[7] == 0x50, "static_quantize");
  float scales[2];
  hipops::dynamic_quantize(tensor(codes, HIPOPS_I8, {2, 4}), tensor(scales, {2}), in);
  expect(codes[7] == 127 && scales[1] == 8.0f / 127, "dynamic_quantize");
  const tensor whole(codes, HIPOPS_I8, {2, 4}), one_scale(scales, {});
  expect(hipops::dynamic_quantize_workspace(whole, one_scale, in) == 0, "dynamic_quantize_workspace");
  hipops::dynamic_quantize(whole, one_scale, in, nullptr, HIPOPS_WHOLE_TENSOR);
  expect(codes[3] == 64 && codes[7] == 127 && scales[0] == 8.0f / 127, "dynamic_quantize of a whole tensor");
  int64_t best_columns[4];
  const tensor best(y.data(), {2, 2}), places(best_columns, HIPOPS_I64, {2, 2});
  hipops::topk(best, places, in, 2);
  expect(y[0] == 4 && best_columns[0] == 3 && best_columns[3] == 2 && hipops::topk_workspace(nullptr, places, in, 2) == 0, "topk");
  hipops_tensor plain = in;
  hipops::softmax(out, plain);
  expect(std::fabs(y[0] + y[1] + y[2] + y[3] - 1) < 1e-6, "softmax");

  const tensor rotated(y.data(), {1, 2, 1, 4});
  const const_tensor heads(x.data(), {1, 2, 1, 4}), cos(table.data(), {1, 2}), sin(zeros, {1, 2});
  for (const auto rotate : {hipops::rope, hipops::rope_i}) {
    rotate(rotated, heads, cos, sin, nullptr, nullptr);
    expect(y == x, "rope by no angle");
  }
  hipops::rope_thd(tensor(y.data(), {1, 1, 2, 4}), const_tensor(x.data(), {1, 1, 2, 4}), cos, sin);

  const int64_t rows[] = {1, 1}, columns[] = {3, 0};
  hipops_index_report report = HIPOPS_INDEX_REPORT_INIT;
  hipops::index_select(out, in, const_tensor(rows, {2}), 0, &report);
  expect(y[0] == 5 && report.count == 0, "index_select");
  hipops::gather(tensor(y.data(), {1, 2}), in, const_tensor(columns, {1, 2}), 1);
  expect(y[0] == 4 && y[1] == 1, "gather");
  y.assign(8, 0);
  expect_workspaces(out, in);
  hipops::index_add(out, in, const_tensor(rows, {2}), 0);
  expect(y[4] == 6 && y[0] == 0, "index_add");
  const const_tensor pair(x.data(), {1, 2}), into(columns, {1, 2});
  hipops::scatter(tensor(y.data(), {1, 4}), pair, into, 1, HIPOPS_DETERMINISTIC);
  hipops::scatter_add(tensor(y.data(), {1, 4}), pair, into, 1, 0, {}, &report);
  expect(y[3] == 2 && y[0] == 4, "scatter, then scatter_add");

  hipops::upsample_nearest1d(tensor(y.data(), {1, 1, 8}), const_tensor(x.data(), {1, 1, 4}));
  expect(y[7] == 4 && y[6] == 4, "upsample_nearest1d");
  hipops::upsample_nearest2d(tensor(y.data(), {1, 1, 2, 4}), const_tensor(x.data(), {1, 1, 1, 2}), HIPOPS_NEAREST_CANDLE);
  expect(y[3] == 2 && y[4] == 1, "upsample_nearest2d");
  hipops::strided_copy(tensor(y.data(), {4, 2}), const_tensor(x.data(), {4, 2}, {1, 4}));
  expect(y[1] == 5, "strided_copy of a transpose");
  hipops::copy2d(y.data(), x.data(), HIPOPS_F32, 2, 2, 2, 4);
  expect(y[2] == 5, "copy2d");
  const int64_t shape[] = {2, 4}, stride[] = {4, 1};
  hipops::softmax(tensor(y.data(), HIPOPS_F32, 2, shape), const_tensor(x.data(), HIPOPS_F32, 2, shape, stride));
}

void mistakes() {
  using hipops::tensor;
  float x[8] = {}, y[8];
  const tensor in(x, {2, 4}), out(y, {2, 4});
  expect_thrown<hipops::error>("rms_norm: weight.shape[0] is 3, expected 4", [&] { hipops::rms_norm(out, nullptr, in, tensor(x, {3}), 1e-5); });
  expect_thrown<hipops::error>("softmax: y.shape[0] is 4, expected 2", [&] { hipops::softmax(tensor(y, {4, 2}), in); });
  expect_thrown<hipops::error>("x.rank is -1", [&] { hipops::softmax(out, tensor(x, {2, 4}, {1})); });
  expect_thrown<hipops::error>("x.rank is 9, expected 0 to 8", [&] { hipops::softmax(out, tensor(x, {1, 1, 1, 1, 1, 1, 1, 1, 1})); });
  try {
    hipops::softmax(tensor(y, HIPOPS_U8, {2, 4}), tensor(x, HIPOPS_U8, {2, 4}));
    expect(false, "softmax of u8");
  } catch (const hipops::error& e) {
    expect(e.status() == HIPOPS_UNSUPPORTED_DTYPE && e.runtime_error() == 0, "the status of softmax of u8");
  }
}

}  // namespace

int main() {
  hipops::init(HIPOPS_BACKEND_CPU);
  hipops::prepare("softmax");
  all_ops();
  mistakes();
  expect(returns_status(), "the file that returns statuses");
  std::printf("%d wrong\n", wrong);
  return wrong != 0;
}
