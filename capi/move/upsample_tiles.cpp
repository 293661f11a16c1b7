// The arguments of device/move/upsample_tile.h: upsampling through shared memory.
#include <algorithm>

#include "policy/limits.h"
#include "tensor/strided.h"
#include "move/upsample.h"

namespace hipops {
namespace {

using Limits = UpsampleLimits;

// The most rows of x that `rows` neighbouring rows of y need. The first and the last row add up to two rows, and f32
// rounds large positions. At each end of a plane, the rows of x that no row of y needs are read, too.
double rows_of_x(const UpsampleDimension& line, int64_t rows) {
  const double ratio = ratio_of(line), rounded = static_cast<double>(line.last) * 0x1p-20;
  const double unused = static_cast<double>(line.last + 1) - static_cast<double>(line.size) * ratio;
  const double ends = static_cast<double>((rows + line.size - 2) / line.size);
  return static_cast<double>(rows - 1) * ratio + 2 + rounded + ends * std::max(0.0, unused + rounded);
}

}  // namespace

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
  // A tile reads all of x. Kernels that load single elements read only the sectors of the rows that y needs.
  const double wanted = static_cast<double>(std::min(height, rows.size)) * static_cast<double>(width * unit + 32);
  const bool reads_much = static_cast<double>(height * width * unit) > Limits::kMostReadRatio * wanted;
  if (width * unit < Limits::kLeastStagedRowBytes || reads_much) return false;
  const bool enlarges_much = line.size * rows.size > Limits::kMostEnlargedRatio * width * height;
  if (unit > Limits::kMostSmallElementBytes && enlarges_much) return false;
  if (rows.size * planes >= Limits::kPastInt32 - kTileRows || height * planes >= Limits::kPastInt32) return false;

  UpsampleTiles t{};
  t.total = static_cast<int32_t>(rows.size * planes);
  int64_t period = 1;  // rows that together have whole vectors
  for (; period * line.size % length != 0; period *= 2) ++t.period_bits;
  const double room = static_cast<double>(kTileBytes - kWideAccess) / static_cast<double>(width * unit);
  const double without_seams = (room - rows_of_x(rows, 1)) / ratio_of(rows) + 1;
  const auto rows_of_tile = static_cast<double>(t.total / Limits::kLeastTiles);
  double most = std::min({static_cast<double>(kTileRows), rows_of_tile, without_seams});
  auto whole_periods = [&] { return static_cast<int64_t>(most) / period * period; };
  while (most >= 1 && rows_of_x(rows, whole_periods()) > room) most /= 2;
  if (most < 1 || whole_periods() == 0) return false;
  t.rows = static_cast<int32_t>(whole_periods());
  t.vectors = static_cast<int32_t>(line.size * period / length);
  t.vectors_divisor = divisor_of(t.vectors);
  t.together = std::max(1, kUpsampleBlock / t.vectors);
  const int32_t at_once = t.together * t.vectors, turns = (at_once + kUpsampleBlock - 1) / kUpsampleBlock;
  if (at_once * 4 < turns * kUpsampleBlock * 3) return false;       // a quarter of the work-items would be idle
  // In a shorter tile, columns would be computed for too few vectors.
  if (t.rows < Limits::kLeastTilePeriods * period * t.together) return false;
  a->tiles = t;
  a->rank = 2;
  a->count = (int64_t{t.total} + t.rows - 1) / t.rows;
  return true;
}

}  // namespace hipops
