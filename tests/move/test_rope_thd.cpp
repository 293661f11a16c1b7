// hipops_rope_thd: what it refuses, and its numbers on the CPU with every kernel that it has.
#include "move/rope_tester.h"

using namespace hipops;
using namespace hipops_test;

namespace {

const RopeOp kRopeThd = {"rope_thd", hipops_rope_thd, false, kTokensThenHeads};

}  // namespace

TEST_CASE("rope_thd refuses bad tensors", "[rope_thd]") {
  check_rope_calls([] {
    check_rope_tensors(kRopeThd);
    check_rope_shapes(kRopeThd);
    check_rope_dtypes(kRopeThd);
    check_rope_memory(kRopeThd);
  });
}

TEST_CASE("rope_thd of nothing is success", "[rope_thd]") {
  check_rope_calls([] { check_rope_empty(kRopeThd); });
}

TEST_CASE("rope_thd's variants are right on any shapes and strides", "[rope_thd]") {
  rope_on_cpu(kRopeThd, check_rope_variants);
}

TEST_CASE("rope_thd is right on any shapes and strides", "[rope_thd]") { rope_on_cpu(kRopeThd, check_rope_op); }

TEST_CASE("rope_thd is right on rows of many chunks", "[rope_thd]") { rope_on_cpu(kRopeThd, check_rope_much); }

TEST_CASE("rope_thd's success leaves the last failure alone", "[rope_thd]") {
  check_rope_calls([] {
    for (hipops_dtype dtype : kRopeFloats) RopeCall(kRopeThd, dtype).succeeds();
  });
}
