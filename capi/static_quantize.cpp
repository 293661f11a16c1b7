#include "static_quantize.h"

#include <iterator>

#include "kernel_names.h"
#include "map/plan.h"
#include "map/quantize.h"
#include "tensor/error.h"

namespace hipops {
namespace {

constexpr const char* kName = "static_quantize";
constexpr const char* kKernels[] = {HIPOPS_STATIC_QUANTIZE_KERNELS(HIPOPS_KERNEL_NAME)};
constexpr MapVariant kList[] = {HIPOPS_STATIC_QUANTIZE_KERNELS(HIPOPS_MAP_ENTRY)};

hipops_status check(const hipops_tensor* q, const hipops_tensor* x, const hipops_tensor* scale) {
  const Argument of_q{kName, "q", q}, of_x{kName, "x", x}, of_scale{kName, "scale", scale};
  if (hipops_status status = check_quantized(of_q, of_x)) return status;
  if (hipops_status status = check_tensor(of_scale)) return status;
  if (scale->dtype != HIPOPS_F32)
    return fail(HIPOPS_UNSUPPORTED_DTYPE, "%s: scale.dtype is %s, expected f32", kName, dtype_name(scale->dtype));
  if (element_count(*scale) != 1)
    if (hipops_status status = check_same_shape(of_scale, of_x)) return status;
  if (hipops_status status = check_overlap(of_q, of_x)) return status;
  return check_overlap(of_q, of_scale);
}

// Sets all fields but the type of q. Returns the mode, and sets the grid.
MapMode plan(PlanOptions options, const hipops_tensor& q, const hipops_tensor& x, const hipops_tensor& scale,
             StaticQuantizeArgs* a, uint32_t* grid) {
  hipops_tensor scales = x;  // one number is repeated
  scales.data = scale.data;
  scales.dtype = HIPOPS_F32;
  for (int d = 0; d < x.rank; ++d) scales.stride[d] = element_count(scale) == 1 ? 0 : scale.stride[d];
  char* data[3];
  const Layout<3> layout = ordered_layout<3>({&q, &x, &scales}, data);
  a->q = data[0];
  a->x = data[1];
  a->scale = reinterpret_cast<const float*>(data[2]);
  const int64_t bytes = dtype_bytes(x.dtype), wide = bytes == 4 ? kQuantizeVector<float> : kQuantizeVector<uint16_t>;
  const bool is_wide = layout.stride[0][0] == 1 && layout.stride[1][0] == 1 && layout.size[0] >= wide;
  const int64_t vector = is_wide ? wide : 1;
  Layout<4> all;
  all.rank = layout.rank;
  uint64_t bits = bits_of(data[1]);
  for (int d = 0; d < layout.rank; ++d) {
    all.size[d] = d == 0 ? (layout.size[0] - 1) / vector + 1 : layout.size[d];
    for (int k = 0; k < 3; ++k) all.stride[k][d] = layout.stride[k][d] * (d == 0 ? vector : 1);
    bits |= bits_of(all.stride[1][d] * bytes);
  }
  all.stride[3][0] = vector;
  a->walk = walk_of(all);
  a->cols = layout.size[0];
  a->overlaps = a->cols % vector != 0;
  a->scale_step = is_wide ? layout.stride[2][0] : 0;
  a->x_access = static_cast<int32_t>(widest_access(bits));
  const int64_t most = is_wide ? MapLimits::kMostRounds : kQuantizeElements;
  const int64_t rounds = (a->walk.count - 1) / MapLimits::kWorkItemsARound + 1;
  const int64_t items = (a->walk.count - 1) / (options.small_apart ? std::min(rounds, most) : most) + 1;
  *grid = options.grid_for(items, kMapBlock);
  if (is_wide) *grid = blocks_of_whole_rows(a->walk, *grid);
  a->apart = int64_t{*grid} * kMapBlock;
  a->step = a->apart * (is_wide ? 1 : kQuantizeElements);
  a->advances = find_advance(a->walk, a->step, &a->advance);
  return is_wide ? MapMode::wide : MapMode::any;
}

}  // namespace

Op op_static_quantize = {kName, kKernels, static_cast<int>(std::size(kKernels)), supports_floats_alone_but_f64};

hipops_status launch_static_quantize(const hipops_tensor& q, const hipops_tensor& x, const hipops_tensor& scale, void* stream) {
  StaticQuantizeArgs args{};
  args.to = eight_bits(q.dtype);
  args.format = kFloat8Formats[static_cast<int>(args.to)];
  uint32_t grid;
  const MapMode mode = plan(plan_options(), q, x, scale, &args, &grid);
  const int kernel = place_of(kList, [&](const MapVariant& v) { return v.dtype == x.dtype && v.mode == mode; });
  return launch(op_static_quantize, kernel, grid, kMapBlock, &args, sizeof args, stream);
}

}  // namespace hipops

hipops_status hipops_static_quantize(const hipops_tensor* q, const hipops_tensor* x, const hipops_tensor* scale, void* stream) {
  using namespace hipops;
  if (hipops_status status = check(q, x, scale)) return status;
  return is_empty(*x) ? HIPOPS_SUCCESS : launch_static_quantize(*q, *x, *scale, stream);
}
