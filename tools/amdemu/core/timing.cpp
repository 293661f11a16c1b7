#include "timing.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>

#include "code.h"
#include "wave.h"

namespace amdemu {
namespace {

using json = nlohmann::ordered_json;

constexpr double kBusy = 0.7;   // of the time: what is busy as long is called the limit

std::string file_of(const char* variable) {
  const char* const value = getenv(variable);
  return value ? value : "";
}

double rounded(double x) { return std::round(x * 10) / 10; }
double microseconds(double cycles, const Card& card) { return std::round(cycles / card[Fact::Clock] * 1e3) / 1e3; }

json launch_as_json(const Launch& l, const Card& card) {
  return {{"kernel", l.kernel->name}, {"target", l.code->tgt.name}, {"card", card.name()},
          {"grid", {l.grid[0], l.grid[1], l.grid[2]}}, {"block", {l.block[0], l.block[1], l.block[2]}}};
}

// An edge of the path is what lies between two of its nodes; the time goes to the instruction at which it begins.
template <class F> void for_each_edge(const std::vector<Node>& path, F f) {
  for (size_t i = 1; i < path.size(); ++i) f(path[i - 1], path[i].cause, path[i].time - path[i - 1].time);
}

json model_as_json(const Replayed& r, const Card& card) {
  json busy = {{"valu", r.busy[int(Unit::Valu)]}, {"salu", r.busy[int(Unit::Salu)]}};
  busy.update({{"address", r.address}, {"l1", r.l1}, {"l2", r.l2}, {"memory", r.memory}, {"lds", r.lds}});
  std::string limit = "latency";   // nothing is busy nearly always: waves wait
  double most = kBusy;
  for (auto& [name, share] : busy.items()) {
    if (share >= most) limit = name, most = share;
    share = std::round(share.get<double>() * 1e5) / 1e5;
  }
  return {{"cycles", rounded(r.cycles)}, {"us", microseconds(r.cycles, card)}, {"limit", limit}, {"busy", busy}};
}

json path_as_json(const Replayed& r, const Card& card) {
  double cycles[kCauses] = {};
  u64 trips[kCauses] = {}, instructions = 0;
  for_each_edge(r.path, [&](const Node&, Cause cause, double time) {
    cycles[int(cause)] += time;
    ++trips[int(cause)];
    if (cause != Cause::Barrier) ++instructions;   // a barrier is in the path twice
  });
  if (!r.path.empty()) cycles[int(r.path.front().cause)] += r.path.front().time;
  json by, by_trips;
  for (int c = 0; c < kCauses; ++c) by[kCauseNames[c]] = rounded(cycles[c]);
  for (int c = 0; c < int(Cause::Alu); ++c) by_trips[kCauseNames[c]] = trips[c];
  return {{"cycles", rounded(r.cycles)}, {"us", microseconds(r.cycles, card)}, {"by", by},
          {"trips", by_trips}, {"instructions", instructions}};
}

json costly(const Replayed& r, const std::vector<Op>& ops, size_t most) {
  struct Cost { double cycles = 0; u64 times = 0; };
  std::map<std::pair<u32, Cause>, Cost> of;
  for_each_edge(r.path, [&](const Node& from, Cause cause, double time) {
    Cost& c = of[{from.op, cause}];
    c.cycles += time;
    ++c.times;
  });
  std::vector<std::pair<std::pair<u32, Cause>, Cost>> all(of.begin(), of.end());
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.second.cycles > b.second.cycles; });
  json list = json::array();
  for (size_t i = 0; i < std::min(most, all.size()); ++i) {
    const auto& [key, cost] = all[i];
    char at[20];
    snprintf(at, sizeof at, "%06x", ops[key.first].addr);
    list.push_back({{"pc", at}, {"text", ops[key.first].text}, {"kind", kCauseNames[int(key.second)]},
                    {"cycles", rounded(cost.cycles)}, {"times", cost.times}});
  }
  return list;
}

}  // namespace

Timing::Timing(const Launch& launch, Code& code)
    : launch_(launch), path_file_(file_of("AMDEMU_PATH")), model_file_(file_of("AMDEMU_MODEL")),
      card_(code.tgt, is_on() ? std::getenv("AMDEMU_CARD") : nullptr) {
  if (!is_on()) return;
  code.classify_ops();
  code.find_op_waits();
  const bool is_wide = launch.lanes == 64;
  std::call_once(code.timed_once[is_wide], [&] {
    code.timed_ops[is_wide] = find_timing(code.ops, code.stat_ops, code.wait_ops, card_, launch.lanes);
  });
  ops_ = &code.timed_ops[is_wide];
  const Occupancy o = occupancy(launch);
  machine_ = {launch.lanes, o.simds, o.cus, std::max(1u, o.groups), true, Far::Memory};
  // A multiprocessor of an H200: four SIMDs, whose 64 registers for each of 32 waves ptxas keeps to.
  if (!card_.is_amd()) machine_ = {launch.lanes, 4, 1, std::max(1u, 32 / o.waves), true, Far::Memory};
  machines_ = std::max<u64>(1, u64(card_[Fact::Cus]) / machine_.cus);
}

std::shared_ptr<Recorder> Timing::begin(u64 number, size_t waves) const {
  if (path_file_.empty() && !is_modelled(number)) return nullptr;
  return std::make_shared<Recorder>(launch_.code->ops.data(), waves);
}

void Timing::end(u64 number, const std::shared_ptr<Recorder>& recorder) {
  Machine machine;
  machine.lanes = launch_.lanes;
  Replayed cold, warm;
  if (!path_file_.empty()) {
    cold = replay({&recorder->traces}, *ops_, card_, machine);
    machine.far = Far::Mall;
    warm = replay({&recorder->traces}, *ops_, card_, machine);
  }
  std::lock_guard<std::mutex> guard(mutex_);
  for (const Trace& t : recorder->traces) is_whole_ &= t.is_whole;
  if (is_modelled(number)) modelled_[number] = recorder;
  const bool is_slowest = cold.cycles > cold_.cycles || (cold.cycles == cold_.cycles && number < slowest_);
  if (!is_slowest) return;
  cold_ = std::move(cold);
  warm_ = std::move(warm);
  slowest_ = number;
}

void Timing::append() {
  if (!path_file_.empty()) append_path();
  if (!model_file_.empty()) append_model();
}

void Timing::append_path() const {
  json j = launch_as_json(launch_, card_);
  j["workgroup"] = slowest_;
  j["whole"] = is_whole_;
  j["cold"] = path_as_json(cold_, card_);
  j["warm"] = path_as_json(warm_, card_);
  j["costly"] = costly(cold_, launch_.code->ops, 8);
  append_line(path_file_, "AMDEMU_PATH", j.dump());
}

void Timing::append_model() {
  Groups groups;
  for (auto& [number, recorder] : modelled_) groups.push_back(&recorder->traces);
  const Replayed cold = replay(groups, *ops_, card_, machine_);
  Machine warm = machine_;
  warm.far = Far::Mall;
  json j = launch_as_json(launch_, card_);
  j.update({{"whole", is_whole_}, {"cus", machine_.cus}, {"workgroups", groups.size()}, {"resident", machine_.resident},
            {"far_bytes", cold.memory_bytes}, {"cold", model_as_json(cold, card_)},
            {"warm", model_as_json(replay(groups, *ops_, card_, warm), card_)}});
  append_line(model_file_, "AMDEMU_MODEL", j.dump());
}

}  // namespace amdemu
