#include "fuzz/neighbours.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "parity/random_values.h"
#include "parity/reference.h"

namespace hipops::fuzz {
namespace {

using parity::Case;
using parity::ExpectedTensor;
using parity::InputTensor;
using parity::Layout;

// Rows that share elements cannot be changed one by one.
bool has_own_elements(const Layout& layout) {
  std::vector<int64_t> offsets;
  for (int64_t i = 0; i < layout.elements; ++i) offsets.push_back(layout.offset_at(i));
  std::sort(offsets.begin(), offsets.end());
  return std::adjacent_find(offsets.begin(), offsets.end()) == offsets.end();
}

// Element i of an extreme row. `row` selects the kind of the row.
double extreme(hipops_dtype dtype, uint64_t row, int64_t i) {
  const double infinity = std::numeric_limits<double>::infinity(), least = parity::ulp(dtype, 0);
  const double digits = 1 + static_cast<double>(row >> 20 & 0xffffff) * 0x1p-24;  // from 1 to 2, with many digits
  const int most = dtype == HIPOPS_F64 ? 1023 : dtype == HIPOPS_F16 ? 15 : 127;
  const int any = static_cast<int>(row >> 44 & 0xfffff) % (2 * most);
  const uint64_t word = parity::mixed_bits(row + static_cast<uint64_t>(i));
  switch (row % 10) {
    case 0: return 0;
    case 1: return std::numeric_limits<double>::quiet_NaN();
    case 2: return i % 2 == 0 ? infinity : -infinity;
    case 3: return parity::largest(dtype);
    case 4: return least * static_cast<double>(word % 9);
    case 5: return i == 0 ? parity::largest(dtype) : least;
    case 6: return std::ldexp(digits, static_cast<int>(word % static_cast<uint64_t>(2 * most)) - most);  // any magnitude
    // Equal elements: rounding their mean may change the last digit. Any magnitude, or squares near the largest number.
    case 7: return std::ldexp(digits, any - most);
    default: return std::ldexp(digits, most / 2 + any % (most / 3));
  }
}

// A case with other elements in its rows. `seed` selects the rows that stay; the others are ordinary or extreme.
class Rows {
 public:
  Rows(const parity::OpEntry& op, const Case& test, uint64_t seed) : op_(op), test_(test), seed_(seed) {}

  bool kept(int64_t row) const { return parity::mixed_bits(of(row)) % 4 == 0; }
  Case with(bool others_are_extreme) const {
    Case changed = test_;
    for (InputTensor& input : changed.inputs) {
      if (!op_.has_role(input.name, parity::Role::kData)) continue;
      const int64_t columns = input.layout.shape.back();
      for (int64_t i = 0; i < input.layout.elements; ++i) {
        const int64_t row = i / columns;
        const uint64_t kind = parity::mixed_bits(of(row) + 1);
        const bool replaces = kept(row) ? kind % 3 == 0 : others_are_extreme;
        if (!replaces) continue;
        const bool is_second = input.name != op_.inputs.front().name;  // 0 if the first is extreme
        input.bits[static_cast<size_t>(i)] =
            parity::encode(input.layout.dtype, is_second ? 0 : extreme(input.layout.dtype, parity::mixed_bits(kind), i % columns));
      }
    }
    return changed;
  }

 private:
  uint64_t of(int64_t row) const { return parity::mixed_bits(seed_ + static_cast<uint64_t>(row)); }

  const parity::OpEntry& op_;
  const Case& test_;
  uint64_t seed_;
};

// The bits of each output's elements, in row-major order.
std::vector<std::vector<uint64_t>> results_of(Runtime& runtime, const parity::OpEntry& op, const Case& test, parity::Guard guard) {
  parity::CaseRun run(runtime, op, test, guard);
  run.prepare();
  run.call(nullptr);
  std::vector<std::vector<uint64_t>> results;
  for (parity::Buffer* output : run.outputs()) {
    output->download();
    const Layout& layout = output->layout();
    const int64_t bytes = static_cast<int64_t>(parity::dtype_size(layout.dtype));
    std::vector<uint64_t>& bits = results.emplace_back(static_cast<size_t>(layout.elements), 0);
    for (int64_t i = 0; i < layout.elements; ++i)
      std::memcpy(&bits[static_cast<size_t>(i)], output->element_zero() + layout.offset_at(i) * bytes, static_cast<size_t>(bytes));
  }
  return results;
}

}  // namespace

std::string compare_beside_others(Runtime& runtime, const parity::OpEntry& op, const Case& test, parity::Guard guard,
                                  uint64_t seed, uint64_t* rows) {
  for (const InputTensor& input : test.inputs)
    if (op.has_role(input.name, parity::Role::kData) && !has_own_elements(input.layout)) return "";
  const Rows random(op, test, seed);
  const auto plain = results_of(runtime, op, random.with(false), guard), beside = results_of(runtime, op, random.with(true), guard);
  const Layout& x = parity::input_of(test, op.inputs.front().name).tensor.layout;
  const int64_t count = x.elements == 0 ? 0 : x.elements / x.shape.back();
  for (size_t o = 0; o < plain.size() && count > 0; ++o) {
    const ExpectedTensor& output = test.outputs[o];
    if (op.has_role(output.name, parity::Role::kReport)) continue;  // of all rows
    const int64_t columns = output.layout.elements / count;  // a scalar of a row has one
    for (int64_t i = 0; i < output.layout.elements; ++i) {
      const size_t at = static_cast<size_t>(i);
      if (!random.kept(i / columns) || plain[o][at] == beside[o][at]) continue;
      const hipops_dtype dtype = output.layout.dtype;
      if (std::isnan(parity::decode(dtype, plain[o][at])) && std::isnan(parity::decode(dtype, beside[o][at]))) continue;
      return output.name + output.layout.index_text(i) + " is " + parity::show_double(parity::decode(dtype, beside[o][at])) +
             " beside extreme rows, " + parity::show_double(parity::decode(dtype, plain[o][at])) + " beside ordinary ones";
    }
  }
  for (int64_t row = 0; row < count; ++row) *rows += random.kept(row) ? 1 : 0;
  return "";
}

}  // namespace hipops::fuzz
