#include "policy/plan_options.h"

#include <atomic>

#include "policy/policy.h"

namespace hipops {
namespace {

std::atomic<const PlanOptions*> temporary{nullptr};

}  // namespace

PlanOptions plan_options() {
  const PlanOptions* options = temporary.load(std::memory_order_acquire);
  return options ? *options : PlanOptions{};
}

PlanOptions plan_options(const DeviceFacts& device) {
  PlanOptions options = plan_options();
  if (!options.policy) options.policy = policy_of(device);
  return options;
}

TemporaryOptions::TemporaryOptions() : options(plan_options()), before_(temporary.exchange(&options)) {}
TemporaryOptions::~TemporaryOptions() { temporary.store(before_); }

}  // namespace hipops
