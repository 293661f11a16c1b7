// One case on the device: its tensors, the call, and the checks after it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "parity/run_case.h"

namespace hipops::parity {

class CaseRun {
 public:
  CaseRun(Runtime& runtime, const OpEntry& op, const Case& test, Guard guard)
      : runtime_(runtime), op_(op), test_(test), guard_(guard) {}

  // Returns the result of `work`. An exception fails the case.
  CaseResult attempt(const std::function<void()>& work);

  // The steps of a case, in this order.
  void prepare();
  void call(void* stream);  // and waits for the device
  void check();

  // launch() only calls; timed() measures `work` as the call.
  void launch(void* stream);
  void timed(const std::function<void()>& work);

  // Sets the device's memory, after prepare() or check(). Outputs become unwritten.
  enum class Elements { kNone, kCase, kReversed };
  void fill(Elements elements);

  // The buffers that the call writes to, without the workspace.
  std::vector<Buffer*> outputs();
  void miss(const std::string& reason);

 private:
  bool overwritten(const std::string& input) const;
  Buffer& make_buffer(const std::string& name, const Layout& layout);
  void make_inputs();
  void make_outputs();
  void make_workspace();
  Buffer& buffer_of(const ExpectedTensor& output);
  void check_output(const ExpectedTensor& output);
  void check_input(const InputTensor& input);
  void check_workspace();

  Runtime& runtime_;
  const OpEntry& op_;
  const Case& test_;
  const Guard guard_;
  std::map<std::string, std::unique_ptr<Buffer>> buffers_;
  std::unique_ptr<Buffer> workspace_;
  Arguments arguments_;
  CaseResult result_;
};

}  // namespace hipops::parity
