// hipops_dynamic_quantize: the arguments that it refuses, and scales of any strides.
#include "op_call.h"
#include "parity/ops/quantised.h"

using namespace hipops_test;
namespace parity = hipops::parity;

namespace {

constexpr const char* kName = "dynamic_quantize";

// Changes a valid call, with groups of `group` columns and a scale for each.
template <class Spoil>
void refused(int64_t group, hipops_status status, const std::string& message, Spoil spoil) {
  OpCall call(kName);
  call.params["group"] = static_cast<double>(group);
  if (group > 0) call["scale"] = view_of(1 << 20, HIPOPS_F32, {4, 8 / group});
  if (group == HIPOPS_WHOLE_TENSOR) call["scale"] = view_of(1 << 20, HIPOPS_F32, {});
  spoil(call);
  call.refused(status, message);
}
template <class Spoil>
void invalid(int64_t group, const std::string& message, Spoil spoil) {
  refused(group, HIPOPS_INVALID_ARGUMENT, message, spoil);
}

}  // namespace

TEST_CASE("dynamic_quantize refuses tensors of other shapes or dtypes, and invalid groups", "[dynamic_quantize]") {
  check_calls([] {
    check_every_tensor(kName);
    invalid(0, "q.shape[0] is 3, expected 4 (x.shape[0])", [](OpCall& c) { c["q"].shape[0] = 3; });
    invalid(0, "scale.shape[0] is 3, expected 4 (x.shape[0])", [](OpCall& c) { c["scale"].shape[0] = 3; });
    invalid(0, "x.rank is 0, expected 1 to 8", [](OpCall& c) { c["x"].rank = c["q"].rank = 0; });
    invalid(0, "x.shape[1] is 0, expected 1 or more with scale", [](OpCall& c) {
      for (const char* tensor : {"x", "q"}) c.set_shape(tensor, {4, 0});
    });
    invalid(2, "x.rank is 8, expected 1 to 7", [](OpCall& c) {
      for (const char* tensor : {"x", "q"}) c.set_shape(tensor, {1, 1, 1, 1, 1, 1, 0, 8});
    });
    invalid(2, "scale.shape[1] is 3, expected 4 (x.shape[1] / group)", [](OpCall& c) { c["scale"].shape[1] = 3; });
    invalid(2, "scale.shape[0] is 5, expected 4 (x.shape[0])", [](OpCall& c) { c["scale"].shape[0] = 5; });
    invalid(4, "scale.rank is 1, expected 2 (x.rank)", [](OpCall& c) { c["scale"].rank = 1; });
    invalid(2, "scale overlaps q, expected separate memory", [](OpCall& c) { c["scale"].data = c.data("q"); });
    invalid(2, "scale overlaps x, expected separate memory", [](OpCall& c) { c["scale"].data = c.data("x"); });
    invalid(0, "group is -2, expected 0 or more, or HIPOPS_WHOLE_TENSOR (-1)", [](OpCall& c) { c.params["group"] = -2; });
    invalid(HIPOPS_WHOLE_TENSOR, "scale has 4 elements, expected 1", [](OpCall& c) { c["scale"] = view_of(1 << 20, HIPOPS_F32, {4}); });
    invalid(HIPOPS_WHOLE_TENSOR, "x.shape[0] is 0, expected 1 or more with scale", [](OpCall& c) {
      for (const char* tensor : {"x", "q"}) c.set_shape(tensor, {0, 8});
    });
    invalid(HIPOPS_WHOLE_TENSOR, "scale overlaps x, expected separate memory", [](OpCall& c) { c["scale"].data = c.data("x"); });
    invalid(HIPOPS_WHOLE_TENSOR, "scale overlaps q, expected separate memory", [](OpCall& c) { c["scale"].data = c.data("q"); });
    invalid(0, "workspace is NULL, expected memory of workspace_bytes, 8, or workspace_bytes 0", [](OpCall& c) { c.workspace_bytes = 8; });
    for (const int64_t group : {3, 7, 16})
      invalid(0, "group is " + std::to_string(group) + ", expected 0 or a divisor of 8 (x.shape[1])",
              [group](OpCall& c) { c.params["group"] = static_cast<double>(group); });
    invalid(0, "scale_ub has 2 elements, expected 1", [](OpCall& c) { c["scale_ub"] = view_of(1 << 20, HIPOPS_F32, {2}); });
    invalid(0, "flags is 0x1, expected 0 or some of HIPOPS_FNUZ_240 (0x80) and HIPOPS_BATCH_INVARIANT (0x10)",
            [](OpCall& c) { c.params["flags"] = 1; });
    refused(0, HIPOPS_UNSUPPORTED_DTYPE, "q.dtype is f16, expected f8_e4m3fn, f8_e4m3fnuz, f8_e5m2, f8_e5m2fnuz or i8",
            [](OpCall& c) { c["q"].dtype = HIPOPS_F16, c["q"].stride[0] = 4, c["q"].shape[1] = c["x"].shape[1] = 4; });
    refused(0, HIPOPS_UNSUPPORTED_DTYPE, "x.dtype is f64, expected f32, f16 or bf16", [](OpCall& c) {
      c["x"] = view_of(1 << 20, HIPOPS_F64, {4, 8});
    });
    for (const int64_t group : {0, 2, HIPOPS_WHOLE_TENSOR})
      refused(group, HIPOPS_UNSUPPORTED_DTYPE,
              std::string("scale.dtype is f16, expected f32") + (group == 0 ? " (x.dtype is f32)" : ""),
              [](OpCall& c) { c["scale"].dtype = HIPOPS_F16; });
    refused(0, HIPOPS_UNSUPPORTED_DTYPE, "scale_ub.dtype is f16, expected f32",
            [](OpCall& c) { c["scale_ub"].dtype = HIPOPS_F16; });
  });
}

TEST_CASE("dynamic_quantize gives the same bits for each place of scales and each alignment", "[dynamic_quantize]") {
  on_cpu([] {
    for (const hipops_dtype dtype : {HIPOPS_F32, HIPOPS_F16, HIPOPS_BF16})
      for (const hipops_dtype quantised : parity::kQuantised)
        for (const int64_t cols : {8, 12, 64, 257, 1024, 4096}) {
          const int64_t rows = 6, group = cols % 4 == 0 ? cols / 4 : cols, groups = cols / group;
          HostTensor x(dtype, {rows, cols}), plain(quantised, {rows, cols}), scale(HIPOPS_F32, {rows, groups});
          x.randomize(1, -3, 3);
          expect_success(hipops_dynamic_quantize(&plain.view, &scale.view, &x.view, nullptr, group, 0, nullptr, 0, nullptr));
          for (const int64_t shift : {1, 3}) {
            HostTensor moved(dtype, {rows, cols}, {cols + shift, 1}, shift), q(quantised, {rows, cols}, {}, shift);
            HostTensor by_columns(HIPOPS_F32, {rows, groups}, {1, rows});
            moved.randomize(1, -3, 3);
            expect_success(hipops_dynamic_quantize(&q.view, &by_columns.view, &moved.view, nullptr, group, 0, nullptr, 0, nullptr));
            EXPECT(all_bits(q) == all_bits(plain));
            EXPECT(all_bits(by_columns) == all_bits(scale));
          }
        }
  });
}

TEST_CASE("dynamic_quantize gives one scale with a workspace and without, and refuses a bad workspace", "[dynamic_quantize]") {
  on_cpu([] {
    for (const hipops_dtype dtype : {HIPOPS_F32, HIPOPS_F16, HIPOPS_BF16}) {
      HostTensor x(dtype, {41, 4096}), q(HIPOPS_F8_E4M3FN, {41, 4096}), scale(HIPOPS_F32, {});
      HostTensor split(HIPOPS_F8_E4M3FN, {41, 4096}), scale_of_split(HIPOPS_F32, {});
      x.randomize(1, -3, 3);
      int64_t bytes = 0;
      expect_success(hipops_dynamic_quantize_workspace_bytes(&q.view, &scale.view, &x.view, nullptr, HIPOPS_WHOLE_TENSOR, 0, &bytes));
      EXPECT(bytes > 0);
      std::vector<char> memory(static_cast<size_t>(bytes) + 512);
      void* const workspace = reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(memory.data()) + 255) / 256 * 256);
      const auto call = [&](HostTensor& to, HostTensor& one, void* space, int64_t size) {
        return hipops_dynamic_quantize(&to.view, &one.view, &x.view, nullptr, HIPOPS_WHOLE_TENSOR, 0, space, size, nullptr);
      };
      expect_success(call(q, scale, nullptr, 0));
      expect_success(call(split, scale_of_split, workspace, bytes));
      EXPECT(all_bits(split) == all_bits(q));
      EXPECT(all_bits(scale_of_split) == all_bits(scale));
      EXPECT_EQUAL(call(q, scale, workspace, bytes - 1), HIPOPS_INVALID_ARGUMENT);
      EXPECT_EQUAL(call(q, scale, static_cast<char*>(workspace) + 8, bytes), HIPOPS_INVALID_ARGUMENT);
      EXPECT_EQUAL(call(q, scale, x.view.data, bytes), HIPOPS_INVALID_ARGUMENT);
    }
  });
}
