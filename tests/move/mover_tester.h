// What the tests of the copies and of upsampling share: memory full of random bits, layouts of any kind, and calls that
// are refused.
#pragma once

#include <algorithm>
#include <cstdio>
#include <functional>
#include <initializer_list>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "catch.h"
#include "tensor/error.h"
#include "host_tensor.h"
#include "in_child.h"
#include "ops.h"

namespace hipops_test {

using Random = std::mt19937_64;

// One of each size; the kernels know no more of a dtype.
constexpr hipops_dtype kMoved[] = {HIPOPS_U8, HIPOPS_BF16, HIPOPS_F32, HIPOPS_I64};

inline bool has_cpu() { return hipops::image_count > 0 && hipops::all_images[0].cpu_wave32 != nullptr; }

inline int64_t pick(Random& random, int64_t low, int64_t high) {
  return low + static_cast<int64_t>(random() % static_cast<uint64_t>(high - low + 1));
}

inline std::string text_of(const void* pointer) {
  char text[32];
  std::snprintf(text, sizeof text, "%p", pointer);
  return text;
}

inline std::string text_of(const Sizes& sizes) {
  std::string text;
  for (int64_t size : sizes) text += (text.empty() ? "" : ", ") + std::to_string(size);
  return "[" + text + "]";
}

inline void fill_with_bits(HostTensor& t, Random& random) {
  const int64_t bytes = static_cast<int64_t>(hipops::parity::dtype_size(t.view.dtype));
  for (int64_t i = 0; i < t.count(); ++i)
    hipops::parity::store_bits(t.view.dtype, static_cast<unsigned char*>(t.view.data) + offset_of(t.view, i) * bytes,
                               random());
}

// Strides of distinct elements: the dimensions nest in any order, some backwards, some with a gap.
inline Sizes nested_strides(Random& random, const Sizes& shape) {
  Sizes stride(shape.size());
  std::vector<size_t> order(shape.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (pick(random, 0, 2) != 0) std::shuffle(order.begin(), order.end(), random);
  else std::reverse(order.begin(), order.end());
  int64_t step = pick(random, 0, 5) == 0 ? 2 : 1;
  for (size_t d : order) {
    stride[d] = pick(random, 0, 6) == 0 ? -step : step;
    step *= std::max<int64_t>(shape[d], 1);
    if (pick(random, 0, 3) == 0) step += pick(random, 1, 5);
    if (pick(random, 0, 3) == 0) step = (step + 15) / 16 * 16;
  }
  return stride;
}

// The same, for an input: some dimensions may repeat what is there, or step over part of it.
inline Sizes input_strides(Random& random, const Sizes& shape) {
  Sizes stride = nested_strides(random, shape);
  for (int64_t& step : stride)
    if (pick(random, 0, 9) == 0) step = pick(random, -3, 3);
  return stride;
}

// A view of no memory, with strides that lead anywhere.
inline hipops_tensor nowhere(hipops_dtype dtype, const Sizes& shape) {
  hipops_tensor view = view_of(0, dtype, shape);
  std::fill_n(view.stride, view.rank, INT64_MAX);
  return view;
}

// Calls are made where nothing but the CPU could be chosen, and none is.
inline void check_calls(const std::function<void()>& body) { check_in_child({{"HIPOPS_BACKEND", "cpu"}}, body); }

// The call says no, with this message, having chosen no runtime and touched no memory.
inline void expect_refused(const std::function<hipops_status()>& call, const std::vector<const HostTensor*>& tensors,
                           hipops_status status, const std::string& message) {
  auto memory = [&] {
    std::vector<std::vector<unsigned char>> bytes;
    for (const HostTensor* tensor : tensors) bytes.push_back(tensor->bytes());
    return bytes;
  };
  hipops::fail_runtime(719, "before");
  auto before = memory();
  EXPECT_EQUAL(call(), status);
  EXPECT_EQUAL(error_without_values(), message);
  EXPECT_EQUAL(hipops_last_runtime_error(), 0);
  EXPECT(memory() == before);
  EXPECT_EQUAL(hipops_backend_in_use(), HIPOPS_BACKEND_AUTO);
}

// `body` on the CPU runtime with waves of 32 and of 64, shared memory watched for races.
inline void on_cpu(const std::function<void()>& body) {
  if (!has_cpu()) {
    WARN("left out: built without the CPU runtime");
    return;
  }
  for (const char* wave : {"32", "64"}) {
    INFO("wave " << wave);
    check_in_child({{"HIPOPS_CPU_WAVE", wave}, {"HIPOPS_CPU_RACE", "1"}}, [&] {
      EXPECT_EQUAL(hipops_init(HIPOPS_BACKEND_CPU), HIPOPS_SUCCESS);
      body();
    });
  }
}

// Which of an op's kernels were chosen, so that a test can tell that none was left out.
class Seen {
 public:
  explicit Seen(const hipops::Op& op) : op_(op), times_(static_cast<size_t>(op.kernel_count)) {}
  void add(int kernel) { ++times_[static_cast<size_t>(kernel)]; }
  // But for kernels with one of `others` in their name.
  void expect_all(int64_t times, std::initializer_list<const char*> others = {}) const {
    for (size_t i = 0; i < times_.size(); ++i) {
      const std::string name = op_.kernel_names[i];
      const bool is_other = std::any_of(others.begin(), others.end(),
                                        [&](const char* other) { return name.find(other) != std::string::npos; });
      if (times_[i] < times && !is_other)
        throw std::runtime_error(name + " was chosen " + std::to_string(times_[i]) + " times");
    }
  }

 private:
  const hipops::Op& op_;
  std::vector<int64_t> times_;
};

inline hipops::Op& op_named(const std::string& name) {
  for (int i = 0; i < hipops::op_count; ++i)
    if (hipops::all_ops[i]->name == name) return *hipops::all_ops[i];
  throw std::runtime_error("no op " + name);
}

}  // namespace hipops_test
