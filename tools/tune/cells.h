// The problems that hipops-tune measures, and the choices that each has.
#pragma once

#include <string>
#include <vector>

#include "policy/policy.h"

namespace hipops::tune {

// A table without choices: an op, element size and layout, with the bounds at which it is measured.
struct Group {
  Op* op;
  hipops_dtype dtype;
  RowLayout layout;
  std::vector<double> vectors, rows_per_unit;
};

const char* layout_name(RowLayout layout);

// "rms_norm/bf16/aligned"
std::string name_of(const Group& group);

// Of all row ops of this build, those whose names match a pattern. bf16 stands for f16, too.
std::vector<Group> groups(const std::string& pattern);

// The rows of a group's cell: as long and as many as its bounds say, at least one.
RowProblem problem_of(const Group& group, double vectors, double rows_per_unit, const DeviceNumbers& device);

// The shortest and fewest rows that go by the cell, after those of the bounds before its own (0: there are none). Shorter ones
// of a first cell may have another layout: then as short as have the group's.
RowProblem least_of(const Group& group, double vectors_before, int64_t rows_before);

// All that the device can launch for a problem, in the order of the op's list.
std::vector<RowChoice> candidates(const RowKernels& kernels, const RowProblem& problem, const DeviceNumbers& device);

// As tables name it: "aligned_512x2", "aligned_cluster:4".
std::string choice_name(const Group& group, const RowChoice& choice);

}  // namespace hipops::tune
