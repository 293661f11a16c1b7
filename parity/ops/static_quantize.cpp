#include "parity/ops/activations.h"
#include "parity/ops/quantised.h"

namespace hipops::parity {
namespace {

void reference(Case* test) {
  const Operand x = input_of(*test, "x"), scale = input_of(*test, "scale");
  const hipops_dtype dtype = output_of(test, "q").layout.dtype;
  const bool is_one = scale.tensor.layout.elements == 1;
  std::vector<uint64_t> codes;
  for (int64_t position = 0; position < x.tensor.layout.elements; ++position)
    codes.push_back(quantised_quotient(dtype, x.value(position), scale.value(is_one ? 0 : position)));
  expect_bits(test, "q", codes);
}

// A scale for all elements, for each element, or repeated along some dimensions.
void random_static_quantize(RandomCase& m) {
  const Shape shape = random_shape(m.choices, random_rank(m.choices, 0), m.budget);
  m.choices.one_in(2) ? m.add_numbers("x", shape) : m.add_bits("x", shape);
  Layout scales = plain_layout(HIPOPS_F32, m.choices.one_in(4) ? Shape{} : shape);
  if (!scales.shape.empty()) {
    scales = random_layout(m.choices, HIPOPS_F32, shape, Use::kSource);
    if (m.choices.one_in(2))
      for (size_t d = 0; d < shape.size(); ++d)
        if (m.choices.one_in(2)) scales.stride.resize(shape.size(), 0), scales.stride[d] = 0;
    measure(&scales);
  }
  const double size = m.choices.pick({1.0, 0.01, 1e-4, 3e-39});
  m.add(tensor_of("scale", scales, [=](uint64_t word, double) {
    return encode(HIPOPS_F32, size * (1 + static_cast<double>(word >> 11) * 0x1p-53) * (word % 16 == 0 ? -1 : 1));
  }, m.choices.below(uint64_t{1} << 32)));
  m.add_output("q", random_layout(m.choices, m.choices.pick(kQuantised), shape, Use::kOutput));
}

// ---- Every number of 16 bits, and tensors past 2^31 elements and 4 GiB

struct Quantised {
  const char* name;
  hipops_dtype dtype, q;
  Shape shape, stride;
  int64_t elements;  // of x's memory
};

void run(large::Stage& stage, const Quantised& c) {
  std::vector<uint64_t> every(large::kPeriod + 16);  // a period that is no power of two, of all numbers
  for (size_t i = 0; i < every.size(); ++i) every[i] = c.dtype == HIPOPS_F32 ? mixed_bits(i) & 0xffffffff : i & 0xffff;
  const large::Pattern values(c.dtype, every);
  large::Memory& from = stage.memory("x", values, c.elements);
  large::Memory& one = stage.memory("scale", large::Pattern(HIPOPS_F32, {encode(HIPOPS_F32, 0.75)}), 1);
  large::Memory& q = stage.unwritten_memory("q", c.q, c.shape[0] * c.shape[1]);
  const hipops_tensor x = from.view(c.shape, c.stride), scale = one.view({}), to = q.view(c.shape);
  stage.called([&] { return hipops_static_quantize(&to, &x, &scale, nullptr); });
  std::vector<uint64_t> codes;
  for (const uint64_t bits : every) codes.push_back(quantised_quotient(c.q, decode(c.dtype, bits), 0.75));
  const large::Pattern expected(c.q, codes);
  stage.expect(q, large::elements_are(to, 0, q.pattern(), [=](const int64_t* index) {
                 return expected(index[0] * x.stride[0] + index[1] * x.stride[1]);
               }));
  stage.expect_unchanged(from);
}

void add_large_cases(int64_t giant, std::vector<large::LargeCase>* cases) {
  const int64_t rows = giant / 96 + 5, odd = giant / 201 + 3, all = giant + 7 > 80000 ? giant + 7 : 80000;
  std::vector<Quantised> list;
  for (const hipops_dtype q : kQuantised)
    for (const hipops_dtype dtype : {HIPOPS_F32, HIPOPS_F16, HIPOPS_BF16})
      list.push_back({dtype == HIPOPS_F32 && q != HIPOPS_I8 ? "random" : "every_number", dtype, q, {2, 40000}, {40000, 1}, 80000});
  list.push_back({"run", HIPOPS_BF16, HIPOPS_F8_E4M3FN, {1, all}, {1, 1}, all});
  list.push_back({"run", HIPOPS_F32, HIPOPS_I8, {1, all}, {1, 1}, all});
  list.push_back({"pitched", HIPOPS_BF16, HIPOPS_F8_E5M2, {rows, 96}, {104, 1}, rows * 104});
  list.push_back({"odd_rows", HIPOPS_F16, HIPOPS_F8_E4M3FNUZ, {odd, 201}, {203, 1}, odd * 203});
  list.push_back({"transposed", HIPOPS_F32, HIPOPS_F8_E5M2FNUZ, {3, giant / 3}, {1, 3}, giant});
  for (const Quantised& c : list)
    cases->push_back({"static_quantize", c.dtype, large::large_name(c.name, c.dtype) + "_" + dtype_name(c.q), c.shape,
                      [c](large::Stage& stage) { run(stage, c); }});
}

}  // namespace

OpEntry describe_static_quantize() {
  OpEntry op = {"static_quantize", kActivationDtypes, {{"q", Role::kQuantised}}, {kX}};
  op.inputs.push_back({"scale", Role::kScalar, false, [](const Shape&, const Shape&, size_t) { return Shape{}; }});
  op.bind = [](const Arguments& a) { return bound(hipops_static_quantize, a["q"], a["x"], a["scale"], a.stream()); };
  op.random_case = random_static_quantize;
  op.reference = reference;
  op.large_cases = add_large_cases;
  return op;
}

}  // namespace hipops::parity
