// Changes the options of plans for the lifetime of an object.
#pragma once

#include "policy/plan_options.h"

namespace hipops {

// For tests and tools: all calls of the process use these options while the object exists. Initially they equal the
// options before. No call may run while they change.
class TemporaryOptions {
 public:
  TemporaryOptions() : options(plan_options()), before_(replace_plan_options(&options)) {}
  ~TemporaryOptions() { replace_plan_options(before_); }
  TemporaryOptions(const TemporaryOptions&) = delete;
  TemporaryOptions& operator=(const TemporaryOptions&) = delete;

  PlanOptions options;

 private:
  const PlanOptions* const before_;
};

}  // namespace hipops
