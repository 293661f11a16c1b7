// A random call of an op, as a case of a golden file: its tensors, their layouts and elements, and the right results.
#pragma once

#include <string>

#include "parity/choices.h"
#include "parity/golden.h"
#include "parity/random_layout.h"

namespace hipops::parity {

// `most_elements` bounds each tensor, roughly. The dtype is one of the choices.
Case random_case(Choices& choices, const OpEntry& op, int64_t most_elements);

// A random case under construction (OpEntry::random_case).
struct RandomCase {
  Choices& choices;
  const OpEntry& op;
  Budget budget;
  Case test;

  const Layout& add(InputTensor tensor);

  // Inputs of the case's dtype: numbers to compute with, or elements to move.
  const Layout& add_numbers(const std::string& name, const Shape& shape, Use use = Use::kSource);
  const Layout& add_bits(const std::string& name, const Shape& shape, Use use = Use::kSource);
  // Numbers with a finite sum of thousands: f16 ends at 65504, so its numbers are smaller.
  const Layout& add_terms(const std::string& name, const Shape& shape, Use use = Use::kSource);
  void add_weight(const std::string& name, hipops_dtype dtype, const Shape& shape);
  void add_report();  // in half of the cases

  void add_output(const std::string& name, const Layout& layout);
  void add_y(const Shape& shape) { add_output("y", random_layout(choices, test.dtype, shape, Use::kOutput)); }
  // y is apart from x or, one time in four, x itself. x's elements are then distinct.
  void add_x_and_y(const Shape& shape);

  // Picks from the values in the op's table.
  void pick_params();
  size_t pick_dim(const Shape& shape);
  hipops_dtype weight_dtype() { return choices.one_in(2) ? HIPOPS_F32 : test.dtype; }
  hipops_dtype index_dtype() { return choices.pick({HIPOPS_I64, HIPOPS_I32, HIPOPS_U32, HIPOPS_I16, HIPOPS_U8}); }
};

}  // namespace hipops::parity
