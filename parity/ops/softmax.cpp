#include <algorithm>
#include <cmath>
#include <limits>

#include "parity/ops/rows.h"

namespace hipops::parity {
namespace {

void reference(Case* test) {
  ExpectedTensor& y = output_of(test, "y");
  for_each_row(test, [&](std::vector<Real>& row, size_t first) {
    Real greatest = -std::numeric_limits<Real>::infinity();
    bool nan = false;
    for (const Real x : row) greatest = std::max(greatest, x), nan = nan || std::isnan(x);
    if (nan || std::isinf(greatest)) greatest = std::numeric_limits<Real>::quiet_NaN();
    for (Real& x : row) x = std::exp(x - greatest);
    const Real total = static_cast<Real>(sum(row));
    for (size_t c = 0; c < row.size(); ++c) y.values[first + c] = static_cast<double>(row[c] / total);
  });
}

}  // namespace

OpEntry describe_softmax() {
  OpEntry op = {"softmax", kFloats, {kY}, {kX}, {{"flags", true, true, {0, HIPOPS_BATCH_INVARIANT}}}};
  op.bind = [](const Arguments& a) { return bound(hipops_softmax, a["y"], a["x"], a.flags(), a.stream()); };
  op.in_place = {{"y", {"x"}}};
  op.by_rows = true;
  op.random_case = random_row_case;
  op.reference = reference;
  op.large_cases = large::add_row_cases;
  return op;
}

}  // namespace hipops::parity
