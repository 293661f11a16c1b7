#include "move/copy_plan.h"

#include <algorithm>

#include "move/copy_layout.h"
#include "policy/limits.h"
#include "tensor/overlap.h"
#include "tensor/strided.h"
#include "variant_list.h"

namespace hipops {
namespace {

using Limits = CopyLimits;

enum Mode { any, few, rows, tile, square, staged, shifted };

struct Variant {
  int bits;
  Mode mode;
  uint32_t block;
};
#define VARIANT(name, bits, mode, block) {bits, mode, block},
constexpr Variant kVariants[] = {HIPOPS_STRIDED_COPY_KERNELS(VARIANT)};
#undef VARIANT

int kernel_of(int64_t unit, Mode mode) {
  return place_of(kVariants, [&](const Variant& v) { return v.bits == unit * 8 && v.mode == mode; });
}

// True if lines along both dimensions can be read and written in vectors of 16 bytes.
bool allows_squares(const Copy& copy, int along) {
  const Layout<kCopyOperands>& layout = copy.layout;
  if (layout.stride[kCopyY][0] != 1 || layout.stride[kCopyX][along] != 1) return false;
  uint64_t bits =
      bits_of(copy.x) | bits_of(copy.y) | bits_of(layout.size[0] * copy.unit) | bits_of(layout.size[along] * copy.unit);
  for (int d = 0; d < layout.rank; ++d) {
    if (d != 0) bits |= bits_of(layout.stride[kCopyY][d] * copy.unit);
    if (d != along) bits |= bits_of(layout.stride[kCopyX][d] * copy.unit);
  }
  return widest_access(bits) == kWideAccess;
}

Walk<kCopyOperands> walk_of_tiles(const Layout<kCopyOperands>& layout, int along, int64_t line, int64_t lines) {
  Layout<kCopyOperands> tiles;
  auto add = [&](int d, int64_t step) {
    tiles.size[tiles.rank] = (layout.size[d] + step - 1) / step;
    for (int k = 0; k < kCopyOperands; ++k) tiles.stride[k][tiles.rank] = layout.stride[k][d] * step;
    ++tiles.rank;
  };
  add(0, line);
  add(along, lines);
  for (int d = 1; d < layout.rank; ++d)
    if (d != along) add(d, 1);
  return walk_of(tiles);
}

// The walk over squares of `edge` elements along dimension 0, for each position in the other dimensions except `along`.
Walk<kCopyOperands> walk_of_squares(const Layout<kCopyOperands>& layout, int along, int64_t edge) {
  Layout<kCopyOperands> squares;
  for (int d = 0; d < layout.rank; ++d) {
    if (d == along) continue;
    const int64_t step = d == 0 ? edge : 1;
    add_dimension(&squares, layout.size[d] / step,
                  {layout.stride[kCopyY][d] * step, layout.stride[kCopyX][d] * step});
  }
  return walk_of(squares);
}

CopyPlan plan_of(const Copy& copy, Mode mode) {
  const int kernel = kernel_of(copy.unit, mode);
  CopyPlan plan{kernel, 0, kVariants[kernel].block, {}};
  plan.args.x = copy.x;
  plan.args.y = copy.y;
  return plan;
}

CopyPlan plan_any(const PlanOptions& options, const Copy& copy) {
  CopyPlan plan = plan_of(copy, any);
  plan.args.walk = walk_of(copy.layout);
  plan.args.head = static_cast<int32_t>(copy.head);
  plan.args.tail = static_cast<int32_t>(copy.tail);
  plan.grid = options.grid_for((plan.args.walk.count + kCopyDepth - 1) / kCopyDepth, plan.block);
  plan.args.step = int64_t{plan.grid} * plan.block * kCopyDepth;
  return plan;
}

// A plan for rows. The caller sets the number of lanes.
CopyPlan plan_of_rows(const Copy& copy, Mode mode) {
  CopyPlan plan = plan_of(copy, mode);
  plan.args.rows.cols = copy.layout.size[0];
  plan.args.walk = walk_of(outer_dimensions(copy.layout));
  return plan;
}

// Sets the grid for rows of `accesses` accesses. A work-item has `depth` of them at a time.
CopyPlan cut_into_pieces(const PlanOptions& options, CopyPlan plan, int64_t accesses, int64_t depth) {
  cut_rows(accesses, depth, &plan.args.walk, &plan.args.rows);
  plan.grid = options.grid_for(plan.args.rows.count, plan.block);
  plan.args.step = int64_t{plan.grid} * plan.block;
  return plan;
}

CopyPlan plan_rows(const PlanOptions& options, const Copy& copy) {
  CopyPlan plan = plan_of_rows(copy, rows);
  RowPieces& r = plan.args.rows;
  for (int k = 0; k < kCopyOperands; ++k) plan.args.row_stride[k] = copy.layout.stride[k][0];
  const int64_t depth = copy.unit == kWideAccess ? kCopyDepth : kCopyElementsDepth;
  while (depth << r.lane_bits < r.cols && uint32_t{1} << r.lane_bits < plan.block) ++r.lane_bits;
  return cut_into_pieces(options, plan, r.cols, depth);
}

// True for contiguous rows, from kLeastShiftedRowBytes to kPastRowAccesses, that allow no accesses of 8 bytes.
bool allows_shifted(const Copy& copy) {
  const Layout<kCopyOperands>& layout = copy.layout;
  return copy.unit < kWideAccess / 2 && layout.stride[kCopyY][0] == 1 && layout.stride[kCopyX][0] == 1 &&
         layout.size[0] * copy.unit >= Limits::kLeastShiftedRowBytes && layout.size[0] < Limits::kPastRowAccesses;
}

CopyPlan plan_shifted(const PlanOptions& options, const Copy& copy) {
  CopyPlan plan = plan_of_rows(copy, shifted);
  const int64_t pieces = shifted_pieces(plan.args.rows.cols, copy.unit);
  plan.args.rows.lane_bits = row_lane_bits(pieces, kShiftedDepth);
  return cut_into_pieces(options, plan, pieces, kShiftedDepth);
}

// A plan for tiles of dimensions 0 and `along`.
CopyPlan plan_of_two(const Copy& copy, int along, Mode mode) {
  CopyPlan plan = plan_of(copy, mode);
  const int dimension[] = {0, along};
  for (int i = 0; i < 2; ++i) {
    plan.args.tiled.size[i] = copy.layout.size[dimension[i]];
    for (int k = 0; k < kCopyOperands; ++k) plan.args.tiled.stride[k][i] = copy.layout.stride[k][dimension[i]];
  }
  return plan;
}

CopyPlan plan_tiles(const PlanOptions& options, const Copy& copy, int along) {
  CopyPlan plan = plan_of_two(copy, along, tile);
  const int64_t edge = copy_tile_edge(static_cast<int>(copy.unit * 8));
  plan.args.walk = walk_of_tiles(copy.layout, along, edge, edge);
  plan.grid = options.grid_for(plan.args.walk.count * kCopyBlock, kCopyBlock);
  plan.args.step = plan.grid;
  return plan;
}

bool allows_staged(const Copy& copy, int along) {
  const Layout<kCopyOperands>& layout = copy.layout;
  return layout.stride[kCopyY][0] == 1 && layout.stride[kCopyX][along] == 1 &&
         layout.size[0] >= Limits::kLeastStagedYElements &&
         layout.size[along] * copy.unit >= Limits::kLeastStagedXBytes;
}

// True if shared memory is faster than squares: for elements of 2 bytes, if tiles are nearly full.
bool prefers_staged(const Copy& copy, int along) {
  if (copy.unit != 2) return false;
  auto is_full = [](int64_t size, int64_t edge) { return (size + edge - 1) / edge * edge * 7 <= size * 8; };
  return is_full(copy.layout.size[0], copy_staged_line(16)) && is_full(copy.layout.size[along], copy_staged_lines(16));
}

// True if all lines of an operand along dimension `along` begin at multiples of 16 bytes.
bool has_aligned_lines(const Copy& copy, const void* data, CopyOperand operand, int along) {
  uint64_t bits = bits_of(data);
  for (int d = 0; d < copy.layout.rank; ++d)
    if (d != along) bits |= bits_of(copy.layout.stride[operand][d] * copy.unit);
  return widest_access(bits) == kWideAccess;
}

// The number of x's elements if they fill one piece of memory, and the walk begins at its first byte. Otherwise 0.
int64_t elements_of_dense(const Copy& copy, const hipops_tensor& x) {
  ByteRange range;
  if (!elements_are_distinct(x) || !byte_range(x, &range) || range.begin != bits_of(copy.x)) return 0;
  const int64_t elements = element_count(x) * dtype_bytes(x.dtype) / copy.unit;
  return range.end - range.begin == bits_of(elements * copy.unit) ? elements : 0;
}

CopyPlan plan_staged(const PlanOptions& options, const Copy& copy, const hipops_tensor& x, int along) {
  CopyPlan plan = plan_of_two(copy, along, staged);
  const int bits = static_cast<int>(copy.unit * 8);
  plan.args.walk = walk_of_tiles(copy.layout, along, copy_staged_line(bits), copy_staged_lines(bits));
  plan.args.tiled.x_elements = elements_of_dense(copy, x);
  plan.args.tiled.x_aligned = has_aligned_lines(copy, copy.x, kCopyX, along);
  plan.args.tiled.y_aligned = has_aligned_lines(copy, copy.y, kCopyY, 0);
  plan.grid = options.grid_for(plan.args.walk.count * kCopyBlock, kCopyBlock);
  plan.args.step = plan.grid;
  return plan;
}

// The log2 of the number of squares across a tile, at most 16 of 256. More squares across give longer lines. But at
// most three of eight work-items may be idle.
int across_of(int64_t line) {
  for (int across = 4; across > 0; --across)
    if (((((line - 1) >> across) + 1) << across) * 5 <= line * 8) return across;
  return 0;
}

CopyPlan plan_squares(const PlanOptions& options, const Copy& copy, int along) {
  const Layout<kCopyOperands>& layout = copy.layout;
  const int64_t edge = kWideAccess / copy.unit, line = layout.size[along] / edge;
  CopyPlan plan = plan_of(copy, square);
  const Walk<kCopyOperands>& walk = plan.args.walk = walk_of_squares(layout, along, edge);
  CopySquares& s = plan.args.squares;
  s.x_stride = layout.stride[kCopyX][0];
  s.y_stride = layout.stride[kCopyY][along];
  s.line = static_cast<int32_t>(line);
  s.across = across_of(line);
  const int64_t in_tile = kCopyBlock >> s.across, tiles = (walk.count + in_tile - 1) / in_tile;
  s.extent[0] = std::max<int64_t>(layout.size[0] / edge / in_tile, 1);
  s.extent[1] = ((line - 1) >> s.across) + 1;
  s.tiles = (tiles + s.extent[0] - 1) / s.extent[0] * s.extent[0] * s.extent[1];
  if (s.tiles >= Limits::kPastInt32) return plan;
  for (int i = 0; i < 2; ++i) s.divisor[i] = divisor_of(s.extent[i]);
  plan.grid = options.grid_for(s.tiles * kCopyBlock, kCopyBlock);
  plan.args.step = plan.grid;
  return plan;
}

bool are_few(const PlanOptions& options, int64_t most, const Copy& copy) {
  int64_t units = 1;
  for (int d = 0; d < copy.layout.rank; ++d) units *= copy.layout.size[d];
  return options.small_apart && units <= most;
}

CopyPlan plan_few(const Copy& copy) {
  CopyPlan plan = plan_of(copy, few);
  plan.args.walk = walk_of(copy.layout);
  plan.grid = static_cast<uint32_t>((plan.args.walk.count + kCopyFewBlock - 1) / kCopyFewBlock);
  return plan;
}

}  // namespace

CopyPlan plan_copy(PlanOptions options, const hipops_tensor& y, const hipops_tensor& x) {
  Copy copy = ordered_copy(y, x);
  if (copy.layout.stride[kCopyY][0] == 1 && copy.layout.stride[kCopyX][0] == 1) {
    if (copy.layout.rank > 1) {
      widen_rows(&copy);
    } else if (!lies_apart(copy) || !allows_shifted(copy)) {
      widen_run(&copy);
      const bool is_whole = (copy.head | copy.tail) == 0;  // only `any` copies a head and a tail
      return is_whole && are_few(options, Limits::kFewAccesses, copy) ? plan_few(copy) : plan_any(options, copy);
    }
  }
  const Layout<kCopyOperands>& layout = copy.layout;
  int along = innermost_in_x(layout);
  const bool crosses = along != 0 && copy.unit < kWideAccess;
  if (are_few(options, crosses ? Limits::kFewScatteredAccesses : Limits::kFewAccesses, copy)) return plan_few(copy);
  if (crosses && are_few(options, Limits::kFewAccesses, copy)) return plan_any(options, copy);
  if (crosses) {
    if (allows_squares(copy, along) && layout.size[along] < Limits::kPastInt32 && !prefers_staged(copy, along)) {
      CopyPlan plan = plan_squares(options, copy, along);
      if (plan.args.squares.tiles < Limits::kPastInt32) return plan;
    }
    if (allows_staged(copy, along)) {
      CopyPlan plan = plan_staged(options, copy, x, along);
      if (plan.args.walk.fits_int32) return plan;
    }
    if (layout.size[0] >= Limits::kLeastTileAccesses && layout.size[along] >= Limits::kLeastTileAccesses) {
      CopyPlan plan = plan_tiles(options, copy, along);
      if (plan.args.walk.fits_int32) return plan;
    }
  }
  if (allows_shifted(copy)) return plan_shifted(options, copy);
  const bool has_rows = layout.rank > 1 && layout.size[0] >= Limits::kLeastRowAccesses;
  if (has_rows && layout.size[0] < Limits::kPastRowAccesses) return plan_rows(options, copy);
  return plan_any(options, copy);
}

}  // namespace hipops
