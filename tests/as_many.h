// While it lives, kernels are chosen as for large tensors (hipops-parity --many-rows), or by default.
#pragma once

#include "policy/policy.h"

namespace hipops_test {

class AsMany {
 public:
  explicit AsMany(bool many = true) {
    policy_.small_apart = !many;
    before_ = hipops::use_policy(&policy_);
  }
  ~AsMany() { hipops::use_policy(before_); }
  AsMany(const AsMany&) = delete;
  AsMany& operator=(const AsMany&) = delete;

 private:
  hipops::Policy policy_;
  const hipops::Policy* before_;
};

}  // namespace hipops_test
