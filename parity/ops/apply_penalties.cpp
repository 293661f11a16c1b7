#include <algorithm>
#include <cmath>

#include "parity/ops/rows.h"

namespace hipops::parity {
namespace {

struct Numbers {
  float repetition = 1, frequency = 0, presence = 0;
};

// A token's logit, with each operation rounded to float.
double lowered(hipops_dtype dtype, double logit, bool in_prompt, int32_t count, const Numbers& n) {
  if (!in_prompt && count <= 0) return logit;
  float x = static_cast<float>(logit);
  x = x > 0 ? x / n.repetition : x * n.repetition;
  if (count > 0) {
    const float product = n.frequency * static_cast<float>(count);
    x = x - product;
    x = x - n.presence;
  }
  return decode(dtype, encode(dtype, static_cast<double>(x)));
}

void reference(Case* test) {
  const Operand x = input_of(*test, "x");
  const InputTensor *prompt = find_input(*test, "prompt"), *counts = find_input(*test, "counts");
  const int64_t rows = x.shape()[0], columns = x.shape()[1];
  for (int64_t row = 0; row < rows; ++row) {
    const auto number = [&](const char* name, float absent) {
      const InputTensor* numbers = find_input(*test, name);
      return numbers ? static_cast<float>(Operand{*numbers}.value(row)) : absent;
    };
    const Numbers numbers{number("repetition", 1), number("frequency", 0), number("presence", 0)};
    for (int64_t at = row * columns; at < (row + 1) * columns; ++at)
      output_of(test, "y").values.push_back(lowered(x.dtype(), x.value(at), prompt && prompt->element(at) != 0,
                                                    counts ? static_cast<int32_t>(counts->element(at)) : 0, numbers));
  }
}

void random_penalties(RandomCase& m) {
  Choices& choose = m.choices;
  const int64_t columns = choose.one_in(8) ? choose.between(1, 20000) : choose.one_in(2) ? choose.between(1, 1500) : choose.between(0, 40);
  const Shape shape = {choose.between(0, std::clamp<int64_t>(m.budget.elements / 4 / std::max<int64_t>(columns, 1), 1, 40)), columns};
  m.add_x_and_y(shape);
  const uint64_t rare = choose.pick<uint64_t>({2, 1, 9, 500});
  const auto seed = [&] { return choose.below(1 << 16); };
  if (!choose.one_in(4))
    m.add(tensor_of("prompt", random_layout(choose, HIPOPS_U8, shape, Use::kSource),
                    [=](uint64_t word, double) { return word % rare == 0 ? word >> 32 & 255 : 0; }, seed()));
  if (!choose.one_in(4))
    m.add(tensor_of("counts", random_layout(choose, HIPOPS_I32, shape, Use::kSource), [=](uint64_t word, double) {
      if (word % rare != 0) return uint64_t{0};
      return word >> 32 & 31 ? word >> 40 & 7 : word >> 32;  // a few are any number
    }, seed()));
  const auto add = [&](const char* name, double neutral, double usual) {
    const bool has_specials = choose.one_in(4);
    if (choose.one_in(3)) return;
    m.add(tensor_of(name, random_layout(choose, HIPOPS_F32, {shape[0]}, Use::kSource), [=](uint64_t word, double) {
      const double special[] = {neutral, 0, -usual, 1e-30, 1e30, INFINITY, -INFINITY, NAN};
      return encode(HIPOPS_F32, has_specials ? special[word % 8] : usual * static_cast<double>(word >> 40 & 1023) / 512);
    }, seed()));
  };
  add("repetition", 1, 1.2);
  add("frequency", 0, 0.3);
  add("presence", 0, 0.7);
}

// ---- Past 2^31 elements and 4 GiB

struct ManyLogits {
  const char* name;
  hipops_dtype dtype;
  int64_t rows, columns;
  Shape x, y, prompt, counts;  // strides; without y's it is x
};

// Results have few bits, so they are exact.
void run(large::Stage& stage, const ManyLogits& c) {
  constexpr Numbers kNumbers = {2, 0.5, 0.25};
  const auto memory = [&](const char* name, const large::Pattern& pattern, const Shape& stride) -> large::Memory& {
    return stage.memory(name, pattern, (c.rows - 1) * stride[0] + (c.columns - 1) * stride[1] + 1);
  };
  std::vector<uint64_t> often;
  for (uint64_t i = 0; i < 1021; ++i) often.push_back(i % 9 == 4 ? i % 5 : 0);
  const large::Pattern logits = large::random_floats(c.dtype, 1, 8, 0.125), tokens(HIPOPS_U8, often), numbers(HIPOPS_I32, often);
  large::Memory &x = memory("x", logits, c.x), &prompt = memory("prompt", tokens, c.prompt), &counts = memory("counts", numbers, c.counts);
  large::Memory* const y = c.y.empty() ? &x : &stage.unwritten_memory("y", c.dtype, (c.rows - 1) * c.y[0] + (c.columns - 1) * c.y[1] + 1);
  const auto of_rows = [&](const char* name, double number) {
    return stage.memory(name, large::Pattern(HIPOPS_F32, {encode(HIPOPS_F32, number)}), 1).view({c.rows}, {0});
  };
  const hipops_tensor repetition = of_rows("repetition", kNumbers.repetition), frequency = of_rows("frequency", kNumbers.frequency),
                      presence = of_rows("presence", kNumbers.presence);
  const Shape shape = {c.rows, c.columns};
  const hipops_tensor from = x.view(shape, c.x), to = y->view(shape, c.y.empty() ? c.x : c.y);
  const hipops_tensor in_prompt = prompt.view(shape, c.prompt), in_output = counts.view(shape, c.counts);
  stage.called([&] { return hipops_apply_penalties(&to, &from, &in_prompt, &in_output, &repetition, &frequency, &presence, nullptr); });
  stage.expect(*y, large::elements_are(to, 0, y->pattern(), [=](const int64_t* at) {
                 const auto place = [&](const Shape& stride) { return at[0] * stride[0] + at[1] * stride[1]; };
                 return encode(c.dtype, lowered(c.dtype, decode(c.dtype, logits(place(c.x))), tokens(place(c.prompt)) != 0,
                                                static_cast<int32_t>(numbers(place(c.counts))), kNumbers));
               }));
  if (!c.y.empty()) stage.expect_unchanged(x);
}

void add_large_cases(int64_t giant, std::vector<large::LargeCase>* cases) {
  const int64_t far = giant / 4 + 4;
  const ManyLogits all[] = {
      {"rows", HIPOPS_BF16, giant / 256 + 3, 256, {256, 1}, {256, 1}, {256, 1}, {256, 1}},
      {"odd_rows", HIPOPS_F32, giant / 1000 + 3, 999, {1001, 1}, {}, {999, 1}, {999, 1}},
      {"row", HIPOPS_F16, 1, giant + 9, {0, 1}, {}, {0, 1}, {0, 1}},
      {"far_rows", HIPOPS_F32, 5, 300, {far, 1}, {300, 1}, {301, 1}, {304, 1}},
      {"far_rows_in_place", HIPOPS_BF16, 5, 300, {far, 1}, {}, {301, 1}, {304, 1}},
      {"far_columns", HIPOPS_BF16, 3, 90, {1, giant / 64 + 5}, {90, 1}, {90, 1}, {90, 1}},
      {"far_y", HIPOPS_F16, 5, 300, {300, 1}, {far, 1}, {300, 1}, {0, 0}},
      {"far_prompt", HIPOPS_F32, 5, 1100, {1100, 1}, {}, {far, 1}, {1100, 1}},
      {"far_counts", HIPOPS_BF16, 5, 1100, {1100, 1}, {}, {1100, 1}, {far, 1}},
  };
  for (const ManyLogits& c : all)
    cases->push_back({"apply_penalties", c.dtype, large::large_name(c.name, c.dtype), {c.rows}, [c](large::Stage& stage) { run(stage, c); }});
}

Shape rows_of(const Shape& x, const Shape&, size_t) { return {x[0]}; }

}  // namespace

OpEntry describe_apply_penalties() {
  OpEntry op = {"apply_penalties", {HIPOPS_F32, HIPOPS_F16, HIPOPS_BF16}, {kY}};
  op.inputs = {kX,
               {"prompt", Role::kIndex, true},
               {"counts", Role::kIndex, true},
               {"repetition", Role::kScalar, true, rows_of},
               {"frequency", Role::kScalar, true, rows_of},
               {"presence", Role::kScalar, true, rows_of}};
  op.bind = [](const Arguments& a) {
    return bound(hipops_apply_penalties, a["y"], a["x"], a["prompt"], a["counts"], a["repetition"], a["frequency"], a["presence"], a.stream());
  };
  op.in_place = {{"y", {"x"}}};
  op.bench.rank = 2;
  op.random_case = random_penalties;
  op.reference = reference;
  op.large_cases = add_large_cases;
  return op;
}

}  // namespace hipops::parity
