// The order of a sum that hipops.h promises: random calls of index_add and scatter_add, against a plain loop.
#include <algorithm>
#include <cmath>
#include <functional>
#include <type_traits>

#include "device/index/chunk_sums.h"
#include "move/scatter_tester.h"
#include "op_tester.h"
#include "parity/temporary_options.h"

using namespace hipops;
using namespace hipops_test;

namespace {

constexpr size_t kOfChunk = 128;

template <class T>
T sum_of_groups(std::vector<T> sums) {
  while (sums.size() > 1) {
    std::vector<T> groups;
    for (size_t i = 0; i < sums.size(); ++i) {
      if (i % kOfChunk == 0) groups.push_back(sums[i]);
      else groups.back() += sums[i];
    }
    sums.swap(groups);
  }
  return sums[0];
}

template <class T>
T promised(T y, const std::vector<T>& sources) {
  std::vector<T> sums = {y};
  for (size_t i = 0; i < sources.size(); ++i) {
    if (i != 0 && i % kOfChunk == 0) sums.push_back(0);
    sums.back() += sources[i];
  }
  return sum_of_groups(sums);
}

// How a call may be made. Every way gives the promised bits.
struct Way {
  bool workspace;
  SumsPolicy policy;
};
const Way kWays[] = {{false, {}}, {false, {false, true}}, {true, {}}, {true, {false, false}}};

int64_t random_sources(Random& random) {
  switch (pick(random, 0, 9)) {
    case 0: return pick(random, 1, 20);
    case 1: return kOfChunk * pick(random, 1, 5) + pick(random, -1, 1);
    case 2: return pick(random, 0, 3) == 0 ? pick(random, 1000, 3000) : pick(random, 1, 300);
    case 3: return pick(random, 0, 39) == 0 ? kOfChunk * kOfChunk + pick(random, -1, 300) : pick(random, 1, 600);
    default: return pick(random, 20, 400);
  }
}

// Numbers of several magnitudes, equal numbers, or zeros of both signs.
void fill(HostTensor& t, Random& random, int64_t kind) {
  for (int64_t i = 0; i < t.count(); ++i) {
    const double value = std::ldexp(static_cast<double>(pick(random, -999, 999)), static_cast<int>(pick(random, -12, 0)));
    if (!is_float(t.view.dtype)) t.set_bits(i, random());
    else t.set(i, kind == 0 ? 0.1 : kind == 1 ? -0.0 : kind == 2 && value < 0 ? 0.0 : value);
  }
}

struct SumShape {
  hipops_dtype dtype;
  bool scatters;
  int32_t dim;
  int64_t rows, sources, columns;
  int64_t shift;          // of x and y from a multiple of 16 bytes, if their rows are whole vectors
  bool expands = true;    // scatter_add: all elements of a row have one index
};

SumShape random_shape(Random& random) {
  SumShape s{};
  s.dtype = kFloats[pick(random, 0, 3)];
  s.scatters = pick(random, 0, 1) == 0;
  s.dim = static_cast<int32_t>(pick(random, 0, 1));
  s.rows = pick(random, 0, 2) == 0 ? pick(random, 1, 300) : pick(random, 1, 6);
  s.sources = random_sources(random);
  s.columns = pick(random, 1, s.scatters || pick(random, 0, 3) != 0 ? 4 : 40);
  s.shift = pick(random, 0, 3) == 0;
  s.expands = pick(random, 0, 2) == 0;
  return s;
}

// The row of index i, before a few indices name none.
using RowOf = std::function<int64_t(int64_t i)>;

// From equal numbers of sources to nearly all sources for the first rows.
RowOf random_rows(Random& random, const SumShape& s) {
  const auto skew = static_cast<double>(pick(random, 1, 6));
  const auto rows = static_cast<double>(s.sources > 3000 ? 1 : s.rows);
  return [=, &random](int64_t) {
    return static_cast<int64_t>(std::pow(static_cast<double>(random() >> 11) * 0x1p-53, skew) * rows);
  };
}

class RandomSum {
 public:
  RandomSum(Random& random, const SumShape& s, const RowOf& row_of)
      : random_(random),
        dtype_(s.dtype),
        scatters_(s.scatters),
        dim_(s.dim),
        rows_(s.rows),
        sources_(s.sources),
        columns_(s.columns),
        shift_(s.shift),
        y_(tensor(dtype_, rows_)),
        x_(tensor(dtype_, sources_)),
        index_(HostTensor(kIndexDtypes[pick(random, rows_ < INT16_MAX ? 1 : 2, 4)],
                          scatters_ ? shape(sources_) : Sizes{sources_},
                          !scatters_ || !s.expands ? Sizes{} : dim_ == 0 ? Sizes{1, 0} : Sizes{0, 1})) {
    fill(y_, random, pick(random, 0, 9));
    fill(x_, random, pick(random, 0, 9));
    for (int64_t i = 0; i < index_.count(); ++i)
      index_.set(i, static_cast<double>(pick(random, 0, 30) == 0 ? rows_ : row_of(i)));
  }

  void check(const Way& way) {
    const std::vector<uint64_t> expected = !is_float(dtype_)      ? expected_bits<int64_t>()
                                           : dtype_ == HIPOPS_F64 ? expected_bits<double>()
                                                                  : expected_bits<float>();
    hipops_index_report report = HIPOPS_INDEX_REPORT_INIT;
    int64_t bytes = 0;
    constexpr uint32_t kFlags = HIPOPS_DETERMINISTIC;
    const hipops_tensor *y = &y_.view, *x = &x_.view, *index = &index_.view;
    expect_success(scatters_ ? hipops_scatter_add_workspace_bytes(y, x, index, dim_, kFlags, &bytes)
                             : hipops_index_add_workspace_bytes(y, x, index, dim_, &bytes));
    Workspace memory(bytes);
    void* workspace = way.workspace ? memory.data() : nullptr;
    if (!way.workspace) bytes = 0;
    expect_success(scatters_ ? hipops_scatter_add(y, x, index, dim_, kFlags, workspace, bytes, &report, nullptr)
                             : hipops_index_add(y, x, index, dim_, workspace, bytes, &report, nullptr));
    EXPECT(all_bits(y_) == expected && y_.guards_are_whole() && memory.guards_are_whole());
    EXPECT_EQUAL(report.count, out_of_range_);
    EXPECT_EQUAL(report.first, first_out_of_range_);
  }

 private:
  Sizes shape(int64_t length) const { return dim_ == 0 ? Sizes{length, columns_} : Sizes{columns_, length}; }
  HostTensor tensor(hipops_dtype dtype, int64_t length) const {
    // Rows of whole vectors have no gaps, so that kernels for vectors run too.
    if (dim_ == 0 && columns_ * parity::dtype_size(dtype) % 16 == 0) return HostTensor(dtype, shape(length), {}, shift_);
    return HostTensor(dtype, shape(length), nested_strides(random_, shape(length)), pick(random_, 0, 2));
  }
  // The row-major number of an element.
  int64_t number(int64_t along, int64_t column, int64_t length) const {
    return dim_ == 0 ? along * columns_ + column : column * length + along;
  }

  template <class T>
  std::vector<uint64_t> expected_bits() {
    std::vector<std::vector<T>> sources(static_cast<size_t>(y_.count()));
    for (int64_t j = 0; j < sources_; ++j)
      for (int64_t c = 0; c < columns_; ++c) {
        const int64_t from = number(j, c, sources_), at = scatters_ ? from : j;
        const auto row = static_cast<int64_t>(index_.get(at));
        if (row < rows_) {
          sources[static_cast<size_t>(number(row, c, rows_))].push_back(static_cast<T>(x_.get(from)));
        } else if (scatters_ || c == 0) {
          ++out_of_range_;
          first_out_of_range_ = std::min(first_out_of_range_, static_cast<uint64_t>(at));
        }
      }
    std::vector<uint64_t> bits;
    for (int64_t i = 0; i < y_.count(); ++i) {
      const auto& of_element = sources[static_cast<size_t>(i)];
      const T sum = promised(static_cast<T>(y_.get(i)), of_element);
      bits.push_back(of_element.empty()                   ? y_.bits(i)
                     : std::is_same<T, int64_t>::value ? static_cast<uint64_t>(sum) & parity::low_bits(dtype_)
                                                       : parity::encode(dtype_, static_cast<double>(sum)));
    }
    return bits;
  }

  Random& random_;
  const hipops_dtype dtype_;
  const bool scatters_;
  const int32_t dim_;
  const int64_t rows_, sources_, columns_, shift_;
  HostTensor y_, x_, index_;
  uint64_t out_of_range_ = 0, first_out_of_range_ = UINT64_MAX;
};

}  // namespace

TEST_CASE("random sums have the order that hipops.h promises, in every way", "[sum_order]") {
  if (!has_cpu()) {
    WARN("left out: built without the CPU runtime");
    return;
  }
  for (const char* wave : {"32", "64"}) {
    INFO("wave " << wave);
    check_in_child({{"HIPOPS_CPU_WAVE", wave}, {"HIPOPS_CPU_UNITS", "2"}}, [&] {
      EXPECT_EQUAL(hipops_init(HIPOPS_BACKEND_CPU), HIPOPS_SUCCESS);
      Random random(wave[0]);
      for (int n = 0; n < 5000; ++n) {
        const SumShape shape = random_shape(random);
        RandomSum sum(random, shape, random_rows(random, shape));
        TemporaryOptions temporary;
        const Way& way = kWays[static_cast<size_t>(pick(random, 0, std::size(kWays) - 1))];
        constexpr int64_t kGrids[] = {1, 2, 7, INT64_MAX};
        temporary.options.sums = way.policy;
        temporary.options.most_blocks = kGrids[pick(random, 0, 3)];
        sum.check(way);
      }
    });
  }
}

// Each part of the sort, and of the sums by sorted indices, has a case.
TEST_CASE("sums by sorted indices have the order that hipops.h promises", "[sum_order]") {
  if (!has_cpu()) {
    WARN("left out: built without the CPU runtime");
    return;
  }
  struct Case {
    int64_t rows, sources, columns;  // 0 columns: of 16 bytes
    RowOf row_of;
    int32_t dim = 0;
  };
  Random random(11);
  const auto any = [&](int64_t rows) { return pick(random, 0, rows - 1); };
  // Row 0 has 128 full chunks and one more source. The next row begins within 128 entries of this source.
  const RowOf one_past_a_group = [kept = 0, before = int64_t{0}](int64_t i) mutable {
    if (i < before) kept = 0;  // another tensor
    before = i;
    return kept++ <= 128 * 128 ? 0 : 1;
  };
  const std::vector<Case> cases = {
      {3, 17000, 3, [](int64_t) { return 1; }},   // groups of chunks
      {2, 128 * 128 * 128 + 999, 1, [](int64_t) { return 0; }},  // groups of groups
      {2, 17600, 1, one_past_a_group},
      {64, 128 * 64, 2, [](int64_t i) { return i % 64; }},
      {50, 7000, 4, [&](int64_t i) { return i % 3 == 0 ? any(2) : i % 50; }},
      {3000, 9000, 2, [&](int64_t i) { return i % 4 == 0 ? 7 : i % 4 == 1 ? 2000 : any(3000); }},
      {5000, 12000, 4, [&](int64_t i) { return i / 256 % 3 == 0 ? 4000 : any(5000); }},  // a digit of several batches
      {800, 9000, 4, [](int64_t i) { return i * 800 / 9000; }},
      {40, 9000, 1, [](int64_t i) { return 39 - i * 40 / 9000; }},
      {8192, 8192, 0, [](int64_t i) { return i * 1237 % 8192; }},
      {2000, 20000, 0, [&](int64_t) { return any(2000); }},
      {1500, 20000, 0, [&](int64_t i) { return i % 50 == 0 ? 9 : any(1500); }},  // a row of several chunks among others
      {(1 << 20) + 5, 9000, 1, [&](int64_t i) { return i % 5 == 0 ? 1 << 20 : any(1 << 20); }},  // three passes
      {4, 40000, 1, [&](int64_t) { return any(4); }},  // several blocks for a digit
      {3, 40000, 1, [&](int64_t i) { return i % 100 == 0 ? any(3) : 2; }},
      {20, 600, 528, [&](int64_t) { return any(20); }},  // several blocks for a row's vectors
      {20, 700, 333, [&](int64_t i) { return i % 3 == 0 ? 5 : any(20); }},
      {300, 2000, 70, [&](int64_t) { return any(300); }, 1},  // lanes have neighbouring rows
  };
  constexpr hipops_dtype kOthers[] = {HIPOPS_BF16, HIPOPS_F64, HIPOPS_I32, HIPOPS_U8};
  for (const bool wide : {false, true}) {
    INFO("waves of " << (wide ? 64 : 32));
    check_in_child({{"HIPOPS_CPU_WAVE", wide ? "64" : "32"}, {"HIPOPS_CPU_UNITS", wide ? "48" : "1"}}, [&] {
      EXPECT_EQUAL(hipops_init(HIPOPS_BACKEND_CPU), HIPOPS_SUCCESS);
      TemporaryOptions temporary;
      temporary.options.sums = {false, false};
      for (size_t n = 0; n < cases.size(); ++n)
        for (const hipops_dtype dtype : {HIPOPS_F32, kOthers[(n / 2 + 2 * wide) % std::size(kOthers)]}) {
          const Case& c = cases[n];
          const int64_t columns = c.columns != 0 ? c.columns : 16 / parity::dtype_size(dtype);
          RandomSum(random, {dtype, false, c.dim, c.rows, c.sources, columns, 0}, c.row_of).check({true, {}});
          if (c.columns != 0) continue;
          for (const int64_t shift : {0, 1})
            RandomSum(random, {dtype, true, c.dim, c.rows, c.sources, columns, shift}, c.row_of).check({true, {}});
        }
    });
  }
}

// The sums of 2^21 chunks, and some more: of 2^28 sources.
TEST_CASE("the levels of chunk sums give the promised order", "[sum_order]") {
  Random random(7);
  std::vector<float> sums;
  float levels[kChunkLevels];
  for (size_t chunks = 0; chunks < kOfChunk * kOfChunk * kOfChunk + 300; ++chunks) {
    sums.push_back(static_cast<float>(pick(random, -999, 999)) * 0x1.23p-7f);
    if (chunks < 300 || chunks % 99991 == 0) CHECK(sum_with_chunks(levels, sums.back(), chunks) == sum_of_groups(sums));
    push_sum(levels, sums.back(), chunks);
  }
  sums.push_back(1);
  CHECK(sum_with_chunks(levels, 1.0f, sums.size() - 1) == sum_of_groups(sums));
}
