// AMDEMU_PATH: the longest chain of memory accesses of a launch. Each access of a chain is issued after a wait for the one before it.
#pragma once
#include <deque>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "waits.h"

namespace amdemu {

struct Launch;

struct Chain {
  u32 memory = 0, vector = 0, lds = 0;  // accesses to memory; to memory by vector instructions; to LDS
  i64 last = -1;                        // its last access, in GroupPath
  // The numbers above decide in that order.
  bool is_longer(const Chain& o) const { return std::tie(memory, vector, lds) > std::tie(o.memory, o.vector, o.lds); }
};

class GroupPath {  // of one workgroup
 public:
  void begin();
  void open_barrier();

 private:
  friend class WavePath;
  friend class LongestPath;
  struct Access {
    const Op* op;
    Awaited counter;
    i64 before;
  };
  std::vector<Access> accesses_;
  Chain arrived_, opened_, longest_;  // before the closed barrier; before the last open barrier; of all waves
};

class WavePath {
 public:
  void begin(GroupPath& group, const std::vector<WaitOp>* ops, const Op* first);
  void before(const Op& o);  // in front of each instruction
  void end();

 private:
  void wait(Awaited counter, size_t left);

  GroupPath* group_ = nullptr;
  const std::vector<WaitOp>* ops_ = nullptr;
  const Op* first_ = nullptr;
  bool is_at_barrier_ = false;
  Chain done_;                              // the longest chain that the next instruction comes after
  std::deque<Chain> on_its_way_[kAwaited];  // oldest first
};

class LongestPath {  // of one launch
 public:
  void add(u64 workgroup, const GroupPath& path);
  void append(const std::string& file, const Launch& launch) const;

 private:
  std::mutex mutex_;
  std::vector<GroupPath::Access> accesses_;
  Chain longest_;
  u64 workgroup_ = 0;
};

}  // namespace amdemu
