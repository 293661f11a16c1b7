// rope, rope_i and rope_thd: the choice of vectors, the numbering of work past 2^31, and kernels that divide in 64
// bits.
#include "device/move/rope.h"  // rope_place: how the kernels number their work

#include <optional>

#include "move/rope_common.h"
#include "op_tester.h"
#include "tensor/tensor.h"

using namespace hipops;
using namespace hipops_test;

namespace {

constexpr uintptr_t kAddress = uintptr_t{1} << 40;  // no test reads memory there

// Views for a call, far apart from each other.
struct Views {
  hipops_tensor y, x, cos, sin;
  bool in_place = false;

  Views(hipops_dtype dtype, const Sizes& shape, int64_t half, const Sizes& stride = {}, hipops_dtype table = HIPOPS_F32)
      : y(view_of(kAddress, dtype, shape, stride)),
        x(view_of(2 * kAddress, dtype, shape, stride)),
        cos(view_of(3 * kAddress, table, {shape[2], half})),
        sin(view_of(4 * kAddress, table, {shape[2], half})) {}

  RopeTensors tensors() const { return {in_place ? &x : &y, &x, &cos, &sin, nullptr}; }
  bool wide() const { return rope_variants[choose_rope(kHeadsThenTokens, tensors())].wide; }
};

template <class Change>
bool wide_after(Views views, Change change) {
  change(views);
  return views.wide();
}

// The op's own launch, and a launch of two blocks that divides in 64 bits, give the same bits.
void check_64_bits(const char* op, RopeDims dims, hipops_dtype dtype, int64_t cols) {
  const Sizes shape = dims.heads == 1 ? Sizes{2, 6, 37, cols} : Sizes{2, 37, 6, cols};
  HostTensor x(dtype, shape), y(dtype, shape), other(dtype, shape), cos(HIPOPS_F32, {37, cols / 4}),
      sin(HIPOPS_F32, {37, cols / 4});
  x.randomize(1, -3, 5), cos.randomize(2, -1, 1), sin.randomize(3, -1, 1);
  const RopeTensors tensors{&y.view, &x.view, &cos.view, &sin.view, nullptr};
  Op& kernels = op_named(op);
  expect_success(rope(kernels, dims, tensors, nullptr));
  const RopeTensors again{&other.view, &x.view, &cos.view, &sin.view, nullptr};
  const int kernel = choose_rope(dims, again);
  RopePlan plan = plan_rope(plan_options(), kernel, dims, again);
  plan.grid = 2;
  plan.args.step = 2 * int64_t{plan.block};
  plan.args.fits_int32 = 0;
  expect_success(launch(kernels, kernel, plan.grid, plan.block, &plan.args, sizeof plan.args, nullptr));
  EXPECT(all_bits(other) == all_bits(y) && other.guards_are_whole());
}

}  // namespace

TEST_CASE("rope's kernels divide in 64 bits", "[rope]") {
  on_cpu([] {
    const std::pair<const char*, RopeDims> ops[] = {
        {"rope", kHeadsThenTokens}, {"rope_i", kNeighbours}, {"rope_thd", kTokensThenHeads}};
    for (const auto& [op, dims] : ops)
      if (find_image(op))
        for (hipops_dtype dtype : kFloats)
          for (int64_t cols : {64, 60}) check_64_bits(op, dims, dtype, cols);
  });
}

TEST_CASE("rope's 16-byte accesses need aligned rows and tables without gaps", "[rope]") {
  for (hipops_dtype dtype : kFloats)
    for (hipops_dtype table : {dtype, HIPOPS_F32}) {
      const int64_t n = 16 / dtype_bytes(dtype);
      INFO(dtype_name(dtype) << ", tables of " << dtype_name(table));
      const Views good(dtype, {2, 2, 3, 8 * n}, 2 * n, {}, table);
      CHECK(good.wide());
      for (hipops_tensor Views::*tensor : {&Views::x, &Views::y, &Views::cos, &Views::sin}) {
        const auto shifted = [&](int64_t bytes) {
          return wide_after(good, [&](Views& v) { (v.*tensor).data = static_cast<char*>((v.*tensor).data) + bytes; });
        };
        CHECK(shifted(16));
        CHECK(!shifted(dtype_bytes((good.*tensor).dtype)));
        for (int d = 0; d < (good.*tensor).rank; ++d) {
          const bool outer = d + 1 < (good.*tensor).rank;
          CHECK(wide_after(good, [&](Views& v) { (v.*tensor).stride[d] += 4 * n; }) == outer);
          CHECK(wide_after(good, [&](Views& v) { (v.*tensor).stride[d] *= -1; }) == outer);
          CHECK(!wide_after(good, [&](Views& v) { (v.*tensor).stride[d] += 1; }));
        }
      }
      // Pairs that fill no vector, and a rest that fills none. In place nothing copies the rest.
      CHECK(!Views(dtype, {2, 2, 3, 8 * n}, 2 * n - 1, {}, table).wide());
      Views odd(dtype, {2, 2, 3, 8 * n + 1}, 2 * n, {12 * n * 6, 12 * n * 3, 12 * n, 1}, table);
      CHECK(!odd.wide());
      CHECK(wide_after(odd, [](Views& v) { v.in_place = true; }));
    }
}

TEST_CASE("rope's work is numbered once over, also past 2^31", "[rope]") {
  Random random(1);
  const int64_t large = int64_t{1} << 33;
  const Sizes shapes[] = {{2, 5, 3, 32},         {3, 1, 70000, 16},  {1, 129, 1, 4096},
                          {2, 4, large, 64},     {large, 2, 3, 128}, {1, large, 2, 64},
                          {4, 32, 1 << 20, 128}, {1, 1, 2, large},   {1, 1, 1, large / 4}};
  for (const Sizes& shape : shapes)
    for (const Sizes& stride : {Sizes{}, Sizes{shape[1] * shape[2] * shape[3], shape[3], shape[1] * shape[3], 1}})
      for (int kernel = 0; kernel < op_named("rope").kernel_count; ++kernel) {
        const Views views(rope_variants[kernel].dtype, shape, shape[3] / 4, stride);
        const RopePlan plan = plan_rope(plan_options(), kernel, kHeadsThenTokens, views.tensors());
        const RopeArgs& a = plan.args;
        const int64_t work_items = int64_t{plan.grid} * plan.block, heads = shape[1], chunks = a.size[0];
        CHECK(a.count == chunks * heads * shape[2] * shape[0]);
        CHECK((a.fits_int32 != 0) == (shape[0] * shape[1] * shape[2] * shape[3] < int64_t{1} << 31));
        CHECK(work_items < int64_t{1} << 32);
        CHECK((work_items >= a.count || a.count > (int64_t{1} << 32) - 2 * int64_t{plan.block}));
        CHECK(a.step == work_items);
        for (int i = 0; i < 200; ++i) {
          const int64_t n = i == 0 ? 0 : i == 1 ? a.count - 1 : pick(random, 0, a.count - 1);
          RopePlace<int64_t> at = rope_place(a, n);
          if (a.fits_int32) {
            const RopePlace<int32_t> narrow = rope_place(a, static_cast<int32_t>(n));
            at = {narrow.chunk, narrow.head, narrow.token, narrow.batch};
          }
          const int64_t rest = n / chunks, inner = a.heads_inside ? heads : shape[2],
                        outer = a.heads_inside ? shape[2] : heads;
          const int64_t x = rest % inner, y = rest / inner % outer;
          if (at.chunk != n % chunks || at.batch != rest / inner / outer || at.head != (a.heads_inside ? x : y) ||
              at.token != (a.heads_inside ? y : x))
            FAIL(text_of(shape) << ", kernel " << kernel << ": " << n);
        }
      }
}
