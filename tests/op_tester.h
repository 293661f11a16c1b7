// Helpers for the tests of ops: the op by its name, random operands, and the CPU runtime in a child process.
#pragma once

#include <algorithm>
#include <cstdio>
#include <functional>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "catch.h"
#include "host_tensor.h"
#include "in_child.h"
#include "ops.h"
#include "runtime/runtime.h"

namespace hipops_test {

using Random = std::mt19937_64;

constexpr hipops_dtype kFloats[] = {HIPOPS_F32, HIPOPS_F16, HIPOPS_BF16, HIPOPS_F64};
constexpr hipops_dtype kIndexDtypes[] = {HIPOPS_U8, HIPOPS_I16, HIPOPS_I32, HIPOPS_U32, HIPOPS_I64};
// One dtype of each size: kernels that move elements know only the size.
constexpr hipops_dtype kMoved[] = {HIPOPS_U8, HIPOPS_BF16, HIPOPS_F32, HIPOPS_I64};

inline hipops::Op& op_named(const std::string& name) {
  for (int i = 0; i < hipops::op_count; ++i)
    if (hipops::all_ops[i]->name == name) return *hipops::all_ops[i];
  throw std::runtime_error("no op " + name);
}

inline bool has_cpu() { return hipops::image_count > 0 && hipops::all_images[0].cpu_wave32 != nullptr; }

// `body` on the CPU runtime with waves of 32 and of 64, in a child process, because a process keeps its runtime. The
// runtime reports races in shared memory.
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

// `body` in a child process in which no GPU can be chosen.
inline void check_calls(const std::function<void()>& body) { check_in_child({{"HIPOPS_BACKEND", "cpu"}}, body); }

inline void expect_success(hipops_status status) {
  if (status != HIPOPS_SUCCESS) throw std::runtime_error(hipops_last_error());
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

inline int64_t pick(Random& random, int64_t low, int64_t high) {
  return low + static_cast<int64_t>(random() % static_cast<uint64_t>(high - low + 1));
}

inline void fill_with_bits(HostTensor& t, Random& random) {
  for (int64_t i = 0; i < t.count(); ++i) t.set_bits(i, random());
}

inline std::vector<uint64_t> all_bits(const HostTensor& t) {
  std::vector<uint64_t> bits;
  for (int64_t i = 0; i < t.count(); ++i) bits.push_back(t.bits(i));
  return bits;
}

// Strides of distinct elements: the dimensions nest in any order, some backwards, some with a gap.
inline Sizes nested_strides(Random& random, const Sizes& shape) {
  Sizes stride(shape.size());
  std::vector<size_t> order(shape.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::shuffle(order.begin(), order.end(), random);
  int64_t step = pick(random, 0, 5) == 0 ? 2 : 1;
  for (size_t d : order) {
    stride[d] = pick(random, 0, 6) == 0 ? -step : step;
    step = step * std::max<int64_t>(shape[d], 1) + (pick(random, 0, 3) == 0 ? pick(random, 1, 5) : 0);
  }
  return stride;
}

}  // namespace hipops_test
