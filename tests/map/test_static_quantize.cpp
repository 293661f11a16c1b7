// hipops_static_quantize: the arguments that it refuses, and scales of groups of columns.
#include "op_call.h"
#include "parity/ops/quantised.h"

using namespace hipops_test;
namespace parity = hipops::parity;

namespace {

constexpr const char* kName = "static_quantize";

}  // namespace

TEST_CASE("static_quantize refuses tensors of other shapes or dtypes", "[static_quantize]") {
  check_calls([] {
    check_every_tensor(kName);
    OpCall rows(kName), none(kName), scales(kName), rank(kName), quantised(kName), half(kName), wide(kName, HIPOPS_F64);
    rows["q"].shape[0] = 3;
    rows.invalid("q.shape[0] is 3, expected 4 (x.shape[0])");
    scales["scale"].shape[1] = 7;
    scales.invalid("scale.shape[1] is 7, expected 8 (x.shape[1])");
    none["scale"].shape[1] = 0;
    none.invalid("scale.shape[1] is 0, expected 8 (x.shape[1])");
    rank["scale"].rank = 1;
    rank.invalid("scale.rank is 1, expected 2 (x.rank)");
    half["scale"].dtype = HIPOPS_F16;
    half.refused(HIPOPS_UNSUPPORTED_DTYPE, "scale.dtype is f16, expected f32");
    quantised["q"].dtype = HIPOPS_U8;
    quantised.refused(HIPOPS_UNSUPPORTED_DTYPE,
                      "q.dtype is u8, expected f8_e4m3fn, f8_e4m3fnuz, f8_e5m2, f8_e5m2fnuz or i8");
    wide.refused(HIPOPS_UNSUPPORTED_DTYPE, "x.dtype is f64, expected f32, f16 or bf16");
    for (const hipops_dtype dtype : {HIPOPS_F8_E4M3FN, HIPOPS_I8}) {
      OpCall x(kName);
      x["x"].dtype = dtype;
      x.refused(HIPOPS_UNSUPPORTED_DTYPE, std::string("x.dtype is ") + parity::dtype_name(dtype) + ", expected f32, f16 or bf16");
    }
  });
}

TEST_CASE("static_quantize of views, with a scale for each group of columns", "[static_quantize]") {
  on_cpu([] {
    for (const hipops_dtype dtype : {HIPOPS_F32, HIPOPS_F16, HIPOPS_BF16})
      for (const hipops_dtype quantised : parity::kQuantised)
        for (const int64_t group : {1, 7, 8, 12, 16, 20, 128})
          for (const int64_t shift : {0, 1, 4}) {
            const int64_t rows = 5, groups = 3, cols = group * groups;
            HostTensor x(dtype, {rows, cols}, {cols + shift, 1}, shift), q(quantised, {rows, cols}, {}, shift);
            HostTensor scale(HIPOPS_F32, {groups, rows});
            x.randomize(1, -3, 3);
            scale.randomize(2, 0.001, 0.1);
            hipops_tensor in = x.view, out = q.view, by_group = scale.view;
            for (hipops_tensor* t : {&in, &out}) {
              t->rank = 3, t->shape[1] = groups, t->shape[2] = group;
              t->stride[1] = group, t->stride[2] = 1;
            }
            by_group = in;
            by_group.data = scale.view.data, by_group.dtype = HIPOPS_F32;
            by_group.stride[0] = 1, by_group.stride[1] = rows, by_group.stride[2] = 0;
            expect_success(hipops_static_quantize(&out, &in, &by_group, nullptr));
            for (int64_t i = 0; i < rows * cols; ++i)
              EXPECT_EQUAL(q.bits(i), parity::quantised_quotient(quantised, x.get(i), scale.get(i % cols / group * rows + i / cols)));
          }
  });
}
