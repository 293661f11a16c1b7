// hipops_index_add: the size of its workspace, rows past 2^32, and its prefetches.
#include "index_add.h"

#include <sys/mman.h>

#include <atomic>
#include <iterator>
#include <map>
#include <string_view>

#include "device/core/launch_contract.h"
#include "op_tester.h"
#include "parity/temporary_options.h"
#include "recorder.h"
#include "tensor/overlap.h"

using namespace hipops;
using namespace hipops_test;

namespace {

hipops_status workspace_bytes(const hipops_tensor& y, const hipops_tensor& x, const hipops_tensor& index,
                              int64_t* bytes) {
  return hipops_index_add_workspace_bytes(&y, &x, &index, 0, bytes);
}

// Without data, and with strides along dim that give no memory.
int64_t bytes_for(hipops_dtype dtype, int64_t rows, int64_t columns, int64_t indices) {
  int64_t bytes = -1;
  expect_success(workspace_bytes(view_of(0, dtype, {rows, columns}), view_of(0, dtype, {indices, columns}, {0, 0}),
                                 view_of(0, HIPOPS_I64, {indices}, {0}), &bytes));
  return bytes;
}

void add_with_workspace(HostTensor& y, HostTensor& x, HostTensor& index) {
  int64_t bytes = 0;
  expect_success(workspace_bytes(y.view, x.view, index.view, &bytes));
  std::vector<char> memory(static_cast<size_t>(bytes) + 256);
  char* const aligned = memory.data() + (256 - reinterpret_cast<uintptr_t>(memory.data()) % 256) % 256;
  expect_success(hipops_index_add(&y.view, &x.view, &index.view, 0, aligned, bytes, nullptr, nullptr));
}

}  // namespace

TEST_CASE("index_add requests a workspace by shapes alone, in 64 bits", "[index_add]") {
  check_calls([] {
    hipops_tensor y = view_of(0, HIPOPS_F32, {4, 8}), x = view_of(0, HIPOPS_F32, {300, 8}),
                  index = view_of(0, HIPOPS_I32, {300});
    int64_t bytes = -1;
    y.stride[0] = -8;  // at address 0 this would reach outside the address space
    expect_success(workspace_bytes(y, x, index, &bytes));
    EXPECT(bytes > 0 && bytes % 256 == 0);
    const int64_t most = UINT32_MAX, large = int64_t{1} << 31;
    EXPECT(bytes_for(HIPOPS_F32, large, 4, large) > 4 * large);
    EXPECT(bytes_for(HIPOPS_F32, most, 4, most - 4096) > 4 * (most - 4096));
    for (const auto& [rows, columns, indices] : {std::tuple{100000, 4, 0}, {0, 4, 1000}, {4, 0, 1000}})
      EXPECT_EQUAL(bytes_for(HIPOPS_F32, rows, columns, indices), 0);
    EXPECT_EQUAL(hipops_backend_in_use(), HIPOPS_BACKEND_AUTO);
  });
}

TEST_CASE("index_add's workspace is large enough for addresses without vectors", "[index_add]") {
  on_cpu([] {
    for (int64_t rows = 2; rows < 200000; rows += rows / 2 + 1)
      for (int64_t indices : {257, 1000, 5000}) {
        HostTensor y(HIPOPS_F32, {rows, 8}, {}, 1), x(HIPOPS_F32, {indices, 8}), index(HIPOPS_I32, {indices});
        add_with_workspace(y, x, index);
      }
  });
}

TEST_CASE("index_add to a y without rows reports every index that names none", "[index_add]") {
  on_cpu([] {
    for (int64_t indices : {3, 300}) {
      HostTensor y(HIPOPS_F16, {0, 5}), x(HIPOPS_F16, {indices, 5}), index(HIPOPS_U8, {indices});
      for (int64_t j = 0; j < indices; ++j) index.set(j, j % 2 ? 7 : 255);  // 255 is the sentinel index
      hipops_index_report report = HIPOPS_INDEX_REPORT_INIT;
      expect_success(hipops_index_add(&y.view, &x.view, &index.view, 0, nullptr, 0, &report, nullptr));
      EXPECT_EQUAL(report.count, static_cast<uint64_t>(indices / 2));
      EXPECT_EQUAL(report.first, uint64_t{1});
    }
  });
}

// y has 4 GiB, and the test touches few of its pages.
TEST_CASE("index_add distinguishes rows whose numbers differ past 32 bits", "[index_add]") {
  on_cpu([] {
    constexpr int64_t kFar = int64_t{1} << 32, kRows = kFar + 10;
    void* memory = mmap(nullptr, kRows, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    EXPECT(memory != MAP_FAILED);
    auto* y = static_cast<uint8_t*>(memory);
    const hipops_tensor of_y = {y, HIPOPS_U8, 1, {kRows}, {1}};
    const int64_t rows[] = {kFar + 3, 5, kFar - 1, kFar - 2, kFar + 3, kFar, kRows, INT64_MIN};
    constexpr int64_t kIndices = std::size(rows);
    uint8_t x[kIndices];
    for (int64_t j = 0; j < kIndices; ++j) x[j] = static_cast<uint8_t>(1 << j);
    const hipops_tensor of_x = {x, HIPOPS_U8, 1, {kIndices}, {1}};
    const hipops_tensor index = {const_cast<int64_t*>(rows), HIPOPS_I64, 1, {kIndices}, {1}};
    hipops_index_report report = HIPOPS_INDEX_REPORT_INIT;
    expect_success(hipops_index_add(&of_y, &of_x, &index, 0, nullptr, 0, &report, nullptr));
    EXPECT_EQUAL(report.count, uint64_t{2});
    EXPECT_EQUAL(report.first, uint64_t{6});
    const std::map<int64_t, int> expected = {{kFar + 3, 1 + 16}, {5, 2}, {kFar - 1, 4}, {kFar - 2, 8}, {kFar, 32}};
    for (const auto& [row, sum] : expected) EXPECT_EQUAL(int{y[row]}, sum);
    for (int64_t row : {3, 0, 4, 6}) EXPECT_EQUAL(int{y[row]}, 0);
    EXPECT_EQUAL(munmap(memory, kRows), 0);
  });
}

// On a GPU a prefetch outside of x would read memory of others. Results of the CPU do not show it.
TEST_CASE("index_add prefetches nothing but x", "[index_add]") {
  on_cpu([] {
    TemporaryOptions temporary;
    temporary.options.sums = {false, false};  // indices are sorted whenever there is a workspace
    Op& op = op_named("index_add");
    std::atomic<const void*> prefetched{nullptr};
    std::atomic<uint32_t> parts{0};
    std::atomic<bool> is_first_sum{true};
    const Recorder recorder(op, [&](int kernel, const void* args) {
      const std::string_view name = op.kernel_names[kernel];
      if (is_first_sum && (name.find("_joined_") != name.npos || name.find("_sum_") != name.npos)) {
        const auto& a = *static_cast<const IndexAddArgs*>(args);
        is_first_sum = false, prefetched = a.prefetched, parts = a.prefetched_pieces;
      }
      return true;
    });
    struct Case {
      int64_t rows, indices;
      Sizes x_stride;
      int64_t x_shift;
      bool prefetches;
    };
    for (const Case& c : {Case{400, 4096, {64, 1}, 0, true},
                          {400, 4096, {64, 1}, 4, true},
                          {400, 4096, {-64, 1}, 0, true},
                          {2000, 20000, {64, 1}, 0, true},
                          {4, 4096, {64, 1}, 0, true},  // too many sources of a row for `joined`
                          {400, 4096, {68, 1}, 0, false},
                          {400, 4096, {0, 1}, 0, false}}) {
      HostTensor y(HIPOPS_I32, {c.rows, 64}), x(HIPOPS_I32, {c.indices, 64}, c.x_stride, c.x_shift),
          index(HIPOPS_I32, {c.indices});
      for (int64_t j = 0; j < c.indices; ++j) index.set(j, static_cast<double>(j * 7 % c.rows));
      is_first_sum = true;
      add_with_workspace(y, x, index);
      EXPECT(!is_first_sum);
      EXPECT_EQUAL(parts > 0, c.prefetches);
      if (!c.prefetches) continue;
      ByteRange range;
      EXPECT(byte_range(x.view, &range));
      const auto begin = reinterpret_cast<uintptr_t>(prefetched.load());
      EXPECT_EQUAL(begin % 16, uintptr_t{0});
      EXPECT(begin >= range.begin && begin + parts * uintptr_t{kPrefetchBytes} <= range.end);
    }
  });
}
