#include "path.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

#include "code.h"
#include "wave.h"

namespace amdemu {
namespace {

void extend(Chain* chain, const Chain& other) {
  if (other.is_longer(*chain)) *chain = other;
}

const char* kind_of(Awaited counter) {
  return counter == Awaited::Scalar ? "scalar_memory" : counter == Awaited::Ds ? "lds" : "vector_memory";
}

}  // namespace

void GroupPath::begin() {
  accesses_.clear();
  arrived_ = opened_ = longest_ = {};
}

void GroupPath::open_barrier() {
  opened_ = arrived_;
  arrived_ = {};
}

void WavePath::begin(GroupPath& group, const std::vector<WaitOp>* ops, const Op* first) {
  *this = {};
  group_ = &group, ops_ = ops, first_ = first;
}

void WavePath::wait(Awaited counter, size_t left) {
  auto& all = on_its_way_[int(counter)];
  for (; all.size() > left; all.pop_front()) extend(&done_, all.front());
}

void WavePath::before(const Op& o) {
  const WaitOp& op = (*ops_)[size_t(&o - first_)];
  if (is_at_barrier_) extend(&done_, group_->opened_);
  is_at_barrier_ = op.awaits_barrier;
  if (op.arrives) extend(&group_->arrived_, done_);
  for (int c = 0; c < kAwaited; ++c) {
    const bool in_any_order = c == int(Awaited::Scalar);  // only a wait for all of them covers one
    if (op.left[c] >= 0 && (!in_any_order || op.left[c] == 0)) wait(Awaited(c), size_t(op.left[c]));
  }
  if (op.counter == Awaited::Nothing) return;
  group_->accesses_.push_back({&o, op.counter, done_.last});
  Chain chain = done_;
  chain.last = i64(group_->accesses_.size()) - 1;
  if (op.counter == Awaited::Ds) ++chain.lds;
  else ++chain.memory, chain.vector += op.counter != Awaited::Scalar;
  auto& all = on_its_way_[int(op.counter)];
  if (op.counter != Awaited::Scalar && !all.empty()) extend(&chain, all.back());
  all.push_back(chain);
  if (op.flat) on_its_way_[int(Awaited::Ds)].push_back(chain);
}

void WavePath::end() {
  for (int c = 0; c < kAwaited; ++c) wait(Awaited(c), 0);
  extend(&group_->longest_, done_);
}

void LongestPath::add(u64 workgroup, const GroupPath& path) {
  std::lock_guard<std::mutex> guard(mutex_);
  const Chain& longest = path.longest_;
  if (!longest.is_longer(longest_) && (longest_.is_longer(longest) || workgroup > workgroup_)) return;
  longest_ = longest, workgroup_ = workgroup;
  accesses_.clear();
  for (i64 a = path.longest_.last; a >= 0; a = path.accesses_[size_t(a)].before) accesses_.push_back(path.accesses_[size_t(a)]);
  std::reverse(accesses_.begin(), accesses_.end());
}

void LongestPath::append(const std::string& file, const Launch& launch) const {
  using json = nlohmann::ordered_json;
  const json trips = {{"scalar_memory", longest_.memory - longest_.vector}, {"vector_memory", longest_.vector}, {"lds", longest_.lds}};
  json accesses = json::array();
  std::map<const Op*, size_t> listed;
  for (const auto& access : accesses_) {
    const auto [at, is_new] = listed.try_emplace(access.op, accesses.size());
    char address[20];
    snprintf(address, sizeof address, "%06x", access.op->addr);
    if (is_new) accesses.push_back({{"pc", address}, {"text", access.op->text}, {"kind", kind_of(access.counter)}, {"times", 0}});
    json& times = accesses[at->second]["times"];
    times = times.get<u64>() + 1;
  }
  const json line = {{"kernel", launch.kernel->name}, {"target", launch.code->tgt.name},
                     {"grid", {launch.grid[0], launch.grid[1], launch.grid[2]}},
                     {"block", {launch.block[0], launch.block[1], launch.block[2]}},
                     {"workgroup", workgroup_}, {"trips", trips}, {"accesses", accesses}};
  append_line(file, "AMDEMU_PATH", line.dump());
}

}  // namespace amdemu
