#include "trace.h"

#include <algorithm>
#include <string>

#include "card.h"
#include "code.h"
#include "wave.h"

namespace amdemu {
namespace {

constexpr size_t kMostSteps = 1 << 22;   // of a wave: 64 MiB

void add(std::vector<Registers>* to, const Operand& o) {
  if (o.kind == Operand::Vgpr) to->push_back({u16(kFirstVector + o.reg), o.words});
  if (o.kind == Operand::Sgpr && o.reg < S_NULL) to->push_back({o.reg, o.words});
}

bool starts_with_any(const std::string& s, std::initializer_list<const char*> all) {
  return std::any_of(all.begin(), all.end(), [&](const char* part) { return s.rfind(part, 0) == 0; });
}

// SCC and EXEC, which no text names.
void add_hidden(TimedOp* t, const std::string& name, const StatOp& s) {
  const Registers scc{S_SCC, 1}, exec{S_EXEC, 1};
  const bool is_scalar = s.cls == Class::Salu;
  if (starts_with_any(name, {"s_cselect", "s_cmov", "s_addc", "s_subb", "s_cbranch_scc"})) t->reads.push_back(scc);
  if (is_scalar && !starts_with_any(name, {"s_mov", "s_cselect", "s_cmov"})) t->writes.push_back(scc);
  const bool is_masked = s.lanes || t->unit == Unit::Vector || t->unit == Unit::Lds;
  if (is_masked || name.rfind("s_cbranch_exec", 0) == 0) t->reads.push_back(exec);
  if (name.find("saveexec") != std::string::npos || name.rfind("v_cmpx", 0) == 0) t->writes.push_back(exec);
}

Unit unit_of(Class c) {
  switch (c) {
    case Class::Salu: return Unit::Salu;
    case Class::Smem: return Unit::Scalar;
    case Class::Lds: case Class::LdsPermute: return Unit::Lds;
    case Class::VmemLoad: case Class::VmemStore: case Class::VmemAtomic: return Unit::Vector;
    case Class::Branch: return Unit::Branch;
    case Class::Barrier: return Unit::Barrier;
    case Class::Wait: case Class::Other: return Unit::None;
    default: return Unit::Valu;
  }
}

TimedOp timed_op(const Op& o, const StatOp& s, const WaitOp& w, const Card& card, u32 lanes) {
  TimedOp t;
  t.wait = &w;
  if (o.flags & F_NOT_CODE) return t;
  const std::string text = o.text, name = base_mnemonic(text.substr(0, text.find(' ')));
  t.unit = unit_of(s.cls);
  t.keeps = card[Fact::Issue];
  if (t.unit == Unit::Valu) {
    const bool is_trans = s.cls == Class::ValuTrans, is_f64 = s.cls == Class::ValuF64;
    const double rate = is_trans ? card[Fact::TransRate] : is_f64 ? card[Fact::F64Rate] : 1;
    t.keeps = std::max(1.0, lanes / card[Fact::SimdLanes]) * rate;
    t.latency = card[is_trans ? Fact::TransLatency : is_f64 ? Fact::F64Latency : Fact::ValuLatency];
  } else if (t.unit == Unit::Salu) {
    t.latency = card[Fact::SaluLatency];
  }
  if (name == "s_nop") t.pause = (o.enc0 & 15) * card[Fact::Issue];
  if (name == "s_sleep") t.pause = (o.enc0 & 127) * 64;
  t.signals = t.unit == Unit::Barrier && name != "s_barrier_wait";
  t.awaits_barrier = t.unit == Unit::Barrier && name.rfind("s_barrier_signal", 0) != 0;
  t.is_store = s.cls == Class::VmemStore || s.cls == Class::VmemAtomic;
  t.reads = w.named;
  for (const Op* half : {&o, o.x, o.y})
    if (half && w.loaded.count == 0) add(&t.writes, half->dst), add(&t.writes, half->sdst);
  add_hidden(&t, name, s);
  return t;
}

// The lines of a scalar load. Buffers' bounds are not looked at: what is outside loads nothing.
void scalar_sectors(Wave& w, const Op& o, u32 bytes, std::vector<u64>* to) {
  const Operand &base = o.src[2], &offset = o.src[3];
  if (base.kind != Operand::Sgpr) return;
  u64 at = w.sread64(base.reg);
  if (base.words == 4) at &= 0xffffffffffffull;
  at += u64(i64(o.offset));
  if (offset.kind == Operand::Const) at += u64(i64(i32(u32(offset.imm))));
  if (offset.kind == Operand::Sgpr) at += w.sread(offset.reg);
  for (u64 sector = at >> 6; sector <= (at + bytes - 1) >> 6; ++sector) to->push_back(sector);
}

}  // namespace

std::vector<TimedOp> find_timing(const std::vector<Op>& ops, const std::vector<StatOp>& stats,
                                 const std::vector<WaitOp>& waits, const Card& card, u32 lanes) {
  std::vector<TimedOp> found;
  found.reserve(ops.size());
  for (size_t i = 0; i < ops.size(); ++i) found.push_back(timed_op(ops[i], stats[i], waits[i], card, lanes));
  return found;
}

void Recorder::before(Wave& w, const Op& o, const Counter& counter) {
  Trace& t = traces[w.index];
  if (t.steps.size() == kMostSteps) {
    t.is_whole = false;
    return;
  }
  Step s;
  s.op = u32(&o - first_);
  s.first_sector = u32(t.sectors.size());
  const StatOp& op = (*counter.ops)[s.op];
  if (op.cls == Class::Smem && o.info->form == Form::Mem) scalar_sectors(w, o, op.width, &t.sectors);
  else t.sectors.insert(t.sectors.end(), counter.touched, counter.touched + counter.touched_count);
  s.sectors = u16(t.sectors.size() - s.first_sector);
  s.passes = u16(std::min<u64>(counter.lds_passes - counter.passes_before, 0xffff));
  t.steps.push_back(s);
}

}  // namespace amdemu
