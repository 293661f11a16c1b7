#include <algorithm>
#include <cmath>
#include <numeric>

#include "parity/ops/rows.h"

namespace hipops::parity {
namespace {

const std::vector<double> kFlags = {HIPOPS_RENORMALIZE, 0, HIPOPS_SIGMOID, HIPOPS_SIGMOID | HIPOPS_RENORMALIZE,
                                    HIPOPS_BATCH_INVARIANT};

struct Routing {
  size_t k, groups, topk_groups;
  double scale;
  uint32_t flags;

  bool is_sigmoid() const { return (flags & HIPOPS_SIGMOID) != 0; }
};

struct Routed {
  std::vector<int64_t> ids;
  std::vector<double> weights;
};

// The places of the greatest numbers of `among`, in order. NaN is greater than all numbers.
std::vector<int64_t> best(const std::vector<double>& numbers, std::vector<int64_t> among, size_t count) {
  std::stable_sort(among.begin(), among.end(), [&](int64_t a, int64_t b) {
    const double of_a = numbers[static_cast<size_t>(a)], of_b = numbers[static_cast<size_t>(b)];
    return std::isnan(of_a) ? !std::isnan(of_b) : of_a > of_b;
  });
  among.resize(count);
  return among;
}

std::vector<int64_t> all_of(size_t count) {
  std::vector<int64_t> places(count);
  std::iota(places.begin(), places.end(), 0);
  return places;
}

std::vector<Real> scores_of(const std::vector<double>& logits, const Routing& routing) {
  std::vector<Real> scores(logits.begin(), logits.end());
  Real most = -INFINITY, sum = 0;
  for (const Real x : scores) most = x > most ? x : most;
  for (Real& x : scores) sum += x = routing.is_sigmoid() ? 1 / (1 + std::exp(-x)) : std::exp(x - most);
  if (!routing.is_sigmoid())
    for (Real& x : scores) x /= sum;
  return scores;
}

std::vector<int64_t> chosen_of(const std::vector<double>& choices, const Routing& routing, bool has_bias) {
  if (routing.groups < 2) return best(choices, all_of(choices.size()), routing.k);
  const size_t size = choices.size() / routing.groups;
  std::vector<double> of_groups;
  for (size_t group = 0; group < routing.groups; ++group) {
    std::vector<int64_t> own = all_of(size);
    for (int64_t& expert : own) expert += static_cast<int64_t>(group * size);
    own = best(choices, own, std::min<size_t>(size, 2));
    const double first = choices[static_cast<size_t>(own.front())], second = choices[static_cast<size_t>(own.back())];
    of_groups.push_back(has_bias && size > 1 ? static_cast<float>(first + second) : first);
  }
  std::vector<int64_t> kept = best(of_groups, all_of(routing.groups), routing.topk_groups), experts;
  std::sort(kept.begin(), kept.end());
  for (const int64_t group : kept)
    for (size_t i = 0; i < size; ++i) experts.push_back(static_cast<int64_t>(static_cast<size_t>(group) * size + i));
  return best(choices, experts, routing.k);
}

Routed route(const std::vector<double>& logits, const std::vector<double>* bias, const Routing& routing) {
  const std::vector<Real> scores = scores_of(logits, routing);
  std::vector<double> choices = logits;
  if (bias != nullptr)
    for (size_t e = 0; e < choices.size(); ++e) choices[e] = static_cast<float>(scores[e] + static_cast<Real>((*bias)[e]));
  Routed routed = {chosen_of(choices, routing, bias != nullptr), {}};
  std::vector<Real> of_chosen;
  std::vector<double> logits_of_chosen;
  for (const int64_t expert : routed.ids) {
    of_chosen.push_back(scores[static_cast<size_t>(expert)]);
    logits_of_chosen.push_back(logits[static_cast<size_t>(expert)]);
  }
  if (routing.flags & HIPOPS_RENORMALIZE && !routing.is_sigmoid()) {
    if (!std::isnan(scores[0])) of_chosen = scores_of(logits_of_chosen, routing);
  } else if (routing.flags & HIPOPS_RENORMALIZE) {
    const Real sum = std::accumulate(of_chosen.begin(), of_chosen.end(), Real(0));
    for (Real& score : of_chosen) score /= sum == 0 ? 1 : sum;
  }
  for (const Real score : of_chosen)
    routed.weights.push_back(static_cast<double>(score * static_cast<Real>(static_cast<float>(routing.scale))));
  return routed;
}

void reference(Case* test) {
  const Operand x = input_of(*test, "x");
  const auto param = [&](const char* name) { return static_cast<size_t>(test->params.at(name)); };
  const Routing routing{param("k"), param("groups"), param("topk_groups"), test->params.at("scale"), flags_of(*test)};
  const int64_t tokens = x.shape()[0], experts = x.shape()[1];
  std::vector<double> logits(static_cast<size_t>(experts)), bias;
  const bool has_bias = find_input(*test, "bias") != nullptr;
  for (int64_t e = 0; has_bias && e < experts; ++e) bias.push_back(input_of(*test, "bias").value(e));
  test->tolerance_ulps = 8;
  std::vector<uint64_t> ids, slots;
  for (int64_t token = 0; token < tokens; ++token) {
    for (int64_t e = 0; e < experts; ++e) logits[static_cast<size_t>(e)] = x.value(token * experts + e);
    const Routed routed = route(logits, has_bias ? &bias : nullptr, routing);
    for (size_t i = 0; i < routing.k; ++i) {
      ids.push_back(static_cast<uint64_t>(routed.ids[i]));
      slots.push_back(i * static_cast<uint64_t>(tokens) + static_cast<uint64_t>(token));
      output_of(test, "weights").values.push_back(routed.weights[i]);
    }
  }
  expect_bits(test, "ids", ids);
  if (find_output(test, "token_expert")) expect_bits(test, "token_expert", slots);
}

// With a bias, f32's rounding must not decide: either the bias alone does, or no sum is rounded.
void random_topk_softmax(RandomCase& m) {
  m.pick_params();
  std::map<std::string, double>& params = m.test.params;
  const int64_t groups = m.choices.one_in(2) ? m.choices.between(2, 32) : m.choices.between(0, 1);
  int64_t experts = m.choices.one_in(4) ? m.choices.between(1, 1024) : m.choices.between(1, 70);
  if (groups > 1) experts = std::min(std::max<int64_t>(experts / groups, 1), 1024 / groups) * groups;
  const int64_t kept = groups > 1 ? m.choices.between(1, groups) : 0;
  const int64_t most = groups > 1 ? experts / groups * kept : experts;
  const int64_t k = std::min(most, m.choices.one_in(4) ? m.choices.between(1, most) : m.choices.between(1, 9));
  params["k"] = static_cast<double>(k), params["groups"] = static_cast<double>(groups);
  params["topk_groups"] = static_cast<double>(kept);
  const Shape shape = {m.choices.between(0, std::max<int64_t>(m.budget.elements / 4 / experts, 2)), experts};
  const bool is_sigmoid = (flags_of(m.test) & HIPOPS_SIGMOID) != 0;
  const bool has_bias = m.choices.one_in(2) && (is_sigmoid || groups < 2);
  const bool has_exact_scores = is_sigmoid && (groups > 1 || m.choices.one_in(2));
  if (has_bias && has_exact_scores) {
    const auto logit = [dtype = m.test.dtype](uint64_t word, double) {
      return encode(dtype, word % 3 == 0 ? 0.0 : word % 3 == 1 ? INFINITY : -INFINITY);
    };
    m.add(tensor_of("x", random_layout(m.choices, m.test.dtype, shape, Use::kSource), logit, m.choices.below(1 << 16)));
  } else if (is_sigmoid && (flags_of(m.test) & HIPOPS_RENORMALIZE)) {  // no scores below f32's normal numbers
    const auto logit = [dtype = m.test.dtype](uint64_t word, double) { return encode(dtype, static_cast<double>(word % 4001) / 100 - 20); };
    m.add(tensor_of("x", random_layout(m.choices, m.test.dtype, shape, Use::kSource), logit, m.choices.below(1 << 16)));
  } else if (m.choices.one_in(3) && !has_bias) {
    m.add_bits("x", shape);
  } else {
    m.add_numbers("x", shape);
  }
  if (has_bias) {
    InputTensor bias;
    bias.name = "bias";
    bias.layout = plain_layout(HIPOPS_F32, {experts});
    for (int64_t e = 0; e < experts; ++e)  // distinct: 1031 is a prime
      bias.bits.push_back(encode(HIPOPS_F32, has_exact_scores ? static_cast<double>(e * 7 % 5) / 8
                                                              : static_cast<double>(e * 389 % 1031) * 4 - 900));
    m.add(bias);
  }
  const Shape results = {shape[0], k};
  m.add_output("weights", random_layout(m.choices, HIPOPS_F32, results, Use::kOutput));
  const std::vector<hipops_dtype> kinds = {HIPOPS_I32, HIPOPS_U32, HIPOPS_I64};
  m.add_output("ids", random_layout(m.choices, m.choices.pick(kinds), results, Use::kOutput));
  if (m.choices.one_in(2))
    m.add_output("token_expert", random_layout(m.choices, m.choices.pick(kinds), results, Use::kOutput));
}

// ---- Past 2^31 elements and 4 GiB

struct ManyTokens {
  const char* name;
  hipops_dtype dtype, ids;
  int64_t tokens, experts, pitch, k, groups, topk_groups;
};

// Sigmoids of 0 and of infinities are exact. Most choices are ties.
void run(large::Stage& stage, const ManyTokens& c) {
  std::vector<uint64_t> table;
  for (uint64_t i = 0; i < 1021; ++i) table.push_back(encode(c.dtype, i * i % 11 == 3 ? INFINITY : i * i % 7 == 2 ? 0.0 : -INFINITY));
  const large::Pattern logits(c.dtype, table);
  const int64_t period = logits.period();
  large::Memory& x = stage.memory("x", logits, c.tokens * c.pitch);
  large::Memory& found = stage.unwritten_memory("weights", HIPOPS_F32, c.tokens * c.k);
  large::Memory& places = stage.unwritten_memory("ids", c.ids, c.tokens * c.k);
  const hipops_tensor from = x.view({c.tokens, c.experts}, {c.pitch, 1});
  const hipops_tensor weights = found.view({c.tokens, c.k}), ids = places.view({c.tokens, c.k});
  stage.called([&] {
    return hipops_topk_softmax(&weights, &ids, nullptr, &from, nullptr, c.k, c.groups, c.topk_groups, 1, HIPOPS_SIGMOID, nullptr);
  });
  const Routing routing{static_cast<size_t>(c.k), static_cast<size_t>(c.groups), static_cast<size_t>(c.topk_groups), 1, HIPOPS_SIGMOID};
  auto routed = std::make_shared<std::vector<Routed>>();  // of a token whose first logit is element i of the table
  std::vector<double> row(static_cast<size_t>(c.experts));
  for (int64_t start = 0; start < period; ++start) {
    for (int64_t e = 0; e < c.experts; ++e) row[static_cast<size_t>(e)] = decode(c.dtype, logits(start + e));
    routed->push_back(route(row, nullptr, routing));
  }
  const auto of_token = [=](int64_t token) -> const Routed& { return (*routed)[static_cast<size_t>(token * c.pitch % period)]; };
  stage.expect(found, large::elements_are(weights, 0, found.pattern(), [=](const int64_t* at) {
                 return encode(HIPOPS_F32, of_token(at[0]).weights[static_cast<size_t>(at[1])]);
               }));
  stage.expect(places, large::elements_are(ids, 0, places.pattern(), [=](const int64_t* at) {
                 return static_cast<uint64_t>(of_token(at[0]).ids[static_cast<size_t>(at[1])]);
               }));
  stage.expect_unchanged(x);
}

void add_large_cases(int64_t giant, std::vector<large::LargeCase>* cases) {
  const ManyTokens all[] = {
      {"tokens", HIPOPS_BF16, HIPOPS_I32, giant / 256 + 3, 256, 256, 8, 8, 4},
      {"odd_experts", HIPOPS_F16, HIPOPS_U32, giant / 60 + 3, 60, 61, 4, 0, 0},
      {"many_experts", HIPOPS_F32, HIPOPS_I64, giant / 1024 + 3, 1024, 1024, 3, 0, 0},
      {"far_tokens", HIPOPS_F32, HIPOPS_I32, 5, 64, giant / 4 + 4, 2, 4, 2},
      {"few_experts", HIPOPS_BF16, HIPOPS_I64, giant / 8 + 5, 8, 8, 2, 0, 0},
      {"one_expert", HIPOPS_BF16, HIPOPS_I32, giant + 9, 1, 1, 1, 0, 0},
  };
  for (const ManyTokens& c : all)
    cases->push_back({"topk_softmax", c.dtype, large::large_name(c.name, c.dtype), {c.tokens, c.k},
                      [c](large::Stage& stage) { run(stage, c); }});
}

Shape results_of(const Shape&, const Shape& y, size_t) { return y; }

}  // namespace

OpEntry describe_topk_softmax() {
  OpEntry op = {"topk_softmax", {HIPOPS_F32, HIPOPS_F16, HIPOPS_BF16}};
  op.outputs = {{"weights", Role::kScalar, false, results_of}, {"ids", Role::kIndex, false, results_of},
                {"token_expert", Role::kIndex, true, results_of}};
  op.inputs = {kX, {"bias", Role::kScalar, true}};
  op.params = {{"k", true, false}, {"groups", true, false}, {"topk_groups", true, false}, {"scale", false, false, {1, 2.5}},
               {"flags", true, false, kFlags}};
  op.bind = [](const Arguments& a) {
    return bound(hipops_topk_softmax, a["weights"], a["ids"], a["token_expert"], a["x"], a["bias"], a.integer("k"),
                 a.integer("groups"), a.integer("topk_groups"), a.real("scale"), a.flags(), a.stream());
  };
  op.bench.rank = 2;
  op.bench.sizes = 1;
  op.random_case = random_topk_softmax;
  op.reference = reference;
  op.large_cases = add_large_cases;
  return op;
}

}  // namespace hipops::parity
