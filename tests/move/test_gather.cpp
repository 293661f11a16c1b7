// hipops_gather: what it refuses, which kernel it chooses, and its results on the CPU.
#include "device/core/launch_contract.h"
#include "move/take_tester.h"

using namespace hipops;
using namespace hipops_test;

namespace {

const hipops_test::TakeOp kGather = {"gather", false, hipops_gather};

}  // namespace

TEST_CASE("gather refuses bad arguments", "[gather]") {
  check_in_child({{"HIPOPS_BACKEND", "cpu"}}, [] {
    check_refusals(kGather);
    auto invalid = [](auto spoil, const std::string& message) {
      TakeCall call(kGather);
      spoil(call);
      call.invalid(message);
    };
    invalid([](TakeCall& c) { c.index.view.rank = 1; }, "index.rank is 1, expected 2 (x.rank)");
    invalid([](TakeCall& c) { c.y.view.rank = 1; }, "y.rank is 1, expected 2 (index.rank)");
    invalid([](TakeCall& c) { c.index.view.shape[0] = 2; }, "y.shape[0] is 3, expected 2 (index.shape[0])");
    invalid([](TakeCall& c) { c.index.view.shape[1] = 7; }, "y.shape[1] is 8, expected 7 (index.shape[1])");
    invalid([](TakeCall& c) { c.x.view.shape[1] = 7; }, "index.shape[1] is 8, expected at most 7 (x.shape[1])");
    invalid([](TakeCall& c) { c.x.view.shape[0] = 2, c.dim = 1; },
            "index.shape[0] is 3, expected at most 2 (x.shape[0])");
  });
}

TEST_CASE("gather takes every dtype and five for the index", "[gather]") { check_supports(kGather); }

TEST_CASE("gather of nothing is success", "[gather]") {
  check_in_child({{"HIPOPS_BACKEND", "cpu"}}, [] { check_empty(kGather); });
}

TEST_CASE("gather is right for any shapes, strides and dtypes", "[gather]") { on_cpu(kGather, check_random); }

TEST_CASE("gather's kernels are right over several rounds of the grid", "[gather]") { on_cpu(kGather, check_rounds); }

TEST_CASE("gather counts each index of an expanded index tensor", "[gather]") {
  if (!has_cpu()) return;
  check_in_child({{"HIPOPS_BACKEND", "cpu"}}, [] {
    HostTensor x(HIPOPS_F32, {4, 32}), y(HIPOPS_F32, {3, 32}), index(HIPOPS_I64, {3, 32}, {1, 0});
    for (int64_t i = 0; i < index.count(); ++i) index.set(i, i / 32 == 1 ? -5 : 2);
    hipops_index_report report = {10, 40};
    EXPECT_EQUAL(hipops_gather(&y.view, &x.view, &index.view, 0, &report, nullptr), HIPOPS_SUCCESS);
    EXPECT_EQUAL(report.count, 42u);
    EXPECT_EQUAL(report.first, 32u);
    EXPECT_EQUAL(hipops_gather(&y.view, &x.view, &index.view, 0, nullptr, nullptr), HIPOPS_SUCCESS);
  });
}

TEST_CASE("gather moves vectors only where the index is the same along them", "[gather]") {
  const AsMany as_many;
  const hipops_tensor y = view_of(1 << 16, HIPOPS_F32, {5, 64}), x = view_of(1 << 17, HIPOPS_F32, {9, 64});
  const hipops_tensor index = view_of(1 << 18, HIPOPS_I32, {5, 64});
  CHECK(plan_take(plan_options(), DeviceFacts(), y, x, index, {1, 0}, 0, nullptr).kernel == kTakeFirstRows + 4);
  CHECK(plan_take(plan_options(), DeviceFacts(), y, x, index, {1, 0}, 0, nullptr).args.vector == 4);
  CHECK(plan_take(plan_options(), DeviceFacts(), y, x, index, {64, 1}, 0, nullptr).kernel == 2);
  CHECK(plan_take(plan_options(), DeviceFacts(), y, x, index, {1, 0}, 1, nullptr).kernel == 2);  // dim itself
  CHECK(plan_take(plan_options(), DeviceFacts(), y, x, index, {0, 0}, 0, nullptr).kernel == kTakeFirstRows + 4);
}

TEST_CASE("gather stages rows of x where an index takes most of them", "[gather]") {
  auto staged = [](hipops_dtype dtype, int64_t rows, int64_t size, int64_t taken, const Sizes& x_stride = {},
                   const Sizes& y_stride = {}) {
    const hipops_tensor y = view_of(1 << 16, dtype, {rows, taken}, y_stride);
    const hipops_tensor x = view_of(uintptr_t{1} << 40, dtype, {rows, size}, x_stride);
    const hipops_tensor index = view_of(uintptr_t{1} << 44, HIPOPS_I64, {rows, taken});
    const TakePlan plan = plan_take(plan_options(), DeviceFacts(), y, x, index, {taken, 1}, 1, nullptr);
    return plan.kernel >= kTakeFirstStaged ? plan.args.group : 0;
  };
  CHECK(staged(HIPOPS_BF16, 8192, 8192, 8192) == 1);
  CHECK(staged(HIPOPS_BF16, 8192, 2048, 2048) == 2);
  CHECK(staged(HIPOPS_F32, 8192, 8192, 4096) == 1);
  CHECK(staged(HIPOPS_F32, 8192, 8193, 8192) == 0);   // too long
  CHECK(staged(HIPOPS_BF16, 8192, 8192, 1024) == 2);
  CHECK(staged(HIPOPS_BF16, 8192, 8192, 1023) == 0);  // too little is taken
  CHECK(staged(HIPOPS_BF16, 63, 8192, 8192) == 0);    // too few
  // Short rows: by vectors, where they are many and more of each is taken.
  CHECK(staged(HIPOPS_BF16, 65536, 64, 64) == 64);
  CHECK(staged(HIPOPS_BF16, 65536, 64, 32) == 128);
  CHECK(staged(HIPOPS_BF16, 131072, 16, 16) == 256);
  CHECK(staged(HIPOPS_BF16, 131072, 15, 16) == 0);    // no vector of 16 bytes in it, wherever it begins
  CHECK(staged(HIPOPS_BF16, 65536, 64, 28) == 0);
  CHECK(staged(HIPOPS_BF16, 65536, 65, 65) == 0);
  CHECK(staged(HIPOPS_BF16, 65536, 255, 255) == 0);
  CHECK(staged(HIPOPS_BF16, 65536, 256, 255) == 17);  // short no more
  CHECK(staged(HIPOPS_BF16, 16383, 64, 64) == 0);
  CHECK(staged(HIPOPS_BF16, 16384, 64, 64) == 64);
  CHECK(staged(HIPOPS_F32, 65536, 64, 64) == 32);
  CHECK(staged(HIPOPS_F64, 65536, 32, 32) == 0);
  CHECK(staged(HIPOPS_F64, 65536, 32, 64) == 0);
  CHECK(staged(HIPOPS_BF16, 65536, 64, 64, {72, 1}) == 0);
  // Groups end where x's rows are others than the next ones: those of 16 rows are too small, of 64 are not.
  auto apart = [](int64_t inner) {
    const hipops_tensor y = view_of(1 << 16, HIPOPS_BF16, {4096, inner, 64});
    const hipops_tensor x = view_of(uintptr_t{1} << 40, HIPOPS_BF16, {4096, inner + 1, 64});
    const hipops_tensor index = view_of(uintptr_t{1} << 44, HIPOPS_I64, {4096, inner, 64});
    const TakePlan plan = plan_take(plan_options(), DeviceFacts(), y, x, index, {inner * 64, 64, 1}, 2, nullptr);
    return plan.kernel >= kTakeFirstStaged ? plan.args.group : 0;
  };
  CHECK(apart(16) == 0);
  CHECK(apart(64) == 64);
  CHECK(staged(HIPOPS_BF16, 8192, 2048, 2048, {2056, 1}) == 1);
  CHECK(staged(HIPOPS_BF16, 8192, 2048, 2048, {}, {4096, 1}) == 2);
  CHECK(staged(HIPOPS_BF16, 8192, 2048, 2048, {1, 8192}) == 0);
  CHECK(staged(HIPOPS_BF16, 8192, 2048, 2048, {}, {1, 8192}) == 0);
}

TEST_CASE("gather takes rows by small blocks where launches bring shared memory", "[gather]") {
  auto taken = [](const DeviceFacts& device, hipops_dtype dtype, int64_t rows, int64_t size, int64_t columns,
                  int64_t index_rows) {
    const hipops_tensor y = view_of(1 << 16, dtype, {rows, columns}), x = view_of(uintptr_t{1} << 40, dtype, {rows, size});
    const hipops_tensor index = view_of(uintptr_t{1} << 44, HIPOPS_I64, {index_rows, columns});
    const TakePlan plan = plan_take(plan_options(), device, y, x, index, {index_rows > 1 ? columns : 0, 1}, 1, nullptr);
    CHECK(plan.args.block == static_cast<int32_t>(plan.block));
    return std::pair<uint32_t, int32_t>(plan.block, plan.args.group);
  };
  using Expected = std::pair<uint32_t, int32_t>;
  DeviceFacts device, amd;
  device.launch_shared_bytes = 200 << 10;
  amd.own_shared_bytes = kStaticSharedBytes;
  CHECK(taken(device, HIPOPS_F32, 8192, 512, 512, 8192) == Expected(256, 4));
  CHECK(taken(device, HIPOPS_BF16, 8192, 512, 512, 8192) == Expected(256, 8));
  CHECK(taken(device, HIPOPS_BF16, 8192, 4096, 512, 8192) == Expected(256, 4));  // 32 KiB
  CHECK(taken(device, HIPOPS_F32, 8192, 8193, 8193, 8192) == Expected(512, 1));
  CHECK(taken(device, HIPOPS_F32, 8192, 512, 512, 1) == Expected(512, 32));  // one index for all rows
  CHECK(taken(device, HIPOPS_F32, 8192, 50000, 50000, 8192) == Expected(1024, 1));
  CHECK(taken(amd, HIPOPS_F32, 8192, 512, 512, 8192) == Expected(512, 16));
  CHECK(taken(amd, HIPOPS_BF16, 8192, 512, 512, 8192) == Expected(512, 16));
}

TEST_CASE("gather takes rows of all of the shared memory that they may have, wherever they begin", "[gather]") {
  on_cpu(kGather, [](const TakeOp& op) {
    std::mt19937_64 random(8192);
    struct Case { hipops_dtype dtype; int64_t size, shift; };
    for (const Case& c : {Case{HIPOPS_F32, 8192, 0}, {HIPOPS_F32, 8192, 3}, {HIPOPS_BF16, 16384, 1},
                          {HIPOPS_U8, 32768, 15}, {HIPOPS_F64, 4096, 1}}) {
      const int64_t taken = 4096;
      TakeOperands t{HostTensor(c.dtype, {64, taken}), HostTensor(c.dtype, {64, c.size}, {}, c.shift),
                     HostTensor(HIPOPS_I32, {64, taken}), 1};
      const int kernel = plan_take(plan_options(), cpu_device(), t.y.view, t.x.view, t.index.view, {taken, 1}, 1, nullptr).kernel;
      EXPECT(kernel >= kTakeFirstStaged && kernel < kTakeFirstShifted);
      fill_with_bits(t.x, random);
      // The ends of each row, of which some are in no vector; and any.
      for (int64_t i = 0; i < t.index.count(); ++i) {
        const int64_t j = i % taken, any = static_cast<int64_t>(random() % static_cast<uint64_t>(c.size));
        set_bits(t.index, i, static_cast<uint64_t>(j < 64 ? j : j < 128 ? c.size - 1 - (j - 64) : any));
      }
      EXPECT_EQUAL(op.call(&t.y.view, &t.x.view, &t.index.view, 1, nullptr, nullptr), HIPOPS_SUCCESS);
      expect_taken(op, t, nullptr);
    }
  });
}

TEST_CASE("gather takes short rows by way of shared memory, up to a group's last one", "[gather]") {
  on_cpu(kGather, [](const TakeOp& op) {
    std::mt19937_64 random(64);
    struct Case { hipops_dtype dtype; int64_t rows, size, taken, shift; };
    for (const Case& c : {Case{HIPOPS_BF16, 128 * 64 + 1, 100, 128, 1}, {HIPOPS_U8, 128 * 256 + 3, 33, 32, 15},
                          {HIPOPS_BF16, 128 * 512 + 1, 16, 16, 1}, {HIPOPS_F32, 128 * 512 + 1, 8, 16, 3}}) {
      TakeOperands t{HostTensor(c.dtype, {c.rows, c.taken}), HostTensor(c.dtype, {c.rows, c.size}, {}, c.shift),
                     HostTensor(HIPOPS_U8, {c.rows, c.taken}), 1};
      const int kernel = plan_take(plan_options(), cpu_device(), t.y.view, t.x.view, t.index.view, {c.taken, 1}, 1, nullptr).kernel;
      EXPECT(kernel >= kTakeFirstStaged && kernel < kTakeFirstShifted);
      fill_with_bits(t.x, random);
      for (int64_t i = 0; i < t.index.count(); ++i) set_bits(t.index, i, random_index(random, c.size, HIPOPS_U8));
      hipops_index_report report = HIPOPS_INDEX_REPORT_INIT;
      EXPECT_EQUAL(op.call(&t.y.view, &t.x.view, &t.index.view, 1, &report, nullptr), HIPOPS_SUCCESS);
      expect_taken(op, t, &report);
    }
  });
}

TEST_CASE("gather takes columns by way of shared memory", "[gather]") {
  on_cpu(kGather, [](const TakeOp& op) {
    const AsMany as_many;
    std::mt19937_64 random(77);
    bool met[kTakeKernels] = {};
    struct Case {
      hipops_dtype dtype, index;
      Sizes y, x, y_stride, x_stride;
      int32_t dim;
      int kernel;
    };
    const Case cases[] = {
        {HIPOPS_F32, HIPOPS_I64, {5, 40, 512}, {5, 100, 512}, {}, {}, 1, kTakeFirstStaged + 2},
        {HIPOPS_BF16, HIPOPS_I64, {50, 64, 40}, {50, 33, 40}, {}, {}, 1, kTakeFirstStaged + 1},  // 32 columns, and 32
        {HIPOPS_BF16, HIPOPS_I32, {600, 520}, {301, 520}, {}, {}, 0, 1},                         // too few panels
        {HIPOPS_BF16, HIPOPS_I32, {600, 2056}, {301, 2056}, {}, {}, 0, kTakeFirstStaged + 1},
        {HIPOPS_U8, HIPOPS_I16, {70, 30, 3, 32}, {70, 300, 3, 32}, {}, {}, 1, kTakeFirstStaged + 0},
        {HIPOPS_U8, HIPOPS_U8, {3, 300, 1616}, {3, 700, 1616}, {}, {}, 1, kTakeFirstLarge + 0},
        {HIPOPS_F64, HIPOPS_U32, {2, 400, 272}, {2, 700, 272}, {}, {}, 1, kTakeFirstLarge + 3},
        {HIPOPS_F64, HIPOPS_I32, {2, 300, 274}, {2, 90, 274}, {}, {}, 1, kTakeFirstStaged + 3},  // the index: one by one
        {HIPOPS_BF16, HIPOPS_I64, {64, 70, 36}, {64, 33, 36}, {}, {33 * 40, 40, 1}, 1, 1},       // 28 columns, and 8
        {HIPOPS_BF16, HIPOPS_I64, {64, 70, 32}, {64, 33, 32}, {}, {33 * 40, 40, 1}, 1, kTakeFirstStaged + 1},
        {HIPOPS_BF16, HIPOPS_I64, {64, 70, 32}, {64, 33, 32}, {70 * 33, 33, 1}, {}, 1, kTakeFirstStaged + 1},
        {HIPOPS_BF16, HIPOPS_I64, {64, 70, 32}, {64, 33, 32}, {}, {33 * 33, 33, 1}, 1, 1},  // not aligned
        {HIPOPS_F32, HIPOPS_I64, {64, 70, 32}, {64, 33, 32}, {64 * 70 * 32, 1, 70}, {}, 1, 2},
        {HIPOPS_F32, HIPOPS_I64, {64, 7, 32}, {64, 33, 32}, {}, {}, 1, 2},                   // too little is taken
        {HIPOPS_BF16, HIPOPS_I64, {64, 70, 32}, {64, 33, 32}, {32, 2048, 1}, {32, 2048, 1}, 1, kTakeFirstStaged + 1},
    };
    for (const Case& c : cases)
      for (bool one_block : {false, true}) {
        // The index as y, where y's dimensions are in another order: then those before dim continue those behind it.
        const bool permuted = c.y_stride == c.x_stride && !c.y_stride.empty();
        TakeOperands t{HostTensor(c.dtype, c.y, c.y_stride), HostTensor(c.dtype, c.x, c.x_stride),
                       HostTensor(c.index, c.y, permuted ? c.y_stride : Sizes{}), c.dim};
        fill_with_bits(t.x, random);
        const int64_t size = t.x.view.shape[c.dim];
        for (int64_t i = 0; i < t.index.count(); ++i) set_bits(t.index, i, random_index(random, size, c.index));
        EXPECT_EQUAL(plan_take(plan_options(), cpu_device(), t.y.view, t.x.view, t.index.view, t.index.view.stride, c.dim, nullptr).kernel,
                     c.kernel);
        launch_taken(op, t, one_block, true, met);
      }
  });
}

TEST_CASE("gather's plan of panels follows from the room that there is", "[gather]") {
  auto plan = [](int64_t kib, hipops_dtype dtype, const Sizes& y_shape, const Sizes& x_shape, int32_t dim) {
    DeviceFacts device;
    device.units = 132;
    device.launch_shared_bytes = kib << 10;
    const hipops_tensor y = view_of(1 << 16, dtype, y_shape), x = view_of(uintptr_t{1} << 40, dtype, x_shape);
    const hipops_tensor index = view_of(uintptr_t{1} << 44, HIPOPS_I64, y_shape);
    return plan_take(plan_options(), device, y, x, index, index.stride, dim, nullptr);
  };
  auto check = [](const TakePlan& p, int kernel, int64_t columns, int64_t kib) {
    CHECK(p.kernel == kernel);
    CHECK(p.args.cols == columns);
    CHECK(p.shared_bytes == kib << 10);
  };
  const Sizes planes = {64, 1024, 512}, plane = {8192, 8192};
  check(plan(200, HIPOPS_F32, planes, planes, 1), kTakeFirstStaged + 2, 16, 64);
  check(plan(100, HIPOPS_F32, planes, planes, 1), kTakeFirstLarge + 2, 16, 64);
  check(plan(40, HIPOPS_F32, planes, planes, 1), kTakeFirstStaged + 2, 8, 32);
  check(plan(200, HIPOPS_BF16, plane, plane, 0), kTakeFirstLarge + 1, 8, 128);
  CHECK(plan(100, HIPOPS_BF16, plane, plane, 0).kernel == 1);
  check(plan(200, HIPOPS_F32, {1024, 64, 256}, {1024, 64, 256}, 1), kTakeFirstStaged + 2, 128, 32);
  CHECK(plan(200, HIPOPS_F32, {8, 8192, 512}, {8, 8192, 512}, 1).kernel == 2);  // narrow, and in the cache
  DeviceFacts amd;
  amd.own_shared_bytes = kStaticSharedBytes;
  const hipops_tensor t = view_of(uintptr_t{1} << 40, HIPOPS_F32, planes);
  const hipops_tensor index = view_of(uintptr_t{1} << 44, HIPOPS_I64, planes);
  hipops_tensor y = t;
  y.data = reinterpret_cast<void*>(uintptr_t{1} << 42);
  check(plan_take(plan_options(), amd, y, t, index, index.stride, 1, nullptr), kTakeFirstLarge + 2, 16, 0);
}

TEST_CASE("gather's plan holds for more than 2^31 elements", "[gather]") {
  for (int32_t dim : {0, 1}) {
    check_plan_of_many(70000, 70000, dim, false);
    check_plan_of_many(3, int64_t{1} << 40, dim, false);
    check_plan_of_many(46340, 46341, dim, false);  // the last below 2^31
  }
}
