#include "upsample.h"

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdlib>

#include "error.h"
#include "strided.h"

namespace hipops {
namespace {

enum Mode { any, row };

struct Variant {
  int bits;
  Mode mode;
};
#define VARIANT(name, bits, mode) {bits, mode},
constexpr Variant kVariants[] = {HIPOPS_UPSAMPLE_KERNELS(VARIANT, )};
#undef VARIANT

int kernel_of(int64_t unit, Mode mode) {
  int kernel = 0;
  while (kVariants[kernel].bits != unit * 8 || kVariants[kernel].mode != mode) ++kernel;
  return kernel;
}

constexpr int64_t kWideAccess = 16;

hipops_status check_scale(const char* op, const Scale& scale, hipops_nearest rule) {
  if (!std::isfinite(scale.value) || scale.value < 0)
    return fail(HIPOPS_INVALID_ARGUMENT, "%s: %s is %g, expected a finite number of 0 or more", op, scale.name,
                scale.value);
  if (scale.value == 0) return HIPOPS_SUCCESS;
  double ratio = 1 / scale.value;
  if (std::isfinite(rule == HIPOPS_NEAREST_CANDLE ? ratio : static_cast<float>(ratio))) return HIPOPS_SUCCESS;
  return fail(HIPOPS_INVALID_ARGUMENT, "%s: %s is %g, expected 0 or a number whose reciprocal is finite in %s", op,
              scale.name, scale.value, rule == HIPOPS_NEAREST_CANDLE ? "f64" : "f32");
}

// Positions up to which a rule's arithmetic is exact where the ratio is 1 or 1/2.
int64_t exact_positions(hipops_nearest rule) {
  if (rule == HIPOPS_NEAREST_CANDLE) return int64_t{1} << 53;
  return rule == HIPOPS_NEAREST_EXACT ? int64_t{1} << 23 : int64_t{1} << 24;
}

uint64_t bits_of(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); }
uint64_t bits_of(int64_t bytes) { return static_cast<uint64_t>(bytes); }

// The dimensions in the order of y, as few as there can be. Those that are resized stay, each for itself: also one of
// y's that has a single element, for that may come from any place of x.
int ordered_dimensions(const hipops_tensor& y, const hipops_tensor& x, int resized, hipops_nearest rule,
                       const Scale* scale, UpsampleDimension (&dimension)[kUpsampleMaxRank]) {
  auto distance = [](const UpsampleDimension& d) { return d.size == 1 ? INT64_MAX : std::abs(d.y_stride); };
  UpsampleDimension given[kUpsampleMaxRank];
  int count = 0;
  for (int d = 0; d < x.rank; ++d) {
    int s = d - (x.rank - resized);
    UpsampleDimension next = s < 0 ? UpsampleDimension{} : resize_of(x.shape[d], y.shape[d], rule, scale[s].value);
    if (next.rule == kSourceSame && y.shape[d] == 1) continue;
    next.size = y.shape[d];
    next.y_stride = y.shape[d] == 1 ? 0 : y.stride[d];
    next.x_stride = x.shape[d] == 1 ? 0 : x.stride[d];
    int at = count++;
    for (; at > 0 && distance(given[at - 1]) > distance(next); --at) given[at] = given[at - 1];
    given[at] = next;
  }
  int rank = 0;
  for (int d = 0; d < count; ++d) {
    const UpsampleDimension& next = given[d];
    UpsampleDimension* before = rank == 0 ? nullptr : &dimension[rank - 1];
    if (before && before->rule == kSourceSame && next.rule == kSourceSame &&
        next.y_stride == before->y_stride * before->size && next.x_stride == before->x_stride * before->size) {
      before->size *= next.size;
      continue;
    }
    dimension[rank++] = next;
  }
  for (int d = rank; d < kUpsampleMaxRank; ++d) {
    dimension[d] = {};
    dimension[d].size = 1;
  }
  return rank;
}

// The widest unit that y's innermost dimension is made of, where it lies alike in x.
int64_t widest_unit(const UpsampleArgs& a, int rank, int64_t bytes) {
  const UpsampleDimension& inner = a.dimension[0];
  if (rank == 0 || inner.rule != kSourceSame || inner.y_stride != 1 || inner.x_stride != 1) return bytes;
  uint64_t bits = bits_of(a.x) | bits_of(a.y) | bits_of(inner.size * bytes);
  for (int d = 1; d < rank; ++d)
    bits |= bits_of(a.dimension[d].y_stride * bytes) | bits_of(a.dimension[d].x_stride * bytes);
  return widest_access(bits);
}

// Turns elements into units of so many.
void widen(UpsampleArgs* a, int64_t elements) {
  a->dimension[0].size /= elements;
  if (elements > 1) a->dimension[0].last = a->dimension[0].size - 1;
  for (int d = 1; d < kUpsampleMaxRank; ++d) {
    a->dimension[d].y_stride /= elements;
    a->dimension[d].x_stride /= elements;
  }
}

// Whether y is rows without gaps, of whole vectors.
bool allows_row(const UpsampleArgs& a, int rank, int64_t unit) {
  const UpsampleDimension& inner = a.dimension[0];
  if (rank == 0 || inner.y_stride != 1) return false;
  uint64_t bits = bits_of(a.y) | bits_of(inner.size * unit);
  for (int d = 1; d < rank; ++d) bits |= bits_of(a.dimension[d].y_stride * unit);
  return widest_access(bits) == kWideAccess;
}

// Whether a vector of y is one of half as many bytes of x, each element twice.
bool allows_pairs(const UpsampleArgs& a, int64_t unit) {
  const UpsampleDimension& inner = a.dimension[0];
  if (unit == kWideAccess || inner.rule != kSourceHalf || inner.x_stride != 1) return false;
  uint64_t bits = bits_of(a.x);
  for (int d = 1; d < a.rank; ++d) bits |= bits_of(a.dimension[d].x_stride * unit);
  return widest_access(bits) >= kWideAccess / 2;
}

// Dimension 1 becomes groups of `rows` rows.
void group_rows(UpsampleArgs* a, int64_t rows) {
  UpsampleDimension& line = a->dimension[1];
  if (line.rule == kSourceHalf && line.size % 2 == 0) {
    a->again = line.y_stride;
    line.rule = kSourceSame;
    line.size /= 2;
    line.y_stride *= 2;
  }
  a->rows = line.size;
  line.size = (line.size + rows - 1) / rows;
}

constexpr int64_t kSmall = int64_t{1} << 31;

// Whether sizes and their product are below 2^31.
bool is_small(const UpsampleArgs& a) {
  for (const UpsampleDimension& d : a.dimension)
    if (d.size >= kSmall || d.last >= kSmall) return false;
  return a.count < kSmall;
}

int64_t count_of(const UpsampleArgs& a) {
  int64_t count = 1;
  for (const UpsampleDimension& d : a.dimension) count *= d.size;
  return count;
}

// The same arguments, in vectors of `length` and groups of rows; if they are small enough.
bool to_groups(UpsampleArgs* a, int64_t length, int64_t rows) {
  UpsampleArgs grouped = *a;
  group_rows(&grouped, rows);
  const UpsampleDimension& inner = grouped.dimension[0];
  const double reach = std::abs(static_cast<double>(inner.x_stride)) * static_cast<double>(inner.last);
  if (reach >= static_cast<double>(kSmall) || inner.size >= kSmall || grouped.rows >= kSmall - rows) return false;
  grouped.dimension[0].size /= length;
  grouped.count = count_of(grouped);
  if (!is_small(grouped)) return false;
  *a = grouped;
  return true;
}

// `row`, if y is rows of vectors; in units of x's and y's.
bool to_rows(UpsampleArgs* a, int rank, int64_t bytes, int64_t unit) {
  UpsampleArgs row = *a;
  widen(&row, unit / bytes);
  if (!allows_row(row, rank, unit)) return false;
  row.pairs = allows_pairs(row, unit);
  if (!to_groups(&row, kWideAccess / unit, unit == 1 ? kUpsampleRowsOfBytes : kUpsampleRows)) return false;
  *a = row;
  return true;
}

}  // namespace

hipops_status check_upsample(const char* op, const hipops_tensor* y, const hipops_tensor* x, int resized,
                             hipops_nearest rule, const Scale* scale) {
  Argument out{op, "y", y}, in{op, "x", x};
  if (hipops_status status = check_tensor(in)) return status;
  if (hipops_status status = check_output(out)) return status;
  if (hipops_status status = check_rank(in, 2 + resized, 2 + resized)) return status;
  if (hipops_status status = check_rank(out, 2 + resized, 2 + resized)) return status;
  if (hipops_status status = check_same_dtype(out, in)) return status;
  for (int d = 0; d < 2; ++d)
    if (y->shape[d] != x->shape[d])
      return fail(HIPOPS_INVALID_ARGUMENT, "%s: y.shape[%d] is %" PRId64 ", expected %" PRId64 " (x.shape[%d])", op, d,
                  y->shape[d], x->shape[d], d);
  if (rule != HIPOPS_NEAREST_PYTORCH && rule != HIPOPS_NEAREST_CANDLE && rule != HIPOPS_NEAREST_EXACT)
    return fail(HIPOPS_INVALID_ARGUMENT, "%s: rule is %d, expected a hipops_nearest from %d to %d", op,
                static_cast<int>(rule), HIPOPS_NEAREST_PYTORCH, HIPOPS_NEAREST_EXACT);
  for (int s = 0; s < resized; ++s)
    if (hipops_status status = check_scale(op, scale[s], rule)) return status;
  if (element_count(*y) == 0) return HIPOPS_SUCCESS;
  for (int d = 2; d < x->rank; ++d)
    if (x->shape[d] == 0)
      return fail(HIPOPS_INVALID_ARGUMENT, "%s: x.shape[%d] is 0, expected 1 or more (y.shape[%d] is %" PRId64 ")", op,
                  d, d, y->shape[d]);
  return check_overlap(out, in, false);
}

UpsampleDimension resize_of(int64_t in, int64_t out, hipops_nearest rule, double scale) {
  UpsampleDimension d{};
  d.last = in - 1;
  bool given = scale > 0;
  d.ratio64 = given ? 1 / scale : static_cast<double>(in) / static_cast<double>(out);
  d.ratio32 = given ? static_cast<float>(1 / scale) : static_cast<float>(in) / static_cast<float>(out);
  d.rule = rule == HIPOPS_NEAREST_CANDLE  ? kSourceFloor64
           : rule == HIPOPS_NEAREST_EXACT ? kSourceCentre32
                                          : kSourceFloor32;

  // PyTorch has these two by definition; otherwise they are what the arithmetic gives, as long as it is exact.
  bool defined = rule == HIPOPS_NEAREST_PYTORCH && !given;
  double ratio = rule == HIPOPS_NEAREST_CANDLE ? d.ratio64 : static_cast<double>(d.ratio32);
  bool exact = out <= exact_positions(rule);
  if (defined ? out == in : exact && ratio == 1 && out <= in) d.rule = kSourceSame;
  if (defined ? out % 2 == 0 && out / 2 == in : exact && ratio == 0.5 && (out - 1) / 2 < in) d.rule = kSourceHalf;
  return d;
}

UpsamplePlan plan_upsample(const hipops_tensor& y, const hipops_tensor& x, int resized, hipops_nearest rule,
                           const Scale* scale) {
  UpsamplePlan plan{0, 0, kUpsampleBlock, {}};
  UpsampleArgs& args = plan.args;
  args.x = x.data;
  args.y = y.data;
  const int rank = ordered_dimensions(y, x, resized, rule, scale, args.dimension);
  args.rank = std::max(rank, 1);

  const int64_t bytes = dtype_bytes(x.dtype);
  int64_t unit = widest_unit(args, rank, bytes);
  const bool rows = to_rows(&args, rank, bytes, unit);
  args.small = rows;
  if (!rows) {
    unit = std::min(unit, kWideAccess / 2);  // wider ones are `row`'s
    widen(&args, unit / bytes);
    args.small = to_groups(&args, 1, kUpsampleRowsOfElements);
  }
  plan.kernel = kernel_of(unit, rows ? row : any);
  args.count = count_of(args);
  for (UpsampleDimension& d : args.dimension)
    if (args.small) d.divisor = divisor_of(d.size);
  plan.grid = grid_for(args.count, kUpsampleBlock);
  args.step = int64_t{plan.grid} * kUpsampleBlock;
  return plan;
}

hipops_status upsample(Op& op, const hipops_tensor* y, const hipops_tensor* x, int resized, hipops_nearest rule,
                       const Scale* scale, void* stream) {
  if (hipops_status status = check_upsample(op.name, y, x, resized, rule, scale)) return status;
  if (element_count(*y) == 0) return HIPOPS_SUCCESS;
  UpsamplePlan plan = plan_upsample(*y, *x, resized, rule, scale);
  return launch(op, plan.kernel, plan.grid, plan.block, &plan.args, sizeof plan.args, stream);
}

bool upsample_supports(hipops_dtype dtype, hipops_dtype second) {
  return dtype_bytes(dtype) != 0 && second == HIPOPS_NONE;
}

}  // namespace hipops
