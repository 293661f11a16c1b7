// The sweep of row ops: the fraction of the roof that each of many shapes reaches.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "timer.h"

namespace hipops::bench {

constexpr int64_t kSweepBytes = int64_t{1} << 30;        // larger shapes are omitted
constexpr int64_t kSweepLargeBytes = int64_t{32} << 20;  // larger shapes must reach kSweepShare
constexpr double kSweepShare = 0.75;

struct SweepShape {
  int64_t rows = 0, cols = 0;
};

// Rows and columns from 1 to 2^18: powers of two, their neighbours, primes, sizes of models. Only shapes that move at
// most kSweepBytes.
std::vector<SweepShape> sweep_shapes(int64_t element_bytes);

// Row ops whose only input with rows is x.
std::vector<std::string> sweep_ops();

struct SweepJob {
  std::string op;
  hipops_dtype dtype = HIPOPS_NONE;
  SweepShape shape;

  std::string name() const;  // such as "softmax/bf16/37x2880"
  int64_t bytes() const;     // of x; y has the same number
};

struct SweepRow {
  SweepJob job;
  int64_t bytes = 0;  // moved
  double roof = 0, us = 0;

  double share() const { return us > 0 ? roof / us : 0; }
  bool is_slow() const { return bytes > kSweepLargeBytes && share() < kSweepShare; }
};

// Every shape for every op and dtype.
std::vector<SweepJob> sweep_jobs(const std::vector<std::string>& ops, const std::vector<hipops_dtype>& dtypes);

// Calls `progress` before each job.
std::vector<SweepRow> sweep(const Device& device, Timer& timer, const std::vector<SweepJob>& jobs,
                            const std::function<void(size_t done, const std::string& label)>& progress);

}  // namespace hipops::bench
