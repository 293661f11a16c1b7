#include "order.h"

#include <algorithm>
#include <array>
#include <string>

#include "code.h"
#include "wave.h"

namespace amdemu {
namespace {

bool has(const std::string& text, const char* word) { return text.find(word) != std::string::npos; }

// True for accesses of the device's scope or a wider one. Before gfx94, stores have no bits of scope: an ordinary store is
// then the same instruction as a relaxed atomic store.
bool is_of_device(const Op& o, const std::string& text, const Target& target) {
  const bool is_atomic = o.info->kind == MemKind::Atomic || o.info->kind == MemKind::AtomicRtn;
  switch (target.family) {
    case Gfx::Gfx12: return has(text, "scope:SCOPE_DEV") || has(text, "scope:SCOPE_SYS");
    case Gfx::Gfx94: case Gfx::Gfx95: return is_atomic || has(text, " sc1");
    case Gfx::Gfx10: return is_atomic || (o.info->kind == MemKind::Load && has(text, " glc") && has(text, " dlc"));
    default: return is_atomic || (o.info->kind == MemKind::Load && has(text, " glc"));
  }
}

u8 invalidates(const std::string& text, const std::string& name) {
  if (name == "buffer_wbinvl1_vol" || name == "buffer_wbinvl1") return Reach::Group | Reach::Device;
  if (name == "buffer_gl0_inv") return Reach::Group;
  if (name == "buffer_gl1_inv") return Reach::Device;
  if (name == "buffer_inv") return has(text, " sc1") ? Reach::Group | Reach::Device : has(text, " sc0") ? Reach::Group : 0;
  if (name != "global_inv") return 0;
  return has(text, "SCOPE_DEV") || has(text, "SCOPE_SYS") ? Reach::Group | Reach::Device : has(text, "SCOPE_SE") ? Reach::Group : 0;
}

OrderOp order_op(const Op& o, const Target& target) {
  OrderOp found;
  if (o.flags & F_NOT_CODE) return found;
  const std::string text = o.text, name = base_mnemonic(text.substr(0, text.find(' ')));
  const WaitOp wait = wait_op(o, target);
  if (wait.is_wait) {
    found.loads_left = wait.left[int(Awaited::Vector)];
    found.stores_left = wait.left[int(Awaited::Store)];
    return found;
  }
  found.arrives = name == "s_barrier" || name == "s_barrier_signal";
  found.invalidates = invalidates(text, name);
  found.write_back = name == "buffer_wbl2" && has(text, " sc1");
  if (found.write_back) found.counts_load = true;
  const bool is_vector = o.info && o.info->form == Form::Mem && o.info->space != Space::Smem && o.info->space != Space::Ds;
  if (!is_vector) return found;
  const bool loads = o.info->kind == MemKind::Load || o.info->kind == MemKind::LoadLds || (o.flags & F_RETURN);
  found.counts_load = loads || target.is9();
  found.counts_store = !found.counts_load;
  found.shared = is_of_device(o, text, target);
  return found;
}

void add(Known& to, u32 wave, UpTo done) {
  if (!to || to.use_count() > 1) to = std::make_shared<std::map<u32, UpTo>>(to ? *to : std::map<u32, UpTo>());
  UpTo& up_to = (*to)[wave];
  up_to = {std::max(up_to.store, done.store), std::max(up_to.load, done.load)};
}

void add(Known& to, const Known& more) {
  if (!to) to = more;
  if (!more || to == more) return;
  for (const auto& [wave, done] : *more) add(to, wave, done);
}

UpTo up_to(const Known& known, u32 wave) {
  if (!known) return {};
  const auto found = known->find(wave);
  return found == known->end() ? UpTo{} : found->second;
}

}  // namespace

std::vector<OrderOp> find_order(const std::vector<Op>& ops, const Target& target) {
  std::vector<OrderOp> found;
  found.reserve(ops.size());
  for (const Op& o : ops) {
    OrderOp op = order_op(o, target);
    op.is_checked = op.loads_left >= 0 || op.stores_left >= 0 || op.counts_load || op.counts_store || op.write_back ||
                    op.invalidates != 0 || op.arrives;
    found.push_back(op);
  }
  return found;
}

// ---- Who has touched which bytes

struct WaveOrder::Access {
  u32 wave = 0;    // number + 1; 0: none
  u32 number = 0;  // of the store or load, in its wave
  u32 op = 0;      // index of the instruction
};

struct WaveOrder::Cell {  // the last accesses to four bytes, or to one
  u32 launch = 0;
  Access store, load, other_load;  // other_load: of another workgroup than `load`
  bool by_shared = false;  // the store is past the caches
  bool is_split = false;   // each of the four bytes has its own cell
};

struct WaveOrder::Page {
  static constexpr u64 kBytes = 4096;
  std::array<Cell, kBytes / 4> words;
  std::unordered_map<u32, std::array<Cell, 4>> bytes;
};

class Shadow {
 public:
  // Before each launch.
  void begin() {
    ++launch;
    told.clear();
    if (pages_.size() > 4000) pages_.clear(), last_ = nullptr;
  }
  WaveOrder::Page& page(u64 number) {
    if (last_ && last_number_ == number) return *last_;
    auto& page = pages_[number];
    if (!page) page = std::make_unique<WaveOrder::Page>();
    last_ = page.get(), last_number_ = number;
    return *last_;
  }
  u32 launch = 0;
  std::unordered_map<u64, Known> told;  // by address: the accesses that a wave may rely on after it reads an atomic there

 private:
  std::unordered_map<u64, std::unique_ptr<WaveOrder::Page>> pages_;
  WaveOrder::Page* last_ = nullptr;
  u64 last_number_ = 0;
};

Shadow& shadow() {  // launches with AMDEMU_ORDER run one at a time
  static Shadow all;
  return all;
}
void begin_order() { shadow().begin(); }

// ---- The workgroup's barrier

void GroupOrder::begin(u32 waves, u64 number, bool has_one_cache) {
  arrived_.assign(waves, {});
  at_barrier_.assign(waves, {});
  foreign_arrived_ = foreign_ = released_arrived_ = released_ = nullptr;
  number_ = u32(number), has_one_cache_ = has_one_cache;
}

void GroupOrder::open() {
  at_barrier_ = arrived_;
  add(foreign_, foreign_arrived_);
  add(released_, released_arrived_);
}

// ---- Waves

void WaveOrder::begin(const Launch& launch, Workgroup& group, u32 index) {
  launch_ = &launch;
  group_ = &group.order;
  waves_ = u32(group.waves.size());
  first_ = group_->number_ * waves_;
  index_ = index;
  loads_ = stores_ = stored_ = 0;
  loading_.clear();
  storing_.clear();
  fresh_.assign(waves_, 0);
  seen_ = near_ = have_ = released_ = nullptr;
  told_of_ = nullptr;
}

// The oldest accesses are done, until `left` are under way.
void WaveOrder::wait(std::deque<Passing>& all, size_t left) {
  while (all.size() > left) {
    const Passing p = std::move(all.front());
    all.pop_front();
    stored_ = std::max(stored_, p.store);
    for (const Known& k : p.seen) add(seen_, k);
    if (!p.write_back) continue;
    add(released_, p.released);
    add(released_, first_ + index_, {stored_, loaded()});  // also its own wave's earlier accesses
  }
}

// The last load before which all loads have returned. Loads by the scalar cache count as returned: no counter orders them.
u32 WaveOrder::loaded() const {
  for (const Passing& p : loading_)
    if (p.load != 0) return p.load - 1;
  return loads_;
}

// The accesses of the workgroup's waves that this wave knows to be done. Stores are done when the workgroup's L2 has them.
Known WaveOrder::of_group() const {
  Known all;
  for (u32 w = 0; w < waves_; ++w) {
    const auto& of = group_->at_barrier_[w];
    const UpTo done = w == index_ ? UpTo{stored_, loaded()} : UpTo{of.stored, of.loaded};
    if (done.store != 0 || done.load != 0) add(all, first_ + w, done);
  }
  return all;
}

Known WaveOrder::known() const {
  const bool is_written_back = launch_->code->tgt.has_many_l2();
  Known all = is_written_back ? released_ : of_group();
  if (is_written_back) add(all, group_->released_);
  add(all, have_);
  add(all, group_->foreign_);
  return all;
}

void WaveOrder::before(Wave&, const Op& o) {
  const OrderOp& op = launch_->code->order_ops[size_t(&o - launch_->code->ops.data())];
  op_ = &op;
  told_of_ = nullptr;
  if (!op.is_checked) return;
  if (op.loads_left >= 0) wait(loading_, size_t(op.loads_left));
  if (op.stores_left >= 0) wait(storing_, size_t(op.stores_left));
  if (op.invalidates & Reach::Device) add(near_, seen_);
  if (op.invalidates & Reach::Group) {
    add(have_, near_);
    add(have_, group_->foreign_);
    for (u32 w = 0; w < waves_; ++w) fresh_[w] = group_->at_barrier_[w].stored;
  }
  if (op.arrives) {
    group_->arrived_[index_] = {stores_, stored_, loads_, loaded()};
    add(group_->foreign_arrived_, have_);
    add(group_->released_arrived_, released_);
  }
  if (!op.counts_load && !op.counts_store) return;
  Passing passing;
  if (op.write_back) {
    passing.write_back = true;
    passing.released = of_group();
    add(passing.released, have_);
    add(passing.released, group_->foreign_);
  } else if (o.info->kind == MemKind::Store) {
    passing.store = ++stores_;
  } else if (o.info->kind != MemKind::Atomic) {
    passing.load = ++loads_;
  }
  (op.counts_load ? loading_ : storing_).push_back(std::move(passing));
}

u8* WaveOrder::access(Wave& w, const Op& o, u64 address, u32 bytes, u32 lane, bool write, bool atomic) {
  if (op_->shared && (atomic || !write)) {
    Known& told = shadow().told[address];
    const bool reads = !atomic || (o.flags & F_RETURN);
    if (reads && told) {
      auto& seen = loading_.back().seen;
      if (seen.empty() || seen.back() != told) seen.push_back(told);
    }
  }
  if (op_->shared && write) {  // a release, for waves that read this address
    if (told_of_ != &o) told_ = known(), told_of_ = &o;
    Known& told = shadow().told[address];
    if (atomic) add(told, told_);
    else told = told_;
  }
  u32 spoiled = 0;  // a bit a byte
  for (u64 at = address, end = address + bytes; at < end;) {
    Page& page = shadow().page(at / Page::kBytes);
    Cell& word = page.words[at % Page::kBytes / 4];
    if (word.launch != shadow().launch) word = {}, word.launch = shadow().launch;
    if (at % 4 == 0 && end - at >= 4 && !word.is_split) {
      if (!touch(w, o, word, at, lane, write, atomic)) spoiled |= 15u << (at - address);
      at += 4;
      continue;
    }
    auto& four = page.bytes[u32(at % Page::kBytes / 4)];
    if (!word.is_split) four.fill(word), word.is_split = true;
    do {
      if (!touch(w, o, four[at % 4], at, lane, write, atomic)) spoiled |= 1u << (at - address);
    } while (++at % 4 != 0 && at < end);
  }
  u8* const memory = reinterpret_cast<u8*>(address);
  if (spoiled == 0) return memory;
  for (u32 i = 0; i < bytes; ++i) copies_[lane][i] = spoiled >> i & 1 ? 0xff : memory[i];
  return copies_[lane];
}

bool WaveOrder::knows_store(const Cell& c, bool past_caches) const {
  const u32 writer = c.store.wave - 1, store = c.store.number;
  if (writer - first_ < waves_) {
    const auto& of = group_->at_barrier_[writer - first_];
    if ((group_->has_one_cache_ ? of.placed : past_caches ? of.stored : fresh_[writer - first_]) >= store) return true;
  }
  if (up_to(have_, writer).store >= store) return true;
  if ((group_->has_one_cache_ || past_caches) && up_to(group_->foreign_, writer).store >= store) return true;
  return past_caches && (up_to(seen_, writer).store >= store || up_to(near_, writer).store >= store);
}

// Waves with one L0 share its order: a load before the barrier is done before a store behind it.
bool WaveOrder::knows_load(const Access& load) const {
  const u32 reader = load.wave - 1;
  if (reader == first_ + index_) return true;
  if (reader - first_ < waves_) {
    const auto& of = group_->at_barrier_[reader - first_];
    if ((group_->has_one_cache_ ? of.begun : of.loaded) >= load.number) return true;
  }
  return up_to(have_, reader).load >= load.number || up_to(group_->foreign_, reader).load >= load.number;
}

u32 WaveOrder::number_of(const Op& o) const { return u32(&o - launch_->code->ops.data()); }

std::string WaveOrder::told(const Wave& w, u64 address, const char* what, const Access& other) const {
  const Op& op = launch_->code->ops[other.op];
  const u32 wave = other.wave - 1;
  char at[40], pc[20];
  snprintf(at, sizeof at, "0x%llx", static_cast<unsigned long long>(address));
  snprintf(pc, sizeof pc, "%06x", op.addr);
  std::string where = at;
  if (w.hit && address >= w.hit->begin && address < w.hit->end) where += " ('" + w.hit->label + "' + " + std::to_string(address - w.hit->begin) + ")";
  const std::string group = wave / waves_ == first_ / waves_ ? "" : "workgroup " + std::to_string(wave / waves_) + ", ";
  return "global memory at " + where + ": " + what + " " + group + "wave " + std::to_string(wave % waves_) + ", pc " + pc + ": " + op.text;
}

// True if the access is ordered with other waves' accesses.
bool WaveOrder::touch(Wave& w, const Op& o, Cell& c, u64 address, u32 lane, bool write, bool atomic) {
  const u32 me = first_ + index_ + 1;
  const bool is_shared = op_->shared, is_foreign = c.store.wave != 0 && c.store.wave != me && !(is_shared && c.by_shared);
  bool is_ordered = true;
  if ((!write || atomic) && is_foreign && (c.by_shared || !knows_store(c, is_shared))) {
    const char* const what = c.by_shared             ? "loaded, and nothing orders that after the atomic of"
                             : !knows_store(c, true) ? "loaded, and nothing orders that after the store of"
                                                     : "loaded, and this wave's caches may be older than the store of";
    if (atomic) w.fault(o, told(w, address, what, c.store), int(lane));
    if (launch_->order > 1) w.say(o, told(w, address, what, c.store), int(lane));
    is_ordered = false;
  }
  if (!write) {
    if (!is_shared) note_load(c, number_of(o));
    return is_ordered;
  }
  // On a card the load may come after this store, even if it came first in this run.
  for (const Access* load : {&c.load, &c.other_load}) {
    if (load->wave == 0 || knows_load(*load) || (atomic && (launch_->code->ops[load->op].flags & F_TO_SWAP))) continue;
    w.fault(o, told(w, address, "stored, and nothing orders that after the load of", *load), int(lane));
  }
  c.store = {me, stores_, number_of(o)};
  c.by_shared = is_shared;
  c.load = c.other_load = {};
  return true;
}

void WaveOrder::note_load(Cell& c, u32 op) const {
  if (c.load.wave != 0 && c.load.wave - 1 - first_ >= waves_) c.other_load = c.load;
  c.load = {first_ + index_ + 1, loads_, op};
}

void WaveOrder::scalar_load(Wave& w, const Op& o, u64 address, u32 bytes) {
  ++loads_;
  for (u64 at = address & ~3ull; at < address + bytes; at += 4) {
    Page& page = shadow().page(at / Page::kBytes);
    Cell& word = page.words[at % Page::kBytes / 4];
    if (word.launch != shadow().launch) word = {}, word.launch = shadow().launch;
    Cell* const cells = word.is_split ? page.bytes[u32(at % Page::kBytes / 4)].data() : &word;
    for (Cell* c = cells; c < cells + (word.is_split ? 4 : 1); ++c) {
      if (c->store.wave != 0)
        w.fault(o, told(w, at, "loaded by the scalar cache, which may be older than the store of", c->store));
      note_load(*c, number_of(o));
    }
  }
}

}  // namespace amdemu
