// AMDEMU_PATH and AMDEMU_MODEL: what a launch's instructions would take of time. docs/guide/emulate.md says what is in it.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "replay.h"

namespace amdemu {

class Code;
struct Launch;
struct Workgroup;

// Of one launch.
class Timing {
 public:
  Timing(const Launch& launch, Code& code);   // reads the environment
  bool is_on() const { return !path_file_.empty() || !model_file_.empty(); }
  // What records a workgroup; null: it is not wanted.
  std::shared_ptr<Recorder> begin(u64 number, size_t waves) const;
  void end(u64 number, const std::shared_ptr<Recorder>& recorder);
  void append();

 private:
  bool is_modelled(u64 number) const { return !model_file_.empty() && number % machines_ == 0; }
  void append_path() const;
  void append_model();

  const Launch& launch_;
  const std::string path_file_, model_file_;
  const std::vector<TimedOp>* ops_ = nullptr;
  const Card card_;
  std::mutex mutex_;
  Replayed cold_, warm_;     // of the workgroup that takes longest
  u64 slowest_ = 0;
  bool is_whole_ = true;
  Machine machine_;          // the CU, or the pair of them
  u64 machines_ = 1;         // of which the card has so many; workgroups go to them in turn
  std::map<u64, std::shared_ptr<Recorder>> modelled_;   // the first one's
};

}  // namespace amdemu
