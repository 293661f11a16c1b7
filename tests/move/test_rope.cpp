// hipops_rope: what it refuses, its numbers on the CPU with every kernel that it has; and capi/move/rope_common.h, the
// choice of a variant.
#include "device/move/rope.h"  // the kernels' own way to number their work

#include "move/rope_tester.h"

using namespace hipops;
using namespace hipops_test;

namespace {

const RopeOp kRope = {"rope", hipops_rope, false, kHeadsThenTokens};

constexpr uintptr_t kAddress = uintptr_t{1} << 40;  // nothing is ever read there

// Views for a call, far apart from each other.
struct Views {
  hipops_tensor y, x, cos, sin, positions;
  bool in_place = false, has_positions = false;

  Views(hipops_dtype dtype, const Sizes& shape, int64_t half, const Sizes& stride = {}, hipops_dtype table = HIPOPS_F32)
      : y(view_of(kAddress, dtype, shape, stride)),
        x(view_of(2 * kAddress, dtype, shape, stride)),
        cos(view_of(3 * kAddress, table, {shape[2], half})),
        sin(view_of(4 * kAddress, table, {shape[2], half})),
        positions(view_of(5 * kAddress, HIPOPS_I64, {shape[2]})) {}

  RopeTensors tensors() const { return {in_place ? &x : &y, &x, &cos, &sin, has_positions ? &positions : nullptr}; }
  std::string chosen(RopeDims dims = kHeadsThenTokens) const {
    const RopeVariant& v = rope_variants[choose_rope(dims, tensors())];
    return std::string(v.wide ? "wide_" : "any_") + std::to_string(v.heads);
  }
};

template <class Change>
std::string chosen_after(Views views, Change change) {
  change(views);
  return views.chosen();
}

}  // namespace

TEST_CASE("rope refuses bad tensors", "[rope]") {
  check_rope_calls([] {
    check_rope_tensors(kRope);
    check_rope_shapes(kRope);
    check_rope_dtypes(kRope);
    check_rope_memory(kRope);
  });
}

TEST_CASE("rope of nothing is success", "[rope]") {
  check_rope_calls([] { check_rope_empty(kRope); });
}

TEST_CASE("rope's variants are right on any shapes and strides", "[rope]") { rope_on_cpu(kRope, check_rope_variants); }

TEST_CASE("rope is right on any shapes and strides", "[rope]") { rope_on_cpu(kRope, check_rope_op); }

TEST_CASE("rope is right on rows of many chunks", "[rope]") { rope_on_cpu(kRope, check_rope_much); }

TEST_CASE("rope's success leaves the last failure alone", "[rope]") {
  check_rope_calls([] {
    for (hipops_dtype dtype : kRopeFloats) RopeCall(kRope, dtype).succeeds();
  });
}

TEST_CASE("rope's variants are those that rope_contract.h lists", "[rope]") {
  for (const RopeVariant& v : rope_variants) {
    int64_t bytes = dtype_bytes_of(v.dtype);
    CHECK(v.length * bytes == (v.wide ? 16 : bytes));
    CHECK((v.heads == 1 || (v.heads == 2 && v.wide)));
  }
}

TEST_CASE("rope_i takes two heads a work-item where heads are even", "[rope_i]") {
  CHECK(Views(HIPOPS_BF16, {1, 32, 4096, 128}, 64).chosen(kNeighbours) == "wide_2");
  CHECK(Views(HIPOPS_BF16, {1, 2, 1, 128}, 64).chosen(kNeighbours) == "wide_2");
  CHECK(Views(HIPOPS_BF16, {1, 1, 65536, 128}, 64).chosen(kNeighbours) == "wide_1");
  CHECK(Views(HIPOPS_BF16, {4, 33, 7, 128}, 64).chosen(kNeighbours) == "wide_1");
  CHECK(Views(HIPOPS_BF16, {1, 32, 4096, 72}, 36).chosen(kNeighbours) == "wide_2");  // 9 vectors, of 4 pairs each
  CHECK(Views(HIPOPS_BF16, {1, 32, 4096, 72}, 35).chosen(kNeighbours) == "any_1");
  CHECK(Views(HIPOPS_BF16, {1, 32, 4096, 128}, 64).chosen() == "wide_1");
  CHECK(Views(HIPOPS_BF16, {1, 32, 4096, 72}, 36).chosen() == "any_1");
  CHECK(Views(HIPOPS_F32, {1, 32, 4096, 72}, 36).chosen() == "wide_1");
}

TEST_CASE("rope's 16-byte accesses need aligned rows and tables without gaps", "[rope]") {
  for (hipops_dtype dtype : kRopeFloats)
    for (hipops_dtype table : {dtype, HIPOPS_F32}) {
      int64_t n = 16 / dtype_bytes_of(dtype);
      INFO(hipops::parity::dtype_name(dtype) << ", tables of " << hipops::parity::dtype_name(table));
      Views good(dtype, {2, 2, 3, 8 * n}, 2 * n, {}, table);
      CHECK(good.chosen() == "wide_1");
      auto shifted = [&](hipops_tensor Views::*tensor, int64_t bytes) {
        return chosen_after(good, [&](Views& v) { (v.*tensor).data = static_cast<char*>((v.*tensor).data) + bytes; });
      };
      for (hipops_tensor Views::*tensor : {&Views::x, &Views::y, &Views::cos, &Views::sin}) {
        CHECK(shifted(tensor, 16) == "wide_1");
        CHECK(shifted(tensor, dtype_bytes_of((good.*tensor).dtype)) == "any_1");
        for (int d = 0; d < (good.*tensor).rank; ++d) {
          bool last = d + 1 == (good.*tensor).rank;
          CHECK(chosen_after(good, [&](Views& v) { (v.*tensor).stride[d] += 4 * n; }) == (last ? "any_1" : "wide_1"));
          CHECK(chosen_after(good, [&](Views& v) { (v.*tensor).stride[d] *= -1; }) == (last ? "any_1" : "wide_1"));
          CHECK(chosen_after(good, [&](Views& v) { (v.*tensor).stride[d] += 1; }) == "any_1");
        }
      }
      // Vectors of f32 beside f64 are 8 bytes.
      if (dtype == HIPOPS_F64 && table == HIPOPS_F32) CHECK(shifted(&Views::cos, 8) == "wide_1");
      // Pairs that fill no vector, and a rest that fills none: which is there only if it has to be moved.
      CHECK(Views(dtype, {2, 2, 3, 8 * n}, 2 * n - 1, {}, table).chosen() == "any_1");
      Sizes padded{12 * n * 6, 12 * n * 3, 12 * n, 1};
      Views odd(dtype, {2, 2, 3, 8 * n + 1}, 2 * n, padded, table);
      CHECK(odd.chosen() == "any_1");
      CHECK(chosen_after(odd, [](Views& v) { v.in_place = true; }) == "wide_1");
      CHECK(Views(dtype, {2, 2, 3, 8 * n}, 0, {}, table).chosen() == "wide_1");
    }
}

TEST_CASE("rope goes through heads and tokens as they lie in memory", "[rope]") {
  auto heads_inside = [](const Views& v) {
    return plan_rope(plan_options(), choose_rope(kHeadsThenTokens, v.tensors()), kHeadsThenTokens, v.tensors()).args.heads_inside;
  };
  const Sizes shape{2, 4, 3, 64};
  CHECK(heads_inside(Views(HIPOPS_F32, shape, 32)) == 0);
  CHECK(heads_inside(Views(HIPOPS_F32, shape, 32, {768, 64, 256, 1})) == 1);
  CHECK(heads_inside(Views(HIPOPS_F32, shape, 32, {768, -64, 256, 1})) == 1);
}

TEST_CASE("rope's work is what is rotated, and copied unless that is in place", "[rope]") {
  auto chunks = [](int kernel, int64_t cols, int64_t half, bool in_place) {
    Views v(rope_variants[kernel].dtype, {2, 5, 3, cols}, half);
    v.in_place = in_place;
    RopeArgs args = plan_rope(plan_options(), kernel, kHeadsThenTokens, v.tensors()).args;
    CHECK(args.count == args.size[0] * 5 * 3 * 2);
    return args.size[0];
  };
  for (int kernel = 0; kernel < kRopeVariants; ++kernel) {
    int64_t n = rope_variants[kernel].length;
    CHECK(chunks(kernel, 8 * n, 4 * n, false) == 4);
    CHECK(chunks(kernel, 8 * n, 4 * n, true) == 4);
    CHECK(chunks(kernel, 8 * n, 3 * n, false) == 4);
    CHECK(chunks(kernel, 8 * n, 3 * n, true) == 3);
    CHECK(chunks(kernel, 9 * n, 3 * n, false) == 5);
    CHECK(chunks(kernel, 9 * n, 0, false) == 5);
    CHECK(chunks(kernel, 9 * n, 0, true) == 0);
  }
}

TEST_CASE("rope's work is numbered once over, also past 2^31", "[rope]") {
  std::mt19937_64 random(1);
  const int64_t large = int64_t{1} << 33;
  const Sizes shapes[] = {{2, 5, 3, 32},      {3, 1, 70000, 16}, {1, 129, 1, 4096},     {2, 4, large, 64},
                          {large, 2, 3, 128}, {1, large, 2, 64}, {4, 32, 1 << 20, 128}, {1, 1, 2, large},
                          {1, 1, 1, large / 4}};
  for (const Sizes& shape : shapes)
    for (const Sizes& stride : {Sizes{}, Sizes{shape[1] * shape[2] * shape[3], shape[3], shape[1] * shape[3], 1}})
      for (int kernel = 0; kernel < kRopeVariants; ++kernel) {
        const RopeVariant& v = rope_variants[kernel];
        Views views(v.dtype, shape, shape[3] / 4, stride);
        RopePlan plan = plan_rope(plan_options(), kernel, kHeadsThenTokens, views.tensors());
        const RopeArgs& a = plan.args;
        int64_t work_items = int64_t{plan.grid} * plan.block;
        int64_t heads = shape[1], chunks = a.size[0];
        CHECK(a.count == chunks * heads * shape[2] * shape[0]);
        int64_t elements = shape[0] * shape[1] * shape[2] * shape[3];
        CHECK((a.small != 0) == (elements < int64_t{1} << 31));
        CHECK(work_items < int64_t{1} << 32);
        CHECK((work_items >= a.count || a.count > (int64_t{1} << 32) - 2 * int64_t{plan.block}));
        CHECK(a.step == work_items);
        for (int i = 0; i < 200; ++i) {
          int64_t n = i == 0   ? 0
                      : i == 1 ? a.count - 1
                               : static_cast<int64_t>(random() % static_cast<uint64_t>(a.count));
          RopePlace<int64_t> at = rope_place(a, n);
          if (a.small) {
            RopePlace<int32_t> narrow = rope_place(a, static_cast<int32_t>(n));
            at = {narrow.chunk, narrow.head, narrow.token, narrow.batch};
          }
          int64_t rest = n / chunks, inner = a.heads_inside ? heads : shape[2],
                  outer = a.heads_inside ? shape[2] : heads;
          int64_t x = rest % inner, y = rest / inner % outer;
          bool right = at.chunk == n % chunks && at.batch == rest / inner / outer &&
                       at.head == (a.heads_inside ? x : y) && at.token == (a.heads_inside ? y : x);
          if (!right)
            FAIL(shape[0] << "x" << shape[1] << "x" << shape[2] << "x" << shape[3] << ", kernel " << kernel << ": "
                          << n);
        }
      }
}
