// The choice of a kernel for upsample_nearest1d and upsample_nearest2d.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>

#include "count_as_many.h"
#include "strided.h"
#include "upsample.h"

namespace hipops {
namespace {

enum Mode { any, row, run, apart, tile, few };

struct Variant {
  int bits;
  Mode mode;
};
#define VARIANT(name, bits, mode, block) {bits, mode},
constexpr Variant kVariants[] = {HIPOPS_UPSAMPLE_KERNELS(VARIANT, )};
#undef VARIANT

int kernel_of(int64_t unit, Mode mode) {
  int kernel = 0;
  while (kVariants[kernel].bits != unit * 8 || kVariants[kernel].mode != mode) ++kernel;
  return kernel;
}

constexpr int64_t kWideAccess = 16;
constexpr int kMostRepeats = 2;  // what `row` has a part of a vector for

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
    next.last = x.shape[d] - 1;
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

// s where a vector of y is a part of one of x, each element of it 1 << s times; or 0.
int32_t repeats_of(const UpsampleArgs& a, int64_t unit) {
  const UpsampleDimension& inner = a.dimension[0];
  if (inner.rule != kSourceShift || inner.shift > kMostRepeats || inner.x_stride != 1) return 0;
  const int64_t part = kWideAccess >> inner.shift;
  uint64_t bits = bits_of(a.x);
  for (int d = 1; d < a.rank; ++d) bits |= bits_of(a.dimension[d].x_stride * unit);
  return part >= unit && widest_access(bits) >= part ? inner.shift : 0;
}

constexpr int64_t kSmall = int64_t{1} << 31;

// Rounds of rows share what is found of their elements' places, which is much where units are many in a vector; but
// there are to be work-items enough.
constexpr int32_t kMostRounds = 2;
int32_t rounds_of(const UpsampleArgs& a, int64_t unit, Mode mode) {
  constexpr int64_t kWorkItems = 1 << 18;
  const bool bytes = unit == 1 && a.repeats == 0;  // one by one
  return static_cast<int32_t>(std::clamp<int64_t>(a.count / kWorkItems, 1, mode == row && bytes ? kMostRounds : 1));
}

int64_t count_of(const UpsampleArgs& a) {
  int64_t count = 1;
  for (const UpsampleDimension& d : a.dimension) count *= d.size;
  return count;
}

// Dimension 1 becomes groups of rows, so many of them in each.
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

// Of dimensions 1 and 2, neighbours that are the same are stored together, two by two.
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

// Whether sizes and their product are below 2^31.
bool is_small(const UpsampleArgs& a) {
  for (const UpsampleDimension& d : a.dimension)
    if (d.size >= kSmall || d.last >= kSmall) return false;
  return a.count < kSmall;
}

// Whether sizes and offsets within these dimensions are.
bool is_near(const UpsampleDimension* dimension, int rank) {
  double reach = 0;
  for (int d = 0; d < rank; ++d) {
    if (dimension[d].size >= kSmall) return false;
    reach += std::abs(static_cast<double>(dimension[d].x_stride)) * static_cast<double>(dimension[d].last);
  }
  return reach < static_cast<double>(kSmall);
}

// The same arguments, in vectors of `length` and groups of rows; if they are small enough.
bool to_groups(UpsampleArgs* a, int64_t length, int64_t rows) {
  UpsampleArgs grouped = *a;
  if (!is_near(grouped.dimension, 1) || grouped.dimension[1].size >= kSmall - kMostRounds * rows) return false;
  grouped.dimension[0].size /= length;
  group_rows(&grouped, rows);
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
  row.repeats = repeats_of(row, unit);
  join_equal_rows(&row);
  const bool again = (row.again[0] | row.again[1]) != 0;
  if (!to_groups(&row, kWideAccess / unit, upsample_rows_of(unit, row.repeats != 0, again))) return false;
  *a = row;
  return true;
}

double ratio_of(const UpsampleDimension& d) {
  if (d.rule == kSourceFloor64) return d.ratio64;
  return d.rule == kSourceSame || d.rule == kSourceShift ? std::ldexp(1.0, -d.shift) : static_cast<double>(d.ratio32);
}

// Whether the formulas of periods say where every position comes from, without a look at what they give: f32 is exact up
// to 2^24 where the ratio is 1, 1/2, 1/4, .., and what ratios make of positions is to fit an int32_t.
constexpr int64_t kExactPositions = int64_t{1} << 24;
bool is_simple(const UpsampleDimension& d, bool in_f64) {
  const bool is_exact = in_f64 || (d.rule != kSourceSame && d.rule != kSourceShift) || d.size <= kExactPositions;
  return is_exact && static_cast<double>(d.size) * ratio_of(d) < static_cast<double>(kSmall / 2);
}

UpsampleSources sources_of(const UpsampleDimension& d) {
  return {static_cast<int32_t>(d.size), static_cast<int32_t>(d.x_stride), static_cast<int32_t>(d.last),
          d.rule == kSourceCentre32 ? 0.5f : 0.0f, static_cast<float>(ratio_of(d)), divisor_of(d.size), ratio_of(d)};
}

// `run` or `apart`, by vectors of so many bytes, or `few`, by units, if y has no gaps: it is one period, or, where it is
// very large, or x is, several of as many places of the outermost dimension, each of whole vectors. Vectors are of two
// lines at most.
bool to_periods(UpsampleArgs* a, int rank, int64_t unit, int64_t vector_bytes) {
  if (rank == 0 || bits_of(a->y) % static_cast<uint64_t>(vector_bytes) != 0) return false;
  UpsampleArgs run = *a;
  int64_t elements = 1;
  for (int d = 0; d < rank; ++d) {
    if (a->dimension[d].y_stride != elements) return false;
    elements *= a->dimension[d].size;
  }
  // What is in a period: a dimension or two, within which one may stay as it is. Planes are one if there are no others.
  const UpsampleDimension single{1, {}, elements, 0, 0, 1, 1, kSourceSame, 0, {}};
  UpsampleDimension inner[kUpsampleMaxRank];
  std::copy(std::begin(a->dimension), std::end(a->dimension), std::begin(inner));
  if (inner[rank - 1].rule != kSourceSame) {
    if (rank == kUpsampleMaxRank) return false;
    inner[rank++] = single;
  }
  const int64_t length = vector_bytes / unit;
  const bool has_channels = rank == 4 || (rank == 3 && inner[0].rule == kSourceSame && inner[0].size < length);
  if (rank < 2 || (has_channels && inner[0].rule != kSourceSame)) return false;
  const UpsampleDimension &column = inner[has_channels], &row = rank > 2 + has_channels ? inner[rank - 2] : single;
  UpsampleDimension& outer = inner[rank - 1];
  const bool in_f64 = column.rule == kSourceFloor64 || row.rule == kSourceFloor64;
  if (!is_simple(column, in_f64) || !is_simple(row, in_f64)) return false;
  const int64_t channels = has_channels ? inner[0].size : 1;
  if (length > 1 && (channels * column.size < length || (has_channels && in_f64))) return false;

  // Of a period's offsets in x, those of the plane behind it are found, too.
  constexpr int64_t kMostElements = int64_t{1} << 30;
  const int64_t planes = outer.size, plane = elements / planes;
  const int64_t of_vectors = std::max<int64_t>(vector_bytes / widest_access(bits_of(plane * unit)), 1);
  const auto fits = [&] { return plane * outer.size < kMostElements && is_near(inner, rank); };
  const auto halve = [&] { outer.last = outer.size = (outer.size / 2 + of_vectors - 1) / of_vectors * of_vectors; };
  outer.last = planes;
  while (!fits() && outer.size > of_vectors) halve();
  if (!fits()) return false;
  if (rows_count_as_many.load(std::memory_order_relaxed) && length > 1 && outer.size > of_vectors) halve();
  const int64_t period = plane * outer.size, periods = (planes + outer.size - 1) / outer.size;
  const int64_t work_items = period / length + period % length;
  const int64_t blocks = (work_items + kUpsampleBlock - 1) / kUpsampleBlock;
  if (periods * blocks * kUpsampleBlock >= int64_t{1} << 32) return false;

  UpsamplePeriods& p = run.periods;
  p.elements = static_cast<int32_t>(period);
  p.last_elements = static_cast<int32_t>(elements - (periods - 1) * period);
  p.count = static_cast<int32_t>(periods);
  p.blocks = static_cast<int32_t>(blocks);
  p.blocks_divisor = divisor_of(blocks);
  p.in_f64 = in_f64;
  p.plane_stride = static_cast<int32_t>(outer.x_stride);
  p.column = sources_of(column);
  p.row = sources_of(row);
  p.x_step = outer.x_stride * outer.size;
  p.y_step = period;
  p.channels = static_cast<int32_t>(channels);
  p.channel_stride = has_channels ? static_cast<int32_t>(inner[0].x_stride) : 0;
  p.channels_divisor = divisor_of(p.channels);
  run.count = elements;
  *a = run;
  return true;
}

// Whether neighbours in y's innermost dimension come from places so far apart in x that short vectors are better.
bool are_apart(const UpsampleArgs& a, int rank) {
  return rank > 0 && a.dimension[0].x_stride == 1 && ratio_of(a.dimension[0]) >= 1.75;
}

// Rows of x that `rows` neighbouring rows of y come from, at most: the first and the last of them lie anywhere in
// theirs, and far from 0 f32 rounds; and with each plane that ends come those at its end that no row of y comes from.
double rows_of_x(const UpsampleDimension& line, int64_t rows) {
  const double ratio = ratio_of(line), rounded = static_cast<double>(line.last) * 0x1p-20;
  const double unused = static_cast<double>(line.last + 1) - static_cast<double>(line.size) * ratio;
  const double ends = static_cast<double>((rows + line.size - 2) / line.size);
  return static_cast<double>(rows - 1) * ratio + 2 + rounded + ends * std::max(0.0, unused + rounded);
}

// `tile`, if neither y nor x has gaps, and most of x is wanted.
constexpr int64_t kLeastTiles = 256, kLeastPeriods = 4;
// Of elements of more bytes, where y has so many times those of x, writing takes the time, and rows do as well.
constexpr int64_t kFewBytes = 2, kMostEnlarged = 6;
constexpr int64_t kLeastRowBytes = 32;  // wherever it begins, it has a whole vector
bool to_tiles(UpsampleArgs* a, int rank, int64_t unit) {
  const UpsampleDimension &line = a->dimension[0], &rows = a->dimension[1];
  if (rank < 2 || rank > 3 || (rank == 3 && a->dimension[2].rule != kSourceSame)) return false;
  const int64_t width = line.last + 1, height = rows.last + 1, planes = a->dimension[2].size;
  const bool y_is_one = line.y_stride == 1 && rows.y_stride == line.size &&
                        (planes == 1 || a->dimension[2].y_stride == line.size * rows.size);
  const bool x_is_one = line.x_stride == 1 && (height == 1 || rows.x_stride == width) &&
                        (planes == 1 || a->dimension[2].x_stride == width * height);
  const int64_t length = kWideAccess / unit;
  if (!y_is_one || !x_is_one || bits_of(a->y) % kWideAccess != 0 || line.size < length || line.size > kTileBytes * 8)
    return false;
  // All of x is read, where elements by themselves would have their rows of it read, by sectors.
  const double wanted = static_cast<double>(std::min(height, rows.size)) * static_cast<double>(width * unit + 32);
  if (width * unit < kLeastRowBytes || static_cast<double>(height * width * unit) > 1.25 * wanted) return false;
  if (unit > kFewBytes && line.size * rows.size > kMostEnlarged * width * height) return false;
  if (rows.size * planes >= kSmall - kTileRows || height * planes >= kSmall) return false;

  UpsampleTiles t{};
  t.total = static_cast<int32_t>(rows.size * planes);
  int64_t period = 1;  // rows that make up whole vectors
  for (; period * line.size % length != 0; period *= 2) ++t.period_bits;
  const double room = static_cast<double>(kTileBytes - kWideAccess) / static_cast<double>(width * unit);
  const double without_seams = (room - rows_of_x(rows, 1)) / ratio_of(rows) + 1;
  double most = std::min({static_cast<double>(kTileRows), static_cast<double>(t.total / kLeastTiles), without_seams});
  auto whole_periods = [&] { return static_cast<int64_t>(most) / period * period; };
  while (most >= 1 && rows_of_x(rows, whole_periods()) > room) most /= 2;
  if (most < 1 || whole_periods() == 0) return false;
  t.rows = static_cast<int32_t>(whole_periods());
  t.vectors = static_cast<int32_t>(line.size * period / length);
  t.vectors_divisor = divisor_of(t.vectors);
  t.together = std::max(1, kUpsampleBlock / t.vectors);
  const int32_t at_once = t.together * t.vectors, turns = (at_once + kUpsampleBlock - 1) / kUpsampleBlock;
  if (at_once * 4 < turns * kUpsampleBlock * 3) return false;       // a quarter of the work-items would be idle
  if (t.rows < kLeastPeriods * period * t.together) return false;  // they would find columns for too few vectors
  a->tiles = t;
  a->rank = 2;
  a->count = (int64_t{t.total} + t.rows - 1) / t.rows;
  return true;
}

// `few`, if y has no gaps and is one period; in units of x's and y's.
bool to_few(UpsampleArgs* a, int rank, int64_t bytes, int64_t unit) {
  UpsampleArgs few = *a;
  widen(&few, unit / bytes);
  if (!to_periods(&few, rank, unit, unit) || few.periods.count != 1) return false;
  *a = few;
  return true;
}

// Whether units are so few that the way to the first load counts, which is the shortest there; or fewer of 16 bits, where
// `row` has one load for a vector of them (a few more of 8 or 32 bits take `row` as long or longer).
constexpr int64_t kFewUnits = 3 << 17, kFewRepeated = 1 << 18;
bool are_few(const UpsampleArgs& a, int64_t bytes, int64_t unit) {
  const int64_t most = bytes == 2 && repeats_of(a, bytes) != 0 ? kFewRepeated : kFewUnits;
  return count_of(a) * bytes <= most * unit && !rows_count_as_many.load(std::memory_order_relaxed);
}

// Brings the arguments, which are in elements, into the form that the best mode takes them in, and *unit from an
// element's bytes, or more that stay together, to those that it moves at a time.
Mode choose_mode(int rank, int64_t bytes, UpsampleArgs* a, int64_t* unit) {
  if (are_few(*a, bytes, *unit) && to_few(a, rank, bytes, *unit)) return few;
  if (*unit == bytes && repeats_of(*a, bytes) == 0) {
    const bool resizes_planes = a->dimension[0].rule != kSourceSame && a->dimension[1].rule != kSourceSame;
    const bool prefers_run = bytes > kFewBytes && resizes_planes;
    if (are_apart(*a, rank) && to_periods(a, rank, bytes, kApartBytes)) return apart;
    if (prefers_run && to_periods(a, rank, bytes, kRunBytes)) return run;
    if (to_tiles(a, rank, bytes)) return tile;
  }
  if (to_rows(a, rank, bytes, *unit)) return row;
  const int64_t narrow = std::min(*unit, kWideAccess / 2);  // wider ones are `row`'s and `few`'s
  UpsampleArgs units = *a;
  widen(&units, narrow / bytes);
  const auto has_vectors = [&](int64_t of) { return narrow < of && to_periods(&units, rank, narrow, of); };
  const Mode by_vectors = has_vectors(kRunBytes) ? run : has_vectors(kApartBytes) ? apart : any;
  if (by_vectors == any && to_few(a, rank, bytes, *unit)) return few;
  *a = units;
  *unit = narrow;
  return by_vectors;
}

}  // namespace

void take_rounds(UpsampleArgs* a, int32_t rounds) {
  UpsampleDimension& line = a->dimension[1];
  a->count /= line.size;
  line.size = (line.size + rounds - 1) / rounds;
  a->count *= line.size;
  a->rounds = rounds;
  find_divisor(&line);
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
  const Mode mode = choose_mode(rank, bytes, &args, &unit);
  args.small = mode != any || to_groups(&args, 1, kUpsampleRowsOfElements);
  if (!args.small) args.count = count_of(args);
  plan.kernel = kernel_of(unit, mode);
  for (UpsampleDimension& d : args.dimension) find_divisor(&d);
  if (mode == tile) {
    plan.grid = grid_for(args.count * kUpsampleBlock, kUpsampleBlock);
    args.step = int64_t{plan.grid} * args.tiles.rows;
    return plan;
  }
  if (mode == few) {
    plan.block = kUpsampleFewBlock;
    constexpr int64_t kOfBlock = kUpsampleFewBlock * kUpsampleFewDepth;
    plan.grid = static_cast<uint32_t>((args.count + kOfBlock - 1) / kOfBlock);  // which does not go round
    return plan;
  }
  if (mode == run || mode == apart) {
    plan.grid = static_cast<uint32_t>(int64_t{args.periods.blocks} * args.periods.count);  // nor does this
    return plan;
  }
  if (args.small) take_rounds(&args, rounds_of(args, unit, mode));
  plan.grid = grid_for(args.count, kUpsampleBlock);
  args.step = int64_t{plan.grid} * kUpsampleBlock;
  return plan;
}

}  // namespace hipops
