#include "inspect/machine_code.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <set>

#include "inspect/control_flow.h"

namespace hipops::inspect {
namespace {

bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

// ---- Single instructions

enum class Memory { kNone, kLoad, kStore, kAtomic };

// Accesses to memory that is or may be global. The metadata has the size of scratch.
Memory access_of(const Instruction& i) {
  if (!i.is("global_") && !i.is("flat_") && !i.is("buffer_")) return Memory::kNone;
  if (contains(i.mnemonic, "_atomic")) return Memory::kAtomic;
  if (contains(i.mnemonic, "_load")) return Memory::kLoad;
  return contains(i.mnemonic, "_store") ? Memory::kStore : Memory::kNone;  // the others write back caches
}

// The width from a name such as "global_load_dwordx4", "global_load_d16_hi_b16" or "buffer_load_ubyte_d16".
unsigned bytes_of(const Instruction& i) {
  static const std::map<std::string, unsigned> widths = {
      {"ubyte", 1},  {"sbyte", 1},   {"byte", 1},    {"u8", 1},       {"i8", 1},   {"b8", 1},
      {"ushort", 2}, {"sshort", 2},  {"short", 2},   {"u16", 2},      {"i16", 2},  {"b16", 2},
      {"dword", 4},  {"b32", 4},     {"dwordx2", 8}, {"b64", 8},      {"dwordx3", 12},
      {"b96", 12},   {"dwordx4", 16}, {"b128", 16}};
  for (size_t begin = 0; begin < i.mnemonic.size();) {
    const size_t end = std::min(i.mnemonic.find('_', begin), i.mnemonic.size());
    const auto width = widths.find(i.mnemonic.substr(begin, end - begin));
    if (width != widths.end()) return width->second;
    begin = end + 1;
  }
  throw DisassemblyError("how much does " + i.mnemonic + " move?");
}

// The number of loads that may be in flight after this instruction. No value if it waits for no load.
std::optional<unsigned> loads_left(const Instruction& i) {
  const auto number = [](const std::string& text) {
    return static_cast<unsigned>(std::strtoul(text.c_str(), nullptr, 0));
  };
  if (i.mnemonic == "s_waitcnt") {
    const size_t at = i.operands.find("vmcnt(");
    if (at == std::string::npos) return {};
    return number(i.operands.substr(at + 6));
  }
  if (i.mnemonic == "s_wait_loadcnt") return number(i.operands);
  if (i.mnemonic == "s_wait_loadcnt_dscnt") return number(i.operands) >> 8 & 0x3f;
  return {};
}

bool is_division(const Instruction& i) {
  // A quotient starts from a reciprocal in f32. For 32 bits it has its own instruction (v_rcp_iflag_f32). For 64 bits
  // it is scaled to just below 2^64.
  return i.is("v_rcp_iflag_f32") || contains(i.operands, "0x5f7ffffc");
}

bool is_wide_multiply(const Instruction& i) {
  return i.is("v_mad_u64_u32") || i.is("v_mad_i64_i32") || i.is("v_mad_co_u64_u32") || i.is("v_mad_co_i64_i32");
}

// Whether the last of three operands is +0, as in "v_fma_mixlo_f16 v20, v28, v20, 0 op_sel_hi:[0,0,0]".
bool has_zero_addend(const Instruction& i) {
  if (!contains(i.mnemonic, "_mixlo_") && !contains(i.mnemonic, "_mixhi_")) return false;
  const size_t comma = i.operands.rfind(", 0");
  const size_t negated = i.operands.find("neg_lo:[");  // "neg_lo:[0,0,1]"
  const bool is_negative = negated != std::string::npos && i.operands.compare(negated + 12, 1, "1") == 0;
  if (comma == std::string::npos || is_negative) return false;
  const size_t after = comma + 3;
  return after == i.operands.size() || i.operands[after] == ' ';
}

bool is_dpp(const Instruction& i) {
  return contains(i.mnemonic, "_dpp") || contains(i.operands, "quad_perm:") || contains(i.operands, " row_") ||
         contains(i.operands, "dpp8:") || contains(i.operands, " wave_");
}

// ---- Hot loops

// The loads in flight at a place, the oldest first, by their bytes. 0 is an instruction that the counter counts and
// that loads nothing.
using Queue = std::vector<unsigned>;

Loads loads_of(const Queue& queue) {
  Loads sum;
  for (const unsigned bytes : queue) {
    sum.count += bytes > 0;
    sum.bytes += bytes;
  }
  return sum;
}

bool less(const Loads& a, const Loads& b) { return a.bytes < b.bytes; }

// Follows all paths through the blocks, each block once, in order, without repeating a loop. Some of the paths may be
// impossible.
class Walk {
 public:
  Walk(const Code& code, const ControlFlow& flow, bool one_counter)
      : code_(code), flow_(flow), one_counter_(one_counter) {}

  void through(const std::vector<size_t>& blocks, HotLoop* result) const {
    std::map<size_t, std::set<Queue>> unwaited = {{blocks.front(), {Queue()}}};  // on paths that wait for no load
    std::map<size_t, Queue> fullest;  // on the path with the most in flight
    for (const size_t b : blocks) {
      count(flow_.blocks[b], result);
      std::set<Queue> ways;
      for (Queue queue : unwaited[b]) {
        if (until_wait(flow_.blocks[b], &queue)) ways.insert(queue);
        result->before_wait = std::max(result->before_wait, loads_of(queue), less);
      }
      Queue queue = fullest[b];
      fill(flow_.blocks[b], &queue, result);
      for (const size_t next : flow_.blocks[b].next) {
        for (const Queue& way : ways) {
          if (unwaited[next].size() < kMostWays) unwaited[next].insert(way);
        }
        fullest[next] = std::max(fullest[next], queue, [](const Queue& x, const Queue& y) {
          return less(loads_of(x), loads_of(y));
        });
      }
    }
  }

 private:
  static constexpr size_t kMostWays = 256;

  void ask(const Instruction& i, Queue* queue) const {
    const Memory access = access_of(i);
    if (access == Memory::kLoad) queue->push_back(bytes_of(i));
    if (one_counter_ && (access == Memory::kStore || access == Memory::kAtomic)) queue->push_back(0);
  }

  static Queue without(const Queue& queue, unsigned left) {
    return queue.size() <= left ? queue : Queue(queue.end() - left, queue.end());
  }

  // False: the block waits for a load, and the queue is the state at the wait.
  bool until_wait(const Block& block, Queue* queue) const {
    for (size_t i = block.begin; i < block.end; ++i) {
      ask(code_[i], queue);
      const auto left = loads_left(code_[i]);
      if (!left) continue;
      const Queue rest = without(*queue, *left);
      if (less(loads_of(rest), loads_of(*queue))) return false;
      *queue = rest;
    }
    return true;
  }

  void fill(const Block& block, Queue* queue, HotLoop* result) const {
    for (size_t i = block.begin; i < block.end; ++i) {
      ask(code_[i], queue);
      result->most_under_way = std::max(result->most_under_way, loads_of(*queue), less);
      if (access_of(code_[i]) == Memory::kStore) result->at_store = std::max(result->at_store, loads_of(*queue), less);
      if (const auto left = loads_left(code_[i])) *queue = without(*queue, *left);
    }
  }

  void count(const Block& block, HotLoop* result) const {
    for (size_t i = block.begin; i < block.end; ++i) {
      const Memory access = access_of(code_[i]);
      if (access == Memory::kLoad) ++result->loads[bytes_of(code_[i])];
      if (access == Memory::kStore) ++result->stores[bytes_of(code_[i])];
      result->divisions += is_division(code_[i]);
      result->wide_multiplies += is_wide_multiply(code_[i]);
    }
  }

  const Code& code_;
  const ControlFlow& flow_;
  bool one_counter_;
};

bool any_in(const Code& code, const ControlFlow& flow, const Loop& loop, bool (*predicate)(const Instruction&)) {
  return std::any_of(loop.blocks.begin(), loop.blocks.end(), [&](size_t b) {
    const Block& block = flow.blocks[b];
    return std::any_of(code.begin() + static_cast<ptrdiff_t>(block.begin),
                       code.begin() + static_cast<ptrdiff_t>(block.end), predicate);
  });
}

bool moves_data(const Instruction& i) {
  const Memory access = access_of(i);
  return access == Memory::kLoad || access == Memory::kStore;
}

// Loops that move data, and contain no loop that does.
std::vector<const Loop*> innermost(const Code& code, const ControlFlow& flow) {
  std::vector<const Loop*> loops;
  for (const Loop& loop : flow.loops) {
    if (any_in(code, flow, loop, moves_data)) loops.push_back(&loop);
  }
  std::vector<const Loop*> found;
  for (const Loop* loop : loops) {
    const bool outer = std::any_of(loops.begin(), loops.end(), [&](const Loop* other) {
      return other != loop && loop->has(other->head);
    });
    if (!outer) found.push_back(loop);
  }
  return found;
}

bool compares_and_swaps(const Instruction& i) {
  return contains(i.mnemonic, "_cmpswap") || contains(i.mnemonic, "_cmpst");
}

unsigned compare_swap_loops(const Code& code, const ControlFlow& flow) {
  unsigned count = 0;
  for (size_t b = 0; b < flow.blocks.size(); ++b) {
    const Block& block = flow.blocks[b];
    const bool repeats = std::any_of(flow.loops.begin(), flow.loops.end(), [b](const Loop& l) { return l.has(b); });
    for (size_t i = block.begin; repeats && i < block.end; ++i) count += compares_and_swaps(code[i]);
  }
  return count;
}

// ---- The path to the first load

// Instructions that wait for scalar loads. These return in any order, so that a wait for one is a wait for all.
bool waits_for_scalars(const Instruction& i) {
  return i.is("s_wait_kmcnt") || (i.mnemonic == "s_waitcnt" && contains(i.operands, "lgkmcnt(0)"));
}

// The number of waits for scalar loads, one after the other, before the first load to vector registers. On the path
// with the fewest waits, and on the path with the most, with one pass through each loop. {} without such a load.
std::optional<Trips> trips_before_load(const Code& code, const ControlFlow& flow) {
  const auto add = [](const Trips& trips, std::optional<Trips>* all) {
    if (!*all) *all = trips;
    else **all = {std::min((*all)->least, trips.least), std::max((*all)->most, trips.most)};
  };
  std::optional<Trips> found;
  std::vector<std::optional<Trips>> at[2];  // by block: without a scalar load in flight, and with one
  for (auto& all : at) all.resize(flow.blocks.size());
  if (!flow.blocks.empty()) at[false][0] = Trips();
  for (size_t b = 0; b < flow.blocks.size(); ++b) {
    const Block& block = flow.blocks[b];
    for (const bool loaded_before : {false, true}) {
      if (!at[loaded_before][b]) continue;
      Trips trips = *at[loaded_before][b];
      bool loaded = loaded_before, loads = false;
      for (size_t i = block.begin; i < block.end && !loads; ++i) {
        loads = access_of(code[i]) == Memory::kLoad;
        if (code[i].is("s_load") || code[i].is("s_buffer_load")) loaded = true;
        if (!loaded || !waits_for_scalars(code[i])) continue;
        ++trips.least, ++trips.most;
        loaded = false;
      }
      if (loads) add(trips, &found);
      for (const size_t next : block.next)
        if (!loads && next > b) add(trips, &at[loaded][next]);
    }
  }
  return found;
}

void count(const Instruction& i, MachineCode* result) {
  const Memory access = access_of(i);
  if (access == Memory::kLoad) ++result->loads[bytes_of(i)];
  if (access == Memory::kStore) ++result->stores[bytes_of(i)];
  if (access == Memory::kAtomic) ++result->atomics[i.mnemonic];
  result->zero_addends += has_zero_addend(i);
  result->flat += i.is("flat_");
  result->dpp += is_dpp(i);
  result->permlane += i.is("v_permlane");
  result->readlane += i.is("v_readlane");
  const bool bpermute = i.is("ds_bpermute") || i.is("ds_permute"), swizzle = i.is("ds_swizzle");
  result->bpermute += bpermute;
  result->swizzle += swizzle;
  result->lds += i.is("ds_") && !bpermute && !swizzle;
  result->barriers += i.mnemonic == "s_barrier" || i.mnemonic == "s_barrier_wait";
  result->calls += i.is("s_swappc") || i.is("s_call");
}

// FNV-1a. Branches have distances, so the hash does not depend on the kernel's address.
void add_to_hash(const std::string& text, uint64_t* hash) {
  for (const char c : text + '\n') *hash = (*hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
}

uint64_t hash_of(const Code& code) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const Instruction& i : code) add_to_hash(i.mnemonic + " " + i.operands, &hash);
  return hash;
}

}  // namespace

MachineCode machine_code(const Code& code, const std::string& target) {
  MachineCode result;
  result.instructions = static_cast<unsigned>(code.size());
  result.hash = hash_of(code);
  const ControlFlow flow = control_flow(code);
  for (const Block& block : flow.blocks) {
    for (size_t i = block.begin; i < block.end; ++i) count(code[i], &result);
  }
  result.compare_swap_loops = compare_swap_loops(code, flow);
  result.scalar_trips = trips_before_load(code, flow).value_or(Trips());

  // CDNA counts loads and stores together. gfx10 and later targets have a counter for each.
  Walk walk(code, flow, target.rfind("gfx9", 0) == 0);
  for (const Loop* loop : innermost(code, flow)) {
    HotLoop hot;
    hot.address = code[flow.blocks[loop->head].begin].address;
    walk.through(loop->blocks, &hot);
    result.hot.push_back(hot);
  }
  result.has_loop = !result.hot.empty();
  if (!result.has_loop && !code.empty()) {
    HotLoop all;
    all.address = code.front().address;
    std::vector<size_t> blocks(flow.blocks.size());
    for (size_t b = 0; b < blocks.size(); ++b) blocks[b] = b;
    walk.through(blocks, &all);
    result.hot.push_back(all);
  }
  return result;
}

}  // namespace hipops::inspect
