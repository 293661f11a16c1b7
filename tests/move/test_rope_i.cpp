// hipops_rope_i: what it refuses, and its numbers on the CPU with every kernel that it has.
#include "move/rope_tester.h"

using namespace hipops;
using namespace hipops_test;

namespace {

const RopeOp kRopeI = {"rope_i", hipops_rope_i, true, kNeighbours};

}  // namespace

TEST_CASE("rope_i refuses bad tensors", "[rope_i]") {
  check_rope_calls([] {
    check_rope_tensors(kRopeI);
    check_rope_shapes(kRopeI);
    check_rope_dtypes(kRopeI);
    check_rope_memory(kRopeI);
  });
}

TEST_CASE("rope_i of nothing is success", "[rope_i]") {
  check_rope_calls([] { check_rope_empty(kRopeI); });
}

TEST_CASE("rope_i's variants are right on any shapes and strides", "[rope_i]") {
  rope_on_cpu(kRopeI, check_rope_variants);
}

TEST_CASE("rope_i is right on any shapes and strides", "[rope_i]") { rope_on_cpu(kRopeI, check_rope_op); }

TEST_CASE("rope_i is right on rows of many chunks", "[rope_i]") { rope_on_cpu(kRopeI, check_rope_much); }

TEST_CASE("rope_i's success leaves the last failure alone", "[rope_i]") {
  check_rope_calls([] {
    for (hipops_dtype dtype : kRopeFloats) RopeCall(kRopeI, dtype).succeeds();
  });
}
