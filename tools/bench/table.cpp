#include "table.h"

#include <stdexcept>

#include "runtime/runtime.h"

namespace hipops::bench {
namespace {

constexpr const char* kRowOps[] = {"rms_norm", "layer_norm", "softmax"};
constexpr const char* kBf16Rows[] = {"1x4096",    "32x8192",    "262144x128", "32768x1024", "16384x4096",
                                     "8192x8192", "4096x16384", "2048x65536", "512x262144"};
constexpr const char* kResidualRows[] = {"1x4096",     "32x4096",   "256x8192",  "16384x2048",
                                        "16384x4096", "8192x8192", "4096x16384"};
constexpr const char* kF32Rows[] = {"16384x4096", "8192x8192"};

// An empty `name` means the default name.
Workload row(const char* name, const char* op, hipops_dtype dtype, const char* shape, int dim = 0,
             std::vector<int> order = {}) {
  Workload work;
  work.op = op;
  work.dtype = dtype;
  work.dim = dim;
  work.order = std::move(order);
  std::string problem = parse_shape(shape, &work);
  if (problem.empty() && find_image(op)) problem = check(work);  // an op that is not built is never selected
  if (!problem.empty()) throw std::logic_error("row of the table: " + problem);
  work.name = *name ? name : default_name(work, shape);
  return work;
}

}  // namespace

std::vector<Workload> table() {
  std::vector<Workload> rows;
  for (const char* shape : kBf16Rows)
    for (const char* op : kRowOps) rows.push_back(row("", op, HIPOPS_BF16, shape));
  for (const char* shape : kF32Rows)
    for (const char* op : kRowOps) rows.push_back(row("", op, HIPOPS_F32, shape));
  for (const char* shape : kResidualRows) rows.push_back(row("", "fused_add_rms_norm", HIPOPS_BF16, shape));
  const Workload others[] = {
      row("", "fused_add_layer_norm", HIPOPS_BF16, "16384x4096"),
      row("", "log_softmax", HIPOPS_F32, "4096x8192"),
      row("", "softmax_ext", HIPOPS_BF16, "4x32x1024x4096"),
      row("", "rms_norm_backward", HIPOPS_BF16, "16384x4096"),
      row("", "rms_norm_backward", HIPOPS_F32, "16384x4096"),
      row("", "rms_norm_backward", HIPOPS_BF16, "2048x8192"),
      row("", "rms_norm_backward", HIPOPS_BF16, "262144x128"),
      row("", "layer_norm_backward", HIPOPS_BF16, "16384x4096"),
      row("", "softmax_backward", HIPOPS_BF16, "16384x4096"),
      row("", "log_softmax_backward", HIPOPS_F32, "4096x8192"),
      row("cross_entropy/bf16/4096x32000", "cross_entropy", HIPOPS_BF16, "4096x32000", 1),
      row("", "rope", HIPOPS_BF16, "4x32x4096x128"),
      row("", "rope_i", HIPOPS_BF16, "4x32x4096x128"),
      row("", "rope_thd", HIPOPS_BF16, "4x4096x32x128"),
      row("", "rope", HIPOPS_BF16, "32x32x1x128"),
      row("gather_lastdim/bf16/8192x8192/i64", "gather", HIPOPS_BF16, "8192x8192", 1),
      row("index_select/bf16/128256x4096/16384", "index_select", HIPOPS_BF16, "128256x4096->16384"),
      row("scatter_add_dim0/f32/262144x256->16384/i64", "scatter_add", HIPOPS_F32, "262144x256->16384"),
      row("scatter_add_dim0/bf16/262144x256->16384/i64", "scatter_add", HIPOPS_BF16, "262144x256->16384"),
      row("index_add/f32/262144x256->16384", "index_add", HIPOPS_F32, "262144x256->16384"),
      row("index_add/bf16/262144x256->16384", "index_add", HIPOPS_BF16, "262144x256->16384"),
      row("", "upsample_nearest2d", HIPOPS_BF16, "8x256x128x128->256x256"),
      row("", "upsample_nearest1d", HIPOPS_BF16, "16x512x16384->32768"),
      row("", "activation_and_mul", HIPOPS_BF16, "1x14336"),
      row("", "activation_and_mul", HIPOPS_BF16, "16384x14336"),
      row("", "activation_backward", HIPOPS_BF16, "16384x14336"),
      row("", "activation_and_mul_backward", HIPOPS_BF16, "16384x14336"),
      row("strided_copy_transpose/bf16/16384x8192", "strided_copy", HIPOPS_BF16, "8192x16384", 0, {1, 0}),
      row("strided_copy_bthd_bhtd/bf16/4x4096x32x128", "strided_copy", HIPOPS_BF16, "4x4096x32x128", 0, {0, 2, 1, 3}),
      row("", "static_quantize", HIPOPS_BF16, "16384x4096"),
      row("", "dynamic_quantize", HIPOPS_BF16, "1x4096"),
      row("", "dynamic_quantize", HIPOPS_BF16, "16384x4096"),
      row("", "reduce", HIPOPS_F32, "8192x8192->8192x1"),
      row("", "reduce", HIPOPS_F32, "8192x8192->1x8192"),
      row("", "reduce", HIPOPS_F32, "8192x8192->1x1"),
      row("", "reduce", HIPOPS_BF16, "16384x4096->16384x1"),
      row("", "reduce", HIPOPS_BF16, "16384x4096->1x4096"),
      row("", "reduce", HIPOPS_F32, "1x4096->1x1"),
      row("strided_copy_slice/bf16/16384x12288[:,4096:8192]", "strided_copy", HIPOPS_BF16, "16384x12288[:,4096:8192]"),
  };
  rows.insert(rows.end(), std::begin(others), std::end(others));
  rows.push_back(row("dynamic_quantize/bf16/16384x4096/group_128", "dynamic_quantize", HIPOPS_BF16, "16384x4096"));
  rows.back().params = {{"group", 128}};
  rows.push_back(row("dynamic_quantize/bf16/16384x4096/tensor", "dynamic_quantize", HIPOPS_BF16, "16384x4096"));
  rows.back().params = {{"group", HIPOPS_WHOLE_TENSOR}};
  for (const char* shape : {"1x151936->1x1", "8192x8192->8192x1"}) {
    rows.push_back(row((std::string("reduce_argmax/bf16/") + shape).c_str(), "reduce", HIPOPS_BF16, shape));
    rows.back().params = {{"reduction", HIPOPS_REDUCE_ARGMAX}};
  }
  for (const char* shape : {"2048x256->8", "1x131072->50", "64x151936->50", "2048x4096->50", "8x1048576->2048"})
    rows.push_back(row("", "topk", HIPOPS_F32, shape));
  for (const char* shape : {"1x100000000", "64x131072", "2048x4096", "2048x50257", "16384x256"}) {
    rows.push_back(row((std::string("cumsum/f32/") + shape).c_str(), "cumsum", HIPOPS_F32, shape));
    rows.back().params = {{"dim", 1}};
  }
  rows.push_back(row("cumsum/bf16/2048x131072", "cumsum", HIPOPS_BF16, "2048x131072"));
  rows.back().params = {{"dim", 1}};
  rows.push_back(row("cumsum/f32/8192x8192/dim_0", "cumsum", HIPOPS_F32, "8192x8192"));
  for (const char* shape : {"1x10000000", "1x151936", "2048x4096", "16384x64"}) rows.push_back(row("", "sort", HIPOPS_F32, shape));
  for (const char* shape : {"1x256->8", "2048x128->8", "16384x256->8"}) {
    rows.push_back(row("", "topk_softmax", HIPOPS_BF16, shape));
    rows.back().params = {{"flags", HIPOPS_RENORMALIZE}};
  }
  rows.push_back(row("topk_softmax/bf16/16384x256->8/groups_8_4", "topk_softmax", HIPOPS_BF16, "16384x256->8"));
  rows.back().params = {{"flags", HIPOPS_SIGMOID | HIPOPS_RENORMALIZE}, {"groups", 8}, {"topk_groups", 4}};
  return rows;
}

}  // namespace hipops::bench
