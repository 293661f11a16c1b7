// A case for the tests of parity's runs: y += x on host memory, on streams with different addresses.
#pragma once

#include <mutex>
#include <set>

#include "catch.h"
#include "runtime/host_runtime.h"
#include "parity/number.h"
#include "parity/run_case.h"

namespace hipops_test {

using namespace hipops::parity;

class StreamRuntime : public HostRuntime {
 public:
  hipops_status create_stream(void** stream) override {
    *stream = new char;
    std::lock_guard<std::mutex> lock(mutex_);
    made.insert(*stream);
    return HIPOPS_SUCCESS;
  }
  hipops_status destroy_stream(void* stream) override {
    std::lock_guard<std::mutex> lock(mutex_);
    unknown += made.erase(stream) != 1;
    delete static_cast<char*>(stream);
    return HIPOPS_SUCCESS;
  }
  std::set<void*> made;
  int unknown = 0;  // streams that were destroyed and are none

 private:
  std::mutex mutex_;
};

inline Layout four() {
  Layout layout;
  layout.dtype = HIPOPS_F32;
  layout.shape = {4};
  measure(&layout);
  return layout;
}

inline Case addition() {
  Case test;
  test.name = "addition";
  test.dtype = HIPOPS_F32;
  InputTensor x, y;
  x.name = "x", y.name = "y";
  x.layout = y.layout = four();
  ExpectedTensor sum;
  sum.name = "y";
  sum.layout = four();
  for (int i = 0; i < 4; ++i) {
    x.bits.push_back(encode(HIPOPS_F32, i));
    y.bits.push_back(encode(HIPOPS_F32, 10));
    sum.values.push_back(10 + i);
  }
  test.inputs = {x, y};
  test.outputs = {sum};
  test.tolerance_ulps = 1;
  return test;
}

}  // namespace hipops_test
