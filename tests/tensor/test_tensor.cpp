// capi/tensor/tensor.h: the checks of every tensor.
#include "tensor/tensor.h"

#include <string>

#include "catch.h"
#include "host_tensor.h"

using namespace hipops;
using namespace hipops_test;

namespace {

constexpr uintptr_t kAddress = uintptr_t{1} << 32;  // no test reads memory there

Argument argument(const hipops_tensor& t) { return {"op", "t", &t}; }

void accepts(hipops_status status) { CHECK(status == HIPOPS_SUCCESS); }

void refuses(hipops_status status, hipops_status expected, const std::string& message) {
  CHECK(status == expected);
  CHECK(error_without_values() == message);
}

// The end of an error message, which lists the values of the call.
std::string values() {
  const std::string words = hipops_last_error();
  const size_t at = words.find("; here ");
  return at == std::string::npos ? "" : words.substr(at + 2);
}

void invalid(hipops_status status, const std::string& message) { refuses(status, HIPOPS_INVALID_ARGUMENT, message); }

}  // namespace

TEST_CASE("dtypes have names, sizes and kinds", "[tensor]") {
  const struct {
    hipops_dtype dtype;
    const char* name;
    int bytes;
    bool floating;
  } dtypes[] = {{HIPOPS_F32, "f32", 4, true},  {HIPOPS_F16, "f16", 2, true},  {HIPOPS_BF16, "bf16", 2, true},
                {HIPOPS_F64, "f64", 8, true},  {HIPOPS_U8, "u8", 1, false},   {HIPOPS_I8, "i8", 1, false},
                {HIPOPS_I16, "i16", 2, false}, {HIPOPS_U16, "u16", 2, false}, {HIPOPS_I32, "i32", 4, false},
                {HIPOPS_U32, "u32", 4, false}, {HIPOPS_I64, "i64", 8, false}, {HIPOPS_U64, "u64", 8, false},
                {HIPOPS_F8_E4M3FN, "f8_e4m3fn", 1, false}, {HIPOPS_F8_E4M3FNUZ, "f8_e4m3fnuz", 1, false},
                {HIPOPS_F8_E5M2, "f8_e5m2", 1, false}, {HIPOPS_F8_E5M2FNUZ, "f8_e5m2fnuz", 1, false}};
  for (const auto& known : dtypes) {
    CHECK(std::string(dtype_name(known.dtype)) == known.name);
    CHECK(dtype_bytes(known.dtype) == known.bytes);
    CHECK(is_float(known.dtype) == known.floating);
  }
  for (int value : {0, 17, 99, 0x7fffffff}) {
    hipops_dtype dtype = static_cast<hipops_dtype>(value);
    CHECK(std::string(dtype_name(dtype)) == "invalid dtype");
    CHECK(dtype_bytes(dtype) == 0);
    CHECK(!is_float(dtype));
  }
}

TEST_CASE("elements are counted in 64 bits", "[tensor]") {
  CHECK(element_count(view_of(kAddress, HIPOPS_F32, {})) == 1);
  CHECK(element_count(view_of(kAddress, HIPOPS_F32, {3, 1, 5})) == 15);
  CHECK(element_count(view_of(kAddress, HIPOPS_F32, {int64_t{1} << 20, int64_t{1} << 20})) == int64_t{1} << 40);
  CHECK(element_count(view_of(0, HIPOPS_F32, {INT64_MAX, INT64_MAX, 0, 4}, {1, 1, 1, 1})) == 0);
  CHECK(element_count(view_of(0, HIPOPS_F32, {0, INT64_MAX, INT64_MAX}, {1, 1, 1})) == 0);
}

TEST_CASE("valid tensors are accepted", "[tensor]") {
  accepts(check_tensor(argument(view_of(kAddress, HIPOPS_F32, {}))));
  for (int dtype = HIPOPS_F32; dtype <= HIPOPS_F8_E5M2FNUZ; ++dtype)
    for (size_t rank = 1; rank <= HIPOPS_MAX_RANK; ++rank)
      accepts(check_output(argument(view_of(kAddress, static_cast<hipops_dtype>(dtype), Sizes(rank, 3)))));
  // More than 2^31 elements, and more than 4 GiB, either way.
  accepts(check_output(argument(view_of(kAddress, HIPOPS_BF16, {int64_t{1} << 33, 5}))));
  accepts(check_output(argument(view_of(uintptr_t{1} << 46, HIPOPS_F64, {1 << 20, 1 << 20}, {-(1 << 20), 1}))));
  // An input may repeat its elements.
  accepts(check_tensor(argument(view_of(kAddress, HIPOPS_F32, {int64_t{1} << 60, 4}, {0, 1}))));
  // Strides of dimensions of one element, and shapes and strides past the rank, have no effect.
  accepts(check_output(argument(view_of(kAddress, HIPOPS_F32, {1, 4, 1}, {INT64_MIN, 1, INT64_MAX}))));
  hipops_tensor beyond = view_of(kAddress, HIPOPS_F32, {4});
  beyond.shape[1] = -1, beyond.stride[1] = INT64_MIN;
  accepts(check_output(argument(beyond)));
}

TEST_CASE("an invalid tensor is refused", "[tensor]") {
  invalid(check_tensor({"op", "t", nullptr}), "op: t is NULL, expected a tensor");
  hipops_tensor t = view_of(kAddress, HIPOPS_F32, {4});
  for (int32_t rank : {-1, 9, INT32_MIN, INT32_MAX}) {
    t.rank = rank;
    invalid(check_tensor(argument(t)), "op: t.rank is " + std::to_string(rank) + ", expected 0 to 8");
  }
  invalid(check_tensor(argument(view_of(kAddress, HIPOPS_NONE, {4}))),
          "op: t.dtype is 0, expected a hipops_dtype from 1 (f32) to 16 (f8_e5m2fnuz)");
  invalid(check_tensor(argument(view_of(0, HIPOPS_I8, {2, 3}))), "op: t.data is NULL, expected memory of 6 elements");
  for (const int64_t stride : {int64_t{-3}, INT64_MAX, INT64_MIN})  // these reach outside the address space
    invalid(check_tensor(argument(view_of(0, HIPOPS_I8, {2, 3}, {stride, 1}))), "op: t.data is NULL, expected memory of 6 elements");
  invalid(check_tensor(argument(view_of(kAddress + 4, HIPOPS_I64, {4}))),
          "op: t.data is 0x100000004, expected a multiple of 8 (an element of i64)");
}

TEST_CASE("tensors without elements need no memory and no strides", "[tensor]") {
  accepts(check_output(argument(view_of(0, HIPOPS_F32, {0}))));
  accepts(check_output(argument(view_of(1, HIPOPS_F32, {4, 0}, {0, INT64_MAX}))));
  accepts(check_output(argument(view_of(0, HIPOPS_F32, {INT64_MAX, INT64_MAX, 0}, {INT64_MAX, INT64_MIN, 0}))));
  // Their sizes are checked.
  invalid(check_tensor(argument(view_of(0, HIPOPS_F32, {0, -1}))), "op: t.shape[1] is -1, expected 0 or more");
}

TEST_CASE("the address space has an end and a beginning", "[tensor]") {
  const std::string outside = "op: t.shape and t.stride reach outside the address space";
  auto f32 = [](uintptr_t data, const Sizes& shape, const Sizes& stride) {
    return check_tensor(argument(view_of(data, HIPOPS_F32, shape, stride)));
  };
  constexpr int64_t quarter = INT64_MAX / 4;  // the address space in elements of 4 bytes
  accepts(f32(4096, {2}, {quarter - 1025}));
  invalid(f32(4096, {2}, {quarter - 1024}), outside);
  accepts(f32(4096, {2}, {-1024}));
  invalid(f32(4096, {2}, {-1025}), outside);
  CHECK(values() == "here shape is [2], stride [-1025], data 0x1000");
  // Each of two dimensions reaches outside, but their sum would be in range.
  invalid(f32(4096, {2, 2}, {-2048, 2048}), outside);
  for (int64_t stride : {INT64_MAX, INT64_MIN, INT64_MIN + 1}) {
    invalid(f32(kAddress, {2}, {stride}), outside);
    invalid(f32(kAddress, {INT64_MAX}, {stride}), outside);
    invalid(f32(kAddress, {2, 2, 2, 2, 2, 2, 2, 2}, Sizes(8, stride)), outside);
    CHECK(values().find("[2, 2, 2, 2, 2, 2, 2, 2]") != std::string::npos);
    CHECK(values().find(std::to_string(stride) + "], data ") != std::string::npos);
  }
  invalid(f32(UINTPTR_MAX - 3, {1}, {1}), outside);
  invalid(f32(uintptr_t{1} << 63, {1}, {1}), outside);
  // Products past 2^64 that would wrap into range.
  invalid(f32(kAddress, {(int64_t{1} << 32) + 1}, {int64_t{1} << 32}), outside);
  invalid(f32(kAddress, {(int64_t{1} << 31) + 1, 2}, {int64_t{1} << 33, 1}), outside);
}

TEST_CASE("a number of elements that overflows is refused", "[tensor]") {
  const std::string too_many = "op: t.shape has more than 2^63 - 1 elements";
  auto repeated = [](const Sizes& shape) {
    return check_tensor(argument(view_of(kAddress, HIPOPS_U8, shape, Sizes(shape.size(), 0))));
  };
  accepts(repeated({INT64_MAX}));
  accepts(repeated({int64_t{1} << 62, 1}));
  invalid(repeated({int64_t{1} << 62, 2}), too_many);
  CHECK(values() == "here t.shape is [4611686018427387904, 2]");
  invalid(repeated({int64_t{1} << 32, int64_t{1} << 32}), too_many);
  invalid(repeated(Sizes(8, int64_t{1} << 8)), too_many);
  accepts(repeated(Sizes(7, int64_t{1} << 8)));
}

TEST_CASE("an output's elements must be distinct", "[tensor]") {
  auto output = [](const Sizes& shape, const Sizes& stride) {
    return check_output(argument(view_of(kAddress, HIPOPS_F32, shape, stride)));
  };
  const std::string meet =
      "op: t.stride overlaps elements of an output, or interleaves its dimensions; expected strides that nest";
  accepts(output({4, 3}, {1, 4}));
  accepts(output({4, 3}, {-3, -1}));
  accepts(output({4, 1, 3}, {3, 0, 1}));
  invalid(output({4, 3}, {0, 1}), "op: t.stride[0] is 0, expected distinct elements in an output (shape[0] is 4)");
  invalid(output({4, 3}, {1, 0}), "op: t.stride[1] is 0, expected distinct elements in an output (shape[1] is 3)");
  // A view whose strides were never set.
  invalid(output({4, 3}, {0, 0}),
          "op: t.stride is [0, 0], expected strides that keep an output's elements apart, as [3, 1] (contiguous)");
  invalid(output({5}, {0}), "op: t.stride is [0], expected strides that keep an output's elements apart, as [1] (contiguous)");
  accepts(output({1, 1}, {0, 0}));
  refuses(output({4, 3}, {1, 1}), HIPOPS_UNSUPPORTED_LAYOUT, meet);
  refuses(output({4, 3}, {2, 1}), HIPOPS_UNSUPPORTED_LAYOUT, meet);
  refuses(output({4, 3}, {1, -1}), HIPOPS_UNSUPPORTED_LAYOUT, meet);
  refuses(output({2, 3}, {3, 2}), HIPOPS_UNSUPPORTED_LAYOUT, meet);  // distinct, but interleaved
  CHECK(values() == "here shape is [2, 3], stride [3, 2]");
}

// Frameworks expand the gradient of a scalar so.
TEST_CASE("an input may repeat one element", "[tensor]") {
  accepts(check_tensor(argument(view_of(kAddress, HIPOPS_F32, {4, 3}, {0, 0}))));
}

TEST_CASE("hipops_contiguous sets the strides of a contiguous tensor", "[tensor]") {
  const auto strides = [](const Sizes& shape) {
    const hipops_tensor t = hipops_contiguous(nullptr, HIPOPS_BF16, static_cast<int32_t>(shape.size()), shape.data());
    CHECK(t.data == nullptr);
    CHECK(t.dtype == HIPOPS_BF16);
    CHECK(t.rank == static_cast<int32_t>(shape.size()));
    CHECK(Sizes(t.shape, t.shape + t.rank) == shape);
    return Sizes(t.stride, t.stride + t.rank);
  };
  CHECK(strides({}) == Sizes{});
  CHECK(strides({7}) == Sizes{1});
  CHECK(strides({2, 3, 4}) == Sizes{12, 4, 1});
  CHECK(strides({2, 1, 4}) == Sizes{4, 4, 1});
  CHECK(strides({2, 0, 4}) == Sizes{4, 4, 1});
  CHECK(strides({1, 1, 1, 1, 2, 3, 4, 5}) == Sizes{120, 120, 120, 120, 60, 20, 5, 1});
  // hipops_contiguous accepts values that the ops refuse.
  const int64_t one = 1;
  CHECK(hipops_contiguous(nullptr, HIPOPS_F32, -1, nullptr).rank == -1);
  const Sizes too_many(8, int64_t{1} << 40);
  CHECK(hipops_contiguous(nullptr, HIPOPS_F32, 8, too_many.data()).shape[7] == int64_t{1} << 40);
  CHECK(check_tensor(argument(hipops_contiguous(nullptr, HIPOPS_F32, 0, &one))) == HIPOPS_INVALID_ARGUMENT);
}

TEST_CASE("rank, shape and dtype are compared with those expected", "[tensor]") {
  const hipops_tensor matrix = view_of(kAddress, HIPOPS_F32, {3, 4}), row = view_of(kAddress, HIPOPS_F16, {4}),
                      taller = view_of(kAddress, HIPOPS_F32, {5, 4});
  const Argument m{"op", "m", &matrix}, r{"op", "r", &row}, t{"op", "t", &taller};
  accepts(check_rank(m, 2, 2));
  accepts(check_rank(m, 1, 2));
  accepts(check_rank(m, 2, 8));
  invalid(check_rank(m, 1, 1), "op: m.rank is 2, expected 1");
  invalid(check_rank(m, 3, 8), "op: m.rank is 2, expected 3 to 8");
  accepts(check_same_shape(m, m));
  invalid(check_same_shape(r, m), "op: r.rank is 1, expected 2 (m.rank)");
  invalid(check_same_shape(t, m), "op: t.shape[0] is 5, expected 3 (m.shape[0])");
  accepts(check_same_dtype(t, m));
  refuses(check_same_dtype(r, m), HIPOPS_UNSUPPORTED_DTYPE, "op: r.dtype is f16, expected f32 (m.dtype)");
}

TEST_CASE("an output may be its input if the op allows that, and may not overlap it otherwise", "[tensor]") {
  const hipops_tensor in = view_of(kAddress, HIPOPS_F32, {3, 4}), same = in,
                      next = view_of(kAddress + 48, HIPOPS_F32, {3, 4}),
                      shifted = view_of(kAddress + 44, HIPOPS_F32, {3, 4}),
                      none = view_of(kAddress, HIPOPS_F32, {0, 4});
  auto checked = [&](const hipops_tensor& out, bool in_place) {
    return check_overlap({"op", "out", &out}, {"op", "in", &in}, in_place);
  };
  accepts(checked(same, true));
  invalid(checked(same, false), "op: out overlaps in, expected separate memory");
  accepts(checked(next, true));
  accepts(checked(next, false));
  accepts(checked(none, false));
  invalid(checked(shifted, true), "op: out overlaps in, expected separate memory or exactly the same view");
  CHECK(values() == "here out is 0x10000002c to 0x10000005c, in 0x100000000 to 0x100000030");
  invalid(checked(shifted, false), "op: out overlaps in, expected separate memory");
  const Argument out{"op", "out", &shifted}, input{"op", "in", &in};
  accepts(check_tensor(out));
  accepts(check_tensor(input));
  invalid(check_overlap(out, input), "op: out overlaps in, expected separate memory");
  CHECK(values() == "here out is 0x10000002c to 0x10000005c, in 0x100000000 to 0x100000030");
}
