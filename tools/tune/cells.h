// The problems that hipops-tune measures, and the choices for each.
#pragma once

#include <string>
#include <vector>

#include "policy/policy.h"

namespace hipops::tune {

// A table without choices: an op, element size and layout, with the bounds of its cells.
struct Group {
  Op* op;
  hipops_dtype dtype;
  RowLayout layout;
  std::vector<double> vectors, rows_per_unit;
};

const char* layout_name(RowLayout layout);

// "rms_norm/bf16/aligned"
std::string name_of(const Group& group);

// The groups of this build's row ops whose names match a pattern. bf16 represents f16, too.
std::vector<Group> groups(const std::string& pattern);

// The rows of a group's cell, with the length and the number of its bounds, and at least one row.
RowProblem problem_of(const Group& group, double vectors, double rows_per_unit, const DeviceNumbers& device);

// The shortest and fewest rows that use the cell: just past the bounds of the cell before (0: no cell before). Very
// short rows may have another layout. Then the rows are the shortest with the group's layout.
RowProblem least_of(const Group& group, double vectors_before, int64_t rows_before);

// All choices that the device can launch for a problem, in the order of the op's list.
std::vector<RowChoice> candidates(const RowKernels& kernels, const RowProblem& problem, const DeviceNumbers& device);

// The name of a choice in tables: "aligned_512x2", "aligned_cluster:4".
std::string choice_name(const Group& group, const RowChoice& choice);

}  // namespace hipops::tune
