// The parity harness: number formats, generators, the golden reader, comparison, guard zones, runs of a case, reports.
// It must detect each fault that is planted here.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <stdexcept>

#include "catch.h"
#include "runtime/host_runtime.h"
#include "parity/buffer.h"
#include "parity/compare.h"
#include "parity/generator.h"
#include "parity/golden.h"
#include "parity/golden_files.h"
#include "parity/jobs.h"
#include "parity/number.h"
#include "parity/options.h"
#include "parity/report.h"
#include "parity/run_case.h"

using namespace hipops::parity;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// ---- An op to run: y = 2 x + bias, of two dimensions, with one of several defects.

enum class Defect { kNone, kStatus, kValue, kLastUnwritten, kBefore, kAfter, kPadding, kInput, kInputGuard };
Defect defect = Defect::kNone;

unsigned char* address(const hipops_tensor* tensor, int64_t row, int64_t column) {
  const int64_t offset = row * tensor->stride[0] + column * tensor->stride[1];
  return static_cast<unsigned char*>(tensor->data) + offset * static_cast<int64_t>(dtype_size(tensor->dtype));
}

hipops_status twice(const Arguments& a) {
  if (defect == Defect::kStatus) return HIPOPS_UNSUPPORTED_LAYOUT;
  const hipops_tensor* y = a["y"];
  const hipops_tensor* x = a["x"];
  const double bias =
      a["bias"] == nullptr ? 0 : decode(a["bias"]->dtype, load_bits(a["bias"]->dtype, address(a["bias"], 0, 0)));
  for (int64_t row = 0; row < y->shape[0]; ++row) {
    for (int64_t column = 0; column < y->shape[1]; ++column) {
      const bool last = row + 1 == y->shape[0] && column + 1 == y->shape[1];
      if (last && defect == Defect::kLastUnwritten) continue;
      double value = a.real("factor") * decode(x->dtype, load_bits(x->dtype, address(x, row, column))) + bias;
      if (row == 1 && column == 2 && defect == Defect::kValue) value += 1;
      store_bits(y->dtype, address(y, row, column), encode(y->dtype, value));
    }
  }
  if (y->shape[0] == 0 || y->shape[1] == 0) return HIPOPS_SUCCESS;
  unsigned char* end = address(y, y->shape[0] - 1, y->shape[1] - 1) + dtype_size(y->dtype);
  if (defect == Defect::kBefore) address(y, 0, 0)[-12] ^= 1;
  if (defect == Defect::kAfter) std::memset(end, 0, 3);
  if (defect == Defect::kPadding) address(y, 0, y->shape[1])[0] ^= 1;
  if (defect == Defect::kInput) address(x, 1, 0)[0] ^= 1;
  if (defect == Defect::kInputGuard) address(x, 0, 0)[-1] ^= 1;
  return HIPOPS_SUCCESS;
}

// y[index[i]] += x[i], of one dimension. The report counts indices out of range. The workspace must have the requested
// size, and the op writes all of it.
enum class AddDefect { kNone, kPastWorkspace, kReport, kBesideY, kWorkspaceStatus };
AddDefect add_defect = AddDefect::kNone;
int64_t workspace_asked = 40;
bool workspace_seen = false;

template <typename T>
T* data_of(const hipops_tensor* tensor) {
  return static_cast<T*>(tensor->data);
}

hipops_status add(const Arguments& a) {
  workspace_seen = a.workspace() != nullptr;
  if (workspace_seen) {
    unsigned char* workspace = static_cast<unsigned char*>(a.workspace());
    if (a.workspace_bytes() != workspace_asked || reinterpret_cast<uintptr_t>(workspace) % 256 != 0)
      return HIPOPS_INTERNAL_ERROR;
    for (int64_t i = 0; i < a.workspace_bytes(); ++i) {
      if (workspace[i] != 0xff) return HIPOPS_INTERNAL_ERROR;
      workspace[i] = 7;
    }
    if (add_defect == AddDefect::kPastWorkspace) workspace[a.workspace_bytes()] ^= 1;
  }
  const hipops_tensor* y = a["y"];
  for (int64_t i = 0; i < a["index"]->shape[0]; ++i) {
    const int64_t at = data_of<int64_t>(a["index"])[i];
    if (at >= 0 && at < y->shape[0]) {
      data_of<uint64_t>(y)[at * y->stride[0]] += data_of<uint64_t>(a["x"])[i];
    } else if (a.report() != nullptr) {
      ++a.report()->count;
      a.report()->first = std::min(a.report()->first, static_cast<uint64_t>(i));
    }
  }
  if (add_defect == AddDefect::kReport && a.report() != nullptr) ++a.report()->count;
  if (add_defect == AddDefect::kBesideY) data_of<uint64_t>(y)[1] ^= 1;  // y has gaps
  return HIPOPS_SUCCESS;
}

hipops_status add_workspace_bytes(const Arguments& a, int64_t* bytes) {
  if (add_defect == AddDefect::kWorkspaceStatus || a["y"] == nullptr) return HIPOPS_RUNTIME_ERROR;
  *bytes = workspace_asked;
  return HIPOPS_SUCCESS;
}

const std::vector<OpEntry>& test_ops() {
  static const std::vector<OpEntry> ops = {
      {"add",
       {HIPOPS_I64, HIPOPS_U64},
       {{"y"}, {"report", Role::kReport, true}},
       {{"x"}, {"y"}, {"index", Role::kIndex}, {"report", Role::kReport, true}},
       {{kWorkspaceParam, true}},
       calling<add>,
       add_workspace_bytes},
      {"twice",
       {HIPOPS_F32, HIPOPS_F16, HIPOPS_I32},
       {{"y"}},
       {{"x"}, {"bias", Role::kWeight, true}, {"index", Role::kIndex, true}},
       {{"factor"}, {"dim", true}},
       calling<twice>},
  };
  return ops;
}

// A file with one case. With replacements by the tests it covers all parts of the format.
const char* const kFile = R"({"schema": 1, "op": "twice", "topic": "smoke", "reference": {"numpy": "2.2.6"}, "cases": [
  {"name": "first", "dtype": "f32", "params": {"factor": 2, "dim": 0},
   "inputs": {"x": {"dtype": "f32", "shape": [2, 3], "stride": [4, 1], "offset": 1,
     "values": [1, -2, 0.5, "inf", "nan", -0.0]}},
   "outputs": {"y": {"dtype": "f32", "shape": [2, 3], "stride": [5, 1], "values": [2, -4, 1, "inf", "nan", 0]}},
   "tolerance": {"ulps": 1}, "torch_ulps": null}]})";

// A file in which y and the report are inputs and outputs, with the largest and smallest integers.
const char* const kAddFile = R"({"schema": 1, "op": "add", "topic": "indices", "reference": {}, "cases": [
  {"name": "ends", "dtype": "u64", "params": {"workspace": 1},
   "inputs": {"x": {"dtype": "u64", "shape": [5], "values": [18446744073709551615, 1, 9223372036854775809, 3, 4]},
     "y": {"dtype": "u64", "shape": [3], "stride": [2], "offset": 1, "values": [5, 9223372036854775806, 0]},
     "index": {"dtype": "i64", "shape": [5], "values": [2, -9223372036854775808, 1, 9223372036854775807, 0]},
     "report": {"dtype": "i64", "shape": [2], "values": [0, -1]}},
   "outputs": {"y": {"dtype": "u64", "shape": [3], "stride": [2], "offset": 1,
       "values": [9, 18446744073709551615, 18446744073709551615]},
     "report": {"dtype": "i64", "shape": [2], "values": [2, 1]}},
   "tolerance": {"ulps": 4}, "torch_ulps": null}]})";

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), by);
}

GoldenFile read(const std::string& text) { return read_golden(text, "twice/smoke.json", test_ops()); }

Layout layout_of(hipops_dtype dtype, std::vector<int64_t> shape, std::vector<int64_t> stride = {}, int64_t offset = 0) {
  Layout layout;
  layout.dtype = dtype;
  layout.shape = std::move(shape);
  layout.stride = std::move(stride);
  layout.offset = offset;
  REQUIRE(measure(&layout) == "");
  return layout;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string all_reasons(const CaseResult& result) {
  std::string text;
  for (const std::string& reason : result.reasons) text += reason + "\n";
  return text;
}

}  // namespace

// ---- Numbers

TEST_CASE("encode rounds to nearest even", "[parity][number]") {
  struct Row {
    hipops_dtype dtype;
    double value;
    uint64_t bits;
  };
  const Row rows[] = {
      {HIPOPS_F16, 1, 0x3c00},
      {HIPOPS_F16, -2, 0xc000},
      {HIPOPS_F16, -0.0, 0x8000},
      {HIPOPS_F16, 1 + 0x1p-11, 0x3c00},            // tie, to even below
      {HIPOPS_F16, 1 + 3 * 0x1p-11, 0x3c02},        // tie, to even above
      {HIPOPS_F16, 1 + 0x1p-11 + 0x1p-40, 0x3c01},  // in f32 it would be a tie
      {HIPOPS_F16, 0x1p-14, 0x0400},                // least normal
      {HIPOPS_F16, 0x1p-14 - 0x1p-25, 0x0400},      // a tie that leaves the denormals
      {HIPOPS_F16, 0x1p-24, 0x0001},                // least denormal
      {HIPOPS_F16, 0x1p-25, 0x0000},                // half of it
      {HIPOPS_F16, 0x1.001p-25, 0x0001},
      {HIPOPS_F16, 3 * 0x1p-25, 0x0002},
      {HIPOPS_F16, 65504, 0x7bff},
      {HIPOPS_F16, 65519.99, 0x7bff},
      {HIPOPS_F16, 65520, 0x7c00},  // half an ULP past the largest
      {HIPOPS_F16, -1e300, 0xfc00},
      {HIPOPS_BF16, 1, 0x3f80},
      {HIPOPS_BF16, 1 + 0x1p-8, 0x3f80},
      {HIPOPS_BF16, 1 + 3 * 0x1p-8, 0x3f82},
      {HIPOPS_BF16, 0x1p-133, 0x0001},
      {HIPOPS_BF16, 0x1p-134, 0x0000},
      {HIPOPS_BF16, 0x1.fep127, 0x7f7f},
      {HIPOPS_BF16, 0x1.fffffep127, 0x7f80},  // the largest f32
      {HIPOPS_F32, 16777217, 0x4b800000},
      {HIPOPS_F32, 16777219, 0x4b800002},
      {HIPOPS_F32, 0x1p-149, 0x00000001},
      {HIPOPS_F32, 0x1p-150, 0x00000000},
      {HIPOPS_F32, 3 * 0x1p-150, 0x00000002},
      {HIPOPS_F32, 0x1.fffffep127, 0x7f7fffff},
      {HIPOPS_F32, 0x1.ffffffp127, 0x7f800000},
      {HIPOPS_F64, 0x1p-1074, 1},
      {HIPOPS_F64, 1, 0x3ff0000000000000},
      {HIPOPS_F64, -kInf, 0xfff0000000000000},
      {HIPOPS_U8, 2.5, 2},
      {HIPOPS_U8, 3.5, 4},
      {HIPOPS_U8, 300, 255},
      {HIPOPS_U8, -1, 0},
      {HIPOPS_I8, -1, 0xff},
      {HIPOPS_I8, -128.5, 0x80},
      {HIPOPS_I8, 1000, 0x7f},
      {HIPOPS_I16, -2, 0xfffe},
      {HIPOPS_I32, -2147483648.0, 0x80000000},
      {HIPOPS_U32, 4294967295.0, 0xffffffff},
      {HIPOPS_I64, -0x1p63, 0x8000000000000000},
      {HIPOPS_I64, 0x1p63, 0x7fffffffffffffff},
      {HIPOPS_U64, 0x1p64, 0xffffffffffffffff},
      {HIPOPS_U64, 0x1p63, 0x8000000000000000},
  };
  for (const Row& row : rows) {
    INFO(dtype_name(row.dtype) << " " << show_double(row.value));
    CHECK(encode(row.dtype, row.value) == row.bits);
  }
  for (const hipops_dtype dtype : {HIPOPS_F32, HIPOPS_F16, HIPOPS_BF16, HIPOPS_F64}) {
    CHECK(std::isnan(decode(dtype, encode(dtype, kNan))));
    CHECK(decode(dtype, encode(dtype, kInf)) == kInf);
  }
}

TEST_CASE("every 16-bit float survives decode and encode", "[parity][number]") {
  for (const hipops_dtype dtype : {HIPOPS_F16, HIPOPS_BF16}) {
    int wrong = 0;
    int nans = 0;
    for (uint64_t bits = 0; bits < 0x10000; ++bits) {
      const double value = decode(dtype, bits);
      if (std::isnan(value)) {
        ++nans;
      } else if (encode(dtype, value) != bits) {
        ++wrong;
      }
    }
    CHECK(wrong == 0);
    CHECK(nans == (dtype == HIPOPS_F16 ? 2 * 0x3ff : 2 * 0x7f));
  }
}

TEST_CASE("f32 agrees with the machine's own conversions", "[parity][number]") {
  std::mt19937_64 random(20240521);
  int wrong = 0;
  for (int i = 0; i < 200000; ++i) {
    const double mantissa = 1 + static_cast<double>(random() >> 12) * 0x1p-52;
    const double value = std::ldexp(i % 2 == 0 ? mantissa : -mantissa, static_cast<int>(random() % 290) - 155);
    const float nearest = static_cast<float>(value);
    uint32_t bits;
    std::memcpy(&bits, &nearest, sizeof bits);
    if (encode(HIPOPS_F32, value) != bits || decode(HIPOPS_F32, bits) != static_cast<double>(nearest)) ++wrong;
  }
  CHECK(wrong == 0);
}

TEST_CASE("the size of an ULP", "[parity][number]") {
  CHECK(ulp(HIPOPS_F16, 1) == 0x1p-10);
  CHECK(ulp(HIPOPS_F16, std::nextafter(1.0, 0.0)) == 0x1p-11);
  CHECK(ulp(HIPOPS_F16, -1.999) == 0x1p-10);
  CHECK(ulp(HIPOPS_F16, 2) == 0x1p-9);
  CHECK(ulp(HIPOPS_F16, 0) == 0x1p-24);
  CHECK(ulp(HIPOPS_F16, 0x1p-15) == 0x1p-24);  // denormals have the distance of the least normals
  CHECK(ulp(HIPOPS_F16, 0x1p-14) == 0x1p-24);
  CHECK(ulp(HIPOPS_F16, 65504) == 32);
  CHECK(ulp(HIPOPS_F16, 1e9) == 32);
  CHECK(ulp(HIPOPS_BF16, 1) == 0x1p-7);
  CHECK(ulp(HIPOPS_BF16, 1e-42) == 0x1p-133);
  CHECK(ulp(HIPOPS_F32, 1) == 0x1p-23);
  CHECK(ulp(HIPOPS_F64, 1) == 0x1p-52);
  CHECK(ulp(HIPOPS_F64, 0) == 0x1p-1074);
  CHECK(ulp(HIPOPS_I64, 1e15) == 1);
  CHECK(largest(HIPOPS_F16) == 65504);
  CHECK(largest(HIPOPS_F64) == std::numeric_limits<double>::max());
  CHECK(lowest(HIPOPS_I8) == -128);
  CHECK(lowest(HIPOPS_U32) == 0);
}

TEST_CASE("the error of a float in ULPs", "[parity][number]") {
  CHECK(error_in_ulps(HIPOPS_F16, 1, 0, 0x3c00) == 0);
  CHECK(error_in_ulps(HIPOPS_F16, 1, 0, 0x3c03) == 3);
  CHECK(error_in_ulps(HIPOPS_F16, 1 + 0x1p-11, 0, 0x3c00) == 0.5);
  CHECK(error_in_ulps(HIPOPS_F16, 1, 0, 0x3bff) == 0.5);  // the unit is an ULP of the expected value
  CHECK(error_in_ulps(HIPOPS_F16, 0, 0, 0x0002) == 2);
  SECTION("a zero needs a zero of its sign") {
    for (const hipops_dtype dtype : {HIPOPS_F16, HIPOPS_BF16, HIPOPS_F32, HIPOPS_F64}) {
      const uint64_t negative = encode(dtype, -0.0);
      CHECK(error_in_ulps(dtype, -0.0, 0, negative) == 0);
      CHECK(error_in_ulps(dtype, 0.0, 0, 0) == 0);
      CHECK(error_in_ulps(dtype, -0.0, 0, 0) == kInf);
      CHECK(error_in_ulps(dtype, 0.0, 0, negative) == kInf);
      CHECK(error_in_ulps(dtype, 0.0, 1, negative) == 0);  // terms that cancel may leave either zero
    }
    CHECK(error_in_ulps(HIPOPS_F16, -0x1p-25, 0, 0x0000) == kInf);  // rounds to -0
    CHECK(error_in_ulps(HIPOPS_F16, -0x1p-25, 0, 0x8000) == 0.5);
    CHECK(error_in_ulps(HIPOPS_F16, -0x1p-24, 0, 0x0000) == 1);  // not to a zero
  }
  SECTION("NaN needs NaN, and infinity the same infinity") {
    CHECK(error_in_ulps(HIPOPS_F16, kNan, 0, 0xfe01) == 0);
    CHECK(error_in_ulps(HIPOPS_F16, kNan, 0, 0x3c00) == kInf);
    CHECK(error_in_ulps(HIPOPS_F16, kNan, 0, 0x7c00) == kInf);
    CHECK(error_in_ulps(HIPOPS_F16, 1, 0, 0x7e00) == kInf);
    CHECK(error_in_ulps(HIPOPS_F16, kInf, 0, 0x7c00) == 0);
    CHECK(error_in_ulps(HIPOPS_F16, kInf, 0, 0xfc00) == kInf);
    CHECK(error_in_ulps(HIPOPS_F16, kInf, 0, 0x7bff) == kInf);
    CHECK(error_in_ulps(HIPOPS_F16, 65504, 0, 0x7c00) == kInf);
  }
  SECTION("past the largest value by half an ULP is infinity") {
    CHECK(error_in_ulps(HIPOPS_F16, 65520, 0, 0x7c00) == 0);
    CHECK(error_in_ulps(HIPOPS_F16, -65520, 0, 0xfc00) == 0);
    CHECK(error_in_ulps(HIPOPS_F16, 65520, 0, 0x7bff) == kInf);
    CHECK(error_in_ulps(HIPOPS_F16, 65512, 0, 0x7bff) == 0.25);
    CHECK(error_in_ulps(HIPOPS_F16, 65512, 0, 0x7c00) == kInf);
    CHECK(error_in_ulps(HIPOPS_F64, std::numeric_limits<double>::max(), 0, 0x7fefffffffffffff) == 0);
  }
  SECTION("scale sets the unit if it is the larger") {
    CHECK(error_in_ulps(HIPOPS_F16, 0, 1, 0x1400) == 1);  // 2^-10
    CHECK(error_in_ulps(HIPOPS_F16, 1, 0.25, 0x3c01) == 1);
    CHECK(error_in_ulps(HIPOPS_F16, 1, 1e30, 0x3c00 + 1024) == 1.0 / 32);
  }
}

TEST_CASE("the error of an integer is exact in 64 bits", "[parity][number]") {
  CHECK(integer_error(HIPOPS_I64, 0x7fffffffffffffff, 0x7ffffffffffffffe) == 1);
  CHECK(integer_error(HIPOPS_I64, 0, 0xffffffffffffffff) == 1);
  CHECK(integer_error(HIPOPS_U8, 0, 255) == 255);
  CHECK(integer_error(HIPOPS_I8, 0x7f, 0x80) == 255);
  CHECK(integer_error(HIPOPS_I32, 0xfffffffe, 0xfffffffe) == 0);
}

TEST_CASE("integers of a golden file must fit", "[parity][number]") {
  uint64_t bits = 0;
  CHECK(encode_integer_exactly(HIPOPS_U8, uint64_t{255}, &bits));
  CHECK_FALSE(encode_integer_exactly(HIPOPS_U8, uint64_t{256}, &bits));
  CHECK_FALSE(encode_integer_exactly(HIPOPS_U8, int64_t{-1}, &bits));
  CHECK(encode_integer_exactly(HIPOPS_I8, int64_t{-128}, &bits));
  CHECK(bits == 0x80);
  CHECK_FALSE(encode_integer_exactly(HIPOPS_I8, int64_t{-129}, &bits));
  CHECK_FALSE(encode_integer_exactly(HIPOPS_I64, uint64_t{1} << 63, &bits));
  CHECK(encode_integer_exactly(HIPOPS_I64, std::numeric_limits<int64_t>::min(), &bits));
  CHECK(bits == uint64_t{1} << 63);
}

TEST_CASE("values are shown in decimal and in bits", "[parity][number]") {
  CHECK(show_bits(HIPOPS_F16, 0x3c01) == "1.001 (0x3c01)");
  CHECK(show_bits(HIPOPS_BF16, 0x3f81) == "1.008 (0x3f81)");
  CHECK(show_bits(HIPOPS_F32, 0x3f800001) == "1.00000012 (0x3f800001)");
  CHECK(show_bits(HIPOPS_I16, 0xfffe) == "-2 (0xfffe)");
  CHECK(show_bits(HIPOPS_U64, ~uint64_t{0}) == "18446744073709551615 (0xffffffffffffffff)");
  CHECK(show_double(0.1) == "0.10000000000000001");
}

// ---- Generators

TEST_CASE("Philox 4x32-10 gives Random123's known answers", "[parity][generator]") {
  using Words = std::array<uint32_t, 4>;
  constexpr uint32_t kOnes = 0xffffffff;
  CHECK(philox4x32({0, 0, 0, 0}, {0, 0}) == Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(philox4x32({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}) ==
        Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("generators are exact", "[parity][generator]") {
  using Kind = Generator::Kind;
  // From the known answer for counter 0 and key 0.
  CHECK(Generator{Kind::kUniform, 0, 1, 0}.value(0) == -0x1.9d8172bp-3);
  CHECK(Generator{Kind::kUniform, 0, 0.5, 3}.value(0) == 0x1.7313f46a8p+1);
  CHECK(Generator{Kind::kBell, 0, 1, 0}.value(0) == 0x1.133fa8ebe515fp+0);
  CHECK(Generator{Kind::kConstant, 0, 1, 0.1}.value(12345) == 0.1);
  // Both halves of the position and of the seed count.
  const uint64_t position = (uint64_t{5} << 32) + 7;
  CHECK(Generator{Kind::kUniform, 0x123456789, 1, 0}.value(position) == 0x1.65934944p-1);
  CHECK(Generator{Kind::kBell, 0x123456789, 2, 10}.value(position) == 0x1.281da4b83800cp+3);

  InputTensor tensor;
  tensor.layout = layout_of(HIPOPS_F32, {4});
  tensor.generator = Generator{Kind::kUniform, 0, 1, 0};
  CHECK(tensor.element(0) == 0xbe4ec0b9);
  tensor.layout.dtype = HIPOPS_F16;
  CHECK(tensor.element(0) == 0xb276);
}

TEST_CASE("generators of integers are exact", "[parity][generator]") {
  using Kind = Generator::Kind;
  // From the known answer for counter 0 and key 0: 6627e8d5 e169c58d ...
  InputTensor tensor;
  tensor.layout = layout_of(HIPOPS_U64, {4});
  tensor.generator = Generator{Kind::kBits, 0, 0, 0, 0};
  const std::pair<hipops_dtype, uint64_t> rows[] = {{HIPOPS_U64, 0xe169c58d6627e8d5},
                                                    {HIPOPS_I64, 0xe169c58d6627e8d5},
                                                    {HIPOPS_U32, 0x6627e8d5},
                                                    {HIPOPS_I32, 0x6627e8d5},
                                                    {HIPOPS_U16, 0xe8d5},
                                                    {HIPOPS_I16, 0xe8d5},
                                                    {HIPOPS_U8, 0xd5},
                                                    {HIPOPS_I8, 0xd5}};
  for (const auto& [dtype, bits] : rows) {
    tensor.layout.dtype = dtype;
    CHECK(tensor.element(0) == bits);
  }
  tensor.layout.dtype = HIPOPS_U8;
  tensor.generator = Generator{Kind::kIndex, 0, 0, 0, 256};
  CHECK(tensor.element(0) == 0x66);
  tensor.layout.dtype = HIPOPS_I64;
  tensor.generator->bound = uint64_t{1} << 32;
  CHECK(tensor.element(0) == 0x6627e8d5);
  tensor.generator->bound = 1000;
  CHECK(tensor.element(0) == (uint64_t{0x6627e8d5} * 1000) >> 32);
  tensor.generator->bound = 1;
  CHECK(tensor.element(0) == 0);
  // Both halves of the position and of the seed count.
  const Generator far = {Kind::kBits, 0x123456789, 0, 0, 0};
  const auto words = philox4x32({7, 5, 0, 0}, {0x23456789, 1});
  CHECK(far.bits((uint64_t{5} << 32) + 7) == (words[0] | uint64_t{words[1]} << 32));
}

// ---- Layouts

TEST_CASE("a layout finds its elements", "[parity][layout]") {
  const Layout layout = layout_of(HIPOPS_F32, {2, 3, 4}, {-100, 10, 2});
  CHECK(layout.elements == 24);
  CHECK(layout.first == -100);
  CHECK(layout.last == 26);
  CHECK(layout.rows() == 6);
  CHECK(layout.offset_at(23) == -100 + 20 + 6);
  CHECK(layout.offset_of_row(4) == -100 + 10);
  CHECK(layout.index_text(23) == "[1,2,3]");
  CHECK(layout_of(HIPOPS_F32, {2, 0, 4}).elements == 0);
  CHECK(layout_of(HIPOPS_F32, {5, 0}).rows() == 5);
  CHECK(layout_of(HIPOPS_F32, {}).elements == 1);
  CHECK(layout_of(HIPOPS_F32, {3, 1}, {1, std::numeric_limits<int64_t>::max()}).last == 2);
  CHECK(layout_of(HIPOPS_F32, {2, 3, 4}).stride == std::vector<int64_t>{12, 4, 1});
}

// ---- Reader

TEST_CASE("the reader reads a file", "[parity][golden]") {
  const GoldenFile file = read(kFile);
  REQUIRE(file.cases.size() == 1);
  const Case& test = file.cases[0];
  CHECK(file.op == "twice");
  CHECK(file.topic == "smoke");
  CHECK(test.name == "first");
  CHECK(test.dtype == HIPOPS_F32);
  CHECK(test.params.at("factor") == 2);
  CHECK(test.tolerance_ulps == 1);
  REQUIRE(test.inputs.size() == 1);
  CHECK(test.inputs[0].layout.stride == std::vector<int64_t>{4, 1});
  CHECK(test.inputs[0].layout.offset == 1);
  CHECK(test.inputs[0].element(1) == 0xc0000000);
  CHECK(test.inputs[0].element(3) == 0x7f800000);
  CHECK(std::isnan(decode(HIPOPS_F32, test.inputs[0].element(4))));
  CHECK(test.inputs[0].element(5) == 0x80000000);
  CHECK_FALSE(test.in_place);
  CHECK(test.outputs[0].values[1] == -4);

  SECTION("a generator, a sample and in_place") {
    std::string text =
        replaced(kFile, R"("values": [1, -2, 0.5, "inf", "nan", -0.0])",
                 R"("generator": {"kind": "bell", "seed": 18446744073709551615, "scale": 2, "shift": -1})");
    text = replaced(text, R"("stride": [5, 1], "values": [2, -4, 1, "inf", "nan", 0])",
                    R"("stride": [4, 1], "offset": 1, "positions": [0, 5], "values": [1.25, 2], "scale": [1, 4],
                       "row_checksums": [0.5, "nan"], "row_tolerances": [0, 1e-3])");
    text = replaced(text, R"("tolerance")", R"("in_place": ["y", "x"], "tolerance")");
    const Case read_back = read(text).cases[0];
    REQUIRE(read_back.inputs[0].generator);
    CHECK(read_back.inputs[0].generator->seed == ~uint64_t{0});
    CHECK(read_back.inputs[0].generator->shift == -1);
    CHECK(read_back.outputs[0].sampled);
    CHECK(read_back.outputs[0].positions == std::vector<int64_t>{0, 5});
    CHECK(read_back.outputs[0].scale == std::vector<double>{1, 4});
    CHECK(read_back.outputs[0].row_tolerances == std::vector<double>{0, 1e-3});
    REQUIRE(read_back.in_place);
    CHECK(read_back.in_place->output == "y");
  }
  SECTION("integers") {
    std::string text = replaced(kFile, R"("dtype": "f32", "params")", R"("dtype": "i32", "params")");
    text = replaced(text,
                    R"("dtype": "f32", "shape": [2, 3], "stride": [4, 1], "offset": 1,
     "values": [1, -2, 0.5, "inf", "nan", -0.0])",
                    R"("dtype": "i32", "shape": [2], "values": [-2147483648, 7])");
    text = replaced(text, R"("dtype": "f32", "shape": [2, 3], "stride": [5, 1], "values": [2, -4, 1, "inf", "nan", 0])",
                    R"("dtype": "i32", "shape": [1], "values": [-1])");
    const Case read_back = read(text).cases[0];
    CHECK(read_back.inputs[0].element(0) == 0x80000000);
    CHECK(read_back.outputs[0].bits == std::vector<uint64_t>{0xffffffff});
  }
}

TEST_CASE("the reader refuses a wrong file, with the reason", "[parity][golden]") {
  struct Row {
    const char* what;  // in the file
    const char* by;
    const char* case_name;
    const char* reason;
  };
  const Row rows[] = {
      {R"({"schema": 1)", R"(["schema", 1)", "", "not JSON"},
      {R"("torch_ulps": null}]})", R"("torch_ulps": null}])", "", "not JSON"},
      {R"("inf", "nan", -0.0)", R"(1e999, "nan", -0.0)", "", "not JSON"},
      {R"("schema": 1)", R"("schema": 2)", "", "schema: not 1"},
      {R"("schema": 1)", R"("schema": "1")", "", "schema: not an integer"},
      {R"("schema": 1, )", "", "", "schema: missing"},
      {R"("schema": 1)", R"("schema": 1, "schema": 1)", "", "field 'schema' twice in one object"},
      {R"("schema": 1)", R"("schema": 1, "extra": 0)", "", "top level: unknown field 'extra'"},
      {R"("op": "twice")", R"("op": "thrice\u0007")", "", "op: unknown op 'thrice?'"},
      {R"("op": "twice")", R"("op": 7)", "", "op: not a string"},
      {R"("topic": "smoke")", R"("topic": "fire")", "", "topic: unknown topic 'fire'"},
      {R"("reference": {"numpy": "2.2.6"})", R"("reference": [[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]])", "",
       "nested deeper than 16 levels"},
      {R"("reference": {"numpy": "2.2.6"})", R"("reference": 3)", "", "reference: not an object"},
      {R"("cases": [)", R"("cases": [3, )", "", "cases[0]: not an object"},
      {R"("name": "first", )", "", "", "cases[0].name: missing"},
      {R"("name": "first")", R"("name": "a b")", "", "cases[0].name: not 1 to 200 letters"},
      {R"("name": "first")", R"("name": "")", "", "cases[0].name: not 1 to 200 letters"},
      {R"("dtype": "f32", "params")", R"("dtype": "f31", "params")", "first", "dtype: unknown dtype 'f31'"},
      {R"("dtype": "f32", "params")", R"("dtype": "u8", "params")", "first", "dtype: twice has no u8"},
      {R"("factor": 2)", R"("factor": "2")", "first", "params.factor: not a number"},
      {R"("factor": 2, )", "", "first", "params.factor: missing"},
      {R"("factor": 2)", R"("factor": 2, "eps": 1)", "first", "params: unknown param 'eps'"},
      {R"("dim": 0)", R"("dim": 0.5)", "first", "params.dim: not an integer"},
      {R"("dim": 0)", R"("dim": 4294967296)", "first", "params.dim: beyond 32 bits"},
      {R"("dim": 0)", R"("dim": -2147483649)", "first", "params.dim: beyond 32 bits"},
      {R"("inputs": {"x")", R"("inputs": {"z": {}, "x")", "first", "inputs: unknown tensor 'z'"},
      {R"("inputs": {"x")", R"("inputs": {"bias")", "first", "inputs.x: missing"},
      {R"("inputs": {"x")", R"("inputs": {"bias": {"dtype": "f16", "shape": [1], "values": [1]}, "x")", "first",
       "inputs.bias.dtype: f16 in a case of f32"},
      {R"("inputs": {"x")", R"("inputs": {"index": {"dtype": "u8", "shape": [1], "values": [256]}, "x")", "first",
       "inputs.index.values[0]: out of range for u8"},
      {R"("inputs": {"x")",
       R"("inputs": {"index": {"dtype": "i64", "shape": [1], "values": [9223372036854775808]}, "x")", "first",
       "inputs.index.values[0]: out of range for i64"},
      {R"("inputs": {"x")", R"("inputs": {"index": {"dtype": "i16", "shape": [1], "values": [1.0]}, "x")", "first",
       "inputs.index.values[0]: not an integer"},
      {R"("inputs": {"x")", R"("inputs": {"index": {"dtype": "u16", "shape": [1], "values": [1]}, "x")", "first",
       "inputs.index.dtype: u16 in a case of f32"},
      {R"("shape": [2, 3])", R"("shape": [2, "3"])", "first", "inputs.x.shape[1]: not an integer"},
      {R"("shape": [2, 3])", R"("shape": {"0": 2})", "first", "inputs.x.shape: not an array"},
      {R"("shape": [2, 3])", R"("shape": [2, -3])", "first", "inputs.x.shape: negative"},
      {R"("shape": [2, 3])", R"("shape": [1, 1, 1, 1, 1, 1, 1, 2, 3])", "first", "inputs.x.shape: more than 8 entries"},
      {R"("shape": [2, 3])", R"("shape": [4294967296, 4294967296])", "first",
       "inputs.x.shape: negative, or more than 2^33 elements"},
      {R"("shape": [2, 3])", R"("shape": [0, 9223372036854775807])", "first",
       "inputs.x.shape: negative, or more than 2^33"},
      {R"("shape": [2, 3])", R"("shape": [18446744073709551615, 3])", "first", "inputs.x.shape[0]: leaves int64"},
      {R"("stride": [4, 1])", R"("stride": [4])", "first", "inputs.x.stride: 1 entries, expected 2"},
      {R"("stride": [4, 1])", R"("stride": [4, 9223372036854775807])", "first", "inputs.x.stride: offsets leave int64"},
      {R"("stride": [4, 1])", R"("stride": [-9223372036854775808, -9223372036854775808])", "first",
       "inputs.x.stride: offsets leave int64"},
      {R"("stride": [4, 1])", R"("stride": [-9223372036854775807, 4611686018427387903])", "first",
       "inputs.x.stride: elements lie further"},
      {R"("stride": [4, 1])", R"("stride": [17179869184, 1])", "first",
       "inputs.x.stride: elements lie further than 2^34 apart"},
      {R"("offset": 1)", R"("offset": -1)", "first", "inputs.x.offset: not in 0 to 2^20"},
      {R"("offset": 1)", R"("offset": 1048577)", "first", "inputs.x.offset: not in 0 to 2^20"},
      {R"("values": [1, -2, 0.5, "inf", "nan", -0.0])", R"("values": [1])", "first",
       "inputs.x.values: 1 entries, expected 6"},
      {R"("values": [1, -2, 0.5, "inf", "nan", -0.0])", R"("generator": [])", "first",
       "inputs.x.generator: not an object"},
      {R"("values": [1, -2, 0.5, "inf", "nan", -0.0])", R"("generator": {"kind": "sine"})", "first",
       "inputs.x.generator.kind: unknown generator 'sine'"},
      {R"("values": [1, -2, 0.5, "inf", "nan", -0.0])",
       R"("generator": {"kind": "bell", "seed": -1, "scale": 1, "shift": 0})", "first",
       "inputs.x.generator.seed: not an integer of 0"},
      {R"("values": [1, -2, 0.5, "inf", "nan", -0.0])", R"("generator": {"kind": "bell", "seed": 1, "shift": 0})",
       "first", "inputs.x.generator.scale: missing"},
      {R"("values": [1, -2, 0.5, "inf", "nan", -0.0])",
       R"("generator": {"kind": "uniform", "seed": 1, "scale": 1e39, "shift": 0})", "first",
       "inputs.x.generator: values out of range for f32"},
      {R"(1,
     "values": [1, -2, 0.5, "inf", "nan", -0.0])",
       "1", "first", "inputs.x: needs either values or a generator"},
      {R"("values": [1, -2)", R"("generator": {}, "values": [1, -2)", "first",
       "inputs.x: needs either values or a generator"},
      {R"("values": [1, -2)", R"("values": [0.1, -2)", "first", "inputs.x.values[0]: not exactly representable in f32"},
      {R"("values": [1, -2)", R"("values": [1e39, -2)", "first", "inputs.x.values[0]: out of range for f32"},
      {R"("values": [1, -2)", R"("values": ["NaN", -2)", "first", "inputs.x.values[0]: neither a number nor"},
      {R"("values": [1, -2)", R"("values": [null, -2)", "first", "inputs.x.values[0]: neither a number nor"},
      {R"("stride": [5, 1], "values")", R"("positions": [0], "values")", "first", "outputs.y.row_checksums: missing"},
      {R"("stride": [5, 1], "values")",
       R"("positions": [6], "row_checksums": [1, 1], "row_tolerances": [1, 1], "values")", "first",
       "outputs.y.positions[0]: outside the tensor"},
      {R"("stride": [5, 1], "values")",
       R"("positions": [3, 3], "row_checksums": [1, 1], "row_tolerances": [1, 1], "values")", "first",
       "outputs.y.positions[1]: not ascending"},
      {R"("stride": [5, 1], "values")",
       R"("positions": [-1], "row_checksums": [1, 1], "row_tolerances": [1, 1], "values")", "first",
       "outputs.y.positions[0]: outside the tensor"},
      {R"("stride": [5, 1], "values")", R"("positions": [0], "row_checksums": [1], "row_tolerances": [1], "values")",
       "first", "outputs.y.row_checksums: 1 entries, expected 2"},
      {R"("stride": [5, 1], "values")",
       R"("positions": [0], "row_checksums": [1, 1], "row_tolerances": [1, -1], "values")", "first",
       "outputs.y.row_tolerances[1]: negative"},
      {R"("stride": [5, 1], "values")",
       R"("positions": [0], "row_checksums": [1, 1], "row_tolerances": [1, 1], "values")", "first",
       "outputs.y.values: 6 entries, expected 1"},
      {R"("stride": [5, 1], "values")", R"("scale": [1], "values")", "first", "outputs.y.scale: 1 entries, expected 6"},
      {R"("stride": [5, 1], "values")", R"("scale": [1, 1, 1, 1, 1, "inf"], "values")", "first",
       "outputs.y.scale[5]: not a number"},
      {R"("stride": [5, 1], "values")", R"("value": 1, "values")", "first", "outputs.y: unknown field 'value'"},
      {R"("tolerance")", R"("in_place": ["y", "x"], "tolerance")", "first",
       "in_place: the two differ in dtype, shape, stride or offset"},
      {R"("tolerance")", R"("in_place": ["y"], "tolerance")", "first", "in_place: 1 entries, expected 2"},
      {R"("tolerance")", R"("in_place": ["y", "bias"], "tolerance")", "first",
       "in_place: no input 'bias' in this case"},
      {R"("tolerance": {"ulps": 1}, )", "", "first", "tolerance: missing"},
      {R"("ulps": 1})", R"("ulps": -1})", "first", "tolerance.ulps: negative"},
      {R"("ulps": 1})", R"("ulps": "nan"})", "first", "tolerance.ulps: not a number"},
      {R"("ulps": 1})", R"("abs": 1})", "first", "tolerance: unknown field 'abs'"},
      {R"("torch_ulps": null)", R"("torch_ulps": true)", "first", "torch_ulps: neither a number nor"},
  };
  for (const Row& row : rows) {
    INFO(row.by);
    try {
      read(replaced(kFile, row.what, row.by));
      FAIL_CHECK("was accepted");
    } catch (const GoldenError& error) {
      INFO(error.what());
      CHECK(error.file() == "twice/smoke.json");
      CHECK(error.case_name() == row.case_name);
      CHECK(contains(error.reason(), row.reason));
      CHECK(std::string(error.what()).find('\n') == std::string::npos);
    }
  }
}

TEST_CASE("the reader reads integers of 64 bits, and tensors that are input and output", "[parity][golden]") {
  const Case test = read(kAddFile).cases[0];
  CHECK(test.is_in_out("y"));
  CHECK(test.is_in_out("report"));
  CHECK_FALSE(test.is_in_out("x"));
  REQUIRE(test.inputs.size() == 4);
  CHECK(test.inputs[0].element(0) == ~uint64_t{0});
  CHECK(test.inputs[0].element(2) == 0x8000000000000001);
  CHECK(test.inputs[2].element(1) == 0x8000000000000000);
  CHECK(test.inputs[2].element(3) == 0x7fffffffffffffff);
  CHECK(test.inputs[3].element(1) == ~uint64_t{0});
  CHECK(test.outputs[0].bits[1] == ~uint64_t{0});
  CHECK(test.params.at("workspace") == 1);

  const Case sampled = read(replaced(replaced(kAddFile, R"("values": [9, 18446744073709551615, 18446744073709551615])",
                                              R"("positions": [1], "values": [3], "checksum": 18446744073709551615)"),
                                     R"("values": [18446744073709551615, 1, 9223372036854775809, 3, 4])",
                                     R"("generator": {"kind": "bits", "seed": 12})"))
                           .cases[0];
  CHECK(sampled.outputs[0].sampled);
  CHECK(sampled.outputs[0].checksum == ~uint64_t{0});
  REQUIRE(sampled.inputs[0].generator);
  CHECK(sampled.inputs[0].generator->kind == Generator::Kind::kBits);
  const Case index = read(replaced(kAddFile, R"("values": [2, -9223372036854775808, 1, 9223372036854775807, 0])",
                                   R"("generator": {"kind": "index", "seed": 12, "bound": 4294967296})"))
                         .cases[0];
  CHECK(index.inputs[2].generator->bound == uint64_t{1} << 32);

  struct Row {
    const char* what;
    const char* by;
    const char* reason;
  };
  const char* const kY =
      R"("y": {"dtype": "u64", "shape": [3], "stride": [2], "offset": 1, "values": [5, 9223372036854775806, 0]},)";
  const char* const kX = R"("values": [18446744073709551615, 1, 9223372036854775809, 3, 4])";
  const char* const kIndex = R"("values": [2, -9223372036854775808, 1, 9223372036854775807, 0])";
  const char* const kWhole = R"("values": [9, 18446744073709551615, 18446744073709551615])";
  const Row rows[] = {
      {kY, "", "inputs.y: missing"},
      {R"(,
     "report": {"dtype": "i64", "shape": [2], "values": [2, 1]}})",
       "}", "outputs.report: missing"},
      {R"(,
     "report": {"dtype": "i64", "shape": [2], "values": [0, -1]}})",
       "}", "inputs.report: missing"},
      {kY, R"("y": {"dtype": "u64", "shape": [3], "stride": [2], "values": [5, 1, 0]},)",
       "outputs.y: differs from the input"},
      {kY, R"("y": {"dtype": "u64", "shape": [2], "stride": [2], "offset": 1, "values": [5, 1]},)",
       "outputs.y: differs from the input"},
      {R"("report": {"dtype": "i64", "shape": [2], "values": [0, -1]})",
       R"("report": {"dtype": "u64", "shape": [2], "values": [0, 1]})", "inputs.report.dtype: u64 in a case of u64"},
      {R"("report": {"dtype": "i64", "shape": [2], "values": [0, -1]})",
       R"("report": {"dtype": "i64", "shape": [1], "values": [0]})",
       "inputs.report: a report has shape [2] and no stride"},
      {R"("report": {"dtype": "i64", "shape": [2], "values": [0, -1]})",
       R"("report": {"dtype": "i64", "shape": [2], "stride": [2], "values": [0, -1]})",
       "inputs.report: a report has shape"},
      {R"("workspace": 1)", R"("workspace": 2)", "params.workspace: neither 0 nor 1"},
      {R"("tolerance")", R"("in_place": ["y", "x"], "tolerance")", "in_place: one of the two is input and output"},
      {R"([18446744073709551615, 1,)", R"([18446744073709551616, 1,)", "inputs.x.values[0]: not an integer"},
      {R"([18446744073709551615, 1,)", R"([-1, 1,)", "inputs.x.values[0]: out of range for u64"},
      {R"([2, -9223372036854775808,)", R"([2, -9223372036854775809,)", "inputs.index.values[1]: not an integer"},
      {kX, R"("generator": {"kind": "bits", "seed": 1, "scale": 1})", "inputs.x.generator: unknown field 'scale'"},
      {kX, R"("generator": {"kind": "bits"})", "inputs.x.generator.seed: missing"},
      {kX, R"("generator": {"kind": "index", "seed": 1})", "inputs.x.generator.bound: missing"},
      {kX, R"("generator": {"kind": "index", "seed": 1, "bound": 0})", "inputs.x.generator.bound: not in 1 to 2^32"},
      {kX, R"("generator": {"kind": "index", "seed": 1, "bound": 4294967297})", "bound: not in 1 to 2^32"},
      {R"("index": {"dtype": "i64", "shape": [5], "values": [2, -9223372036854775808, 1, 9223372036854775807, 0]})",
       R"("index": {"dtype": "u8", "shape": [5], "generator": {"kind": "index", "seed": 1, "bound": 257}})",
       "inputs.index.generator.bound: values out of range for u8"},
      {kWhole, R"("positions": [1], "values": [3])", "outputs.y.checksum: missing"},
      {kWhole, R"("positions": [1], "values": [3], "checksum": -1)",
       "outputs.y.checksum: not an integer of 0 to 2^64 - 1"},
      {kWhole, R"("positions": [1], "values": [3], "checksum": 1.5)",
       "outputs.y.checksum: not an integer of 0 to 2^64 - 1"},
      {kWhole, R"("values": [3], "checksum": 1)", "outputs.y.positions: missing"},
      {kWhole, R"("positions": [1], "values": [3], "checksum": 1, "row_tolerances": [1])",
       "outputs.y.row_tolerances: not beside a checksum"},
      {kIndex, R"("generator": {"kind": "bits", "seed": 1, "bound": 3})",
       "inputs.index.generator: unknown field 'bound'"},
  };
  for (const Row& row : rows) {
    INFO(row.by);
    try {
      read(replaced(kAddFile, row.what, row.by));
      FAIL_CHECK("was accepted");
    } catch (const GoldenError& error) {
      INFO(error.what());
      CHECK(error.case_name() == "ends");
      CHECK(contains(error.reason(), row.reason));
    }
  }
  try {
    read(replaced(kFile, R"("values": [1, -2, 0.5, "inf", "nan", -0.0])",
                  R"("generator": {"kind": "bits", "seed": 1})"));
    FAIL_CHECK("was accepted");
  } catch (const GoldenError& error) {
    CHECK(error.reason() == "inputs.x.generator.kind: not for f32");
  }
}

TEST_CASE("the reader refuses tensors that copy2d cannot represent", "[parity][golden]") {
  const std::string text = R"({"schema": 1, "op": "copy2d", "topic": "smoke", "reference": {}, "cases": [
    {"name": "rows", "dtype": "u8", "params": {},
     "inputs": {"x": {"dtype": "u8", "shape": [2, 2], "stride": [3, 1], "values": [1, 2, 3, 4]}},
     "outputs": {"y": {"dtype": "u8", "shape": [2, 2], "stride": [5, 1], "values": [1, 2, 3, 4]}},
     "tolerance": {"ulps": 0}}]})";
  const auto reason = [](const std::string& changed) {
    try {
      read_golden(changed, "copy2d/smoke.json", all_ops());
    } catch (const GoldenError& error) {
      return error.reason();
    }
    return std::string("none");
  };
  CHECK(reason(text) == "none");
  const std::string y = R"("shape": [2, 2], "stride": [5, 1], "values": [1, 2, 3, 4])";
  CHECK(contains(reason(replaced(text, y, R"("shape": [1, 2], "values": [1, 2])")), "outputs.y.shape: expected x's shape"));
  CHECK(contains(reason(replaced(text, y, R"("shape": [2, 1], "values": [1, 3])")), "outputs.y.shape: expected x's shape"));
  CHECK(contains(reason(replaced(text, y, R"("shape": [4], "values": [1, 2, 3, 4])")), "outputs.y.shape: expected x's shape"));
  CHECK(contains(reason(replaced(text, "[5, 1]", "[5, 2]")), "outputs.y.stride: expected 1"));
  CHECK(contains(reason(replaced(text, "[3, 1]", "[4, 2]")), "inputs.x.stride: expected 1"));
  CHECK(contains(reason(replaced(text, R"("shape": [2, 2], "stride": [3, 1])", R"("shape": [4])")),
                 "inputs.x.shape: of rank 1, expected 2 for copy2d"));
}

TEST_CASE("the reader survives any truncation, and duplicates are refused", "[parity][golden]") {
  const std::string text = kFile;
  size_t refused = 0;
  for (size_t length = 0; length < text.size(); ++length) {
    try {
      read(text.substr(0, length));
    } catch (const GoldenError&) {
      ++refused;
    }
  }
  CHECK(refused == text.size());

  const size_t start = text.find("{\"name\"");
  const std::string entry = text.substr(start, text.rfind("]}") - start);
  try {
    read(text.substr(0, start) + entry + "," + entry + "]}");
    FAIL_CHECK("two cases of one name were accepted");
  } catch (const GoldenError& error) {
    CHECK(error.what() == std::string("twice/smoke.json: case first: name: another case has it"));
  }
  CHECK_THROWS_AS(read(std::string(10000000, '[')), GoldenError);
  CHECK_THROWS_AS(read(std::string(kMaxGoldenBytes + 1, ' ')), GoldenError);
  CHECK_THROWS_AS(read("\xff\xfe{}"), GoldenError);
}

TEST_CASE("golden files are found by op and topic", "[parity][golden]") {
  namespace fs = std::filesystem;
  const fs::path root = fs::temp_directory_path() / ("hipops-test-parity-" + std::to_string(std::random_device()()));
  fs::create_directories(root / "twice");
  const auto write = [&](const std::string& name, const std::string& text) { std::ofstream(root / name) << text; };
  const auto reason = [&](const std::string& topic) {
    try {
      load_golden(root.string(), "", topic, test_ops());
    } catch (const GoldenError& error) {
      return error.reason();
    }
    return std::string("none");
  };
  const std::string sizes = replaced(kFile, "\"smoke\"", "\"sizes\"");
  write("README.md", "not a golden file");
  write("twice/sizes.json", replaced(sizes, "\"first\"", "\"second\""));
  write("twice/smoke.json", kFile);
  const auto files = load_golden(root.string(), "", "", test_ops());
  REQUIRE(files.size() == 2);
  CHECK(files[0].topic == "smoke");
  CHECK(files[1].topic == "sizes");
  CHECK(load_golden(root.string(), "twice", "sizes", test_ops()).size() == 1);
  CHECK(load_golden(root.string(), "thrice", "", test_ops()).empty());

  write("twice/sizes.json", sizes);
  CHECK(contains(reason(""), "another case has it, in"));
  CHECK(reason("smoke") == "none");
  write("twice/sizes.json", kFile);
  CHECK(contains(reason("sizes"), "'smoke' is not the file's name"));
  fs::create_directories(root / "thrice");
  fs::rename(root / "twice/sizes.json", root / "thrice/smoke.json");
  CHECK(contains(reason(""), "'twice' in the folder of 'thrice'"));
  fs::remove_all(root / "thrice");
  fs::create_directories(root / "twice/large.json");
  CHECK(contains(reason(""), "not a readable file"));
  fs::remove_all(root / "twice/large.json");
  fs::create_directory_symlink(root / "nowhere", root / "thrice");
  CHECK(contains(reason(""), "cannot be read: No such file or directory"));
  fs::remove_all(root);
  CHECK(contains(reason(""), "cannot be listed"));
}

// ---- Comparison

TEST_CASE("an error over a limit is not printed as the limit", "[parity][compare]") {
  CHECK(show_ulps(4) == "4");
  CHECK(show_ulps(4.005) == "4.005");
  CHECK(show_ulps(0.4961) == "0.496");
  CHECK(show_ulps(kInf) == "inf");
}

TEST_CASE("a comparison finds the elements that are off", "[parity][compare]") {
  ExpectedTensor expected;
  expected.name = "y";
  expected.layout = layout_of(HIPOPS_F16, {2, 2}, {3, 1});
  expected.values = {1, 2, kNan, -kInf};
  uint16_t got[] = {0x3c00, 0x4000, 0x1234, 0x7e00, 0xfc00};
  const auto run = [&] { return compare(expected, 1, reinterpret_cast<const unsigned char*>(got)); };
  CHECK(run().passed());
  CHECK(run().compared == 4);
  CHECK(run().worst_ulps == 0);

  got[1] = 0x4001;  // one ULP, within the tolerance
  CHECK(run().passed());
  CHECK(run().worst_ulps == 1);
  CHECK(run().worst_position == 1);

  got[1] = 0x4002;
  CHECK(run().missed == 1);
  REQUIRE(run().examples.size() == 1);
  CHECK(run().examples[0] ==
        "y[0,1] (position 1): expected 2 (0x4000), got 2.0039 (0x4002), off by 2 ULPs (tolerance 1)");

  got[3] = 0x3c00;  // a number instead of NaN
  CHECK(run().missed == 2);
  CHECK(run().worst_ulps == kInf);
  CHECK(run().worst_position == 2);
  got[4] = 0x7c00;  // the wrong infinity
  CHECK(run().missed == 3);

  expected.scale = {1, 1024, 1, 1};
  CHECK(run().missed == 2);  // the second element's ULP is 1 now
}

TEST_CASE("a comparison of many errors shows a few", "[parity][compare]") {
  ExpectedTensor expected;
  expected.name = "y";
  expected.layout = layout_of(HIPOPS_I64, {100});
  expected.bits.assign(100, 7);
  const std::vector<int64_t> got(100, 9);
  const Comparison result = compare(expected, 1, reinterpret_cast<const unsigned char*>(got.data()));
  CHECK(result.missed == 100);
  CHECK(result.examples.size() == 5);
  CHECK(contains(result.examples[0], "expected 7 (0x0000000000000007), got 9 (0x0000000000000009), off by 2 ULPs"));
}

TEST_CASE("row checksums detect errors outside the sample", "[parity][compare]") {
  const int signs[] = {-1, 1, -1, -1, 1, 1, -1, -1};
  for (int column = 0; column < 8; ++column) CHECK(checksum_sign(column) == signs[column]);
  CHECK(checksum_sign((int64_t{1} << 33) + 5) == checksum_sign(5));

  constexpr int kColumns = 1000;
  ExpectedTensor expected;
  expected.name = "y";
  expected.sampled = true;
  expected.layout = layout_of(HIPOPS_F32, {2, kColumns});
  expected.positions = {0, 999, 1000, 1999};
  std::vector<float> got(2 * kColumns);
  expected.row_checksums = {0, 0};
  for (size_t i = 0; i < got.size(); ++i) {
    got[i] = static_cast<float>(i % 17) / 16;
    expected.row_checksums[i / kColumns] +=
        checksum_sign(static_cast<int64_t>(i % kColumns)) * static_cast<double>(got[i]);
  }
  for (const int64_t position : expected.positions) expected.values.push_back(got[static_cast<size_t>(position)]);
  expected.row_tolerances = {0x1p-20, 0x1p-20};
  const auto run = [&] { return compare(expected, 4, reinterpret_cast<const unsigned char*>(got.data())); };
  CHECK(run().passed());

  SECTION("one element") {
    got[1500] += 0x1p-10f;
    CHECK(run().missed == 0);
    CHECK(run().rows_missed == 1);
    CHECK_FALSE(run().passed());
    CHECK(contains(run().examples[0], "y, row 1: checksum of all its elements is"));
  }
  SECTION("within the tolerance") {
    got[1500] += 0x1p-21f;
    CHECK(run().passed());
  }
  SECTION("two elements exchanged, of different signs") {
    REQUIRE(checksum_sign(3) != checksum_sign(4));
    std::swap(got[3], got[4]);
    CHECK(run().rows_missed == 1);
  }
  SECTION("an element that was never written") {
    got[77] = std::numeric_limits<float>::quiet_NaN();
    CHECK(run().rows_missed == 1);
  }
  SECTION("an infinity") {
    got[77] = std::numeric_limits<float>::infinity();
    CHECK(run().rows_missed == 1);
  }
}

TEST_CASE("the sum of a checksum is exact", "[parity][compare]") {
  ExpectedTensor expected;
  expected.name = "y";
  expected.sampled = true;
  expected.layout = layout_of(HIPOPS_F64, {1, 8});
  const auto sign = [](int column) { return static_cast<double>(checksum_sign(column)); };
  const double got[] = {sign(0) * 0x1p60, sign(1), sign(2), sign(3), sign(4), sign(5), sign(6), sign(7) * -0x1p60};
  expected.row_checksums = {6};
  expected.row_tolerances = {0};
  CHECK(compare(expected, 0, reinterpret_cast<const unsigned char*>(got)).passed());
}

TEST_CASE("integers must be exact at any tolerance", "[parity][compare]") {
  ExpectedTensor expected;
  expected.name = "y";
  expected.layout = layout_of(HIPOPS_I32, {3});
  expected.bits = {1, 2, 3};
  const int32_t got[] = {1, 2, 4};
  const Comparison result = compare(expected, 4, reinterpret_cast<const unsigned char*>(got));
  CHECK(result.missed == 1);
  CHECK(contains(result.examples[0], "off by 1 ULPs (tolerance 0)"));
}

TEST_CASE("a checksum of bits depends on every bit of every element", "[parity][compare]") {
  CHECK(checksum_weight(0) == 1);
  CHECK(checksum_weight(1) == 0x9e3779b97f4a7c15);
  CHECK(checksum_weight(2) == 0x3c6ef372fe94f82b);
  for (const hipops_dtype dtype : {HIPOPS_U64, HIPOPS_I16, HIPOPS_F32}) {
    INFO(dtype_name(dtype));
    const size_t bytes = dtype_size(dtype);
    ExpectedTensor expected;
    expected.name = "y";
    expected.sampled = true;
    expected.layout = layout_of(dtype, {5, 7, 11}, {200, 11, 1});
    std::vector<unsigned char> memory((4 * 200 + 77) * bytes);
    std::mt19937 random(5);
    for (unsigned char& byte : memory) byte = static_cast<unsigned char>(random());
    uint64_t sum = 0;
    for (int64_t i = 0; i < 5 * 77; ++i) {
      const int64_t at = i / 77 * 200 + i % 77;
      sum += load_bits(dtype, memory.data() + static_cast<size_t>(at) * bytes) * checksum_weight(i);
    }
    expected.checksum = sum;
    const auto run = [&] { return compare(expected, 0, memory.data()); };
    CHECK(run().passed());
    int unseen = 0;
    for (const size_t element : {size_t{0}, size_t{76}, size_t{200}, size_t{4 * 200 + 40}, size_t{4 * 200 + 76}}) {
      for (size_t bit = 0; bit < 8 * bytes; ++bit) {
        memory[element * bytes + bit / 8] ^= static_cast<unsigned char>(1 << bit % 8);
        if (run().passed()) ++unseen;
        memory[element * bytes + bit / 8] ^= static_cast<unsigned char>(1 << bit % 8);
      }
    }
    CHECK(unseen == 0);
    memory[77 * bytes] ^= 1;  // a gap between elements
    CHECK(run().passed());
    std::swap_ranges(memory.begin(), memory.begin() + static_cast<ptrdiff_t>(bytes),
                     memory.begin() + static_cast<ptrdiff_t>(9 * bytes));
    CHECK(run().checksum_missed);
    CHECK(contains(run().examples[0], "y: checksum of all its bits is "));
  }
}

// ---- Buffers and cases

TEST_CASE("a buffer places element 0 at the offset of the layout", "[parity][buffer]") {
  HostRuntime runtime;
  const auto at = [](const Buffer& buffer) { return reinterpret_cast<uintptr_t>(buffer.tensor().data); };
  {
    Buffer buffer(runtime, "x", layout_of(HIPOPS_F16, {3, 5}, {7, 1}, 3), Guard::kZones);
    CHECK(at(buffer) % 256 == 6);
    CHECK(at(buffer) - reinterpret_cast<uintptr_t>(runtime.allocated_begin) >= 256);
    CHECK(reinterpret_cast<uintptr_t>(runtime.allocated_end) - at(buffer) >= 2 * (2 * 7 + 5) + 256);
  }
  {
    Buffer buffer(runtime, "x", layout_of(HIPOPS_F32, {100}, {-2}), Guard::kZones);
    CHECK(at(buffer) % 256 == 0);
    CHECK(at(buffer) - reinterpret_cast<uintptr_t>(runtime.allocated_begin) >= 99 * 8 + 256);
  }
  {
    Buffer buffer(runtime, "x", layout_of(HIPOPS_F32, {3, 5}, {7, 1}, 3), Guard::kPageAfter);
    CHECK(at(buffer) + 4 * (2 * 7 + 5) == reinterpret_cast<uintptr_t>(runtime.allocated_end));
    CHECK((runtime.allocated_end - runtime.allocated_begin) % 256 == 0);
  }
  {
    Buffer buffer(runtime, "x", layout_of(HIPOPS_F32, {3}, {-2}), Guard::kPageBefore);
    CHECK(at(buffer) - 4 * 4 == reinterpret_cast<uintptr_t>(runtime.allocated_begin));
  }
  CHECK(runtime.live == 0);
}

TEST_CASE("the bytes around a tensor are NaN in every float dtype", "[parity][buffer]") {
  HostRuntime runtime;
  for (const hipops_dtype dtype : {HIPOPS_F32, HIPOPS_F16, HIPOPS_BF16, HIPOPS_F64}) {
    Buffer buffer(runtime, "x", layout_of(dtype, {4, 4}, {5, 1}, 1), Guard::kZones);
    buffer.set_elements([](int64_t) { return uint64_t{0}; });
    const int64_t bytes = static_cast<int64_t>(dtype_size(dtype));
    for (const int64_t element : {-20, -3, -2, -1, 4, 9, 14, 19, 20, 30}) {
      INFO(dtype_name(dtype) << " at " << element);
      CHECK(std::isnan(decode(dtype, load_bits(dtype, buffer.element_zero() + element * bytes))));
    }
    CHECK(decode(dtype, load_bits(dtype, buffer.element_zero() + 5 * bytes)) == 0);
  }
}

TEST_CASE("the run of a case detects every kind of defect", "[parity][run]") {
  const OpEntry& op = *find_op(test_ops(), "twice");
  HostRuntime runtime;
  Case test = read(kFile).cases[0];
  struct Row {
    Defect defect;
    const char* reason;
  };
  const Row rows[] = {
      {Defect::kStatus, "hipops_twice: HIPOPS_UNSUPPORTED_LAYOUT"},
      {Defect::kLastUnwritten, "y[1,2] (position 5): expected 0 (0x00000000), got "},
      {Defect::kValue, "y[1,2] (position 5): expected 0 (0x00000000), got 1 (0x3f800000), off by"},
      {Defect::kBefore, "wrote outside y: byte 12 before its start\n"},
      {Defect::kAfter, "wrote outside y: byte 1 past its end (3 bytes in all)\n"},
      {Defect::kPadding, "wrote outside y: between its elements, 12 bytes from its start\n"},
      {Defect::kInput, "changed its input: x[1,0] (position 3)\n"},
      {Defect::kInputGuard, "wrote outside x: byte 1 before its start\n"},
  };
  for (const Row& row : rows) {
    defect = row.defect;
    const CaseResult result = run_case(runtime, op, test, Guard::kZones);
    INFO(all_reasons(result));
    CHECK(result.verdict == CaseResult::Verdict::kFailed);
    CHECK(contains(all_reasons(result), row.reason));
  }
  defect = Defect::kNone;

  SECTION("and none in a correct op") {
    const CaseResult result = run_case(runtime, op, test, Guard::kZones);
    CHECK(all_reasons(result) == "");
    CHECK(result.verdict == CaseResult::Verdict::kPassed);
    CHECK(result.worst_ulps == 0);
    CHECK(result.worst_output == "y");
    CHECK(run_case(runtime, op, test, Guard::kPageAfter).verdict == CaseResult::Verdict::kPassed);
    CHECK(run_case(runtime, op, test, Guard::kPageBefore).verdict == CaseResult::Verdict::kPassed);
  }
  SECTION("in place, the input may change, but nothing around it") {
    std::string text = replaced(kFile, R"("stride": [5, 1])", R"("stride": [4, 1], "offset": 1)");
    text = replaced(text, R"("tolerance")", R"("in_place": ["y", "x"], "tolerance")");
    const Case in_place = read(text).cases[0];
    CHECK(run_case(runtime, op, in_place, Guard::kZones).verdict == CaseResult::Verdict::kPassed);
    defect = Defect::kPadding;
    CHECK(
        contains(all_reasons(run_case(runtime, op, in_place, Guard::kZones)), "wrote outside x: between its elements"));
    defect = Defect::kNone;
  }
  SECTION("a device that fails") {
    runtime.synchronize_status = HIPOPS_RUNTIME_ERROR;
    CHECK(contains(all_reasons(run_case(runtime, op, test, Guard::kZones)),
                   "waiting for the device: HIPOPS_RUNTIME_ERROR"));
    runtime.synchronize_status = HIPOPS_SUCCESS;
    runtime.refuse_allocation = HIPOPS_RUNTIME_ERROR;
    const CaseResult result = run_case(runtime, op, test, Guard::kZones);
    CHECK(contains(all_reasons(result), "bytes for x: HIPOPS_RUNTIME_ERROR"));
    CHECK(result.worst_output == "");
  }
  SECTION("a tensor without elements must stay untouched too") {
    std::string text = replaced(kFile, R"("shape": [2, 3], "stride": [4, 1], "offset": 1,
     "values": [1, -2, 0.5, "inf", "nan", -0.0])",
                                R"("shape": [0, 3], "values": [])");
    text = replaced(text, R"("shape": [2, 3], "stride": [5, 1], "values": [2, -4, 1, "inf", "nan", 0])",
                    R"("shape": [0, 3], "values": [])");
    const CaseResult result = run_case(runtime, op, read(text).cases[0], Guard::kZones);
    CHECK(result.verdict == CaseResult::Verdict::kPassed);
    CHECK(result.worst_output == "");
  }
  CHECK(runtime.live == 0);
}

TEST_CASE("a case with a workspace and tensors that are input and output", "[parity][run]") {
  const OpEntry& op = *find_op(test_ops(), "add");
  HostRuntime runtime;
  const auto run = [&](const std::string& text, Guard guard = Guard::kZones) {
    return run_case(runtime, op, read(text).cases[0], guard);
  };
  CHECK(all_reasons(run(kAddFile)) == "");
  CHECK(workspace_seen);
  workspace_asked = 0;
  CHECK(all_reasons(run(kAddFile)) == "");
  workspace_asked = 40;
  CHECK(all_reasons(run(replaced(kAddFile, R"("workspace": 1)", R"("workspace": 0)"))) == "");
  CHECK_FALSE(workspace_seen);
  std::string without = replaced(kAddFile, R"(,
     "report": {"dtype": "i64", "shape": [2], "values": [0, -1]}})",
                                 "}");
  without = replaced(without, R"(,
     "report": {"dtype": "i64", "shape": [2], "values": [2, 1]}})",
                     "}");
  CHECK(all_reasons(run(without)) == "");
  // A report with the count of an earlier call, and a wrong report.
  CHECK(all_reasons(run(replaced(replaced(kAddFile, "[0, -1]", "[5, 0]"), "[2, 1]", "[7, 0]"))) == "");
  CHECK(contains(all_reasons(run(replaced(kAddFile, "[2, 1]", "[2, 3]"))), "report[1] (position 1): expected 3"));
  CHECK(contains(all_reasons(run(replaced(kAddFile, "[9, 18446744073709551615,", "[9, 18446744073709551614,"))),
                 "y[1] (position 1): expected 18446744073709551614 (0xfffffffffffffffe), got 18446744073709551615"));

  add_defect = AddDefect::kPastWorkspace;
  CHECK(all_reasons(run(kAddFile)) == "wrote outside workspace: byte 1 past its end\n");
  CHECK(all_reasons(run(replaced(kAddFile, R"("workspace": 1)", R"("workspace": 0)"))) == "");
  add_defect = AddDefect::kReport;
  CHECK(contains(all_reasons(run(kAddFile)), "report[0] (position 0): expected 2 (0x0000000000000002), got 3"));
  add_defect = AddDefect::kBesideY;
  CHECK(contains(all_reasons(run(kAddFile)), "wrote outside y: between its elements"));
  add_defect = AddDefect::kWorkspaceStatus;
  CHECK(contains(all_reasons(run(kAddFile)), "hipops_add_workspace_bytes: HIPOPS_RUNTIME_ERROR"));
  add_defect = AddDefect::kNone;
  workspace_asked = -1;
  CHECK(contains(all_reasons(run(kAddFile)), "a workspace of -1 bytes"));
  workspace_asked = 40;
  CHECK(runtime.live == 0);
}

TEST_CASE("a workspace next to an unmapped page is aligned", "[parity][buffer]") {
  // kPageAfter needs an allocation that ends at a page, as the CPU runtime's allocations do.
  class PageRuntime : public HostRuntime {
   public:
    hipops_status allocate(size_t bytes, void** pointer) override {
      const size_t whole = (bytes + 4095) / 4096 * 4096;
      pages_ = std::aligned_alloc(4096, whole);
      *pointer = static_cast<unsigned char*>(pages_) + (whole - bytes);
      return HIPOPS_SUCCESS;
    }
    hipops_status release(void*) override {
      std::free(pages_);
      return HIPOPS_SUCCESS;
    }

   private:
    void* pages_ = nullptr;
  };
  for (const int64_t bytes : {1, 40, 255, 256, 257, 5000}) {
    PageRuntime runtime;
    Buffer buffer(runtime, "workspace", layout_of(HIPOPS_U8, {bytes}), Guard::kPageAfter, 256);
    CHECK(reinterpret_cast<uintptr_t>(buffer.tensor().data) % 256 == 0);
    buffer.set_elements_unwritten();
    buffer.upload();
    static_cast<unsigned char*>(buffer.tensor().data)[bytes - 1] = 0;
    buffer.download();
    CHECK(buffer.stray_writes() == "");
  }
}

// ---- Reports

namespace {

CaseRecord failed_record() {
  CaseRecord record;
  record.op = "twice";
  record.dtype = "f32";
  record.topic = "smoke";
  record.name = "first";
  record.shape = "2x3";
  record.command = "./hipops-parity --op twice --case 'a<b'";
  record.result.verdict = CaseResult::Verdict::kFailed;
  record.result.worst_ulps = kInf;
  record.result.worst_output = "y";
  record.result.worst_position = 5;
  record.result.worst_index = "[1,2]";
  record.result.reasons = {"expected \"1\" & <2>", "ctrl\x01 and broken \xff"};
  return record;
}

std::vector<CaseRecord> three_records() {
  CaseRecord passed = failed_record();
  passed.name = "second";
  passed.result.verdict = CaseResult::Verdict::kPassed;
  passed.result.worst_ulps = 0.5;
  passed.result.reasons.clear();
  CaseRecord skipped = passed;
  skipped.name = "third";
  skipped.result.verdict = CaseResult::Verdict::kSkipped;
  skipped.result.worst_output = "";
  skipped.result.reasons = {"large"};
  return {failed_record(), passed, skipped};
}

}  // namespace

TEST_CASE("XML text is escaped", "[parity][report]") {
  CHECK(xml_escape("a<b>&\"'") == "a&lt;b&gt;&amp;&quot;&apos;");
  CHECK(xml_escape("tab\tline\n") == "tab&#9;line&#10;");
  CHECK(xml_escape(std::string("\0\x1b\x7f", 3)) == "???");
  CHECK(xml_escape("Gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80") ==
        "Gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80");
  CHECK(xml_escape("\xc3") == "?");
  CHECK(xml_escape("\xc0\x80") == "??");            // an overlong zero
  CHECK(xml_escape("\xed\xa0\x80") == "???");       // a surrogate
  CHECK(xml_escape("\xef\xbf\xbf") == "???");       // U+FFFF
  CHECK(xml_escape("\xf4\x90\x80\x80") == "????");  // past U+10FFFF
}

TEST_CASE("JUnit XML lists the failures", "[parity][report]") {
  RunInfo info;
  info.build = "clang \"22\" <x>";
  info.golden = "golden, each 5 times";
  info.guard = "page after each tensor";
  const std::string text = to_junit(info, three_records());
  CHECK(contains(text, R"(<testsuite name="twice" tests="3" failures="1" errors="0" skipped="1")"));
  CHECK(contains(text, R"(<property name="build" value="clang &quot;22&quot; &lt;x&gt;"/>)"));
  CHECK(contains(text, R"(<property name="golden" value="golden, each 5 times"/>)"));
  CHECK(contains(text, R"(<property name="guard" value="page after each tensor"/>)"));
  CHECK(contains(text, R"(<testcase classname="hipops.twice.f32" name="smoke/first" time="0.000000">)"));
  CHECK(contains(text, R"(<failure message="expected &quot;1&quot; &amp; &lt;2&gt;">)"));
  CHECK(contains(text, "ctrl? and broken ?"));
  CHECK(contains(text, "--case &apos;a&lt;b&apos;</failure>"));
  CHECK(contains(text, R"(<skipped message="large"/>)"));
}

TEST_CASE("JSON has all results", "[parity][report]") {
  RunInfo info;
  info.backend = "cpu";
  info.wave = 64;
  const auto json = nlohmann::json::parse(to_json(info, three_records()));
  CHECK(json["header"]["backend"] == "cpu");
  CHECK(json["header"]["wave"] == 64);
  CHECK(json["totals"]["passed"] == 1);
  CHECK(json["totals"]["failed"] == 1);
  CHECK(json["totals"]["skipped"] == 1);
  CHECK(json["cases"][0]["worst_ulps"] == "inf");
  CHECK(json["cases"][0]["worst_at"]["position"] == 5);
  CHECK(json["cases"][1]["worst_ulps"] == 0.5);
  CHECK(json["cases"][2]["worst_ulps"].is_null());
}

TEST_CASE("the header names the backend, the device and the build", "[parity][report]") {
  const RunInfo info = {"cpu", "Some CPU", "cpu", 64, "1.2.3", "first\nsecond\n", "/golden", "zones"};
  const std::string text = header_text(info, 7, false);
  CHECK(contains(text, "hipops 1.2.3 parity\nbackend  cpu\ndevice   Some CPU (cpu), wave 64\n"));
  CHECK(contains(text, "build    first\n         second\ngolden   /golden, 7 cases\n\n"));
}

TEST_CASE("the table has a row per op and dtype", "[parity][report]") {
  const auto records = three_records();
  const std::string row = table_row(records, false);
  CHECK(contains(row, "twice"));
  CHECK(contains(row, "inf"));
  CHECK(contains(row, "FAIL"));
  CHECK(contains(row, "first y[1,2]"));
  CHECK_FALSE(contains(row, "\033"));
  CHECK(contains(table_row(records, true), "\033[31mFAIL"));
  CHECK(contains(table_row({records[1]}, false), "0.5  pass     second y[1,2]"));
  CHECK(contains(table_row({records[2]}, false), "-  skipped\n"));
  CaseRecord wide = records[1];
  wide.op = "an_op_of_twenty_char";
  wide.dtype = "i2x32x";
  CHECK(contains(table_row({wide}, false), wide.op + " " + wide.dtype + " "));
  CHECK(contains(failure_text(records[0], false), "run it alone: ./hipops-parity --op twice"));
  CHECK(closing_line(count(records), false) == "1 passed, 1 failed, 1 skipped\n");
  CHECK(skipped_text(records, false) == verbose_text(records[2], false));
  CHECK(skipped_text({records[2], records[1], records[2]}, false) == "  skipped 2 cases, each: large\n");
  CHECK(skipped_text({records[0], records[1]}, false) == "");
  CHECK(closing_line(count({records[1]}), false) == "1 passed, 0 failed\n");
}

// ---- The command line

TEST_CASE("commands are quoted for a shell", "[parity][options]") {
  CHECK(shell_quote("bin/hipops-parity") == "bin/hipops-parity");
  CHECK(shell_quote("my folder/it's") == "'my folder/it'\\''s'");
  CHECK(shell_quote("") == "''");
}

TEST_CASE("the status of a backend decides the exit code of a program", "[parity][options]") {
  CHECK(exit_code_of(HIPOPS_NO_DEVICE) == 77);
  CHECK(exit_code_of(HIPOPS_INVALID_ARGUMENT) == 2);
  CHECK(exit_code_of(HIPOPS_RUNTIME_ERROR) == 1);
  CHECK(exit_code_of(HIPOPS_NO_CODE_OBJECT) == 1);
}

TEST_CASE("cases that an option leaves out are skipped, with the reason", "[parity][options]") {
  GoldenFile file;
  file.op = "scatter";
  file.topic = "smoke";
  for (const double flags : {0, 1}) {
    Case test;
    test.name = flags == 0 ? "any" : "deterministic";
    test.dtype = HIPOPS_F32;
    test.params["dim"] = 0, test.params["flags"] = flags, test.params[kWorkspaceParam] = 0;
    file.cases.push_back(test);
  }
  Case large = file.cases[1];
  large.name = "large";
  large.inputs.resize(1);
  large.inputs[0].layout = layout_of(HIPOPS_F32, {int64_t{1} << 27});
  file.cases.push_back(large);
  const std::vector<GoldenFile> files = {file};
  const Device device;
  const auto reasons_of = [&](const Options& options) {
    std::vector<std::string> reasons;
    for (const Job& job : golden_jobs(options, files, device))
      if (job.record.name == "any" ? options.repeat != 1 : options.threads != 1 && job.record.name == "large")
        reasons.push_back(job.record.name + ": " + job.run().reasons.at(0));
    return reasons;
  };
  Options repeat, threads;
  repeat.repeat = 2;
  threads.threads = 4;
  CHECK(golden_jobs(repeat, files, device).size() == 3);
  CHECK(reasons_of(repeat) == std::vector<std::string>{"any: is not deterministic, which --repeat asks for"});
  CHECK(golden_jobs(threads, files, device).size() == 3);
  CHECK(reasons_of(threads) == std::vector<std::string>{"large: needs more than 1 GiB on all threads of --threads"});
}

TEST_CASE("the command line is checked", "[parity][options]") {
  const auto parse = [](std::vector<std::string> words, Options* options) {
    words.insert(words.begin(), "hipops-parity");
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    int exit_code = -1;
    return parse_options(static_cast<int>(arguments.size()), arguments.data(), options, &exit_code) ? 0 : exit_code;
  };
  Options options;
  CHECK(parse({"--op", "softmax", "--wave", "64"}, &options) == 0);
  CHECK(options.op == "softmax");
  CHECK(options.wave == 64);
  CHECK(options.backend == "cpu");  // implied by --wave
  Options threads;
  CHECK(parse({"--threads", "16"}, &threads) == 0);
  CHECK(threads.threads == 16);
  CHECK_FALSE(threads.capture);
  Options capture;
  CHECK(parse({"--capture"}, &capture) == 0);
  CHECK(capture.capture);
  CHECK(capture.threads == 1);
  CHECK_FALSE(capture.many_rows);
  Options many_rows;
  CHECK(parse({"--many-rows"}, &many_rows) == 0);
  CHECK(many_rows.many_rows);
  CHECK_FALSE(many_rows.ordered);
  Options ordered;
  CHECK(parse({"--ordered"}, &ordered) == 0);
  CHECK(ordered.ordered);
  Options large;
  CHECK(parse({"--large", "--large-scale", "32768", "--seed", "7", "--op", "rope"}, &large) == 0);
  CHECK(large.large);
  CHECK(large.large_scale == 32768);
  CHECK(large.seed == 7);
  for (const std::vector<std::string>& wrong :
       std::vector<std::vector<std::string>>{{"--wave", "48"},
                                             {"--wave", "32", "--backend", "hip"},
                                             {"--guard", "after", "--backend", "cuda"},
                                             {"--guard", "pages"},
                                             {"--backend", "metal"},
                                             {"--op", "no_such_op"},
                                             {"--dtype", "f8"},
                                             {"--topic", "none"},
                                             {"--repeat", "1"},
                                             {"--large-scale", "16"},
                                             {"--large", "--large-scale", "24"},
                                             {"--large", "--large-scale", "131072"},
                                             {"--large", "--topic", "smoke"},
                                             {"--large", "--repeat", "3"},
                                             {"--large", "--capture"},
                                             {"--threads", "1"},
                                             {"--threads", "4", "--capture"},
                                             {"--repeat", "4", "--capture"},
                                             {"--repeat", "4", "--threads", "4"},
                                             {"--seed", "3"},
                                             {"--no-such-option"},
                                             {"stray"}}) {
    Options refused;
    INFO(wrong[0]);
    CHECK(parse(wrong, &refused) == 2);
  }
}
