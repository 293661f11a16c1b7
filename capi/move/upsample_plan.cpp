// The choice of a kernel for upsample_nearest1d and upsample_nearest2d.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>

#include "policy/limits.h"
#include "tensor/strided.h"
#include "tensor/tensor.h"
#include "move/upsample.h"
#include "variant_list.h"

namespace hipops {
namespace {

using Limits = UpsampleLimits;

enum Mode { any, row, run, apart, tile, few };

struct Variant {
  int bits;
  Mode mode;
};
#define VARIANT(name, bits, mode, block) {bits, mode},
constexpr Variant kVariants[] = {HIPOPS_UPSAMPLE_KERNELS(VARIANT, )};
#undef VARIANT

int kernel_of(int64_t unit, Mode mode) {
  return place_of(kVariants, [&](const Variant& v) { return v.bits == unit * 8 && v.mode == mode; });
}

// The dimensions sorted by y's strides, joined where possible. A resized dimension is never joined or dropped, even
// with a single element in y: the element's source may be any position of x.
int ordered_dimensions(const hipops_tensor& y, const hipops_tensor& x, int resized, hipops_nearest rule,
                       const Scale* scale, UpsampleDimension (&dimension)[kUpsampleMaxRank]) {
  auto distance = [](const UpsampleDimension& d) { return d.size == 1 ? INT64_MAX : std::abs(d.y_stride); };
  UpsampleDimension given[kUpsampleMaxRank];
  int count = 0;
  for (int d = 0; d < x.rank; ++d) {
    int s = d - (x.rank - resized);
    UpsampleDimension next =
        s < 0 ? UpsampleDimension{} : resize_of(x.shape[d], y.shape[d], resized, rule, scale[s].value);
    if (next.rule == kSourceSame && y.shape[d] == 1) continue;
    next.size = y.shape[d];
    next.last = x.shape[d] - 1;
    next.y_stride = step_of(y, d);
    next.x_stride = step_of(x, d);
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
      before->last = before->size - 1;
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

// The widest access that divides all addresses and strides, if the innermost dimension is copied and contiguous.
int64_t widest_unit(const UpsampleArgs& a, int rank, int64_t bytes) {
  const UpsampleDimension& inner = a.dimension[0];
  if (rank == 0 || inner.rule != kSourceSame || inner.y_stride != 1 || inner.x_stride != 1) return bytes;
  uint64_t bits = bits_of(a.x) | bits_of(a.y) | bits_of(inner.size * bytes);
  for (int d = 1; d < rank; ++d)
    bits |= bits_of(a.dimension[d].y_stride * bytes) | bits_of(a.dimension[d].x_stride * bytes);
  return widest_access(bits);
}

void widen(UpsampleArgs* a, int64_t elements) {
  a->dimension[0].size /= elements;
  if (elements > 1) a->dimension[0].last = a->dimension[0].size - 1;
  for (int d = 1; d < kUpsampleMaxRank; ++d) {
    a->dimension[d].y_stride /= elements;
    a->dimension[d].x_stride /= elements;
  }
}

// True if y has contiguous rows of whole, aligned vectors.
bool allows_row(const UpsampleArgs& a, int rank, int64_t unit) {
  const UpsampleDimension& inner = a.dimension[0];
  if (rank == 0 || inner.y_stride != 1) return false;
  uint64_t bits = bits_of(a.y) | bits_of(inner.size * unit);
  for (int d = 1; d < rank; ++d) bits |= bits_of(a.dimension[d].y_stride * unit);
  return widest_access(bits) == kWideAccess;
}

// Returns s if a vector of y is a part of a vector of x with each element repeated 1 << s times, or 0.
int32_t repeats_of(const UpsampleArgs& a, int64_t unit) {
  const UpsampleDimension& inner = a.dimension[0];
  if (inner.rule != kSourceShift || inner.shift > Limits::kMostRepeatBits || inner.x_stride != 1) return 0;
  const int64_t part = kWideAccess >> inner.shift;
  uint64_t bits = bits_of(a.x);
  for (int d = 1; d < a.rank; ++d) bits |= bits_of(a.dimension[d].x_stride * unit);
  return part >= unit && widest_access(bits) >= part ? inner.shift : 0;
}

int32_t rounds_of(const UpsampleArgs& a, int64_t unit, Mode mode) {
  const bool bytes = unit == 1 && a.repeats == 0;  // single bytes
  const int64_t most = mode == row && bytes ? Limits::kMostRounds : 1;
  return static_cast<int32_t>(std::clamp<int64_t>(a.count / Limits::kWorkItemsARound, 1, most));
}

int64_t count_of(const UpsampleArgs& a) {
  int64_t count = 1;
  for (const UpsampleDimension& d : a.dimension) count *= d.size;
  return count;
}

void group_rows(UpsampleArgs* a, int64_t rows) {
  UpsampleDimension& line = a->dimension[1];
  a->rows = line.size;
  a->rounds = 1;
  line.size = (line.size + rows - 1) / rows;
}

void find_divisor(UpsampleDimension* d) {
  d->divisor = divisor_of(d->size);
  d->wide_divisor = wide_divisor_of(d->size);
}

// If neighbouring rows of dimension 1 or 2 are equal, a work-item stores two of them.
void join_equal_rows(UpsampleArgs* a) {
  for (int i = 0; i < 2; ++i) {
    UpsampleDimension& d = a->dimension[i + 1];
    if (d.rule != kSourceShift || d.size % 2 != 0) continue;
    a->again[i] = d.y_stride;
    if (--d.shift == 0) d.rule = kSourceSame;
    d.size /= 2;
    d.y_stride *= 2;
  }
}

bool is_small(const UpsampleArgs& a) {
  for (const UpsampleDimension& d : a.dimension)
    if (d.size >= Limits::kPastInt32 || d.last >= Limits::kPastInt32) return false;
  return a.count < Limits::kPastInt32;
}

// Converts to vectors of `length` accesses and groups of rows. Returns false if the sizes are too large.
bool to_groups(UpsampleArgs* a, int64_t length, int64_t rows) {
  UpsampleArgs grouped = *a;
  const int64_t past_rows = Limits::kPastInt32 - Limits::kMostRounds * rows;
  if (!is_near(grouped.dimension, 1) || grouped.dimension[1].size >= past_rows) return false;
  grouped.dimension[0].size /= length;
  group_rows(&grouped, rows);
  grouped.count = count_of(grouped);
  if (!is_small(grouped)) return false;
  *a = grouped;
  return true;
}

// Converts to the form of `row`. Returns false if y's rows are not whole vectors.
bool to_rows(UpsampleArgs* a, int rank, int64_t bytes, int64_t unit) {
  UpsampleArgs row = *a;
  widen(&row, unit / bytes);
  if (!allows_row(row, rank, unit)) return false;
  row.repeats = repeats_of(row, unit);
  join_equal_rows(&row);
  const bool again = (row.again[0] | row.again[1]) != 0;
  if (!to_groups(&row, kWideAccess / unit, upsample_rows_of(unit, row.repeats != 0, again))) return false;
  *a = row;
  return true;
}

// True if the sources of neighbours in y are far apart in x, so that short vectors are faster.
bool are_apart(const UpsampleArgs& a, int rank) {
  return rank > 0 && a.dimension[0].x_stride == 1 && ratio_of(a.dimension[0]) >= Limits::kLeastApartRatio;
}

// Converts to the form of `few`. Returns false if y has gaps or is more than one period.
bool to_few(const PlanOptions& options, UpsampleArgs* a, int rank, int64_t bytes, int64_t unit) {
  UpsampleArgs few = *a;
  widen(&few, unit / bytes);
  if (!to_periods(options, &few, rank, unit, 0) || few.periods.count != 1) return false;
  *a = few;
  return true;
}

bool are_few(const PlanOptions& options, const UpsampleArgs& a, int64_t bytes, int64_t unit) {
  const int64_t most = bytes == 2 && repeats_of(a, bytes) != 0 ? Limits::kFewRepeatedAccesses : Limits::kFewAccesses;
  return options.small_apart && count_of(a) * bytes <= most * unit;
}

// Chooses the fastest mode and converts the arguments from elements to its form. *unit is the widest possible access in
// bytes, and becomes the access of the mode.
Mode choose_mode(const PlanOptions& options, int rank, int64_t bytes, UpsampleArgs* a, int64_t* unit) {
  if (are_few(options, *a, bytes, *unit) && to_few(options, a, rank, bytes, *unit)) return few;
  if (*unit == bytes && repeats_of(*a, bytes) == 0) {
    const bool resizes_planes = a->dimension[0].rule != kSourceSame && a->dimension[1].rule != kSourceSame;
    const bool prefers_run = bytes > Limits::kMostSmallElementBytes && resizes_planes;
    if (are_apart(*a, rank) && to_periods(options, a, rank, bytes, kApartBytes)) return apart;
    if (prefers_run && to_periods(options, a, rank, bytes, kRunBytes)) return run;
    if (to_tiles(a, rank, bytes)) return tile;
  }
  if (to_rows(a, rank, bytes, *unit)) return row;
  const int64_t narrow = std::min(*unit, kWideAccess / 2);  // only `row` and `few` have wider accesses
  UpsampleArgs units = *a;
  widen(&units, narrow / bytes);
  const auto has_vectors = [&](int64_t of) { return narrow < of && to_periods(options, &units, rank, narrow, of); };
  const Mode by_vectors = has_vectors(kRunBytes) ? run : has_vectors(kApartBytes) ? apart : any;
  if (by_vectors == any && to_few(options, a, rank, bytes, *unit)) return few;
  *a = units;
  *unit = narrow;
  return by_vectors;
}

}  // namespace

double ratio_of(const UpsampleDimension& d) {
  if (d.rule == kSourceFloor64) return d.ratio64;
  return d.rule == kSourceSame || d.rule == kSourceShift ? std::ldexp(1.0, -d.shift) : static_cast<double>(d.ratio32);
}

double reach_of(const UpsampleDimension* dimension, int rank) {
  double reach = 0;
  for (int d = 0; d < rank; ++d)
    reach += std::abs(static_cast<double>(dimension[d].x_stride)) * static_cast<double>(dimension[d].last);
  return reach;
}

bool is_near(const UpsampleDimension* dimension, int rank) {
  for (int d = 0; d < rank; ++d)
    if (dimension[d].size >= Limits::kPastInt32) return false;
  return reach_of(dimension, rank) < static_cast<double>(Limits::kPastInt32);
}

void take_rounds(UpsampleArgs* a, int32_t rounds) {
  UpsampleDimension& line = a->dimension[1];
  a->count /= line.size;
  line.size = (line.size + rounds - 1) / rounds;
  a->count *= line.size;
  a->rounds = rounds;
  find_divisor(&line);
}

UpsamplePlan plan_upsample(PlanOptions options, const hipops_tensor& y, const hipops_tensor& x, int resized, hipops_nearest rule,
                           const Scale* scale) {
  UpsamplePlan plan{0, 0, kUpsampleBlock, {}};
  UpsampleArgs& args = plan.args;
  args.x = x.data;
  args.y = y.data;
  const int rank = ordered_dimensions(y, x, resized, rule, scale, args.dimension);
  args.rank = std::max(rank, 1);

  const int64_t bytes = dtype_bytes(x.dtype);
  int64_t unit = widest_unit(args, rank, bytes);
  const Mode mode = choose_mode(options, rank, bytes, &args, &unit);
  args.fits_int32 = mode != any || to_groups(&args, 1, kUpsampleRowsOfElements);
  if (!args.fits_int32) args.count = count_of(args);
  plan.kernel = kernel_of(unit, mode);
  for (UpsampleDimension& d : args.dimension) find_divisor(&d);
  if (mode == tile) {
    plan.grid = options.grid_for(args.count * kUpsampleBlock, kUpsampleBlock);
    args.step = int64_t{plan.grid} * args.tiles.rows;
    return plan;
  }
  if (mode == few) {
    plan.block = kUpsampleFewBlock;
    constexpr int64_t kOfBlock = kUpsampleFewBlock * kUpsampleFewDepth;
    plan.grid = static_cast<uint32_t>((args.count + kOfBlock - 1) / kOfBlock);  // each block makes one round
    return plan;
  }
  if (mode == run || mode == apart) {
    const int64_t groups = (args.periods.count - 1) / args.periods.together + 1;
    plan.grid = static_cast<uint32_t>(groups * args.periods.blocks);  // here too
    return plan;
  }
  if (args.fits_int32) take_rounds(&args, rounds_of(args, unit, mode));
  plan.grid = options.grid_for(args.count, kUpsampleBlock);
  args.step = int64_t{plan.grid} * kUpsampleBlock;
  return plan;
}

}  // namespace hipops
