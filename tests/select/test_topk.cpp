// hipops_topk: the arguments that it refuses, and results that do not depend on the grid, the workspace or other rows.
#include "op_call.h"
#include "parity/temporary_options.h"

using namespace hipops_test;

namespace {

// The indices that a call returns for some rows of x.
std::vector<double> columns_of(const HostTensor& x, int64_t first, int64_t rows, int64_t k, uint32_t flags, bool has_workspace) {
  static std::vector<char> memory(1 << 21);
  hipops_tensor view = x.view;
  view.shape[0] = rows;
  view.data = static_cast<char*>(view.data) + first * view.stride[0] * 4;
  HostTensor indices(HIPOPS_I32, {rows, k}), values(HIPOPS_F32, {rows, k});
  int64_t bytes = 0;
  expect_success(hipops_topk_workspace_bytes(&values.view, &indices.view, &view, nullptr, nullptr, k, flags, &bytes));
  char* const aligned = memory.data() + (256 - reinterpret_cast<uintptr_t>(memory.data()) % 256);
  EXPECT(bytes + 256 <= static_cast<int64_t>(memory.size()));
  std::memset(aligned, 0xff, static_cast<size_t>(bytes));
  void* const workspace = has_workspace && bytes != 0 ? aligned : nullptr;
  expect_success(hipops_topk(&values.view, &indices.view, &view, nullptr, nullptr, k, flags, workspace, workspace ? bytes : 0, nullptr));
  std::vector<double> columns;
  for (int64_t i = 0; i < indices.count(); ++i) columns.push_back(indices.get(i));
  return columns;
}

template <class Spoil>
void refuses(hipops_status status, const std::string& message, Spoil spoil, hipops_dtype dtype = HIPOPS_F32) {
  OpCall call("topk", dtype);
  spoil(call);
  call.refused(status, message);
  call.workspace_refused(status, message);
}
template <class Spoil>
void invalid(const std::string& message, Spoil spoil) {
  refuses(HIPOPS_INVALID_ARGUMENT, message, spoil);
}

}  // namespace

TEST_CASE("topk refuses other shapes, dtypes, flags and k", "[topk]") {
  check_calls([] {
    check_every_tensor("topk");
    const auto set_k = [](double k) { return [=](OpCall& c) { c.params["k"] = k; }; };
    for (const double k : {0.0, -3.0, 65537.0})
      invalid("k is " + std::to_string(static_cast<int64_t>(k)) + ", expected 1 to 65536", set_k(k));
    invalid("k is 9, expected at most 8 (x.shape[1])", set_k(9));
    invalid("indices.shape[1] is 8, expected 5 (k)", set_k(5));
    invalid("values.shape[1] is 7, expected 8 (k)", [](OpCall& c) { c["values"].shape[1] = 7; });
    invalid("indices.shape[0] is 3, expected 4 (x.shape[0])", [](OpCall& c) { c["indices"].shape[0] = 3; });
    invalid("indices.rank is 1, expected 2 (x.rank)", [](OpCall& c) { c["indices"].rank = 1; });
    invalid("x.rank is 0, expected 1 to 8", [](OpCall& c) { c["x"].rank = 0; });
    invalid("x.shape[1] is 4294967295, expected at most 4294967294", [](OpCall& c) {
      c["x"].shape[1] = UINT32_MAX, c["x"].stride[1] = 0;
    });
    for (const char* of_rows : {"lengths", "row_begin"}) {
      const std::string name = of_rows;
      invalid(name + ".shape[0] is 3, expected 4 (x.shape[0])", [&](OpCall& c) { c[name].shape[0] = 3; });
      refuses(HIPOPS_UNSUPPORTED_DTYPE, name + ".dtype is u32, expected i64 or i32", [&](OpCall& c) { c[name].dtype = HIPOPS_U32; });
    }
    refuses(HIPOPS_UNSUPPORTED_DTYPE, "indices.dtype is i16, expected i64, i32 or u32", [](OpCall& c) { c["indices"].dtype = HIPOPS_I16; });
    refuses(HIPOPS_UNSUPPORTED_DTYPE, "indices.dtype is i32, expected i64 or u32 for numbers up to 2147483648", [](OpCall& c) {
      c["x"].shape[1] = (int64_t{1} << 31) + 1, c["x"].stride[1] = 0;
    });
    refuses(HIPOPS_UNSUPPORTED_DTYPE, "values.dtype is f16, expected f32 (x.dtype)", [](OpCall& c) { c["values"].dtype = HIPOPS_F16; });
    for (const hipops_dtype dtype : {HIPOPS_F64, HIPOPS_I32})
      refuses(HIPOPS_UNSUPPORTED_DTYPE, std::string("x.dtype is ") + hipops::parity::dtype_name(dtype) + ", expected f32, f16 or bf16",
              [](OpCall&) {}, dtype);
    invalid("flags is 0x1, expected 0 or some of HIPOPS_SMALLEST (0x100), HIPOPS_SORTED (0x200), HIPOPS_WINDOW_INDICES (0x400) and "
            "HIPOPS_BATCH_INVARIANT (0x10)",
            [](OpCall& c) { c.params["flags"] = 1; });
    OpCall call("topk");
    call["values"].data = call.data("indices");
    call.invalid("values overlaps indices, expected separate memory");
  });
}

TEST_CASE("topk refuses a workspace that is absent, short or shared", "[topk]") {
  check_calls([] {
    alignas(256) static char memory[1 << 15];
    HostTensor x(HIPOPS_F32, {1, 3000}), indices(HIPOPS_I64, {1, 2500});
    const auto call = [&](void* workspace, int64_t bytes) {
      return hipops_topk(nullptr, &indices.view, &x.view, nullptr, nullptr, 2500, HIPOPS_SORTED, workspace, bytes, nullptr);
    };
    const auto refused = [&](hipops_status status, const std::string& message) {
      EXPECT_EQUAL(status, HIPOPS_INVALID_ARGUMENT);
      EXPECT_EQUAL(error_without_values(), "topk: " + message);
    };
    int64_t bytes = 0;
    EXPECT_EQUAL(hipops_topk_workspace_bytes(nullptr, &indices.view, &x.view, nullptr, nullptr, 2500, HIPOPS_SORTED, &bytes), HIPOPS_SUCCESS);
    EXPECT_EQUAL(bytes, 20000);
    refused(call(nullptr, 0), "workspace is NULL, expected 20000 bytes for k above 2048 (hipops_topk_workspace_bytes)");
    refused(call(memory, bytes - 1), "workspace_bytes is 19999, expected 20000 or more (hipops_topk_workspace_bytes)");
    refused(call(memory + 16, bytes), "workspace is " + text_of(memory + 16) + ", expected a multiple of 256");
    indices.view.data = memory + bytes - 8;
    refused(call(memory, bytes), "workspace overlaps indices, expected separate memory");
    refused(hipops_topk_workspace_bytes(nullptr, &indices.view, &x.view, nullptr, nullptr, 2500, 0, nullptr),
            "bytes is NULL, expected memory for an int64_t");
  });
}

TEST_CASE("topk gives the same results for any grid, without a workspace, and for any number of rows", "[topk]") {
  on_cpu([] {
    for (const auto& [columns, k] : {std::pair<int64_t, int64_t>{40, 7}, {1024, 100}, {9000, 5}, {9000, 300}, {20000, 600}, {9000, 2500}}) {
      constexpr int64_t kRows = 11;
      HostTensor x(HIPOPS_F32, {kRows, columns}, {columns + 1, 1});
      for (int64_t i = 0; i < x.count(); ++i) x.set(i, static_cast<double>(i * 7919 % 1009));
      for (const uint32_t flags : {HIPOPS_SORTED, HIPOPS_SMALLEST}) {
        const std::vector<double> all = columns_of(x, 0, kRows, k, flags, true);
        for (const int64_t blocks : {1, 3}) {
          hipops::TemporaryOptions temporary;
          temporary.options.most_blocks = blocks;
          EXPECT(columns_of(x, 0, kRows, k, flags, true) == all);
        }
        for (const bool has_workspace : {false, true}) {
          if (k > 2048 && flags == HIPOPS_SORTED && !has_workspace) continue;
          const std::vector<double> one = columns_of(x, 5, 1, k, flags, has_workspace);
          EXPECT(std::equal(one.begin(), one.end(), all.begin() + 5 * k));
        }
      }
    }
  });
}

TEST_CASE("topk gives NaNs of any bits one place in the order, and returns their bits", "[topk]") {
  on_cpu([] {
    const uint32_t bits[] = {0xffc00001, 0x3f800000, 0x7f800001, 0xff800000, 0x80000000, 0x7fffffff, 0x00000000, 0x7f800000};
    constexpr int64_t kRepeats[] = {1, 300};  // a row for a wave, and for a block
    for (const int64_t repeats : kRepeats) {
      const int64_t columns = 8 * repeats;
      HostTensor x(HIPOPS_F32, {1, columns}), values(HIPOPS_F32, {1, 8}), indices(HIPOPS_I64, {1, 8});
      for (int64_t i = 0; i < columns; ++i) x.set_bits(i, i < 8 ? bits[i] : 0xff800000);
      const auto selects = [&](uint32_t flags, const std::vector<double>& expected) {
        expect_success(hipops_topk(&values.view, &indices.view, &x.view, nullptr, nullptr, 8, flags, nullptr, 0, nullptr));
        for (size_t i = 0; i < expected.size(); ++i) {
          EXPECT_EQUAL(indices.get(static_cast<int64_t>(i)), expected[i]);
          EXPECT_EQUAL(values.bits(static_cast<int64_t>(i)), bits[static_cast<size_t>(expected[i])]);
        }
      };
      selects(HIPOPS_SORTED, {0, 2, 5, 7, 1, 4, 6, 3});
      if (repeats == 1) selects(HIPOPS_SORTED | HIPOPS_SMALLEST, {3, 4, 6, 1, 7, 0, 2, 5});
    }
  });
}
