// hipops_@op@: what it refuses, and its numbers on the CPU with every kernel that it has.
#include "move/mover_tester.h"

using namespace hipops;
using namespace hipops_test;

namespace {

constexpr hipops_dtype kFloats[] = {HIPOPS_F32, HIPOPS_F16, HIPOPS_BF16, HIPOPS_F64};

void check_numbers(hipops_dtype dtype, const Sizes& shape, Random& random) {
  HostTensor x(dtype, shape, input_strides(random, shape)), y(dtype, shape, nested_strides(random, shape));
  x.randomize(7, -2, 2);
  EXPECT_EQUAL(hipops_@op@(&y.view, &x.view, nullptr), HIPOPS_SUCCESS);
  for (int64_t i = 0; i < y.count(); ++i) EXPECT_EQUAL(y.get(i), 2 * x.get(i));
  EXPECT(y.guards_are_whole());
}

}  // namespace

TEST_CASE("@op@ is right at any shape and strides", "[@op@]") {
  if (!has_cpu()) return;
  for (const char* wave : {"32", "64"})
    check_in_child({{"HIPOPS_BACKEND", "cpu"}, {"HIPOPS_CPU_WAVE", wave}, {"HIPOPS_CPU_RACE", "1"}}, [] {
      Random random(1);
      for (hipops_dtype dtype : kFloats)
        for (const Sizes& shape : {Sizes{1}, Sizes{1000}, Sizes{3, 257}, Sizes{2, 3, 4, 5}, Sizes{0, 4}})
          check_numbers(dtype, shape, random);
    });
}

TEST_CASE("@op@ refuses what cannot be right", "[@op@]") {
  const hipops_tensor x = view_of(4096, HIPOPS_F32, {2, 3}), y = view_of(8192, HIPOPS_F32, {2, 4});
  const hipops_tensor bytes = view_of(4096, HIPOPS_U8, {2, 3});
  CHECK(hipops_@op@(&y, nullptr, nullptr) == HIPOPS_INVALID_ARGUMENT);
  CHECK(hipops_@op@(&y, &x, nullptr) == HIPOPS_INVALID_ARGUMENT);
  CHECK(hipops_last_error() == std::string("@op@: y.shape[1] is 4, expected 3 (x.shape[1])"));
  CHECK(hipops_@op@(&bytes, &bytes, nullptr) == HIPOPS_UNSUPPORTED_DTYPE);
  CHECK(hipops_supports("@op@", HIPOPS_BF16, HIPOPS_NONE) == 1);
  CHECK(hipops_supports("@op@", HIPOPS_U8, HIPOPS_NONE) == 0);
}
