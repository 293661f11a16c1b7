// hipops_sort: the arguments that it refuses, and rows that do not depend on the grid.
#include <cmath>
#include <cstring>

#include "op_call.h"
#include "parity/temporary_options.h"

using namespace hipops_test;

TEST_CASE("sort refuses other shapes, dtypes and flags", "[sort]") {
  check_calls([] {
    check_every_tensor("sort");
    const auto refuses = [](hipops_status status, const std::string& message, auto spoil, hipops_dtype dtype = HIPOPS_F32) {
      OpCall call("sort", dtype);
      spoil(call);
      call.refused(status, message);
      call.workspace_refused(status, message);
    };
    const auto invalid = [&](const std::string& message, auto spoil) { refuses(HIPOPS_INVALID_ARGUMENT, message, spoil); };
    invalid("values and indices are NULL, expected one tensor or two",
            [](OpCall& c) { c.leave_out("values"), c.leave_out("indices"); });
    invalid("values.shape[1] is 7, expected 8 (x.shape[1])", [](OpCall& c) { c["values"].shape[1] = 7; });
    invalid("indices.shape[0] is 3, expected 4 (x.shape[0])", [](OpCall& c) { c["indices"].shape[0] = 3; });
    invalid("x.rank is 0, expected 1 to 8", [](OpCall& c) {
      for (const char* name : {"x", "values", "indices"}) c.set_shape(name, {});
    });
    invalid("flags is 0x1, expected 0 or some of HIPOPS_BATCH_INVARIANT (0x10) and HIPOPS_DESCENDING (0x800)",
            [](OpCall& c) { c.params["flags"] = 1; });
    const auto make_long = [](OpCall& c, int64_t columns, hipops_dtype index) {
      for (const char* name : {"x", "values", "indices"}) c[name].shape[1] = columns, c[name].stride[0] = columns;
      c["indices"].dtype = index;
    };
    invalid("x.shape[1] is 4294967296, expected up to 4294967295", [=](OpCall& c) { make_long(c, int64_t{1} << 32, HIPOPS_I64); });
    invalid("x has 288230376151711744 elements, expected up to 2^57", [](OpCall& c) {
      for (const char* name : {"x", "values", "indices"}) c.set_shape(name, {int64_t{1} << 31, int64_t{1} << 27});
    });
    refuses(HIPOPS_UNSUPPORTED_DTYPE, "indices.dtype is i32, expected i64 or u32 for numbers up to 2147483648",
            [=](OpCall& c) { make_long(c, (int64_t{1} << 31) + 1, HIPOPS_I32); });
    refuses(HIPOPS_UNSUPPORTED_DTYPE, "x.dtype is i16, expected f32, f16, bf16, f64, u8, i32, u32 or i64", [](OpCall&) {}, HIPOPS_I16);
    refuses(HIPOPS_UNSUPPORTED_DTYPE, "values.dtype is f16, expected f32 (x.dtype)", [](OpCall& c) { c["values"].dtype = HIPOPS_F16; });
    refuses(HIPOPS_UNSUPPORTED_DTYPE, "indices.dtype is u8, expected i64, i32 or u32", [](OpCall& c) { c["indices"].dtype = HIPOPS_U8; });
  });
}

TEST_CASE("sort refuses outputs that overlap, and a workspace that is absent, short or shared", "[sort]") {
  check_calls([] {
    alignas(256) static char memory[1 << 17];
    HostTensor x(HIPOPS_F32, {5000}), values(HIPOPS_F32, {5000}), indices(HIPOPS_I32, {5000});
    int64_t bytes = 0;
    const auto call = [&](void* workspace, int64_t size) {
      return hipops_sort(&values.view, &indices.view, &x.view, 0, workspace, size, nullptr);
    };
    const auto refuses = [&](hipops_status status, const std::string& message) {
      EXPECT_EQUAL(status, HIPOPS_INVALID_ARGUMENT);
      EXPECT_EQUAL(error_without_values(), "sort: " + message);
    };
    EXPECT_EQUAL(hipops_sort_workspace_bytes(&values.view, &indices.view, &x.view, 0, &bytes), HIPOPS_SUCCESS);
    EXPECT(bytes >= 2 * 8 * 5000 && bytes <= static_cast<int64_t>(sizeof memory));
    refuses(call(nullptr, 0), "workspace is NULL, expected " + std::to_string(bytes) + " bytes (hipops_sort_workspace_bytes)");
    refuses(call(memory, bytes - 1), "workspace_bytes is " + std::to_string(bytes - 1) + ", expected " + std::to_string(bytes) +
                                         " or more (hipops_sort_workspace_bytes)");
    refuses(call(memory + 16, bytes), "workspace is " + text_of(memory + 16) + ", expected a multiple of 256");
    refuses(hipops_sort_workspace_bytes(&values.view, nullptr, &x.view, 0, nullptr), "bytes is NULL, expected memory for an int64_t");
    indices.view.data = memory + bytes - 4;
    refuses(call(memory, bytes), "workspace overlaps indices, expected separate memory");
    indices.view.data = static_cast<char*>(values.view.data) + 4;
    refuses(call(memory, bytes), "values overlaps indices, expected separate memory");
  });
}

TEST_CASE("NaNs and zeros keep their bits and their order, for any grid", "[sort]") {
  on_cpu([] {
    alignas(256) static char memory[1 << 18];
    for (const int64_t columns : {40, 5000})
      for (const int64_t blocks : {1, 1 << 20})
        for (const uint32_t flags : {0u, HIPOPS_DESCENDING}) {
          hipops::TemporaryOptions temporary;
          temporary.options.most_blocks = blocks;
          HostTensor x(HIPOPS_F32, {2, columns}), values(HIPOPS_F32, {2, columns}), indices(HIPOPS_U32, {2, columns});
          auto* const in = static_cast<uint32_t*>(x.view.data);
          // NaNs of several bits, both zeros, infinities, denormals.
          const uint32_t some[] = {0x7fc00001, 0x80000000, 0, 0xffc12345, 0x7f800000, 0xff800000, 1, 0x80000001, 0x7f800001, 0x3f800000};
          for (int64_t i = 0; i < 2 * columns; ++i) in[i] = some[i * 7 % 10];
          EXPECT_EQUAL(hipops_sort(&values.view, &indices.view, &x.view, flags, memory, sizeof memory, nullptr), HIPOPS_SUCCESS);
          const auto rank = [](uint32_t bits) {  // of equal elements the same
            if ((bits & 0x7fffffff) > 0x7f800000) return int64_t{1} << 40;
            const int64_t magnitude = bits & 0x7fffffff;
            return bits >> 31 ? -magnitude : magnitude;
          };
          int64_t wrong = 0;
          for (int64_t row = 0; row < 2; ++row)
            for (int64_t i = 0; i < columns; ++i) {
              const auto at = [&](int64_t j) { return static_cast<const uint32_t*>(indices.view.data)[row * columns + j]; };
              const auto element = [&](int64_t j) { return in[row * columns + at(j)]; };
              wrong += static_cast<const uint32_t*>(values.view.data)[row * columns + i] != element(i);
              if (i == 0) continue;
              const int64_t before = rank(element(i - 1)), own = rank(element(i));
              wrong += before == own ? at(i - 1) >= at(i) : (flags ? before < own : before > own);
            }
          EXPECT_EQUAL(wrong, 0);
        }
  });
}
