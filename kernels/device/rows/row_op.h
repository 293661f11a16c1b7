// A row op: a struct of a few functions, from which row_kernel.h makes kernels. It has
//
//   Args                       has `rows`, a RowStreams<kInputs + kOutputs, kScalars, kTyped, kGiven>; `columns`,
//                              RowColumns[kColumns], at least one; `columns_are_f32`
//   C, Part                    the type of all computation; the result of part(), up to kMostPartBytes
//   kInputs, kOutputs          streams of rows
//   kColumns                   weights. absent_column(i) is the value of weight i if the caller passes none
//   kMaps                      whether part() replaces elements by f(element). mapped(row, x) then computes f of one
//                              element
//   Largest                    the largest type that a reduction returns: sizes the slots in shared memory (reduce.h)
//   combine(args, in, out)     only if kInputs > 1: makes one vector of the inputs' vectors.
//   kInputsApart               whether inputs stay apart instead: then an element of f and of apply() is an Elements<C, kInputs>
//   kTyped                     0, or 1 for an input of its own element type, after the others. absent_typed() replaces
//                              it if the caller passes none. of_boolean(b) is the value of a boolean
//   kGiven                     inputs of one C for each row. absent_given(i) replaces one that the caller does not pass.
//                              view.given(i) is the row's number. With a typed input, combine gets these numbers, too:
//                              combine<E>(args, given, in, out), where E is the typed input's element type
//   part(args, view)           reduces a row on chip, or the lane's elements of a tile. view.reduce(op, f) reduces
//                              f(element). view.map(f) replaces each element by f(element). view.second_pass() is a
//                              view for a further reduction, and view.extreme_pass() for one that only extreme rows
//                              need (extreme_rows.h). view.kIsRow: the view is the whole row.
//                              view.begins_row(): the view has the row's first element; no other view of the row has.
//                              kKeepsMapped: apply() gets the mapped elements. kSharedByWaves: several waves share the
//                              row. kReducesTogether: one reduction of several sums is faster than one for each.
//   kAdds                      whether add(args, part, its elements, view) adds a tile's elements to a lane's part,
//                              which begins as Part{}
//   merge(args, parts)         merges parts. parts.reduce(op, f) reduces f(part, number of its elements).
//                              parts.kInOrder: there are two parts, a and b, and b follows a in the row.
//   finalize(args, part)       makes the constants of a row.
//   apply(args, row, x, columns, out)   computes the results of some elements.
//   is_plain(row)              whether no flag changes apply(). The results then need no branch
//   kScalars                   outputs of one C for each row, all optional. scalars(row, out) computes them
//   kStoresInput               whether the last output gets the elements as they are. apply() leaves it alone
//   kQuantizes                 whether outputs are of 8 bits: args.to and args.format name their type (float8.h). The
//                              op has no packed kernels and no split rows.
//   kLooksUp                   whether a number of the row names one of its elements. The output is optional: stores(args).
//                              look_up(args, rows) loads these numbers, ahead of the row's elements. load_element(args,
//                              rows, number of the row, found) loads the element, which results may replace later.
//                              finalize(args, part, found) uses both. The element's result is row.at_target. If
//                              row.target is negative, all results of the row are 0.
//   Extremes                   for rows whose results apply() would compute with lost digits (extreme_rows.h).
//
// An op with kColumnsInPart has columns before the reduction, and sums of columns (column_sums.h). It differs in this:
//
//   kSums                      sums of each column.
//   Part                       the result of part(). Part{} is neutral, and operator+ adds two. Largest has a power of two bytes.
//   prepare_columns(args, column)   changes the columns of some elements. It follows flags.
//   part(in, column)           reduces some elements of all inputs.
//   kCenters                   whether part() has the row's first given number, too. If has_center(args) is false, find_center(args,
//                              sum of the last input, given) computes it, and its rounding error, which follows the kGiven numbers.
//   finalize(args, part, given)     makes the constants of a row, from its kGiven numbers, too.
//   is_usual(args)             whether columns are absent or of the rows' type, no flag is set, and no given number is absent. `Usual`
//                              is the op for such launches: kUsual is true, and its Part may have fewer numbers.
//   apply(args, row, in, column, out, terms)   computes the results of some elements, and their terms of the sums.
//
// An op's flags are uniform branches outside of loops over elements. All lanes call the same reductions in one order.
#pragma once

#include "device/core/platform.h"

namespace hipops {
namespace {

struct NoExtremes {
  static constexpr bool kExist = false;
};

// The elements of all inputs at one place of a row.
template <class C, int inputs>
struct Elements {
  C of[inputs];
};

// n sums of a row, which are reduced together.
template <class C, int n>
struct Sums {
  C of[n];
  friend HIPOPS_METHOD Sums operator+(const Sums& a, const Sums& b) {
    Sums sums;
#pragma unroll
    for (int i = 0; i < n; ++i) sums.of[i] = a.of[i] + b.of[i];
    return sums;
  }
};

// An op derives from this, and hides the members that differ.
struct RowOp {
  static constexpr int kInputs = 1, kOutputs = 1, kColumns = 0, kScalars = 0, kTyped = 0, kGiven = 0;
  static constexpr bool kMaps = false, kStoresInput = false, kQuantizes = false, kColumnsInPart = false,
                        kInputsApart = false, kCenters = false, kLooksUp = false, kUsual = false, kAdds = false;
  using Extremes = NoExtremes;
  template <class Row> static HIPOPS_METHOD bool is_plain(const Row&) { return true; }
};

}  // namespace
}  // namespace hipops
