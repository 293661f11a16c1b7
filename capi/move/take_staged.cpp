// When `staged` and `large` of gather and index_select copy x (kernels/gather.hip explains them), and how much of it.
#include <algorithm>
#include <cstdlib>

#include "tensor/divisor.h"
#include "index/indices.h"
#include "policy/limits.h"
#include "tensor/strided.h"
#include "move/take.h"
#include "tensor/tensor.h"

namespace hipops {
namespace {

using Limits = TakeLimits;

// The bytes of x in the shared memory of a block, if it has a unit alone, and if several blocks run on a unit.
int64_t room_of(const DeviceFacts& device) {
  const int64_t most = device.own_shared_bytes != 0 ? device.own_shared_bytes : device.launch_shared_bytes;
  return std::max<int64_t>(most, kStagedBytes);
}
int64_t shared_room_of(const DeviceFacts& device) {
  return device.own_shared_bytes != 0 ? kStagedBytes : std::max<int64_t>(device.launch_shared_bytes / 2, kStagedBytes);
}

// True if small blocks copy the rows. Not on AMD: there a small block has the same shared memory as a large one, so no
// more blocks would run.
bool are_for_small_blocks(const DeviceFacts& device, const TakeArgs& a, int64_t bytes) {
  return device.own_shared_bytes == 0 && a.staged.lines == 0 && a.staged.index_line != 0 &&
         bytes <= Limits::kOwnIndexBlockBytes;
}

// The number of y's elements that a block should write in a round, so that its loads hide the time to memory.
int64_t elements_for(const DeviceFacts& device, int64_t element) {
  if (device.own_shared_bytes != 0) return Limits::kBlockElements;
  return element >= Limits::kLeastWideElementBytes ? Limits::kSmallBlockWideElements : Limits::kSmallBlockElements;
}

// Sets the kernel for a copy of `bytes`, which fit in shared memory.
void choose_kernel(const DeviceFacts& device, int64_t bytes, int64_t element, TakePlan* plan) {
  const bool large = bytes > shared_room_of(device);
  plan->kernel = take_kernel(large ? TakeMode::large : TakeMode::staged, element);
  plan->block = large ? kLargeBlock : are_for_small_blocks(device, plan->args, bytes) ? kSmallBlock : kStagedBlock;
  plan->args.staged.block = static_cast<int32_t>(plan->block);
  plan->args.staged.copy_bytes = (bytes + kWideAccess - 1) / kWideAccess * kWideAccess;
  if (device.own_shared_bytes == 0) plan->shared_bytes = static_cast<uint32_t>(plan->args.staged.copy_bytes);
}

// The number of chunks that keeps all units busy.
int64_t least_chunks(const DeviceFacts& device) {
  return std::max<int64_t>(Limits::kChunksAUnit * device.units, Limits::kLeastChunks);
}

void plan_grid(const PlanOptions& options, int64_t parts, TakePlan* plan) {
  plan->grid = options.grid_for(parts * plan->block, plan->block);
  plan->args.step = int64_t{plan->grid} * plan->args.staged.group;
}

// True if the offsets of `lines` lines, `step` elements apart, fit in 32 bits.
bool is_near(int64_t lines, int64_t step) {
  return lines <= Limits::kMostBlockElements && std::abs(step) <= INT32_MAX / 2 / std::max<int64_t>(lines, 1);
}

// True if every line of y and of the index is aligned to a vector of kStagedVector elements.
bool allows_vectors(const TakeArgs& a, const hipops_tensor& y, const hipops_tensor& index) {
  const int64_t y_bytes = dtype_bytes(y.dtype), index_bytes = dtype_bytes(index.dtype);
  uint64_t y_bits = bits_of(y.data) | bits_of((a.staged.y_line | a.staged.overlap) * y_bytes);
  uint64_t index_bits = bits_of(index.data) | bits_of((a.staged.index_line | a.staged.overlap) * index_bytes);
  for (int d = 0; d < a.walk.rank; ++d) {
    y_bits |= bits_of(a.walk.dim[d].stride[kTakeY] * y_bytes);
    index_bits |= bits_of(a.walk.dim[d].stride[kTakeIndex] * index_bytes);
  }
  return a.staged.cols % kStagedVector == 0 &&
         widest_access(y_bits) >= std::min(kWideAccess, kStagedVector * y_bytes) &&
         widest_access(index_bits) >= std::min(kWideAccess, kStagedVector * index_bytes);
}

// The additional bytes of a copy if not all of x's rows, or lines of panels, begin at a multiple of 16.
int64_t slack_of(const TakeArgs& a, int64_t element) {
  uint64_t bits = bits_of(a.x) | bits_of((a.staged.x_line | a.staged.overlap) * element);
  for (int d = 0; d < a.walk.rank; ++d) bits |= bits_of(a.walk.dim[d].stride[kTakeX] * element);
  return widest_access(bits) == kWideAccess ? 0 : kWideAccess - element;
}

// The number of rows that are copied together. They are neighbours in x, and all rows of a group have the same position
// in the outer dimensions.
int32_t group_of(const DeviceFacts& device, const Layout<kTakeOperands>& rows, const TakeArgs& a, int64_t element,
                 int64_t slack) {
  if (rows.rank == 0 || rows.stride[kTakeX][0] != a.index.size) return 1;
  const int64_t bytes = a.staged.index_line != 0 ? Limits::kOwnIndexBlockBytes : Limits::kOneIndexBlockBytes;
  const int64_t most = (std::min(bytes, shared_room_of(device)) - slack) / (a.index.size * element);
  int64_t group = std::min(most, (elements_for(device, element) + a.staged.cols - 1) / a.staged.cols);
  // If all rows of a group use one line of the index, larger groups read the line less often.
  if (a.staged.index_line == 0) group = std::min(most, a.walk.count / least_chunks(device));
  group = std::min(std::max<int64_t>(group, 1), rows.size[0]);
  for (; group > 1 && rows.rank > 1 && rows.size[0] % group != 0; --group)
    if (group * a.staged.cols < Limits::kLeastBlockElements) return 1;  // too small in any case
  return static_cast<int32_t>(group);
}

void plan_rows_of(const PlanOptions& options, const DeviceFacts& device, const Layout<kTakeOperands>& rows,
                  const hipops_tensor& y, const hipops_tensor& index, TakePlan* plan) {
  TakeArgs& a = plan->args;
  TakeStaged& s = a.staged;
  const int64_t element = dtype_bytes(y.dtype), bytes = a.index.size * element;
  a.walk = walk_of(rows);
  s.cols_divisor = divisor_of(s.cols);
  const int64_t (&step)[kTakeOperands] = a.walk.dim[0].stride;
  if (!is_near(1, step[kTakeY]) || !is_near(1, step[kTakeIndex])) return;
  s.y_line = static_cast<int32_t>(step[kTakeY]);
  s.index_line = static_cast<int32_t>(step[kTakeIndex]);
  s.place_step = 1;
  s.vectors = allows_vectors(a, y, index);
  const bool is_short = bytes < Limits::kPastShortRowBytes;
  const int64_t slack = slack_of(a, element);
  const int64_t bytes_an_element = is_short ? Limits::kMostShortRowBytesAnElement : Limits::kMostBytesAnElement;
  if (bytes < Limits::kLeastStagedRowBytes || bytes + slack > room_of(device)) return;
  if (s.cols > Limits::kMostBlockElements || s.cols * bytes_an_element < bytes) return;
  const bool pays_if_short = s.vectors && element <= Limits::kMostShortRowElementBytes &&
                             element_count(y) >= Limits::kLeastShortRowYElements;
  if (is_short && !pays_if_short) return;
  s.group = group_of(device, rows, a, element, slack);
  if (!is_near(s.group, s.y_line) || !is_near(s.group, s.index_line)) return;
  const int64_t groups = (a.walk.count + s.group - 1) / s.group;
  const int64_t least = is_short ? std::max(Limits::kLeastShortRowBlockElements, elements_for(device, element) / 2)
                                 : Limits::kLeastBlockElements;
  if (s.group * s.cols < least || groups < Limits::kLeastChunks) return;
  choose_kernel(device, s.group * bytes + slack, element, plan);
  const int64_t at_once = plan->block * (s.vectors ? kStagedVector : 1) / s.cols;  // rows
  s.together = s.index_line != 0 ? s.group : static_cast<int32_t>(std::clamp<int64_t>(at_once, 1, s.group));
  plan_grid(options, groups, plan);
}

// The bytes of each of x's rows in a panel. 0: a row has fewer than 16, 16 have no room, or so narrow a panel is slow.
int64_t panel_bytes(const DeviceFacts& device, const Layout<kTakeOperands>& panels, int64_t size, int64_t element) {
  const int64_t row_bytes = panels.size[0] * element;
  if (size > room_of(device) / kWideAccess || row_bytes < kWideAccess) return 0;
  auto finds_room = [&](int64_t bytes, int64_t room) { return bytes <= row_bytes && size * bytes <= room; };
  int64_t bytes = Limits::kPanelRowBytes, outer = 1;
  while (bytes > kWideAccess && !finds_room(bytes, room_of(device))) bytes /= 2;
  if (!finds_room(bytes, room_of(device))) return 0;
  // If x has few rows, panels get more columns, but there must be enough panels for all units.
  for (int d = 1; d < panels.rank; ++d) outer *= panels.size[d];
  while (finds_room(2 * bytes, kStagedBytes) && outer * (row_bytes / (2 * bytes)) >= least_chunks(device)) bytes *= 2;
  const bool is_narrow = bytes == kWideAccess && row_bytes > bytes;
  const bool narrow_pays = element <= Limits::kMostNarrowElementBytes || size * row_bytes >= Limits::kLeastNarrowXBytes;
  return is_narrow && !narrow_pays ? 0 : bytes;
}

void plan_columns_of(const PlanOptions& options, const DeviceFacts& device, Layout<kTakeOperands> panels,
                     const hipops_tensor& y, const hipops_tensor& index, TakePlan* plan) {
  TakeArgs& a = plan->args;
  TakeStaged& s = a.staged;
  const int64_t element = dtype_bytes(y.dtype), bytes = panel_bytes(device, panels, a.index.size, element);
  if (bytes == 0) return;
  s.cols = bytes / element;
  s.cols_divisor = divisor_of(s.cols);
  s.panels = (panels.size[0] + s.cols - 1) / s.cols;
  s.panels_divisor = wide_divisor_of(s.panels);
  s.overlap = static_cast<int32_t>(s.panels * s.cols - panels.size[0]);
  panels.size[0] += s.overlap;
  a.walk = walk_of(panels, s.cols);
  s.line_bits = log2_up(bytes / kWideAccess);
  s.place_step = static_cast<int32_t>(s.cols);
  s.neighbour_step = 1;
  s.group = 1;
  s.vectors = allows_vectors(a, y, index);
  if (slack_of(a, element) != 0 || s.lines * Limits::kMostBytesAnElement < a.index.size * element) return;
  const int64_t elements = s.lines * s.cols;
  if (elements < Limits::kLeastBlockElements || elements > Limits::kMostBlockElements) return;
  if (a.walk.count < Limits::kLeastChunks) return;
  choose_kernel(device, a.index.size * bytes, element, plan);
  plan_grid(options, a.walk.count, plan);
}

}  // namespace

TakePlan plan_staged(PlanOptions options, const DeviceFacts& device, const hipops_tensor& y, const hipops_tensor& x,
                     const hipops_tensor& index, const int64_t (&index_stride)[HIPOPS_MAX_RANK], int32_t dim,
                     hipops_index_report* report) {
  if (x.shape[dim] == 0) return {};    // its other strides may be anything
  Layout<kTakeOperands> behind, rows;  // the dimensions behind dim, and before it
  for (int d = y.rank - 1; d >= 0; --d) {
    Layout<kTakeOperands>& layout = d > dim ? behind : rows;
    if (d != dim) add_dimension(&layout, y.shape[d], {y.stride[d], x.stride[d], index_stride[d]});
  }
  TakePlan plan{};
  TakeArgs& a = plan.args;
  TakeStaged& s = a.staged;
  a.index = index_args(index, x.shape[dim], report);
  a.x = x.data;
  a.y = y.data;
  a.vector = 1;
  auto is_one_run = [](int64_t y_step, int64_t x_step, int64_t index_step) {
    return y_step == 1 && x_step == 1 && index_step == 1;
  };
  const int64_t taken = y.shape[dim];
  const int64_t y_step = taken > 1 ? y.stride[dim] : 0, index_step = taken > 1 ? index_stride[dim] : 0;
  if (behind.rank == 0 && is_one_run(y.stride[dim], x.stride[dim], index_stride[dim])) {
    s.cols = taken;
    plan_rows_of(options, device, rows, y, index, &plan);
  } else if (behind.rank == 1 && x.shape[dim] > 1 && is_near(x.shape[dim], x.stride[dim]) && is_near(taken, y_step) &&
             is_near(taken, index_step) &&
             is_one_run(behind.stride[kTakeY][0], behind.stride[kTakeX][0], behind.stride[kTakeIndex][0])) {
    s.lines = static_cast<int32_t>(taken);
    s.x_line = static_cast<int32_t>(x.stride[dim]);
    s.y_line = static_cast<int32_t>(y_step);
    s.index_line = static_cast<int32_t>(index_step);
    // Appended, never joined with the columns, even if both are one run in memory: the index has dim between them.
    Layout<kTakeOperands> panels = behind;
    for (int d = 0; d < rows.rank; ++d, ++panels.rank) {
      panels.size[panels.rank] = rows.size[d];
      for (int k = 0; k < kTakeOperands; ++k) panels.stride[k][panels.rank] = rows.stride[k][d];
    }
    plan_columns_of(options, device, panels, y, index, &plan);
  }
  return plan.block != 0 ? plan : TakePlan{};
}

}  // namespace hipops
