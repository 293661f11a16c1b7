// How small golden cases go with --many-rows and --ordered, and a policy that is in force for a while.
#pragma once

#include "policy/policy.h"

namespace hipops::parity {

// As large tensors; with sums by an index in the order of the indices.
inline void set_other_ways(bool many_rows, bool ordered, Policy* policy) {
  const bool by_default = !many_rows && !ordered;
  policy->sums = {by_default, by_default, many_rows};
  policy->small_apart = !many_rows;
}

// Begins as a copy of the current device's policy, and gives way to what was before, also where something is thrown.
class TemporaryPolicy {
 public:
  TemporaryPolicy() {
    const DeviceFacts* device = nullptr;
    const Policy* in_force = device_facts(&device) == HIPOPS_SUCCESS ? policy_of(*device) : nullptr;
    if (in_force) policy = *in_force;
    before_ = use_policy(&policy);
  }
  ~TemporaryPolicy() { use_policy(before_); }
  TemporaryPolicy(const TemporaryPolicy&) = delete;
  TemporaryPolicy& operator=(const TemporaryPolicy&) = delete;

  Policy policy;

 private:
  const Policy* before_ = nullptr;
};

}  // namespace hipops::parity
