// capi/tensor/overlap.h, compared with lists of the bytes of views.
#include "tensor/overlap.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "catch.h"
#include "host_tensor.h"

using namespace hipops;
using namespace hipops_test;

namespace {

constexpr uintptr_t kAddress = uintptr_t{1} << 40;  // no test reads memory there
constexpr hipops_dtype kBySize[] = {HIPOPS_U8, HIPOPS_BF16, HIPOPS_F32, HIPOPS_F64};

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  int64_t between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(engine_() % static_cast<uint64_t>(high - low + 1));
  }

 private:
  std::mt19937_64 engine_;
};

// Any small view near kAddress: zero, negative and overlapping strides, several element sizes.
hipops_tensor random_view(Random& random) {
  Sizes shape, stride;
  for (int64_t d = random.between(0, 4); d > 0; --d) {
    shape.push_back(random.between(1, 4));
    stride.push_back(random.between(0, 3) == 0 ? random.between(-40, 40) : random.between(-6, 6));
  }
  uintptr_t data = kAddress + static_cast<uintptr_t>(random.between(0, 160));
  return view_of(data, kBySize[random.between(0, 3)], shape, stride);
}

int64_t bytes_of(const hipops_tensor& t) { return static_cast<int64_t>(hipops::parity::dtype_size(t.dtype)); }

int64_t count_of(const hipops_tensor& t) {
  return std::accumulate(t.shape, t.shape + t.rank, int64_t{1}, [](int64_t a, int64_t b) { return a * b; });
}

// The address of each byte of each element, sorted. An address that two elements share occurs twice.
std::vector<uintptr_t> bytes_named(const hipops_tensor& t) {
  std::vector<uintptr_t> bytes;
  for (int64_t i = 0; i < count_of(t); ++i)
    for (int64_t byte = 0; byte < bytes_of(t); ++byte)
      bytes.push_back(reinterpret_cast<uintptr_t>(t.data) +
                      static_cast<uintptr_t>(offset_of(t, i) * bytes_of(t) + byte));
  std::sort(bytes.begin(), bytes.end());
  return bytes;
}

bool share_a_byte(const std::vector<uintptr_t>& a, const std::vector<uintptr_t>& b) {
  std::vector<uintptr_t> common;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(common));
  return !common.empty();
}

bool all_different(const std::vector<uintptr_t>& bytes) {
  return std::adjacent_find(bytes.begin(), bytes.end()) == bytes.end();
}

std::string text_of(const hipops_tensor& t) {
  std::ostringstream text;
  text << hipops::parity::dtype_name(t.dtype) << " at " << reinterpret_cast<uintptr_t>(t.data) - kAddress << ", shape";
  for (int d = 0; d < t.rank; ++d) text << ' ' << t.shape[d];
  text << ", stride";
  for (int d = 0; d < t.rank; ++d) text << ' ' << t.stride[d];
  return text.str();
}

}  // namespace

TEST_CASE("views overlap if they share a byte", "[overlap]") {
  constexpr int kPairs = 40000;
  int overlapping = 0;
  for (uint64_t seed = 0; seed < kPairs; ++seed) {
    Random random(seed);
    hipops_tensor a = random_view(random), b = random_view(random);
    bool expected = share_a_byte(bytes_named(a), bytes_named(b));
    overlapping += expected;
    if (overlap(a, b) == expected && overlap(b, a) == expected) continue;
    FAIL("seed " << seed << ": overlap of " << text_of(a) << " with " << text_of(b) << " should be " << expected);
  }
  CHECK(overlapping > kPairs / 10);
  CHECK(overlapping < kPairs * 9 / 10);
}

TEST_CASE("a byte range is from the lowest byte to past the highest", "[overlap]") {
  for (uint64_t seed = 0; seed < 10000; ++seed) {
    Random random(seed);
    hipops_tensor t = random_view(random);
    std::vector<uintptr_t> bytes = bytes_named(t);
    ByteRange range{};
    bool inside = byte_range(t, &range);
    if (inside && range.begin == bytes.front() && range.end == bytes.back() + 1) continue;
    FAIL("seed " << seed << ": byte range of " << text_of(t));
  }
}

TEST_CASE("byte ranges past 2^31 elements and 4 GiB", "[overlap]") {
  constexpr int64_t size = int64_t{1} << 35;
  ByteRange range{};
  REQUIRE(byte_range(view_of(kAddress, HIPOPS_F32, {size, 3}), &range));
  CHECK(range.begin == kAddress);
  CHECK(range.end == kAddress + 12 * static_cast<uintptr_t>(size));
  REQUIRE(byte_range(view_of(kAddress, HIPOPS_F32, {size, 3}, {-1, size}), &range));
  CHECK(range.begin == kAddress - 4 * static_cast<uintptr_t>(size - 1));
  CHECK(range.end == kAddress + 8 * static_cast<uintptr_t>(size) + 4);
  CHECK(!byte_range(view_of(kAddress, HIPOPS_F32, {int64_t{1} << 39}, {-1}), &range));  // begins below 0
}

TEST_CASE("elements that are called distinct are", "[overlap]") {
  int distinct = 0;
  for (uint64_t seed = 0; seed < 20000; ++seed) {
    Random random(seed);
    hipops_tensor t = random_view(random);
    if (!elements_are_distinct(t)) continue;
    ++distinct;
    if (!all_different(bytes_named(t))) FAIL("seed " << seed << ": elements of " << text_of(t) << " meet");
  }
  CHECK(distinct > 1000);
}

TEST_CASE("strides that nest are distinct, in any order, with any gaps and signs", "[overlap]") {
  for (uint64_t seed = 0; seed < 20000; ++seed) {
    Random random(seed);
    size_t rank = static_cast<size_t>(random.between(1, 8));
    Sizes shape(rank), stride(rank);
    std::vector<size_t> order(rank);
    std::iota(order.begin(), order.end(), size_t{0});
    for (size_t d = rank; d > 1; --d)
      std::swap(order[d - 1], order[static_cast<size_t>(random.between(0, static_cast<int64_t>(d) - 1))]);
    int64_t step = random.between(1, 3);
    for (size_t d : order) {
      shape[d] = random.between(1, 4);
      stride[d] = shape[d] == 1 ? random.between(-2, 2) : random.between(0, 1) ? step : -step;
      if (shape[d] > 1) step = step * shape[d] + random.between(0, 2);
    }
    hipops_tensor t = view_of(kAddress, HIPOPS_F16, shape, stride);
    if (!elements_are_distinct(t)) FAIL("seed " << seed << ": " << text_of(t));
  }
}

TEST_CASE("two views are the same if their dtype, pointer, shape and effective strides are equal", "[overlap]") {
  const hipops_tensor a = view_of(kAddress, HIPOPS_F32, {3, 1, 4});
  auto changed = [&a](auto change) {
    hipops_tensor b = a;
    change(b);
    return same_view(a, b) && same_view(b, a);
  };
  CHECK(same_view(a, a));
  CHECK(changed([](hipops_tensor& b) { b.stride[1] = 77; }));  // of a dimension of one element
  CHECK(changed([](hipops_tensor& b) { b.shape[3] = 5, b.stride[3] = 6; }));
  CHECK(!changed([](hipops_tensor& b) { b.data = reinterpret_cast<void*>(kAddress + 4); }));
  CHECK(!changed([](hipops_tensor& b) { b.dtype = HIPOPS_I32; }));
  CHECK(!changed([](hipops_tensor& b) { b.rank = 2; }));
  CHECK(!changed([](hipops_tensor& b) { b.shape[2] = 3; }));
  CHECK(!changed([](hipops_tensor& b) { b.stride[2] = -1; }));
  CHECK(!changed([](hipops_tensor& b) { b.stride[0] = 5; }));
}

// Views of real callers, at sizes that need more than 32 bits: the two halves of a fused projection, the columns of a
// matrix, a last byte.
TEST_CASE("overlap of large views", "[overlap]") {
  constexpr int64_t rows = int64_t{1} << 36;
  auto columns = [](int64_t first, int64_t count) {
    return view_of(kAddress + static_cast<uintptr_t>(2 * first), HIPOPS_BF16, {rows, count}, {3 * 4096, 1});
  };
  CHECK(!overlap(columns(0, 4096), columns(4096, 4096)));
  CHECK(!overlap(columns(8192, 4096), columns(4096, 4096)));
  CHECK(overlap(columns(0, 4097), columns(4096, 4096)));
  CHECK(overlap(columns(8192, 4097), columns(0, 4096)));  // the end of each row is the beginning of the next row

  const hipops_tensor all = view_of(kAddress, HIPOPS_F32, {rows});
  CHECK(overlap(all, view_of(kAddress + 4 * static_cast<uintptr_t>(rows) - 1, HIPOPS_U8, {1})));
  CHECK(!overlap(all, view_of(kAddress + 4 * static_cast<uintptr_t>(rows), HIPOPS_U8, {1})));
  CHECK(!overlap(view_of(kAddress, HIPOPS_F32, {rows}, {2}), view_of(kAddress + 4, HIPOPS_F32, {rows}, {2})));
  CHECK(overlap(view_of(kAddress, HIPOPS_F32, {rows}, {2}),
                view_of(kAddress + 4 * static_cast<uintptr_t>(rows) + 4, HIPOPS_F32, {rows}, {-3})));
}
