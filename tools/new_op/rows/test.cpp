// hipops_@op@: what it refuses, and its numbers on the CPU.
#include "op_calls.h"
#include "op_numbers.h"

using namespace hipops;
using namespace hipops_test;

namespace {

const RowOp k@Op@ = {
    "@op@",
    false,
    false,
    [](const hipops_tensor* y, const hipops_tensor* x, const hipops_tensor*, const hipops_tensor*, double) {
      return hipops_@op@(y, x, nullptr);
    },
    [](const Row& x, const Row&, const Row&, long double, Row* y, Row* magnitude) {
      const long double maximum = *std::max_element(x.begin(), x.end());
      long double sum = 0;
      for (const long double v : x) sum += std::exp(v - maximum);
      for (size_t i = 0; i < x.size(); ++i) {
        (*y)[i] = x[i] - maximum - std::log(sum);
        (*magnitude)[i] = std::max(std::fabs((*y)[i]), 1.0L);
      }
    }};

}  // namespace

TEST_CASE("@op@ refuses bad tensors, and does nothing with nothing", "[@op@]") {
  check_calls([] {
    check_rows_arguments(k@Op@);
    check_memory_of_rows(k@Op@);
  });
  check_calls([] { check_empty(k@Op@); });
}

TEST_CASE("@op@ is right for rows however they lie", "[@op@]") { on_cpu(k@Op@, check_layouts); }

TEST_CASE("@op@ is right for short rows in one piece", "[@op@]") { on_cpu(k@Op@, check_packed); }

TEST_CASE("@op@ is right for rows that are split", "[@op@]") { on_cpu(k@Op@, check_split); }

TEST_CASE("@op@ takes every rank", "[@op@]") {
  if (!has_cpu()) return;
  check_in_child({}, [] { check_ranks(k@Op@); });
}
