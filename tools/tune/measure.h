// How long each choice takes, and which one a cell keeps.
#pragma once

#include <map>
#include <memory>

#include "parity/ops.h"
#include "timer.h"
#include "tune/cells.h"

namespace hipops::tune {

// A row op's tensors as a problem describes them, in device memory, and the call on them.
class RowOperands {
 public:
  RowOperands(const bench::Device& device, const Op& op, const RowProblem& problem);
  const parity::Call& call() const { return call_; }
  int64_t bytes() const { return bytes_; }  // of the rows in all tensors

 private:
  std::vector<std::unique_ptr<bench::Memory>> memory_;
  parity::Arguments arguments_;
  parity::Call call_;
  int64_t bytes_ = 0;
};

// Rows as the problem has them, in memory that begins at `data`, and the bytes that they take of it.
hipops_tensor rows_at(char* data, const RowProblem& problem);
int64_t tensor_bytes(const RowProblem& problem);

struct Cell {
  RowChoice by_default, kept;
  double default_us = 0, kept_us = 0;  // 0 where nothing was measured
};

bool same(const RowChoice& a, const RowChoice& b);

// By which all rows of the group's op, dtype and layout take the choice.
Policy policy_of(const Group& group, const RowChoice& choice);

// Each choice in turn, by the median of several rounds. The default policy's is kept if it is within 3 % of the fastest,
// or else the first of the list that is.
Cell measure(const bench::Device& device, bench::Timer& timer, const Group& group, const RowProblem& problem,
             const DeviceFacts& facts);

// Whether a choice takes no longer than the default policy's, but for 3 %.
bool is_as_fast(const RowChoice& choice, const bench::Device& device, bench::Timer& timer, const Group& group,
                const RowProblem& problem, const DeviceFacts& facts);

}  // namespace hipops::tune
