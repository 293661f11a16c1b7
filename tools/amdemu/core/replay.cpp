#include "replay.h"

#include <algorithm>
#include <queue>
#include <unordered_map>
#include <unordered_set>

namespace amdemu {

const char* const kCauseNames[kCauses] = {"scalar_memory", "vector_memory", "lds", "barrier", "alu"};

namespace {

struct Event {           // when, and what decided it
  double time = 0;
  i32 node = -1;
  Cause cause = Cause::Alu;
};
void latest(Event* e, const Event& other) {
  if (other.time > e->time) *e = other;
}

// Something that serves one request after the other.
struct Server {
  double free = 0, busy = 0;
  // Gives when a request that comes at `at` and takes `duration` has been served.
  double serve(double at, double duration, bool is_shared) {
    busy += duration;
    if (!is_shared) return at + duration;
    const double begin = std::max(at, free);
    return free = begin + duration;
  }
};

// Lines of memory: where they are, and since when.
class Caches {
 public:
  Caches(const Card& card, const Machine& machine)
      : card_(card), shared_(machine.is_shared), far_(machine.far), lanes_(machine.lanes), cus_(machine.cus),
        capacity_(size_t(card[Fact::L1Size] / 128) * machine.cus) {}

  // When what a wave asks for at `at` has come. 64-byte sectors.
  double scalar(double at, const u64* sectors, u32 count) {
    double done = at + card_[Fact::ScalarHit];
    for (u32 i = 0; i < count; ++i) {
      const auto [line, is_new] = scalar_lines_.try_emplace(sectors[i]);
      if (is_new) {
        const bool is_near = touched_.count(sectors[i] >> 1) != 0;
        const Fact f = is_near ? Fact::ScalarL2 : far_ == Far::Mall ? Fact::ScalarMall : Fact::ScalarMemory;
        touched_.insert(sectors[i] >> 1);
        line->second = at + card_[f];
      }
      done = std::max(done, line->second);
    }
    return done;
  }

  double vector(double at, const u64* sectors, u32 count, bool is_store) {
    at = address.serve(at, lanes_ / card_[Fact::AddressLanes] / cus_, shared_);
    const double through = l1.serve(at, count * 64 / card_[Fact::L1Bytes] / cus_, shared_);
    double done = is_store ? through : through + card_[Fact::L1Latency];
    for (u32 i = 0; i < count;) {
      const u64* const first = sectors + i;
      for (; i < count && sectors[i] >> 1 == *first >> 1; ++i) {}
      done = std::max(done, is_store ? store(at, first, sectors + i) : load(at, *first >> 1));
    }
    return done;
  }

  double drained() const { return std::max({address.free, l1.free, l2.free, memory.free}); }

  Server address, l1, l2, memory;
  double memory_bytes = 0;

 private:
  double load(double at, u64 line) {
    const auto in_l1 = lines_.find(line);
    if (in_l1 != lines_.end()) return in_l1->second;
    double done = from_l2(at, 128) + card_[Fact::L2Latency];
    const bool is_new = touched_.insert(line).second;
    if (is_new) done = from_memory(at, 128) + card_[far_ == Far::Mall ? Fact::MallLatency : Fact::MemoryLatency];
    lines_.emplace(line, done);
    order_.push_back(line);
    if (order_.size() > capacity_) {
      lines_.erase(order_.front());
      order_.pop_front();
    }
    return done;
  }
  // Sectors of one line go through to L2, and on to memory at some time, once: nothing waits for that, but it takes of
  // its bandwidth.
  double store(double at, const u64* first, const u64* end) {
    const double done = from_l2(at, double(end - first) * 64);
    for (; first != end; ++first)
      if (stored_.insert(*first).second) from_memory(at, 64);
    touched_.insert(end[-1] >> 1);
    return done + card_[Fact::L2Latency];
  }
  // A CU's share of what all have: one alone has more, and waits for its own transfers only.
  double from_l2(double at, double bytes) { return shared_ ? l2.serve(at, bytes / card_[Fact::L2Bytes] / cus_, true) : at; }
  double from_memory(double at, double bytes) {
    memory_bytes += bytes;
    const Fact share = far_ == Far::Mall ? Fact::MallBytes : Fact::MemoryBytes;
    return shared_ ? memory.serve(at, bytes / card_[share] / cus_, true) : at;
  }

  const Card& card_;
  const bool shared_;
  const Far far_;
  const u32 lanes_, cus_;
  const size_t capacity_;
  std::unordered_map<u64, double> lines_, scalar_lines_;   // since when they are there
  std::unordered_set<u64> touched_, stored_;               // lines; sectors
  std::deque<u64> order_;
};

struct Simd {
  Server units[kUnits];
  u32 waves = 0;
};

struct Group;
struct Runner {          // a wave
  const Trace* trace = nullptr;
  Group* group = nullptr;
  Simd* simd = nullptr;
  u32 number = 0;        // order of begin: the older of two goes first
  size_t at = 0;
  Event ready;           // the earliest time of the next instruction
  u32 epoch = 0;         // barriers that it has signalled
  bool is_waiting = false;
  std::vector<Event> registers;
  std::deque<Event> counters[kAwaited];   // accesses that have not been waited for
};

struct Group {
  std::vector<Runner> waves;
  u32 running = 0, arrived = 0, epoch = 0;
  Event last, opened;    // the last arrival; when the barrier opened
};

class Replay {
 public:
  Replay(const std::vector<TimedOp>& ops, const Card& card, const Machine& machine)
      : ops_(ops), card_(card), machine_(machine), caches_(card, machine), simds_(machine.simds) {}

  Replayed run(const Groups& groups) {
    for (; begun_ < groups.size() && begun_ < machine_.resident; ++begun_) begin(*groups[begun_], 0);
    while (!queue_.empty()) {
      Runner* const w = queue_.top().runner;
      queue_.pop();
      step(w);
      if (w->at < w->trace->steps.size()) {
        if (!w->is_waiting) queue_.push({w->ready.time, w});
        continue;
      }
      end(w);
      const bool is_next = w->group->running == 0 && begun_ < groups.size();
      if (is_next) begin(*groups[begun_++], w->ready.time + card_[Fact::GroupLaunch]);
    }
    return result();
  }

 private:
  struct Turn {
    double time;
    Runner* runner;
    bool operator<(const Turn& o) const { return time != o.time ? time > o.time : runner->number > o.runner->number; }
  };

  void begin(const std::vector<Trace>& traces, double at) {
    groups_.emplace_back();
    Group& g = groups_.back();
    g.waves.resize(traces.size());
    g.running = u32(traces.size());
    for (size_t i = 0; i < traces.size(); ++i) {
      Runner& w = g.waves[i];
      w.trace = &traces[i];
      w.group = &g;
      w.number = number_++;
      const auto has_fewer = [](const Simd& a, const Simd& b) { return a.waves < b.waves; };
      w.simd = &*std::min_element(simds_.begin(), simds_.end(), has_fewer);
      ++w.simd->waves;
      w.registers.resize(kAllRegisters);
      if (machine_.is_shared) at = launch_.serve(at, card_[Fact::WaveLaunch] / machine_.cus, true);
      w.ready.time = at;
      if (!w.trace->steps.empty()) queue_.push({at, &w});
      else end(&w);
    }
  }

  void end(Runner* w) {
    Event e = w->ready;
    for (const auto& counter : w->counters)
      for (const Event& access : counter) latest(&e, access);
    if (e.time >= end_.time) end_ = e;
    --w->simd->waves;
    --w->group->running;
    w->registers = {};
    open_barrier(w->group);
  }

  void step(Runner* w) {
    const Step& s = w->trace->steps[w->at];
    const TimedOp& op = ops_[s.op];
    if (w->is_waiting) return pass_barrier(w);
    Event when = w->ready;
    for (const Registers& r : op.reads)
      for (u32 i = r.first; i < u32(r.first) + r.count; ++i) latest(&when, w->registers[i]);
    if (op.wait->is_wait) wait(w, *op.wait, &when);
    if (op.unit != Unit::None && machine_.is_shared) {
      Server& unit = w->simd->units[int(op.unit)];
      when.time = std::max(when.time, unit.free);
      unit.serve(when.time, op.keeps, true);
    }
    const i32 node = note(s, when);
    if (op.signals) {
      Group& g = *w->group;
      ++g.arrived;
      ++w->epoch;
      if (when.time >= g.last.time) g.last = {when.time, node, Cause::Barrier};
      open_barrier(&g);
    }
    if (op.awaits_barrier) {
      w->ready = {when.time, node, Cause::Alu};
      w->is_waiting = w->group->epoch < w->epoch;
      if (!w->is_waiting) pass_barrier(w);
      return;
    }
    access(w, s, op, node, when.time);
    go_on(w, s, op, node, when.time);
  }

  void pass_barrier(Runner* w) {   // which has opened
    const Step& s = w->trace->steps[w->at];
    Event when = w->ready;
    latest(&when, w->group->opened);
    w->is_waiting = false;
    go_on(w, s, ops_[s.op], note(s, when), when.time);
  }

  void access(Runner* w, const Step& s, const TimedOp& op, i32 node, double at) {
    const u64* const sectors = w->trace->sectors.data() + s.first_sector;
    Event done{at, node, Cause::Alu};
    if (op.unit == Unit::Scalar) {
      done.cause = Cause::Scalar;
      done.time = caches_.scalar(at, sectors, s.sectors);
    } else if (op.unit == Unit::Vector && (s.sectors != 0 || s.passes == 0)) {   // scratch is taken for a hit
      done.cause = Cause::Vector;
      done.time = caches_.vector(at, sectors, s.sectors, op.is_store);
    } else if (op.unit == Unit::Lds || op.unit == Unit::Vector) {
      done.cause = Cause::Lds;
      const double passes = std::max<u32>(1, s.passes) * 128 / card_[Fact::LdsBytes] / machine_.cus;
      done.time = lds_.serve(at, passes, machine_.is_shared) + card_[Fact::Lds];
    }
    if (op.wait->counter != Awaited::Nothing) count(w, op.wait->counter, done);
    if (op.wait->flat) count(w, Awaited::Ds, done);
    for (const Registers& r : op.writes)
      for (u32 i = r.first; i < u32(r.first) + r.count; ++i) w->registers[i] = {at + op.latency, node, Cause::Alu};
  }

  // Counters but that of scalar loads count in order: an access has come when earlier ones have.
  void count(Runner* w, Awaited counter, Event done) {
    auto& all = w->counters[int(counter)];
    if (counter != Awaited::Scalar && !all.empty()) latest(&done, all.back());
    all.push_back(done);
  }

  void wait(Runner* w, const WaitOp& op, Event* when) {
    for (int c = 0; c < kAwaited; ++c) {
      if (op.left[c] < 0 || (c == int(Awaited::Scalar) && op.left[c] != 0)) continue;
      auto& all = w->counters[c];
      for (; all.size() > size_t(op.left[c]); all.pop_front()) latest(when, all.front());
    }
  }

  void go_on(Runner* w, const Step& s, const TimedOp& op, i32 node, double at) {
    ++w->at;
    double next = at + card_[Fact::Issue] + op.pause;
    const bool is_taken = op.unit == Unit::Branch && w->at < w->trace->steps.size() && w->trace->steps[w->at].op != s.op + 1;
    if (is_taken) next = at + card_[Fact::Branch];
    w->ready = {next, node, Cause::Alu};
  }

  void open_barrier(Group* g) {
    if (g->arrived == 0 || g->arrived < g->running) return;
    g->arrived = 0;
    ++g->epoch;
    g->opened = {g->last.time + card_[Fact::Barrier], g->last.node, Cause::Barrier};
    g->last = {};
    for (Runner& w : g->waves)
      if (w.is_waiting) queue_.push({std::max(w.ready.time, g->opened.time), &w});
  }

  i32 note(const Step& s, const Event& when) {
    if (machine_.is_shared) return -1;
    nodes_.push_back({s.op, when.node, when.time, when.cause});
    return i32(nodes_.size() - 1);
  }

  Replayed result() {
    Replayed r;
    r.cycles = std::max(end_.time, machine_.is_shared ? caches_.drained() : 0);
    if (!machine_.is_shared) {
      r.path.push_back({0, end_.node, end_.time, end_.cause});
      for (i32 n = end_.node; n >= 0; n = nodes_[size_t(n)].before) r.path.push_back(nodes_[size_t(n)]);
      std::reverse(r.path.begin(), r.path.end());
    }
    const double all = std::max(r.cycles, 1.0);
    for (const Simd& s : simds_)
      for (int u = 0; u < kUnits; ++u) r.busy[u] += s.units[u].busy / all / machine_.simds;
    r.address = caches_.address.busy / all, r.l1 = caches_.l1.busy / all, r.l2 = caches_.l2.busy / all;
    r.memory = caches_.memory.busy / all, r.lds = lds_.busy / all;
    r.memory_bytes = caches_.memory_bytes;
    return r;
  }

  const std::vector<TimedOp>& ops_;
  const Card& card_;
  const Machine machine_;
  Caches caches_;
  Server lds_, launch_;
  std::vector<Simd> simds_;
  std::deque<Group> groups_;   // stay where they are
  std::priority_queue<Turn> queue_;
  std::vector<Node> nodes_;
  size_t begun_ = 0;
  u32 number_ = 0;
  Event end_;
};

}  // namespace

Replayed replay(const Groups& groups, const std::vector<TimedOp>& ops, const Card& card, const Machine& machine) {
  return Replay(ops, card, machine).run(groups);
}

}  // namespace amdemu
