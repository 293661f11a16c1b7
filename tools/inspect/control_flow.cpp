#include "inspect/control_flow.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

namespace hipops::inspect {
namespace {

constexpr size_t kNone = static_cast<size_t>(-1);

bool ends_the_way(const Instruction& instruction) {
  return instruction.mnemonic == "s_branch" || instruction.is("s_endpgm") || instruction.is("s_setpc");
}

size_t index_of(const Code& code, uint64_t address) {
  const auto at = std::lower_bound(code.begin(), code.end(), address,
                                   [](const Instruction& i, uint64_t address) { return i.address < address; });
  if (at == code.end() || at->address != address) throw DisassemblyError("a branch leads out of its function");
  return static_cast<size_t>(at - code.begin());
}

// The blocks by the index of their first instruction.
std::map<size_t, Block> cut(const Code& code) {
  std::set<size_t> begins = {0};
  for (size_t i = 0; i < code.size(); ++i) {
    if (code[i].target) begins.insert(index_of(code, *code[i].target));
    if ((code[i].target || ends_the_way(code[i])) && i + 1 < code.size()) begins.insert(i + 1);
  }
  std::map<size_t, Block> blocks;
  for (auto begin = begins.begin(); begin != begins.end(); ++begin) {
    Block block;
    block.begin = *begin;
    block.end = std::next(begin) == begins.end() ? code.size() : *std::next(begin);
    const Instruction& last = code[block.end - 1];
    if (!ends_the_way(last) && block.end < code.size()) block.next.push_back(block.end);
    if (last.target) block.next.push_back(index_of(code, *last.target));
    blocks[block.begin] = block;
  }
  return blocks;
}

// Numbers the reachable blocks in reverse postorder.
std::vector<Block> ordered(const std::map<size_t, Block>& blocks) {
  std::vector<size_t> postorder;
  std::set<size_t> seen;
  const std::function<void(size_t)> visit = [&](size_t begin) {
    if (!seen.insert(begin).second) return;
    for (const size_t next : blocks.at(begin).next) visit(next);
    postorder.push_back(begin);
  };
  visit(0);
  std::map<size_t, size_t> number;
  for (size_t i = 0; i < postorder.size(); ++i) number[postorder[i]] = postorder.size() - 1 - i;
  std::vector<Block> result(postorder.size());
  for (const auto& [begin, place] : number) {
    result[place] = blocks.at(begin);
    for (size_t& next : result[place].next) next = number.at(next);
  }
  return result;
}

std::vector<std::vector<size_t>> predecessors(const std::vector<Block>& blocks) {
  std::vector<std::vector<size_t>> previous(blocks.size());
  for (size_t b = 0; b < blocks.size(); ++b) {
    for (const size_t next : blocks[b].next) previous[next].push_back(b);
  }
  return previous;
}

// The immediate dominator of a block (Cooper, Harvey, Kennedy: A Simple, Fast Dominance Algorithm).
std::vector<size_t> dominators(const std::vector<std::vector<size_t>>& previous) {
  std::vector<size_t> nearest(previous.size(), kNone);
  nearest[0] = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t b = 1; b < previous.size(); ++b) {
      size_t common = kNone;
      for (size_t other : previous[b]) {
        if (nearest[other] == kNone) continue;
        if (common == kNone) common = other;
        while (common != other) (common > other ? common : other) = nearest[std::max(common, other)];
      }
      changed = changed || nearest[b] != common;
      nearest[b] = common;
    }
  }
  return nearest;
}

bool dominates(const std::vector<size_t>& nearest, size_t above, size_t block) {
  while (block > above) block = nearest[block];
  return block == above;
}

std::vector<Loop> find_loops(const std::vector<Block>& blocks) {
  const auto previous = predecessors(blocks);
  const auto nearest = dominators(previous);
  std::vector<Loop> loops;
  for (size_t head = 0; head < blocks.size(); ++head) {
    std::set<size_t> body;
    std::vector<size_t> open;
    for (const size_t back : previous[head]) {
      if (dominates(nearest, head, back)) open.push_back(back);
    }
    if (open.empty()) continue;
    body.insert(head);
    while (!open.empty()) {
      const size_t block = open.back();
      open.pop_back();
      if (body.insert(block).second) open.insert(open.end(), previous[block].begin(), previous[block].end());
    }
    loops.push_back({head, {body.begin(), body.end()}});
  }
  return loops;
}

}  // namespace

bool Loop::has(size_t block) const { return std::binary_search(blocks.begin(), blocks.end(), block); }

ControlFlow control_flow(const Code& code) {
  ControlFlow flow;
  if (code.empty()) return flow;
  flow.blocks = ordered(cut(code));
  flow.loops = find_loops(flow.blocks);
  return flow;
}

}  // namespace hipops::inspect
