#include "waits.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "code.h"
#include "wave.h"

namespace amdemu {
namespace {

bool starts(const std::string& s, const char* with) { return s.rfind(with, 0) == 0; }

// Reads the register at text[*at], as "v12", "v[3:6]", "a7", "s[4:5]" or "vcc_lo", and moves *at behind it. A count of 0: none.
Registers register_at(const std::string& text, size_t* at) {
  const char* const begin = text.c_str() + *at;
  char* end;
  for (const auto& [name, registers] : {std::pair<const char*, Registers>{"vcc_lo", {S_VCC, 1}}, {"vcc_hi", {S_VCC + 1, 1}},
                                        {"vcc", {S_VCC, 2}}})
    if (starts(begin, name)) {
      *at += std::char_traits<char>::length(name);
      return registers;
    }
  const char kind = *begin;
  const u32 base = kind == 'v' ? kFirstVector : kind == 'a' ? kFirstVector + ACC_BASE : 0;
  if (kind != 'v' && kind != 'a' && kind != 's') return {};
  const bool is_run = begin[1] == '[';
  const char* const digits = begin + (is_run ? 2 : 1);
  if (*digits < '0' || *digits > '9') return {};
  const u32 first = u32(std::strtoul(digits, &end, 10));
  const u32 last = is_run && *end == ':' ? u32(std::strtoul(end + 1, &end, 10)) : first;
  *at = size_t(end - text.c_str());
  if (base + last >= kAllRegisters || (base == 0 && last >= S_VCC)) return {};
  return {u16(base + first), u16(last - first + 1)};
}

std::vector<Registers> registers_in(const std::string& text) {
  std::vector<Registers> found;
  for (size_t at = text.find(' '); at < text.size();) {
    const bool is_word = at > 0 && (std::isalnum(text[at - 1]) || text[at - 1] == '_');
    const size_t before = at;
    const Registers r = is_word ? Registers{} : register_at(text, &at);
    if (r.count != 0) found.push_back(r);
    if (at == before) ++at;
  }
  return found;
}

i8 number_after(const std::string& text, const char* name) {
  const size_t at = text.find(name);
  return at == std::string::npos ? i8(-1) : i8(std::atoi(text.c_str() + at + std::char_traits<char>::length(name)));
}

bool find_wait(const Op& o, const std::string& name, const std::string& text, i8 (&left)[kAwaited]) {
  i8 &vector = left[int(Awaited::Vector)], &ds = left[int(Awaited::Ds)], &scalar = left[int(Awaited::Scalar)],
     &store = left[int(Awaited::Store)];
  if (name == "s_waitcnt") {
    vector = number_after(text, "vmcnt(");
    ds = scalar = number_after(text, "lgkmcnt(");
  } else if (name == "s_wait_loadcnt" || name == "s_waitcnt_vmcnt") {
    vector = i8(o.enc0 & 63);
  } else if (name == "s_wait_loadcnt_dscnt") {
    vector = i8(o.enc0 >> 8 & 63);
    ds = i8(o.enc0 & 63);
  } else if (name == "s_wait_storecnt" || name == "s_waitcnt_vscnt") {
    store = i8(o.enc0 & 63);
  } else if (name == "s_wait_storecnt_dscnt") {
    store = i8(o.enc0 >> 8 & 63);
    ds = i8(o.enc0 & 63);
  } else if (name == "s_wait_dscnt") {
    ds = i8(o.enc0 & 63);
  } else if (name == "s_wait_kmcnt") {
    scalar = i8(o.enc0 & 31);
  } else if (name == "s_waitcnt_lgkmcnt") {
    ds = scalar = i8(o.enc0 & 63);
  } else if (name == "s_wait_idle") {
    vector = ds = scalar = store = 0;
  } else {
    return false;
  }
  return true;
}

}  // namespace

WaitOp wait_op(const Op& o, const Target& target) {
  WaitOp w;
  if ((o.flags & F_NOT_CODE) || (!o.info && !o.x)) return w;
  const std::string text = o.text, name = base_mnemonic(text.substr(0, text.find(' ')));
  w.is_wait = find_wait(o, name, text, w.left);
  w.arrives = name == "s_barrier" || name == "s_barrier_signal";
  w.awaits_barrier = name == "s_barrier" || name == "s_barrier_wait";
  if (w.is_wait) return w;
  if (o.info && o.info->form == Form::Branch) {
    if (name.find("vcc") != std::string::npos) w.named.push_back({S_VCC, 2});
    return w;
  }
  w.named = registers_in(text);
  const bool gives_time = starts(name, "s_memtime") || starts(name, "s_memrealtime") || starts(name, "s_sendmsg_rtn");
  if (!gives_time && (!o.info || o.info->form != Form::Mem)) return w;
  const bool is_load = gives_time || o.info->kind == MemKind::Load || o.info->kind == MemKind::LoadLds;
  bool gives = is_load && !(o.flags & F_LDS) && !(o.info && o.info->kind == MemKind::LoadLds);
  if (gives_time || o.info->space == Space::Smem) {
    w.counter = Awaited::Scalar;
  } else if (o.info->space == Space::Ds) {
    w.counter = Awaited::Ds;
    gives = o.dst.kind != Operand::None;
  } else {
    gives = gives || (o.flags & F_RETURN);
    w.flat = o.info->space == Space::Flat;
    w.replaces = is_load;
    w.counter = is_load || gives || target.is9() ? Awaited::Vector : Awaited::Store;
  }
  if (gives && !w.named.empty()) w.loaded = w.named.front();
  return w;
}

std::vector<WaitOp> find_waits(const std::vector<Op>& ops, const Target& target) {
  std::vector<WaitOp> found;
  found.reserve(ops.size());
  for (const Op& o : ops) found.push_back(wait_op(o, target));
  return found;
}

void Waits::begin(const std::vector<WaitOp>* ops, const Op* first) {
  ops_ = ops, first_ = first;
  for (auto& of_counter : on_its_way_) of_counter.clear();
  loads_.clear();
  of_.assign(kAllRegisters, nullptr);
}

// The oldest accesses are done, until `left` are under way.
void Waits::leave(Awaited counter, size_t left) {
  auto& all = on_its_way_[int(counter)];
  for (; all.size() > left; all.pop_front()) {
    Load* load = all.front();
    if (!load || --load->counters != 0) continue;
    for (u32 r = load->registers.first; r < u32(load->registers.first) + load->registers.count; ++r)
      if (of_[r] == load) of_[r] = nullptr;
  }
}

// Scalar loads return in any order: only a wait for all of them covers one. LDS accesses return in order. If one counter counts
// both, the number of LDS accesses under way is at most the counter's.
void Waits::wait(const WaitOp& o) {
  const i8 ds = o.left[int(Awaited::Ds)], scalar = o.left[int(Awaited::Scalar)], vector = o.left[int(Awaited::Vector)];
  if (vector >= 0) leave(Awaited::Vector, size_t(vector));
  if (scalar == 0) leave(Awaited::Scalar, 0);
  if (ds >= 0) leave(Awaited::Ds, size_t(ds));
  while (!loads_.empty() && loads_.front().counters == 0) loads_.pop_front();
}

// Throws Fault if a load into one of the instruction's registers is under way.
void Waits::check(Wave& w, const Op& o, const WaitOp& op) const {
  for (const Registers& named : op.named)
    for (u32 r = named.first; r < u32(named.first) + named.count; ++r) {
      const Load* load = of_[r];
      if (!load) continue;
      // Vector loads return in order: a later one may have the same registers.
      const bool is_replaced = op.replaces && op.loaded.count != 0 && &named == op.named.data() &&
                               (*ops_)[size_t(load->op - first_)].counter == Awaited::Vector;
      if (is_replaced) continue;
      const bool is_vector = r >= kFirstVector;
      const std::string name = is_vector && r >= kFirstVector + ACC_BASE ? "a" + std::to_string(r - kFirstVector - ACC_BASE)
                               : is_vector                              ? "v" + std::to_string(r - kFirstVector)
                               : r >= S_VCC                             ? "vcc"
                                                                        : "s" + std::to_string(r);
      char at[20];
      snprintf(at, sizeof at, "%06x", load->op->addr);
      w.fault(o, name + " is used before a wait for the load into it, pc " + at + ": " + load->op->text);
    }
}

void Waits::before(Wave& w, const Op& o) {
  const WaitOp& op = (*ops_)[size_t(&o - first_)];
  if (op.is_wait) return wait(op);
  if (!loads_.empty()) check(w, o, op);
  if (op.counter == Awaited::Nothing && op.loaded.count == 0) return;
  Load* load = nullptr;
  if (op.loaded.count != 0) {
    loads_.push_back({&o, op.loaded, op.flat ? 2 : 1});
    load = &loads_.back();
    for (u32 r = op.loaded.first; r < u32(op.loaded.first) + op.loaded.count; ++r) of_[r] = load;
  }
  if (op.counter != Awaited::Nothing && op.counter != Awaited::Store) on_its_way_[int(op.counter)].push_back(load);
  if (op.flat) on_its_way_[int(Awaited::Ds)].push_back(load);
}

}  // namespace amdemu
