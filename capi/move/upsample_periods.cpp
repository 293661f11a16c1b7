// The arguments of device/move/upsample_periods.h: upsampling a y without gaps by vectors or single accesses.
#include <algorithm>
#include <iterator>

#include "policy/limits.h"
#include "tensor/strided.h"
#include "move/upsample.h"

namespace hipops {
namespace {

using Limits = UpsampleLimits;

// True if the formulas of periods give the exact source of every position. Every source must fit in an int32_t.
bool is_simple(const UpsampleDimension& d, bool in_f64) {
  const bool is_shift = d.rule == kSourceSame || d.rule == kSourceShift;
  const bool is_exact = in_f64 || !is_shift || d.size <= Limits::kExactF32Positions;
  return is_exact && static_cast<double>(d.size) * ratio_of(d) < static_cast<double>(Limits::kPastInt32 / 2);
}

// True if the kernels by vectors support x. Strides must not be negative. With one channel columns are neighbours in x.
// With more channels the formulas must be in f32. f32 must represent every half column exactly.
bool suits_vectors(const UpsampleDimension* inner, int rank, const UpsampleDimension& column, int64_t channels,
                   bool in_f64) {
  for (int d = 0; d < rank; ++d)
    if (inner[d].x_stride < 0) return false;
  return column.size <= Limits::kMostVectorColumns && (channels == 1 ? column.x_stride == 1 : !in_f64);
}

UpsampleSources sources_of(const UpsampleDimension& d) {
  return {static_cast<int32_t>(d.size), static_cast<int32_t>(d.x_stride), static_cast<int32_t>(d.last),
          d.rule == kSourceCentre32 ? 0.5f : 0.0f, static_cast<float>(ratio_of(d)), divisor_of(d.size), ratio_of(d)};
}

}  // namespace

bool to_periods(const PlanOptions& options, UpsampleArgs* a, int rank, int64_t unit, int64_t vector_bytes) {
  const bool by_vectors = vector_bytes > 0;
  if (rank == 0 || bits_of(a->y) % static_cast<uint64_t>(by_vectors ? vector_bytes : unit) != 0) return false;
  UpsampleArgs run = *a;
  int64_t elements = 1;
  for (int d = 0; d < rank; ++d) {
    if (a->dimension[d].y_stride != elements) return false;
    elements *= a->dimension[d].size;
  }
  // A period has one or two resized dimensions, and may have channels inside of them. Without an outermost dimension
  // that keeps its size, there is one plane.
  const UpsampleDimension single{1, {}, elements, 0, 0, 1, 1, kSourceSame, 0, {}};
  UpsampleDimension inner[kUpsampleMaxRank];
  std::copy(std::begin(a->dimension), std::end(a->dimension), std::begin(inner));
  if (inner[rank - 1].rule != kSourceSame) {
    if (rank == kUpsampleMaxRank) return false;
    inner[rank++] = single;
  }
  const int64_t length = by_vectors ? vector_bytes / unit : 1;
  const bool has_channels = rank == 4 || (rank == 3 && inner[0].rule == kSourceSame && inner[0].size < length);
  if (rank < 2 || (has_channels && inner[0].rule != kSourceSame)) return false;
  const UpsampleDimension &column = inner[has_channels], &row = rank > 2 + has_channels ? inner[rank - 2] : single;
  UpsampleDimension& outer = inner[rank - 1];
  const bool in_f64 = column.rule == kSourceFloor64 || row.rule == kSourceFloor64;
  if (!is_simple(column, in_f64) || !is_simple(row, in_f64)) return false;
  const int64_t channels = has_channels ? inner[0].size : 1;
  if (by_vectors && (channels * column.size < length || !suits_vectors(inner, rank, column, channels, in_f64)))
    return false;

  // A kernel also computes the offsets of the plane after a period.
  const int64_t planes = outer.size, plane = elements / planes;
  const double unit_bytes = by_vectors ? static_cast<double>(unit) : 0;  // their offsets in bytes have 32 bits
  const int64_t of_vectors = std::max<int64_t>(length * unit / widest_access(bits_of(plane * unit)), 1);
  const auto fits = [&] {
    return plane * outer.size < Limits::kPastPeriodElements && is_near(inner, rank) &&
           reach_of(inner, rank) * unit_bytes < 0x1p32;
  };
  const auto divide_into = [&](int64_t parts) {
    const int64_t size = ((outer.size + parts - 1) / parts + of_vectors - 1) / of_vectors * of_vectors;
    outer.last = outer.size = std::min(outer.size, size);
  };
  const int64_t most = vector_bytes == kRunBytes ? kRunPeriods : 1;
  const int64_t together = std::clamp<int64_t>(elements / length / Limits::kVectorsAPeriod, 1, most);
  divide_into(options.small_apart || !by_vectors ? together : 3);
  while (!fits() && outer.size > of_vectors) divide_into(2);
  if (!fits()) return false;
  const int64_t period = plane * outer.size, periods = (planes + outer.size - 1) / outer.size;
  const int64_t last = elements - (periods - 1) * period;
  // A work-item for each vector, and for each element after the last whole vector. The last period may need more
  // work-items than a whole period.
  const int64_t work_items = std::max(period / length + period % length, last / length + last % length);
  const int64_t blocks = (work_items + kUpsampleBlock - 1) / kUpsampleBlock;
  if (periods * blocks * kUpsampleBlock >= int64_t{1} << 32) return false;

  UpsamplePeriods& p = run.periods;
  p.elements = static_cast<int32_t>(period);
  p.last_elements = static_cast<int32_t>(last);
  p.count = static_cast<int32_t>(periods);
  p.together = static_cast<int32_t>(options.small_apart ? together : most);
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

}  // namespace hipops
