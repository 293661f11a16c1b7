#include <algorithm>

#include "parity/ops/rows.h"

namespace hipops::parity {
namespace {

struct Aligned {
  std::vector<uint64_t> sorted_ids, expert_ids;
  uint64_t count;
};

// An id's expert, or a negative number.
using ExpertOf = std::function<int64_t(int64_t position)>;

Aligned align(int64_t total, const ExpertOf& expert_of, const std::vector<int64_t>& map, int64_t block_size, size_t places, size_t blocks) {
  Aligned all;
  std::vector<std::vector<uint64_t>> of_expert(map.size());
  for (int64_t i = 0; i < total; ++i) {
    const int64_t expert = expert_of(i);
    if (expert < 0 || expert >= static_cast<int64_t>(map.size()) || map[static_cast<size_t>(expert)] < 0) continue;
    of_expert[static_cast<size_t>(expert)].push_back(static_cast<uint64_t>(i));
  }
  for (size_t expert = 0; expert < map.size(); ++expert) {
    std::vector<uint64_t>& own = of_expert[expert];
    while (own.size() % static_cast<size_t>(block_size) != 0) own.push_back(static_cast<uint64_t>(total));
    all.sorted_ids.insert(all.sorted_ids.end(), own.begin(), own.end());
    all.expert_ids.resize(all.expert_ids.size() + own.size() / static_cast<size_t>(block_size), static_cast<uint64_t>(map[expert]));
  }
  all.count = all.sorted_ids.size();
  all.sorted_ids.resize(places, static_cast<uint64_t>(total));
  all.expert_ids.resize(blocks, UINT32_MAX);
  return all;
}

std::vector<int64_t> every_expert(int64_t experts) {
  std::vector<int64_t> map;
  for (int64_t e = 0; e < experts; ++e) map.push_back(e);
  return map;
}

void reference(Case* test) {
  const Operand x = input_of(*test, "x");
  std::vector<int64_t> map = every_expert(static_cast<int64_t>(test->params.at("experts")));
  if (find_input(*test, "expert_map"))
    for (size_t e = 0; e < map.size(); ++e) map[e] = static_cast<int32_t>(input_of(*test, "expert_map").bits(static_cast<int64_t>(e)));
  const auto expert_of = [&](int64_t i) {
    return x.dtype() == HIPOPS_I32 ? int64_t{static_cast<int32_t>(x.bits(i))} : static_cast<int64_t>(x.bits(i));
  };
  const auto elements = [&](const char* name) { return static_cast<size_t>(output_of(test, name).layout.elements); };
  const Aligned all = align(x.tensor.layout.elements, expert_of, map, static_cast<int64_t>(test->params.at("block_size")),
                            elements("sorted_ids"), elements("expert_ids"));
  expect_bits(test, "sorted_ids", all.sorted_ids);
  expect_bits(test, "expert_ids", all.expert_ids);
  expect_bits(test, "count", {all.count});
}

void random_align(RandomCase& m) {
  const int64_t experts = m.choices.one_in(4) ? m.choices.between(1, 1024) : m.choices.between(1, 40);
  const int64_t size = m.choices.one_in(4) ? m.choices.between(1, 130) : m.choices.pick<int64_t>({1, 2, 4, 16});
  const int64_t k = m.choices.between(0, 9), tokens = m.choices.between(0, m.choices.one_in(4) ? 2000 : 30);
  const int64_t total = tokens * k, places = total + std::min(total, experts) * (size - 1) + m.choices.below(4);
  const int64_t spread = experts + (m.choices.one_in(3) ? 3 : 0);
  const bool has_negative = m.choices.one_in(4), is_one = m.choices.one_in(8);
  m.test.params = {{"experts", static_cast<double>(experts)}, {"block_size", static_cast<double>(size)}};
  const auto id = [=](uint64_t word, double) {
    if (has_negative && word % 11 == 0) return m.test.dtype == HIPOPS_I64 ? UINT64_MAX - word % 7 : uint64_t{UINT32_MAX};
    return is_one ? uint64_t{0} : word / 11 % static_cast<uint64_t>(spread);
  };
  m.add(tensor_of("x", random_layout(m.choices, m.test.dtype, {tokens, k}, Use::kSource), id, m.choices.below(1 << 16)));
  if (m.choices.one_in(2)) {
    const auto local = [=](uint64_t word, double) { return word % 3 == 0 ? uint64_t{UINT32_MAX} : word / 3 % 50; };
    m.add(tensor_of("expert_map", random_layout(m.choices, HIPOPS_I32, {experts}, Use::kSource), local, m.choices.below(1 << 16)));
  }
  m.add_output("sorted_ids", random_layout(m.choices, HIPOPS_I32, {places}, Use::kOutput));
  m.add_output("expert_ids", random_layout(m.choices, HIPOPS_I32, {(places + size - 1) / size + m.choices.between(0, 2)}, Use::kOutput));
  m.add_output("count", plain_layout(HIPOPS_I32, {1}));
}

// ---- Past 2^31 elements and 4 GiB

struct FarIds {
  const char* name;
  hipops_dtype dtype;
  int64_t tokens, k, token_pitch, pitch, sorted_pitch, block_pitch;
};

void run(large::Stage& stage, const FarIds& c) {
  constexpr int64_t kExperts = 60, kSize = 16;
  const large::Pattern ids = large::random_integers(c.dtype, 1, kExperts, 1021);
  const int64_t total = c.tokens * c.k, places = total + kExperts * (kSize - 1), blocks = (places + kSize - 1) / kSize;
  large::Memory& x = stage.memory("x", ids, (c.tokens - 1) * c.token_pitch + (c.k - 1) * c.pitch + 1);
  large::Memory& sorted = stage.unwritten_memory("sorted_ids", HIPOPS_I32, (places - 1) * c.sorted_pitch + 1);
  large::Memory& of_blocks = stage.unwritten_memory("expert_ids", HIPOPS_I32, (blocks - 1) * c.block_pitch + 1);
  large::Memory& count = stage.unwritten_memory("count", HIPOPS_I32, 1);
  const hipops_tensor from = x.view({c.tokens, c.k}, {c.token_pitch, c.pitch}), to = sorted.view({places}, {c.sorted_pitch});
  const hipops_tensor experts = of_blocks.view({blocks}, {c.block_pitch}), end = count.view({1});
  stage.called([&] { return hipops_moe_align_block_size(&to, &experts, &end, &from, nullptr, kExperts, kSize, nullptr); });
  const auto expert_of = [&](int64_t i) { return static_cast<int64_t>(ids(i / c.k * c.token_pitch + i % c.k * c.pitch)); };
  const auto all = std::make_shared<Aligned>(align(total, expert_of, every_expert(kExperts), kSize, static_cast<size_t>(places),
                                                   static_cast<size_t>(blocks)));
  stage.expect(sorted, large::elements_are(to, 0, sorted.pattern(), [=](const int64_t* at) { return all->sorted_ids[static_cast<size_t>(*at)]; }));
  stage.expect(of_blocks, large::elements_are(experts, 0, of_blocks.pattern(), [=](const int64_t* at) { return all->expert_ids[static_cast<size_t>(*at)]; }));
  stage.expect(count, large::elements_are(end, 0, count.pattern(), [=](const int64_t*) { return all->count; }));
  stage.expect_unchanged(x);
}

void add_large_cases(int64_t giant, std::vector<large::LargeCase>* cases) {
  const FarIds all[] = {
      {"far_tokens", HIPOPS_I32, 5, 300, giant / 4 + 300, 1, 1, 1},
      {"far_ids", HIPOPS_U32, 5, 9, 1, giant / 8 + 5, 1, 1},
      {"far_tokens", HIPOPS_I64, 9, 4, giant / 16 + 5, 1, 1, 1},
      {"far_results", HIPOPS_I32, 300, 4, 4, 1, giant / 1024 + 3, 1},
      {"far_blocks", HIPOPS_I64, 200, 8, 8, 1, 1, giant / 128 + 3},
      {"many_ids", HIPOPS_U32, giant / 2048 + 3, 8, 8, 1, 1, 1},
  };
  for (const FarIds& c : all)
    cases->push_back({"moe_align_block_size", c.dtype, large::large_name(c.name, c.dtype), {c.tokens, c.k},
                      [c](large::Stage& stage) { run(stage, c); }});
}

Shape one(const Shape&, const Shape&, size_t) { return {1}; }

}  // namespace

OpEntry describe_moe_align_block_size() {
  OpEntry op = {"moe_align_block_size", {HIPOPS_I32, HIPOPS_U32, HIPOPS_I64}};
  op.outputs = {{"sorted_ids", Role::kIndex}, {"expert_ids", Role::kIndex}, {"count", Role::kIndex, false, one}};
  op.inputs = {kX, {"expert_map", Role::kIndex, true}};
  op.params = {{"experts", true, false}, {"block_size", true, false}};
  op.bind = [](const Arguments& a) {
    return bound(hipops_moe_align_block_size, a["sorted_ids"], a["expert_ids"], a["count"], a["x"], a["expert_map"],
                 a.integer("experts"), a.integer("block_size"), a.stream());
  };
  op.random_case = random_align;
  op.reference = reference;
  op.large_cases = add_large_cases;
  return op;
}

}  // namespace hipops::parity
