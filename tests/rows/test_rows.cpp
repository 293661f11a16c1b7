// capi/rows/rows.h: the geometry of rows, and the choice of a variant.
#include "rows/rows.h"

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "catch.h"
#include "host_tensor.h"
#include "rows/row_choice.h"
#include "tensor/strided.h"
#include "tensor/tensor.h"

using namespace hipops;
using namespace hipops_test;

namespace {

constexpr uintptr_t kAddress = uintptr_t{1} << 40;  // nothing is ever read there
constexpr hipops_dtype kFloats[] = {HIPOPS_F32, HIPOPS_F16, HIPOPS_BF16, HIPOPS_F64};

// Where a kernel finds row `row`.
int64_t row_offset(const RowGeometry& g, int64_t RowDimension::*stride, int64_t row) {
  int64_t offset = 0;
  for (int d = 0; d < g.outer_rank; ++d) {
    offset += row % g.outer[d].size * g.outer[d].*stride;
    row /= g.outer[d].size;
  }
  return row == 0 ? offset : INT64_MIN;  // the sizes must use the number up
}

// "" if the geometry puts every row where the views do.
std::string compare(const hipops_tensor& y, const hipops_tensor& x) {
  RowGeometry g = row_geometry(y, x);
  int last = x.rank - 1;
  int64_t rows = 1;
  for (int d = 0; d < last; ++d) rows *= x.shape[d];
  if (g.rows != rows || g.cols != x.shape[last]) return "rows or cols";
  if (g.x_stride != x.stride[last] || g.y_stride != y.stride[last]) return "the stride of columns";
  if (g.outer_rank < 1 || g.outer_rank > kMaxOuterRank) return "outer_rank " + std::to_string(g.outer_rank);
  for (int64_t row = 0; row < rows; ++row) {
    if (row_offset(g, &RowDimension::x_stride, row) != offset_of(x, row * g.cols))
      return "row " + std::to_string(row) + " of x";
    if (row_offset(g, &RowDimension::y_stride, row) != offset_of(y, row * g.cols))
      return "row " + std::to_string(row) + " of y";
  }
  for (int d = 0; d + 1 < g.outer_rank; ++d)
    if (g.outer[d + 1].x_stride == g.outer[d].x_stride * g.outer[d].size &&
        g.outer[d + 1].y_stride == g.outer[d].y_stride * g.outer[d].size)
      return "dimension " + std::to_string(d) + " could be taken with the next";
  return "";
}

RowGeometry rows_and_cols(int64_t rows, int64_t cols) {
  RowGeometry g{};
  g.rows = rows, g.cols = cols;
  return g;
}

DeviceFacts device(int units, int wave_size) {
  DeviceFacts facts;
  facts.units = units;
  facts.wave_size = wave_size;
  return facts;
}
const DeviceFacts kDevices[] = {device(132, 32), device(304, 64), device(1, 32)};

// As NVIDIA's, whose launches bring shared memory, with clusters of so many blocks.
DeviceFacts with_launch_shared(int largest_cluster = 1) {
  DeviceFacts device = kDevices[0];
  device.largest_cluster = largest_cluster;
  device.launch_shared_bytes = device.unit_shared_bytes = 200 << 10;
  return device;
}

constexpr int64_t kSlow = 3352320, kFast = 4916736;  // bytes a microsecond of an H100's memory, an H200's

RowRounds several_rounds(const RowVariant&) { return RowRounds::several; }
RowRounds rounds_ahead(const RowVariant&) { return RowRounds::ahead; }
constexpr RowAccess kAccesses[] = {hipops::wide, hipops::edged, hipops::staged, hipops::any};

int64_t longest(hipops_dtype dtype, RowAccess access) {
  int64_t columns = 0;
  for (const RowVariant& v : row_variants)
    if (v.dtype == dtype && v.access == access) columns = std::max(columns, v.longest);
  return columns;
}

bool is_power_of_two(int value) { return value > 0 && (value & (value - 1)) == 0; }

}  // namespace

TEST_CASE("row_geometry finds every row of any view", "[rows]") {
  std::mt19937_64 random(1);
  auto between = [&random](int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random() % static_cast<uint64_t>(high - low + 1));
  };
  int collapsed = 0;
  for (int i = 0; i < 20000; ++i) {
    Sizes shape(static_cast<size_t>(between(1, HIPOPS_MAX_RANK)));
    for (int64_t& size : shape) size = between(1, 3);
    Sizes x_stride = contiguous(shape), y_stride = x_stride;
    for (Sizes* stride : {&x_stride, &y_stride})
      for (int64_t& step : *stride) {
        int64_t kind = between(0, 7);
        if (kind == 0) step = between(-50, 50);
        if (kind == 1) step = -step;
      }
    hipops_tensor x = view_of(kAddress, HIPOPS_F32, shape, x_stride),
                  y = view_of(kAddress, HIPOPS_F32, shape, y_stride);
    collapsed += row_geometry(y, x).outer_rank < static_cast<int>(shape.size()) - 1;
    std::string problem = compare(y, x);
    if (!problem.empty()) FAIL("tensors " << i << ": " << problem);
  }
  CHECK(collapsed > 1000);
}

TEST_CASE("contiguous tensors of every rank have one outer dimension", "[rows]") {
  for (size_t rank = 1; rank <= HIPOPS_MAX_RANK; ++rank) {
    Sizes shape(rank, 3);
    RowGeometry g = row_geometry(view_of(kAddress, HIPOPS_F32, shape), view_of(kAddress, HIPOPS_F32, shape));
    CHECK(g.outer_rank == 1);
    CHECK(g.outer[0].size == g.rows);
    if (rank > 1) CHECK(g.outer[0].x_stride == 3);
  }
}

TEST_CASE("row_geometry past 2^31 rows and 4 GiB", "[rows]") {
  constexpr int64_t many = int64_t{1} << 33;
  hipops_tensor x = view_of(kAddress, HIPOPS_BF16, {7, many, 5}),
                y = view_of(kAddress, HIPOPS_BF16, {7, many, 5}, {5, 35, 1});
  RowGeometry together = row_geometry(x, x), apart = row_geometry(y, x);
  CHECK(together.rows == 7 * many);
  CHECK(together.outer_rank == 1);
  CHECK(together.outer[0].size == 7 * many);
  CHECK(together.outer[0].x_stride == 5);
  REQUIRE(apart.outer_rank == 2);
  for (int64_t row : {int64_t{0}, many - 1, many, 3 * many + 12345, 7 * many - 1}) {
    CHECK(row_offset(apart, &RowDimension::x_stride, row) == offset_of(x, row * 5));
    CHECK(row_offset(apart, &RowDimension::y_stride, row) == offset_of(y, row * 5));
  }
}

TEST_CASE("row_variants are the variants that row_contract.h lists", "[rows]") {
  for (const RowVariant& v : row_variants) {
    const int bytes = static_cast<int>(hipops::parity::dtype_size(v.dtype));
    const bool single = v.access == hipops::any || v.access == hipops::staged;
    CHECK(is_power_of_two(v.threads));
    CHECK(is_power_of_two(v.block));
    CHECK(v.threads <= v.block);
    CHECK(v.block <= 512);
    CHECK(v.length * bytes == (single ? bytes : 16));
    // The first and last elements of an edged row are never all in vectors.
    const int64_t held = int64_t{v.threads} * v.vectors * v.length + (v.access == hipops::edged ? v.length - 1 : 0);
    CHECK(v.longest == (v.streaming ? INT64_MAX : held));
    // A group that is no part of any wave is a block, see Reduce.
    if (v.threads > 32) CHECK(v.threads == v.block);
    // Those whose rows share blocks come first, and of one block more vectors before fewer, see choose().
    const RowVariant& before = &v == row_variants ? v : (&v)[-1];
    if (before.dtype == v.dtype && before.access == v.access && v.threads < v.block)
      CHECK(before.threads < before.block);
    if (before.dtype == v.dtype && before.access == v.access && before.threads == v.threads && v.threads == v.block &&
        !v.clustered && !v.streaming)
      CHECK(before.vectors > v.vectors);
  }
}

TEST_CASE("plan_rows takes a variant that holds the row, and each of them for some rows", "[rows]") {
  for (const DeviceFacts& device : kDevices)
    for (hipops_dtype dtype : kFloats)
      for (RowAccess access : kAccesses) {
        INFO(hipops::parity::dtype_name(dtype) << ", access " << access << ", waves of " << device.wave_size);
        std::set<int> chosen;
        for (int64_t rows : {int64_t{1}, int64_t{1} << 20})
          for (int64_t cols = 1; cols <= (access == hipops::staged ? longest(dtype, access) : 70000); ++cols) {
            RowPlan plan = plan_rows(dtype, rows_and_cols(rows, cols), access, device);
            const RowVariant& v = row_variants[plan.kernel];
            // Whole waves, enough of them for the row, and none to spare.
            int64_t vectors =
                v.access == hipops::edged ? std::max<int64_t>(cols / v.length, 1) : (cols + v.length - 1) / v.length;
            int64_t spare = int64_t{plan.block} * v.vectors - vectors, wave = device.wave_size;
            bool whole_block = v.threads == v.block && !v.streaming;
            bool right = v.dtype == dtype && v.access == access && v.longest >= cols &&
                         (whole_block ? plan.block % wave == 0 && spare >= 0 && spare < wave * v.vectors
                                      : plan.block == static_cast<uint32_t>(v.block));
            if (!right) FAIL(cols << " columns: kernel " << plan.kernel << ", blocks of " << plan.block);
            chosen.insert(plan.kernel);
          }
        auto belongs = [&](const RowVariant& v) { return v.dtype == dtype && v.access == access; };
        CHECK(static_cast<int64_t>(chosen.size()) == std::count_if(row_variants, row_variants + kRowVariants, belongs));
        if (access == hipops::staged) continue;
        for (int64_t cols : {int64_t{1} << 31, int64_t{1} << 40, INT64_MAX / 8})
          CHECK(row_variants[plan_rows(dtype, rows_and_cols(5, cols), access, device).kernel].streaming);
      }
}

TEST_CASE("of many rows, those that have no block to themselves take the first variant that holds them", "[rows]") {
  for (hipops_dtype dtype : kFloats)
    for (RowAccess access : kAccesses)
      for (int64_t cols = 1; cols < 2000; ++cols)
        for (int i = 0; i < kRowVariants; ++i) {
          const RowVariant& v = row_variants[i];
          if (v.dtype != dtype || v.access != access || v.threads == v.block || v.longest < cols) continue;
          // Odd rows of up to four vectors a lane have a block rather than a wave of lanes with six.
          if (access == hipops::edged && v.vectors == 6 && cols / v.length <= 4 * v.threads) continue;
          if (plan_rows(dtype, rows_and_cols(int64_t{1} << 24, cols), access, kDevices[0]).kernel != i)
            FAIL(cols << " columns: not kernel " << i);
          break;
        }
}

// Few are two a unit, or 2 KiB of short ones.
TEST_CASE("few rows stay in a wave with up to two vectors a lane; else a block has one each, or two that spare five waves",
          "[rows]") {
  for (const DeviceFacts& device : kDevices)
    for (hipops_dtype dtype : kFloats)
      for (RowAccess access : {hipops::wide, hipops::edged}) {
        if (dtype == HIPOPS_F64 && access == hipops::edged) continue;  // few of those go as any, or are long
        INFO(hipops::parity::dtype_name(dtype) << ", access " << access << ", waves of " << device.wave_size);
        const int length = 16 / static_cast<int>(hipops::parity::dtype_size(dtype));
        for (int64_t cols = 1; cols <= int64_t{1024} * length; ++cols) {
          const int64_t vectors =
              access == hipops::edged ? std::max<int64_t>(cols / length, 1) : (cols + length - 1) / length;
          const auto taken = [&](const RowVariant& v) { return (vectors + v.threads - 1) / v.threads; };
          const auto in_wave = [](const RowVariant& v) { return v.threads < v.block && v.vectors <= 2; };
          int64_t least = INT64_MAX;
          for (const RowVariant& v : row_variants)
            if (v.dtype == dtype && v.access == access && in_wave(v) && v.longest >= cols) least = std::min(least, taken(v));
          const int64_t of_2_kib = device.units * int64_t{2048} / (cols * dtype_bytes(dtype));
          const RowGeometry rows = rows_and_cols(std::max<int64_t>(2 * device.units, of_2_kib), cols);
          const RowVariant& v = row_variants[plan_rows(dtype, rows, access, device).kernel];
          const auto waves = [&](int64_t each) {
            const int64_t held = each * device.wave_size;
            return (vectors + held - 1) / held * (device.wave_size / 32);
          };
          const bool right = least == INT64_MAX
                                 ? v.threads == v.block && v.vectors == (waves(1) - waves(2) >= 5 ? 2 : 1)
                                 : in_wave(v) && taken(v) == least;
          if (!right) FAIL(cols << " columns: " << v.threads << " work-items with " << v.vectors << " vectors");
        }
      }
}

TEST_CASE("of few rows with two weights in 16 bits, four waves have four vectors a lane", "[rows]") {
  const auto taken = [](int64_t cols, int weights) {
    const RowPlan plan =
        plan_rows(HIPOPS_BF16, rows_and_cols(1, cols), hipops::wide, kDevices[0], hipops::layer_norm_rounds, weights);
    return std::to_string(plan.block) + "x" + std::to_string(row_variants[plan.kernel].vectors);
  };
  CHECK(taken(4096, 2) == "128x4");
  CHECK(taken(4096, 0) == "256x2");
  CHECK(taken(2880, 2) == "192x2");
  CHECK(taken(7168, 2) == "448x2");
  CHECK(taken(8192, 2) == "256x4");
  CHECK(taken(8192, 0) == "512x2");
}

TEST_CASE("few rows of softmax that would have over thirteen waves are in clusters, where a device has them", "[rows]") {
  DeviceFacts clusters = kDevices[0];
  clusters.largest_cluster = 16;
  const auto blocks = [](const DeviceFacts& device, int64_t rows, int64_t cols) {
    return plan_rows(HIPOPS_BF16, rows_and_cols(rows, cols), hipops::wide, device, hipops::softmax_rounds).cluster;
  };
  CHECK(blocks(clusters, 1, 13 * 32 * 32) == 1);
  CHECK(blocks(clusters, 1, 14 * 32 * 32) > 1);
  CHECK(blocks(clusters, 264, 16384) == 1);
  CHECK(blocks(kDevices[0], 1, 16384) == 1);
  CHECK(plan_rows(HIPOPS_BF16, rows_and_cols(1, 16384), hipops::wide, clusters, hipops::rms_norm_rounds).cluster == 1);
}

TEST_CASE("rows of softmax that eight blocks do not hold have the rest in shared memory", "[rows]") {
  DeviceFacts device = with_launch_shared(16);
  const auto plan_of = [&](int64_t rows, int64_t cols, hipops::RoundsOf rounds = hipops::softmax_rounds) {
    return plan_rows(HIPOPS_F32, rows_and_cols(rows, cols), hipops::wide, device, rounds);
  };
  const int64_t held = 8 * 512 * 8 * 4, most = held + 8 * 512 * 12 * 4;
  for (int64_t cols = held + 4; cols <= most; cols += 1000) {
    const RowPlan plan = plan_of(500, cols);
    const int64_t beside = (cols - held) / 4, each = (beside + 8 * 512 - 1) / (8 * 512);
    const bool right = plan.kernel == hipops::tailed_kernel && plan.block == 512 && plan.cluster == 8 &&
                       plan.row_step == 16 && plan.grid == 128 && plan.shared_bytes == 2 * each * 512 * 16;
    if (!right) FAIL(cols << " columns: kernel " << plan.kernel);
  }
  CHECK(plan_of(500, held).kernel < hipops::kRowKernels);
  CHECK(plan_of(500, most + 4).kernel < hipops::kRowKernels);
  // Of 15 clusters of 8 and 7 of 16 at a time, those of 16 are not twice as often at it.
  for (const int64_t rows : {2, 7, 16, 32, 48}) CHECK(plan_of(rows, held + 4).kernel < hipops::kRowKernels);
  for (const int64_t rows : {8, 15, 37, 64, 128}) CHECK(plan_of(rows, held + 4).kernel == hipops::tailed_kernel);
  CHECK(plan_of(32, 2 * held + 4).kernel == hipops::tailed_kernel);  // no cluster holds it
  CHECK(plan_of(8, 2 * held + 4).kernel < hipops::kRowKernels);      // and it is split
  CHECK(plan_of(500, held + 4, hipops::rms_norm_rounds).kernel < hipops::kRowKernels);
  CHECK(plan_rows(HIPOPS_F64, rows_and_cols(500, held / 2 + 2), hipops::wide, device, hipops::softmax_rounds).kernel <
        hipops::kRowKernels);
  CHECK(plan_of(1, held + 4).kernel < hipops::kRowKernels);
  hipops::rows_count_as_many = true;
  CHECK(plan_of(2, held + 4).kernel == hipops::tailed_kernel);
  CHECK(plan_of(2, held).kernel < hipops::kRowKernels);
  hipops::rows_count_as_many = false;
  // As where clusters of 16, or of 8, don't run (fit_clusters).
  device.largest_cluster = 15;
  CHECK(plan_of(16, held + 4).cluster == 8);
  device.largest_cluster = 7;
  CHECK(plan_of(500, held).cluster == 4);
  CHECK(plan_of(500, held).kernel == hipops::tailed_kernel);
  device.largest_cluster = 1;
  CHECK(plan_of(500, 16388).kernel == hipops::tailed_kernel);
  device.launch_shared_bytes = 0;
  CHECK(plan_of(500, 16388).kernel < hipops::kRowKernels);
}

TEST_CASE("rows of softmax in 16 bits that eight blocks do not hold have a vector more a work-item", "[rows]") {
  DeviceFacts device = with_launch_shared(16);
  const auto plan_of = [&](int64_t rows, int64_t cols, hipops::RoundsOf rounds = hipops::softmax_rounds) {
    return plan_rows(HIPOPS_BF16, rows_and_cols(rows, cols), hipops::wide, device, rounds);
  };
  const int kernel = hipops::full_kernel(HIPOPS_BF16);
  const int64_t held = 8 * 512 * 8 * 8, most = held + 8 * 512 * 8;
  for (int64_t cols = held + 8; cols <= most; cols += 1000) {
    const RowPlan plan = plan_of(500, cols);
    const int64_t room = int64_t{plan.block} * 8 * 9 * 8;
    const bool right = plan.kernel == kernel && plan.block <= 512 && plan.cluster == 8 && plan.row_step == 16 &&
                       plan.grid == 128 && plan.shared_bytes == 0 && room >= cols && room - 32 * 8 * 9 * 8 < cols;
    if (!right) FAIL(cols << " columns: kernel " << plan.kernel << ", block " << plan.block);
  }
  CHECK(plan_of(500, held).kernel < hipops::kRowKernels);
  CHECK(plan_of(500, most).kernel == kernel);
  CHECK(plan_of(500, most + 8).kernel < hipops::kRowKernels);
  CHECK(plan_of(16, held + 8).kernel < hipops::kRowKernels);
  CHECK(plan_of(500, held + 8, hipops::rms_norm_rounds).kernel < hipops::kRowKernels);
  device.largest_cluster = 1;
  CHECK(plan_of(500, 9 * 512 * 8).kernel == kernel);
  device.launch_shared_bytes = 0;
  CHECK(plan_of(500, 9 * 512 * 8).kernel < hipops::kRowKernels);
}

TEST_CASE("few rows go element by element where others would by shared memory, or weights are loaded so", "[rows]") {
  using hipops::access_of_few, hipops::any, hipops::edged, hipops::staged, hipops::wide;
  const DeviceFacts& device = kDevices[0];
  const int64_t units = device.units;
  CHECK(access_of_few(HIPOPS_F32, rows_and_cols(32 * units, 17), staged, device, 0) == any);
  CHECK(access_of_few(HIPOPS_F32, rows_and_cols(32 * units + 1, 17), staged, device, 0) == staged);
  CHECK(access_of_few(HIPOPS_F64, rows_and_cols(8 * units, 17), staged, device, 2) == any);
  CHECK(access_of_few(HIPOPS_F64, rows_and_cols(8 * units + 1, 17), staged, device, 2) == staged);
  CHECK(access_of_few(HIPOPS_BF16, rows_and_cols(4 * units, 511), edged, device, 2) == any);
  CHECK(access_of_few(HIPOPS_BF16, rows_and_cols(4 * units + 1, 511), edged, device, 2) == edged);
  CHECK(access_of_few(HIPOPS_BF16, rows_and_cols(1, 513), edged, device, 2) == edged);
  CHECK(access_of_few(HIPOPS_BF16, rows_and_cols(1, 511), edged, device, 1) == edged);
  CHECK(access_of_few(HIPOPS_F32, rows_and_cols(1, 511), edged, device, 2) == edged);
  CHECK(access_of_few(HIPOPS_F32, rows_and_cols(1, 16), wide, device, 2) == wide);
  CHECK(access_of_few(HIPOPS_F64, rows_and_cols(2 * units, 2047), edged, device, 0) == any);
  CHECK(access_of_few(HIPOPS_F64, rows_and_cols(2 * units + 1, 2047), edged, device, 0) == edged);
  CHECK(access_of_few(HIPOPS_F64, rows_and_cols(1, 2049), edged, device, 0) == edged);
  hipops::rows_count_as_many = true;
  CHECK(access_of_few(HIPOPS_F32, rows_and_cols(1, 17), staged, device, 0) == staged);
  hipops::rows_count_as_many = false;
}

TEST_CASE("rows_count_as_many has few rows take what many take", "[rows]") {
  const RowGeometry few = rows_and_cols(1, 100), many = rows_and_cols(100000, 100);
  const auto kernel_for = [](const RowGeometry& rows) {
    return plan_rows(HIPOPS_F32, rows, hipops::wide, kDevices[0]).kernel;
  };
  CHECK(kernel_for(few) != kernel_for(many));
  hipops::rows_count_as_many = true;
  CHECK(kernel_for(few) == kernel_for(many));
  hipops::rows_count_as_many = false;
}

TEST_CASE("of rows that the device holds at once, few work-items idle: fewer of half as many", "[rows]") {
  for (const DeviceFacts& device : kDevices)
    for (const bool half : {true, false})
      for (int64_t cols = 1100; cols <= 16384; cols += 8) {
        const int64_t at_once = device.units * (int64_t{48} << 10) / (2 * cols) / (half ? 2 : 1);
        RowPlan plan = plan_rows(HIPOPS_BF16, rows_and_cols(at_once, cols), hipops::wide, device);
        const RowVariant& v = row_variants[plan.kernel];
        INFO(cols << " columns in blocks of " << plan.block);
        const double busy = static_cast<double>(cols) / (static_cast<double>(plan.block) * v.vectors * v.length);
        // A wave of 64 with one vector each is 512 columns.
        const double least = device.wave_size == 64 ? 0.66 : half ? 0.8 : 0.76;
        if (at_once > 2 * device.units && !(busy > least)) FAIL("busy: " << busy);
      }
}

TEST_CASE("one row more than few, and rows share blocks and work-items have more vectors", "[rows]") {
  const auto taken = [](const DeviceFacts& device, int64_t rows, int64_t cols) {
    const RowVariant& v = row_variants[plan_rows(HIPOPS_BF16, rows_and_cols(rows, cols), hipops::wide, device).kernel];
    return std::to_string(v.threads) + "x" + std::to_string(v.vectors);
  };
  CHECK(taken(kDevices[0], 264, 1000) == "512x1");
  CHECK(taken(kDevices[0], 265, 1000) == "32x4");
  CHECK(taken(kDevices[0], 265, 1500) == "512x2");  // not six vectors, as many rows have
  CHECK(taken(kDevices[1], 608, 4096) == "512x2");
  CHECK(taken(kDevices[1], 609, 4096) == "128x4");
  CHECK(taken(kDevices[0], 132 * 2048 / 80, 40) == taken(kDevices[0], 132, 40));
  CHECK(taken(kDevices[0], 132 * 2048 / 80 + 1, 40) != taken(kDevices[0], 132, 40));
}

TEST_CASE("some more rows of f32 with two weights than are held at once have two vectors a work-item", "[rows]") {
  DeviceFacts device = kDevices[0];
  device.launch_shared_bytes = 200 << 10;
  int64_t rows = 3000;
  const auto taken = [&](int64_t cols, int weights, hipops_dtype dtype = HIPOPS_F32) {
    const auto plan = plan_rows(dtype, rows_and_cols(rows, cols), hipops::wide, device, nullptr, weights);
    const RowVariant& v = row_variants[plan.kernel];
    return std::to_string(v.threads) + "x" + std::to_string(v.vectors);
  };
  for (const int64_t cols : {704, 768, 960, 1024}) CHECK(taken(cols, 2) == "512x2");
  CHECK(taken(512, 2) == "32x4");
  CHECK(taken(640, 2) == "32x6");  // a fifth would idle
  CHECK(taken(896, 2) == "512x4");
  CHECK(taken(1028, 2) == "512x4");
  CHECK(taken(768, 1) == "32x6");
  CHECK(taken(768, 0) == "32x6");
  CHECK(taken(1536, 2, HIPOPS_BF16) == "32x6");
  rows = 132 * 3 * 48 / 4;  // of 1024 columns
  CHECK(taken(1024, 2) == "128x4");
  --rows;
  CHECK(taken(1024, 2) == "512x2");
  device.launch_shared_bytes = 0;  // as on AMD
  CHECK(taken(768, 2) == "32x6");
  CHECK(taken(1024, 2) == "128x4");
}

TEST_CASE("some odd rows of 16 bits have a block each, of few vectors, where many share a wave", "[rows]") {
  const auto taken = [](int64_t rows, int64_t cols, hipops_dtype dtype = HIPOPS_BF16, int weights = 0) {
    const auto plan = plan_rows(dtype, rows_and_cols(rows, cols), hipops::edged, kDevices[0], nullptr, weights);
    const RowVariant& v = row_variants[plan.kernel];
    return std::to_string(v.threads) + "x" + std::to_string(v.vectors);
  };
  const auto held = [](int64_t cols) { return 132 * (int64_t{24} << 10) / (2 * cols); };
  CHECK(taken(held(1023), 1023) == "512x2");
  CHECK(taken(held(1023), 1023, HIPOPS_F16) == "512x2");
  CHECK(taken(held(1023) + 1, 1023) == "32x6");
  CHECK(taken(held(1023) / 2, 1023, HIPOPS_F32) != "512x2");
  CHECK(taken(held(769), 769) == "32x3");
  CHECK(taken(512, 2047) == "512x2");
  CHECK(taken(512, 2047, HIPOPS_BF16, 1) == "512x2");
  CHECK(taken(512, 2047, HIPOPS_BF16, 2) == "512x1");
  CHECK(taken(512, 2048) == "512x4");
}

// The kernel is told, and has rms_norm's weights come with the row.
TEST_CASE("rows are few up to two a unit, and none where they count as many", "[rows]") {
  const auto few = [](int64_t rows) {
    return plan_rows(HIPOPS_BF16, rows_and_cols(rows, 16384), hipops::wide, kDevices[0]).few;
  };
  CHECK(few(1));
  CHECK(few(264));
  CHECK_FALSE(few(265));
  hipops::rows_count_as_many = true;
  CHECK_FALSE(few(1));
  hipops::rows_count_as_many = false;
}

TEST_CASE("of more rows than the device holds at once, a work-item has four vectors or six", "[rows]") {
  for (const DeviceFacts& device : kDevices)
    for (const RowAccess access : {hipops::wide, hipops::edged})
      for (int64_t cols = 1100; cols <= 16384; cols += 8) {
        const int64_t rows = std::max<int64_t>(device.units * (int64_t{48} << 10) / (2 * cols), 2 * device.units) + 1;
        const RowPlan plan = plan_rows(HIPOPS_BF16, rows_and_cols(rows, cols), access, device);
        const RowVariant& v = row_variants[plan.kernel];
        const bool in_wave = cols <= 32 * 6 * 8 + (access == hipops::wide ? 0 : 7);
        const int64_t held = int64_t{plan.block} * 4 * 8;
        const bool small = access == hipops::wide && cols <= 128 * 4 * 8 && held <= cols + cols / 8;
        const bool right = in_wave ? v.threads == 32 && v.vectors == 6
                                   : v.threads == (small ? 128 : 512) && v.vectors == 4 && v.threads == v.block;
        if (!right) FAIL(rows << " rows of " << cols << " columns: " << v.threads << " x " << v.vectors);
      }
}

TEST_CASE("plan_rows covers all rows with a grid that every device takes", "[rows]") {
  std::vector<int64_t> counts;
  for (int64_t rows = 1; rows < 1030; ++rows) counts.push_back(rows);
  for (int shift = 11; shift <= 40; ++shift)
    for (int64_t more : {-1, 0, 1}) counts.push_back((int64_t{1} << shift) + more);
  for (const DeviceFacts& device : kDevices)
    for (RoundsOf rounds_of : {RoundsOf{nullptr}, RoundsOf{several_rounds}, RoundsOf{rounds_ahead}})
      for (const RowVariant& v : row_variants)
        for (int64_t i = 0; i < 2 * static_cast<int64_t>(counts.size()); ++i) {
          // As long as they may be; and so short that a lane idles.
          const int64_t rows = counts[static_cast<size_t>(i / 2)];
          const int64_t cols = (v.streaming ? 1 << 20 : v.longest) - i % 2 * v.length;
          RowPlan plan = plan_rows(v.dtype, rows_and_cols(rows, cols), v.access, device, rounds_of);
          const RowVariant& taken = row_variants[plan.kernel];
          const int64_t at_once = taken.block / taken.threads, rows_per_block = plan.rows_per_block;
          const int64_t work_items = int64_t{plan.grid} * plan.block;
          const bool idle = taken.access == hipops::wide && taken.vectors == 1 && taken.threads < taken.block &&
                            cols / taken.length < taken.threads;
          const bool has_room = taken.access != hipops::staged
                                    ? rows_per_block == at_once
                                    : rows_per_block % at_once == 0 &&
                                          rows_per_block <= hipops::most_stage_rows(taken, cols);
          bool covers = plan.row_step >= rows, all_busy = (int64_t{plan.grid} - 1) * rows_per_block < rows;
          // It goes round when it is huge, or when all units have what they can hold, or many blocks to do.
          const bool may = rounds_of == rounds_ahead || taken.clustered || v.access == hipops::staged;
          bool full = plan.grid >= 1u << 20 || (may && work_items >= int64_t{device.units} * 512) ||
                      ((rounds_of == several_rounds || idle) && plan.grid >= int64_t{device.units} * 20);
          bool right = taken.longest >= cols && plan.block <= static_cast<uint32_t>(taken.block) && plan.grid >= 1 &&
                       work_items < int64_t{1} << 32 && plan.row_step == plan.grid * rows_per_block && all_busy &&
                       (covers || full) && has_room;
          if (!right)
            FAIL(rows << " rows of " << cols << " columns: kernel " << plan.kernel << ", grid " << plan.grid
                      << ", step " << plan.row_step);
        }
}

TEST_CASE("of large launches of short rows, blocks go round until each work-item has taken six vectors", "[rows]") {
  for (const DeviceFacts& device : kDevices)
    for (const hipops_dtype dtype : kFloats)
      for (int64_t cols = 16 / dtype_bytes(dtype); cols <= 1024; cols += 16 / dtype_bytes(dtype)) {
        const auto blocks_of = [&](int64_t rows, RoundsOf rounds_of) {
          const RowPlan plan = plan_rows(dtype, rows_and_cols(rows, cols), hipops::wide, device, rounds_of);
          CHECK(plan.row_step == plan.grid * int64_t{plan.rows_per_block});
          return int64_t{plan.grid};
        };
        const RowVariant& v = row_variants[plan_rows(dtype, rows_and_cols(1 << 30, cols), hipops::wide, device).kernel];
        if (v.threads == v.block) continue;
        INFO(dtype_name(dtype) << ", " << cols << " columns: " << v.threads << " x " << v.vectors);
        const int64_t at_once = v.block / v.threads, many = 20 * device.units;  // blocks
        // Lanes idle, where the others have one vector: whatever the op says.
        const bool idle = v.vectors == 1 && cols / v.length < v.threads;
        const int64_t most_rounds = idle ? 4 : v.vectors == 1 ? 6 : v.vectors == 2 ? 3 : 1;
        for (const int64_t rounds : {1, 2, 3, 4, 6, 7, 9}) {
          const int64_t blocks = (rounds + 1) * many - 1, most = std::min(rounds, most_rounds);
          CHECK(blocks_of(blocks * at_once, several_rounds) == (blocks + most - 1) / most);
          CHECK(blocks_of(blocks * at_once, nullptr) == (idle ? (blocks + most - 1) / most : blocks));
        }
        CHECK(blocks_of((many - 1) * at_once, several_rounds) == many - 1);
      }
}

TEST_CASE("few rows of layer_norm in f32 have registers for their weights", "[rows]") {
  const auto kernel = [](int64_t rows, int64_t cols, int weights = 2) {
    return plan_rows(HIPOPS_F32, rows_and_cols(rows, cols), hipops::wide, kDevices[0], hipops::layer_norm_rounds, weights)
        .kernel;
  };
  for (const int64_t rows : {int64_t{1}, int64_t{kDevices[0].units}})
    for (const int64_t cols : {4100, 5120, 8192}) CHECK(kernel(rows, cols) == hipops::early_kernel);
  for (const int64_t cols : {1024, 4096, 8196, 1 << 20}) CHECK(kernel(1, cols) < kRowKernels);
  CHECK(kernel(kDevices[0].units + 1, 8192) < kRowKernels);
  CHECK(kernel(1, 8192, 0) < kRowKernels);
  CHECK(hipops::layer_norm_kernel_shared(hipops::early_kernel, 0) == 0);
}

TEST_CASE("rows are queued where blocks with the next row in registers would idle, as many as find room", "[rows]") {
  DeviceFacts device = with_launch_shared();
  const auto plan_of = [&](int64_t rows, int64_t cols) {
    return plan_rows(HIPOPS_BF16, rows_and_cols(rows, cols), hipops::wide, device, hipops::layer_norm_rounds, 2);
  };
  int taken = 0;
  for (int64_t cols = 1544; cols <= 16384; cols += 8)
    for (const int64_t rows : {4000, 100000}) {
      const RowPlan plan = plan_of(rows, cols);
      if (plan.kernel < kRowKernels) continue;
      ++taken;
      const int64_t blocks = plan.grid, at_once = std::max<int64_t>(kQueuedThreads / plan.block, 1);
      const int64_t row_bytes = int64_t{plan.block} * 4 * 16;
      const bool right = plan.kernel == hipops::queued_kernel(HIPOPS_BF16) && plan.block * 32 >= cols &&
                         plan.block <= 512 && plan.cluster == 1 && plan.rows_per_block == 1 &&
                         plan.row_step == blocks && blocks == std::min(rows, device.units * at_once) &&
                         (plan.rows_ahead == 1 || plan.rows_ahead == 2) &&
                         plan.shared_bytes == plan.rows_ahead * row_bytes &&
                         at_once * plan.shared_bytes <= 60 << 10 && cols % 16 == 0 &&
                         hipops::layer_norm_kernel_shared(plan.kernel, 0) >= plan.shared_bytes;
      if (!right) FAIL(rows << " rows of " << cols << " columns: " << blocks << " blocks of " << plan.block);
    }
  CHECK(taken > 800);
  for (const int64_t cols : {12288, 15360}) CHECK(plan_of(100000, cols).rows_ahead == 2);
  CHECK(plan_of(100000, 10240).rows_ahead == 1);
  // Nor are those of which a unit has fewer than six, or a block fewer than three.
  const int64_t six = 6 * device.units;
  CHECK(plan_of(six, 12288).kernel == hipops::queued_kernel(HIPOPS_BF16));
  CHECK(plan_of(six - 1, 12288).kernel < kRowKernels);
  CHECK(plan_of(3 * six - 1, 2304).kernel < kRowKernels);
  CHECK(plan_of(3 * six, 2304).kernel == hipops::queued_kernel(HIPOPS_BF16));
  // Those that use all registers stay there, and so do streamed ones, and those that are not whole sectors; and all,
  // where launches bring no shared memory.
  for (const int64_t cols : {2048, 4096, 7680, 8192, 15376, 16384, 70000, 12296})
    CHECK(plan_of(100000, cols).kernel < kRowKernels);
  device.launch_shared_bytes = 0;
  for (const int64_t cols : {10240, 12288}) CHECK(plan_of(100000, cols).kernel < kRowKernels);
}

TEST_CASE("many rounds of rows pass, a block each, where such blocks have enough on their way for memory", "[rows]") {
  DeviceFacts device = with_launch_shared();
  device.memory_speed = kSlow;
  const auto plan_of = [&](int64_t rows, int64_t cols, hipops_dtype dtype = HIPOPS_BF16) {
    return plan_rows(dtype, rows_and_cols(rows, cols), hipops::wide, device, hipops::layer_norm_rounds, 2);
  };
  int taken = 0;
  for (const hipops_dtype dtype : {HIPOPS_F16, HIPOPS_BF16})
    for (int64_t cols = 8; cols <= 16384; cols += 8) {
      const RowPlan plan = plan_of(1000000, cols, dtype);
      if (plan.kernel != hipops::passing_kernel(dtype)) continue;
      ++taken;
      const bool right = plan.block <= 512 && plan.block * 32 >= cols && plan.cluster == 1 && plan.rows_per_block == 1 &&
                         plan.grid == 1000000 && plan.row_step == plan.grid && plan.rows_ahead == 0 &&
                         plan.shared_bytes == 0;
      if (!right) FAIL(cols << " columns: " << plan.grid << " blocks of " << plan.block);
    }
  CHECK(taken > 2000);
  CHECK(hipops::layer_norm_kernel_shared(hipops::passing_kernel(HIPOPS_F16), 0) == 0);
  for (const auto& [cols, rounds] : {std::pair<int64_t, int64_t>{2048, 8}, {4096, 8}, {8192, 8}, {16384, 12}}) {
    const int64_t rows = rounds * device.units * (hipops::kPassingThreads / (cols / 32));
    CHECK(plan_of(rows, cols).kernel == hipops::passing_kernel(HIPOPS_BF16));
    CHECK(plan_of(rows - 1, cols).kernel < kRowKernels);
  }
  for (const int64_t cols : {9216, 10240, 15360}) CHECK(plan_of(1000000, cols).kernel == hipops::passing_kernel(HIPOPS_BF16));
  // Two blocks that leave work-items idle, and a wave a row.
  for (const int64_t cols : {11008, 12288, 14336}) CHECK(plan_of(1000000, cols).kernel == hipops::queued_kernel(HIPOPS_BF16));
  for (const int64_t cols : {1024, 12296}) CHECK(plan_of(1000000, cols).kernel < kRowKernels);
  CHECK(plan_of(1000000, 4096, HIPOPS_F32).kernel < kRowKernels);
  for (const int64_t speed : {kFast, int64_t{0}}) {
    device.memory_speed = speed;
    CHECK(plan_of(1000000, 4096).kernel < kRowKernels);
  }
  // With weights in f32, and work-items that idle in blocks that stay, of which there are two and more.
  device.memory_speed = kFast;
  const auto without = [&](int64_t cols, RoundsOf rounds_of) {
    return plan_rows(HIPOPS_BF16, rows_and_cols(1000000, cols), hipops::wide, device, rounds_of, 0).kernel;
  };
  const auto in_f32 = [&](int64_t cols) { return without(cols, hipops::layer_norm_rounds_at_use); };
  for (const int64_t cols : {1600, 2304, 2880, 3584, 5120, 7168}) {
    CHECK(in_f32(cols) == hipops::passing_kernel(HIPOPS_BF16));
    CHECK(without(cols, hipops::layer_norm_rounds) == plan_of(1000000, cols).kernel);
  }
  for (const int64_t cols : {2048, 4096, 8192, 10240, 16384}) CHECK(in_f32(cols) != hipops::passing_kernel(HIPOPS_BF16));
  for (const int64_t cols : {2304, 7168}) CHECK(plan_of(1000000, cols).kernel == hipops::queued_kernel(HIPOPS_BF16));
  device.memory_speed = kSlow;
  device.launch_shared_bytes = 0;  // as on AMD
  CHECK(plan_of(1000000, 4096).kernel < kRowKernels);
}

TEST_CASE("of many rounds of rows, the last ones are late: a block for each, which comes when one ends", "[rows]") {
  const DeviceFacts device = with_launch_shared(16);
  struct Of {
    RoundsOf rounds_of;
    int weights;
  };
  const auto late_of = [&](const Of& op, hipops_dtype dtype, int64_t rows, int64_t cols, RowAccess access,
                           RowPlan* plan) {
    RowGeometry g = rows_and_cols(rows, cols);
    g.outer_rank = 1, g.outer[0].x_stride = cols;
    *plan = plan_rows(dtype, g, access, device, op.rounds_of, op.weights);
    return late_rows(*plan, g, {dtype, access, op.rounds_of, op.weights, false}, device);
  };
  RowPlan plan;
  int taken = 0, sharing = 0;  // those with a block each, and those that share one
  for (const Of& op : {Of{hipops::layer_norm_rounds, 2}, Of{hipops::rms_norm_rounds, 1}, Of{hipops::softmax_rounds, 0}})
    for (const hipops_dtype dtype : kFloats)
      for (const RowAccess access : {hipops::wide, hipops::edged})
        for (int64_t cols = 8; cols <= 1 << 18; cols += (cols / 4 + 7) / 8 * 8)
          for (const int64_t rows : {1, 131, 1000, 1056, 4096, 20000, 1 << 20}) {
            const int64_t late = late_of(op, dtype, rows, cols, access, &plan);
            INFO(dtype_name(dtype) << " " << rows << "x" << cols << ": " << late << " late, step " << plan.row_step);
            if (late == 0) continue;
            ++(plan.rows_per_block == 1 ? taken : sharing);
            const int64_t in_rounds = rows - late;
            CHECK((in_rounds % plan.row_step == 0 && in_rounds >= (plan.rows_per_block == 1 ? 5 : 1) * plan.row_step));
            CHECK(late < (plan.rows_per_block == 1 ? rows / 10 : 1) + plan.row_step);
          }
  CHECK(taken > 200);
  CHECK(sharing > 10);
  // From six rounds on where a unit has several blocks: 528 of 4096 16-bit columns are there at a time. A sixteenth is
  // late where it has two, a thirty-second where it has one, and the rest of a round.
  const Of norm{hipops::layer_norm_rounds, 2}, softmax{hipops::softmax_rounds, 0};
  const auto late = [&](const Of& op, int64_t rows, int64_t cols, hipops_dtype dtype = HIPOPS_BF16,
                        RowAccess access = hipops::wide) {
    return late_of(op, dtype, rows, cols, access, &plan);
  };
  CHECK(late(norm, 6 * 528 - 1, 4096) == 0);
  CHECK(late(norm, 6 * 528, 4096) == 528);
  CHECK(late(norm, 32 * 264, 8192) == 2 * 264);
  CHECK(late(norm, 32 * 264 + 1, 8192) == 2 * 264 + 1);
  CHECK(late(norm, 20 * 132 - 1, 16384) == 0);
  CHECK(late(norm, 32 * 132, 16384) == 132);
  // Nor are there any where a block loads odd weights, or waits for two rows, for fewer than 30 rounds; in clusters of
  // more than two blocks that are alone on their units; and where odd rows share a block, or rows have one at once.
  CHECK(late(norm, 29 * 132, 8191, HIPOPS_F32, hipops::edged) == 0);
  CHECK(late(norm, 31 * 132, 8191, HIPOPS_F32, hipops::edged) == 132);
  CHECK(late(norm, 29 * 132, 12288) == 0);
  CHECK(late(norm, 31 * 132, 12288) > 0);
  CHECK(late(softmax, 100000, 151936) == 0);
  CHECK(late(softmax, 100000, 131072) > 0);
  CHECK(late(norm, 1 << 20, 127, HIPOPS_BF16, hipops::edged) == 0);
  // Of short aligned rows the last round, whole or not: of 2^20 rows, eight to a block, three.
  CHECK(late(norm, 1 << 20, 128) == (1 << 20) - 2 * ((1 << 20) / 8 / 3 + 1) * 8);
  CHECK(late(norm, 1 << 10, 128) == 0);
  CHECK(late(norm, 1 << 20, 32) > 0);
  CHECK(late(norm, 1 << 20, 24) == 0);  // a lane in four idles
  CHECK(late(softmax, 1 << 20, 4096) == 0);
  // Never so many that none are left for a round, not even in tests; nor over a limit.
  hipops::rows_count_as_many = true;
  CHECK(late(norm, 132 + 2, 16384) == 0);
  CHECK(late(norm, 132 + 8, 16384) == 8);
  hipops::rows_count_as_many = false;
  limit_grid(2 * 528 - 1);
  CHECK(late(norm, 6 * 528, 4096) == 0);
  limit_grid(2 * 528);
  CHECK(late(norm, 6 * 528, 4096) == 528);
  limit_grid(0);
}

TEST_CASE("odd rows have their weights aside where more blocks find room so, and each comes to enough rows", "[rows]") {
  DeviceFacts device = with_launch_shared();
  const auto plan_of = [&](hipops_dtype dtype, int64_t rows, int64_t cols, int weights = 2) {
    RowGeometry geometry = rows_and_cols(rows, cols);
    geometry.outer_rank = 1, geometry.outer[0].x_stride = cols;
    return plan_rows(dtype, geometry, hipops::edged, device, hipops::layer_norm_rounds, weights);
  };
  for (const hipops_dtype dtype : {HIPOPS_F32, HIPOPS_F16, HIPOPS_BF16}) {
    const int64_t bytes = dtype == HIPOPS_F32 ? 4 : 2, most = hipops::aside_threads(static_cast<int>(bytes));
    int taken = 0;
    for (int64_t cols = 201; cols <= 16391; cols += 10) {
      const RowPlan plan = plan_of(dtype, 100001, cols);
      if (plan.kernel < kRowKernels) continue;
      ++taken;
      const int64_t blocks = most / plan.block, instead = std::max<int64_t>(512 / plan.block, 1);
      const bool right = plan.kernel == hipops::aside_kernel(dtype) && plan.block * 4 * 16 / bytes + 16 / bytes > cols &&
                         plan.block <= 512 && plan.cluster == 1 && plan.rows_ahead == 0 && blocks > instead &&
                         plan.row_step == plan.grid && plan.row_step * cols * bytes % 16 == 0 &&
                         std::abs(plan.row_step - device.units * blocks) < 8 &&
                         plan.shared_bytes == int64_t{plan.block} * 4 * 16 * 2 &&
                         hipops::layer_norm_kernel_shared(plan.kernel, 0) >= plan.shared_bytes;
      if (!right) FAIL(cols << " columns: " << plan.grid << " blocks of " << plan.block);
    }
    CHECK(taken > 400);
  }
  // Those that use all registers stay there, and those for which no further block finds room; so do rows that are few,
  // never lie alike, or have no weights in their type; and all, where a launch brings too little shared memory, or a unit
  // has too little.
  for (const int64_t cols : {2049, 4097, 8191, 13001}) CHECK(plan_of(HIPOPS_BF16, 100001, cols).kernel < kRowKernels);
  const int64_t enough = 3 * (48 << 10) * 132 / (10007 * 2) + 1;
  CHECK(plan_of(HIPOPS_BF16, enough, 10007).kernel == hipops::aside_kernel(HIPOPS_BF16));
  CHECK(plan_of(HIPOPS_BF16, enough - 1, 10007).kernel < kRowKernels);
  CHECK(plan_of(HIPOPS_BF16, 100001, 10007, 0).kernel < kRowKernels);
  RowGeometry apart = rows_and_cols(100001, 10007);
  apart.outer_rank = 2, apart.outer[0].x_stride = 10009, apart.outer[1].x_stride = 1000901;
  CHECK(plan_rows(HIPOPS_BF16, apart, hipops::edged, device, hipops::layer_norm_rounds, 2).kernel < kRowKernels);
  device.unit_shared_bytes = 60 << 10;
  CHECK(plan_of(HIPOPS_BF16, 100001, 10007).kernel < kRowKernels);
  device.unit_shared_bytes = 200 << 10, device.launch_shared_bytes = 30 << 10;
  CHECK(plan_of(HIPOPS_BF16, 100001, 10007).kernel < kRowKernels);
}

// Blocks for one of many rows: up to eight of half the size, else whole ones; two of those, where they keep two weights
// of aligned rows. `rounds`: whether rows are so many that one block keeps what it holds.
uint32_t for_many(int64_t vectors, int64_t of_block, int weights, bool odd, bool rounds) {
  if (vectors <= of_block) {
    if (8 * vectors <= 5 * of_block || (weights == 2 && odd)) return 1;
    return rounds && weights != 1 ? 1 : 2;
  }
  if (vectors <= 2 * of_block && weights == 2 && !odd) return 2;
  for (const uint32_t halves : {4, 5, 8})
    if (2 * vectors <= halves * of_block) return halves;
  return vectors <= 5 * of_block ? 5 : vectors <= 8 * of_block ? 8 : 16;
}

TEST_CASE("a row that a block cannot hold is shared by the blocks of a cluster, where there are any", "[rows]") {
  const int largest = GENERATE(8, 16);
  DeviceFacts device = with_launch_shared(largest);
  for (hipops_dtype dtype : kFloats)
    for (RowAccess access : {hipops::wide, hipops::edged}) {
      for (int64_t cols = 16385; cols < 600000; cols += 67)
        for (int64_t rows : {1, 20, 60, 16 * 132, 16 * 132 + 1, 100000}) {
          const int weights = static_cast<int>(cols % 3);
          const RowPlan plan = plan_rows(dtype, rows_and_cols(rows, cols), access, device, nullptr, weights);
          const RowVariant& v = row_variants[plan.kernel];
          const int64_t vectors = access == hipops::wide ? (cols + v.length - 1) / v.length : cols / v.length;
          const int64_t of_block = int64_t{v.threads} * v.vectors, held = plan.block * plan.cluster * v.vectors;
          bool right = v.access == access && plan.grid % plan.cluster == 0;
          if (v.clustered) {
            const int64_t groups = plan.grid / plan.cluster;
            int64_t whole = 1;
            while (whole * of_block < vectors) whole *= 2;
            const bool few = rows * whole <= device.units;
            right = right && held >= vectors && plan.block % 32 == 0 && groups == plan.row_step &&
                    groups == std::min<int64_t>(rows, device.units * (v.threads / plan.block) / plan.cluster) &&
                    (few || plan.cluster == for_many(vectors, of_block, weights, access == hipops::edged,
                                                     rows > 16 * device.units)) &&
                    // As many blocks as find work where there are few rows.
                    (!few || rows * plan.cluster <= device.units) &&
                    (!few || 2 * plan.cluster > 8 || rows * 2 * plan.cluster > device.units ||
                     1024 * plan.cluster > vectors) &&
                    plan.shared_bytes == weights * 16 * (v.vectors * plan.block + 1);
          } else {
            right = right && plan.cluster == 1 && (v.streaming ? vectors > largest * of_block * 2 : v.longest >= cols);
          }
          if (!right)
            FAIL(rows << " rows of " << cols << " columns, access " << access << ": kernel " << plan.kernel << ", grid "
                      << plan.grid << " of " << plan.block << ", clusters of " << plan.cluster);
        }
    }
  // Without room for the weights, they are not kept.
  device.launch_shared_bytes = device.unit_shared_bytes = 100 << 10;
  CHECK(plan_rows(HIPOPS_BF16, rows_and_cols(9999, 65536), hipops::wide, device, nullptr, 2).shared_bytes == 0);
  CHECK(plan_rows(HIPOPS_BF16, rows_and_cols(9999, 65536), hipops::wide, device, nullptr, 1).shared_bytes ==
        (256 * 8 + 1) * 16);
}

TEST_CASE("many odd rows of over ten or twelve waves have blocks of half as many, which go ahead", "[rows]") {
  DeviceFacts device = with_launch_shared(16);
  const auto vectors_of = [&](hipops_dtype dtype, int64_t rows, int64_t cols, int weights) {
    const RoundsOf rounds_of = weights == 0 ? hipops::softmax_rounds : hipops::rms_norm_rounds;
    const RowPlan plan = plan_rows(dtype, rows_and_cols(rows, cols), hipops::edged, device, rounds_of, weights);
    const RowVariant& v = row_variants[plan.kernel];
    CHECK(plan.cluster == 1);
    CHECK(v.clustered == (v.vectors == 8));
    if (v.clustered) CHECK(plan.shared_bytes == int64_t{weights} * 16 * (plan.block * 8 + 1));
    return v.vectors;
  };
  for (hipops_dtype dtype : {HIPOPS_F16, HIPOPS_BF16}) {
    CHECK(vectors_of(dtype, 9999, 10240, 0) == 4);  // up to ten waves of four vectors a lane
    CHECK(vectors_of(dtype, 9999, 10249, 0) == 8);
    CHECK(vectors_of(dtype, 9999, 12289, 1) == 4);  // and twelve
    CHECK(vectors_of(dtype, 9999, 12297, 1) == 8);
    CHECK(vectors_of(dtype, 9999, 16383, 2) == 4);
    const int64_t enough = 3 * (48 << 10) * 132 / (13001 * 2) + 1;
    CHECK(vectors_of(dtype, enough, 13001, 1) == 8);
    CHECK(vectors_of(dtype, enough - 1, 13001, 1) == 4);
    CHECK(vectors_of(dtype, enough - 1, 13001, 0) == 8);
  }
  CHECK(vectors_of(HIPOPS_F64, 9999, 2561, 0) == 4);
  CHECK(vectors_of(HIPOPS_F64, 9999, 2563, 0) == 8);
  CHECK(vectors_of(HIPOPS_F64, 9999, 4097, 1) == 4);  // rms_norm has no use for it
  CHECK(vectors_of(HIPOPS_F32, 9999, 8191, 0) == 4);
  CHECK(vectors_of(HIPOPS_BF16, 300, 10249, 0) == 4);  // which are there at once
  const RowPlan not_kept =
      plan_rows(HIPOPS_BF16, rows_and_cols(9999, 16383), hipops::edged, device, hipops::rms_norm_rounds, 0);
  CHECK(row_variants[not_kept.kernel].vectors == 4);
  device.largest_cluster = 1;
  CHECK(vectors_of(HIPOPS_BF16, 9999, 16383, 0) == 4);
}

TEST_CASE("rows of f64 that no cluster holds are streamed, also where others are better ahead", "[rows]") {
  const DeviceFacts device = with_launch_shared(16);
  for (const int64_t cols : {131073, 140000, 262144})
    for (const auto& [rounds_of, weights] : {std::pair{hipops::softmax_rounds, 0}, {hipops::layer_norm_rounds, 2}}) {
      const RowPlan plan = plan_rows(HIPOPS_F64, rows_and_cols(300, cols), hipops::wide, device, rounds_of, weights);
      if (plan.kernel < hipops::kRowVariants) CHECK(row_variants[plan.kernel].streaming);
      CHECK(plan.cluster == 1);
    }
}

TEST_CASE("halves of a block share a row of over ten of its sixteen waves", "[rows]") {
  DeviceFacts device = with_launch_shared(16);
  for (hipops_dtype dtype : kFloats)
    for (const int weights : {0, 1, 2})
      for (const int64_t rows : {16 * 132, 16 * 132 + 1}) {
        const int64_t length = 16 / dtype_bytes(dtype);
        const auto cluster_of = [&](int64_t vectors) {
          const RowPlan plan =
              plan_rows(dtype, rows_and_cols(rows, vectors * length), hipops::wide, device, nullptr, weights);
          CHECK(row_variants[plan.kernel].clustered);
          return plan.cluster;
        };
        const uint32_t halves = weights == 1 || rows == 16 * 132 ? 2 : 1;
        CHECK(cluster_of(10 * 256) == 1);
        CHECK(cluster_of(10 * 256 + 1) == halves);
        CHECK(cluster_of(16 * 256) == halves);
      }
}

TEST_CASE("halves of a block share rows where a unit has the memory for two that keep weights", "[rows]") {
  DeviceFacts device = kDevices[0];
  device.largest_cluster = 16;
  const auto plan_of = [&](int weights) {
    return plan_rows(HIPOPS_BF16, rows_and_cols(9999, 131072), hipops::wide, device, nullptr, weights);
  };
  for (const int kib : {200, 87}) {
    device.launch_shared_bytes = device.unit_shared_bytes = kib << 10;
    const RowPlan without = plan_of(0), with = plan_of(2);
    CHECK(without.block * without.cluster == 256 * 8);
    CHECK(with.block * with.cluster == (kib == 200 ? 256 * 8 : 512 * 4));
    CHECK(with.shared_bytes == (kib == 200 ? 2 * 16 * (256 * 8 + 1) : 0));
  }
}

TEST_CASE("odd rows of six vectors a lane have as many blocks as run beside weights, or without", "[rows]") {
  for (const DeviceFacts& device : kDevices) {
    const auto grid_of = [&](RoundsOf rounds_of) {
      const RowPlan plan = plan_rows(HIPOPS_BF16, rows_and_cols(1000000, 1409), hipops::edged, device, rounds_of);
      CHECK(row_variants[plan.kernel].vectors == 6);
      return int64_t{plan.grid} * plan.block;
    };
    const int64_t waves_of_32 = device.units * (device.wave_size / 32);
    CHECK(grid_of(rounds_ahead) == 512 * waves_of_32);
    CHECK(grid_of([](const RowVariant&) { return RowRounds::ahead_beside_weights; }) == 384 * waves_of_32);
  }
}

TEST_CASE("a row that two blocks would share has one of twice the work-items, where there are such", "[rows]") {
  for (const int wave_size : {32, 64}) {
    DeviceFacts device = ::device(304, wave_size);
    device.blocks_in_one = 2;
    for (hipops_dtype dtype : kFloats)
      for (RowAccess access : {hipops::wide, hipops::edged}) {
        const int length = 16 / hipops::dtype_bytes(dtype);
        for (int64_t cols = 4096 * length + 1; cols < 100000; cols += 13)
          for (int64_t rows : {1, 400, 100000}) {
            const RowPlan plan = plan_rows(dtype, rows_and_cols(rows, cols), access, device);
            const RowVariant& v = row_variants[plan.kernel];
            const int64_t vectors = access == hipops::wide ? (cols + length - 1) / length : cols / length;
            const int64_t spare = int64_t{plan.block} * v.vectors - vectors;
            const bool fits = vectors <= 1024 * 8;
            const bool right = fits ? v.clustered && plan.block % wave_size == 0 && plan.block <= 1024 && spare >= 0 &&
                                          spare < wave_size * v.vectors && plan.row_step == plan.grid
                                    : v.streaming && plan.block == 512;
            if (!right || plan.cluster != 1)
              FAIL(rows << " rows of " << cols << " columns, access " << access << ": kernel " << plan.kernel << ", grid "
                        << plan.grid << " of " << plan.block);
          }
      }
  }
}

TEST_CASE("with weights, work-items come to rows at odd addresses that lie alike", "[rows]") {
  for (const DeviceFacts& device : {kDevices[0], kDevices[1]})
    for (hipops_dtype dtype : {HIPOPS_F32, HIPOPS_F16, HIPOPS_BF16})
      for (int64_t cols = 33; cols < 8192; cols += 3)
        for (int64_t gap : {0, 1, 2, 8}) {
          RowGeometry geometry = rows_and_cols(1000003, cols);
          geometry.outer_rank = 1;
          geometry.outer[0].x_stride = cols + gap;
          const RowPlan with = plan_rows(dtype, geometry, hipops::edged, device, rounds_ahead, 1);
          const RowPlan without = plan_rows(dtype, geometry, hipops::edged, device, rounds_ahead, 0);
          const int64_t between = with.row_step * geometry.outer[0].x_stride * hipops::dtype_bytes(dtype);
          if (between % 16 != 0 || with.grid > without.grid || with.grid < without.grid - 8)
            FAIL(cols << " columns and " << gap << " between rows: step " << with.row_step << ", grid " << with.grid
                      << " instead of " << without.grid);
        }
}

TEST_CASE("few rows that are too long for a block are split, unless in place", "[rows]") {
  const DeviceFacts& device = kDevices[0];
  auto splits = [&](hipops_dtype dtype, RowAccess access, int64_t rows, int64_t cols, bool in_place = false) {
    const RowGeometry geometry = rows_and_cols(rows, cols);
    return splits_rows(dtype, geometry, plan_rows(dtype, geometry, access, device), in_place, device);
  };
  CHECK(splits(HIPOPS_BF16, hipops::wide, 4, 8388608));
  CHECK(splits(HIPOPS_BF16, hipops::edged, 4, 8388607));
  CHECK(splits(HIPOPS_F32, hipops::wide, 263, 65536));
  CHECK_FALSE(splits(HIPOPS_F32, hipops::wide, 264, 65536));
  CHECK(splits(HIPOPS_F32, hipops::wide, 264, 1 << 18));
  CHECK_FALSE(splits(HIPOPS_F16, hipops::wide, 4, 8388608, true));
  CHECK_FALSE(splits(HIPOPS_F16, hipops::any, 4, 8388608));
  CHECK(splits(HIPOPS_F64, hipops::wide, 4, 8388608));
  CHECK(splits(HIPOPS_F64, hipops::edged, 4, 8388607));
  CHECK_FALSE(splits(HIPOPS_F64, hipops::any, 4, 8388607));
  CHECK_FALSE(splits(HIPOPS_BF16, hipops::wide, 4, 32768));  // fits into a block
}

TEST_CASE("the steps of split rows cover all tiles", "[rows]") {
  CHECK(split_tiles(HIPOPS_BF16, 8388608) == 512);
  CHECK(split_tiles(HIPOPS_BF16, 8388609) == 513);
  CHECK(split_tiles(HIPOPS_F32, 8193) == 2);
  for (hipops_dtype dtype : kFloats)
    for (int64_t rows : {int64_t{1}, int64_t{7}, int64_t{1} << 20, int64_t{1} << 40})
      for (int64_t cols : {int64_t{40000}, int64_t{8388607}, int64_t{1} << 40}) {
        RowGeometry geometry = rows_and_cols(rows, cols);
        geometry.tiles = split_tiles(dtype, cols);
        for (SplitStep step : {wide_partial, edged_partial, merge_tiles, wide_apply, edged_apply}) {
          if (dtype == HIPOPS_F64 && (step == wide_partial || step == wide_apply)) continue;  // there are none
          const RowPlan plan = plan_split_step(dtype, geometry, step);
          const double work = static_cast<double>(rows) * static_cast<double>(step == merge_tiles ? 1 : geometry.tiles);
          INFO(rows << " rows of " << cols << " columns, step " << step);
          CHECK(plan.kernel >= kRowVariants);
          CHECK(plan.kernel < kRowKernels);
          CHECK(plan.row_step == plan.grid);
          CHECK(plan.grid == std::min(work, double{1 << 21}));
          CHECK(plan.block == 512);
        }
      }
}

TEST_CASE("more rows than a grid can have at a time go round", "[rows]") {
  RowPlan plan = plan_rows(HIPOPS_F32, rows_and_cols(int64_t{1} << 40, 1 << 20), hipops::wide, kDevices[0]);
  CHECK(plan.grid == 1u << 21);
  CHECK(plan.row_step == int64_t{1} << 21);
  plan = plan_rows(HIPOPS_F32, rows_and_cols(int64_t{1} << 40, 1), hipops::any, kDevices[0]);
  CHECK(plan.grid == 1u << 21);
  CHECK(plan.row_step == int64_t{1} << 27);
}

TEST_CASE("short rows without gaps, in them or between them, go through shared memory", "[rows]") {
  auto access = [](hipops_dtype dtype, const Sizes& shape, const Sizes& stride = {}) {
    hipops_tensor rows = view_of(kAddress + hipops::parity::dtype_size(dtype), dtype, shape, stride);
    return row_access(rows, rows, row_geometry(rows, rows));
  };
  for (hipops_dtype dtype : kFloats) {
    INFO(hipops::parity::dtype_name(dtype));
    const int64_t most = longest(dtype, hipops::staged);
    // Of f64 shorter ones have but few pairs.
    const RowAccess otherwise = dtype == HIPOPS_F64 ? hipops::any : hipops::edged;
    CHECK(access(dtype, {7, most + 1}) == hipops::edged);
    CHECK(most >= 32);
    for (int64_t cols : {int64_t{1}, int64_t{3}, int64_t{17}, most - 1, most})
      CHECK(access(dtype, {7, cols}) == hipops::staged);
    CHECK(access(dtype, {2, 3, 5, 3}) == hipops::staged);
    CHECK(access(dtype, {1, 3}, {100, 1}) == hipops::staged);  // one row: no gap after it
    CHECK(access(dtype, {7, 3}, {4, 1}) == otherwise);
    CHECK(access(dtype, {7, 3}, {0, 1}) == otherwise);
    CHECK(access(dtype, {7, 3}, {6, 2}) == hipops::any);
    CHECK(access(dtype, {2, 7, 3}, {3, 6, 1}) == otherwise);
  }
}

TEST_CASE("16-byte accesses need aligned rows without gaps between elements", "[rows]") {
  auto allows = [](hipops_dtype dtype, const Sizes& shape, const Sizes& stride = {}, uintptr_t shift = 0) {
    hipops_tensor plain = view_of(kAddress, dtype, shape), other = view_of(kAddress + shift, dtype, shape, stride);
    RowAccess as_x = row_access(plain, other, row_geometry(plain, other));
    CHECK(row_access(other, plain, row_geometry(other, plain)) == as_x);  // x and y are treated alike
    // Rows without gaps are short ones in one piece, or have vectors, but where those would be a few pairs.
    bool gaps = !stride.empty() && stride.back() != 1 && shape.back() > 1;
    if (gaps) CHECK(as_x == hipops::any);
    else if (as_x == hipops::staged) CHECK(shape.back() <= longest(dtype, hipops::staged));
    else if (as_x != hipops::wide) CHECK(as_x == (dtype == HIPOPS_F64 ? hipops::any : hipops::edged));
    return as_x == hipops::wide;
  };
  for (hipops_dtype dtype : kFloats) {
    int64_t bytes = static_cast<int64_t>(hipops::parity::dtype_size(dtype)), vector = 16 / bytes;
    INFO(hipops::parity::dtype_name(dtype));
    CHECK(allows(dtype, {5, 4 * vector}));
    CHECK(allows(dtype, {vector}));
    CHECK(!allows(dtype, {5, 4 * vector + 1}));
    CHECK(!allows(dtype, {4 * vector + 1}));
    CHECK(!allows(dtype, {5, 4 * vector + 1}, {5 * vector, 1}));
    CHECK(!allows(dtype, {5, 1}));
    CHECK(allows(dtype, {5, 4 * vector}, {}, 16));
    CHECK(!allows(dtype, {5, 4 * vector}, {}, static_cast<uintptr_t>(bytes)));
    CHECK(!allows(dtype, {5, 4 * vector}, {}, 8));
    CHECK(allows(dtype, {5, 4 * vector}, {5 * vector, 1}));
    CHECK(allows(dtype, {5, 4 * vector}, {-5 * vector, 1}));
    CHECK(allows(dtype, {5, 4 * vector}, {0, 1}));
    CHECK(!allows(dtype, {5, 4 * vector}, {4 * vector + 1, 1}));
    CHECK(!allows(dtype, {5, 4 * vector}, {8 * vector, 2}));
    CHECK(!allows(dtype, {5, 4 * vector}, {4 * vector, -1}));
    CHECK(!allows(dtype, {5, 3, 4 * vector}, {12 * vector, 4 * vector + 1, 1}));
    CHECK(!allows(dtype, {5, 3, 4 * vector}, {12 * vector + 1, 4 * vector, 1}));
    CHECK(allows(dtype, {1, 3, 4 * vector}, {12 * vector + 1, 4 * vector, 1}));  // a single one: not looked at
    CHECK(allows(dtype, {int64_t{1} << 33, 4 * vector}, {(int64_t{1} << 8) * vector, 1}));
  }
}

TEST_CASE("16-byte accesses need aligned weights without gaps, or none", "[rows]") {
  auto allows = [](uintptr_t address, int64_t stride) {
    hipops_tensor weights = view_of(address, HIPOPS_F32, {8}, {stride});
    hipops_tensor rows = view_of(kAddress + 4096, HIPOPS_F32, {3, 8}, {12, 1});
    RowAccess as_weight = row_access(rows, rows, row_geometry(rows, rows), &weights);
    CHECK(row_access(rows, rows, row_geometry(rows, rows), nullptr, &weights) == as_weight);
    if (as_weight != hipops::wide) CHECK(as_weight == (stride == 1 ? hipops::edged : hipops::any));
    return as_weight == hipops::wide;
  };
  CHECK(allows(kAddress, 1));
  CHECK(allows(kAddress + 16, 1));
  CHECK(!allows(kAddress + 4, 1));
  CHECK(!allows(kAddress + 8, 1));
  CHECK(!allows(kAddress, 2));
  CHECK(!allows(kAddress, 0));
  CHECK(!allows(kAddress, -1));
}
