// The time of each choice, and the choice that a cell keeps.
#pragma once

#include <map>
#include <memory>

#include "parity/ops.h"
#include "timer.h"
#include "tune/cells.h"

namespace hipops::tune {

// A row op's tensors for a problem, in device memory, and the call with them.
class RowOperands {
 public:
  RowOperands(const bench::Device& device, const Op& op, const RowProblem& problem);
  const parity::Call& call() const { return call_; }
  int64_t bytes() const { return bytes_; }  // of all rows in all tensors

 private:
  std::vector<std::unique_ptr<bench::Memory>> memory_;
  parity::Arguments arguments_;
  parity::Call call_;
  int64_t bytes_ = 0;
};

// The rows of the problem in memory from `data` on, and their bytes.
hipops_tensor rows_at(char* data, const RowProblem& problem);
int64_t tensor_bytes(const RowProblem& problem);

struct Cell {
  RowChoice by_default, kept;
  double default_us = 0, kept_us = 0;  // 0 without a measurement
};

bool same(const RowChoice& a, const RowChoice& b);

// A policy with one choice for all rows of the group's op, dtype and layout.
Policy policy_of(const Group& group, const RowChoice& choice);

// Measures each choice in turn, by the median of several rounds. Keeps the default policy's choice if it is within 3 %
// of the fastest, otherwise the first in the list within 3 %.
Cell measure(const bench::Device& device, bench::Timer& timer, const Group& group, const RowProblem& problem,
             const DeviceFacts& facts);

// Whether a choice needs at most 3 % more time than the default policy's.
bool is_as_fast(const RowChoice& choice, const bench::Device& device, bench::Timer& timer, const Group& group,
                const RowProblem& problem, const DeviceFacts& facts);

}  // namespace hipops::tune
