// Short rows without gaps in them or between them. A block copies many of them to shared memory together, in vectors
// from aligned addresses. Each work-item computes whole rows there. Then the block stores all of them.
#pragma once

#include "device/core/aligned_span.h"
#include "device/core/reduce.h"
#include "device/rows/tile.h"

namespace hipops {
namespace {

// One stream's rows in shared memory. `which` gives each stream its own memory.
template <class Shape, int which>
class Stage {
 public:
  using T = typename Shape::Element;

  HIPOPS_METHOD Stage() : vectors_(storage()), elements_(vectors_.template as<T>()) {}

  HIPOPS_METHOD T read(int i) const { return elements_[shift_ + i]; }
  HIPOPS_METHOD void write(int i, T value) const { elements_[shift_ + i] = value; }

  // Copies `count` elements to shared memory. They can be read after a barrier.
  HIPOPS_METHOD void load(const T* from, int count) {
    shift_ = misalignment(from);
    const Span span(shift_, count);
    Packed<T, kLength> whole[kEach];
#pragma unroll
    for (int n = 0; n < kEach; ++n)
      if (span.has(vector(n))) whole[n] = load_packed<kLength>(from - shift_ + vector(n) * kLength);
    const int edge = span.edge();
    if (edge >= 0) elements_[edge] = from[edge - shift_];
#pragma unroll
    for (int n = 0; n < kEach; ++n)
      if (span.has(vector(n))) vectors_[vector(n)] = bit_cast<Vector<T, kLength>>(whole[n]);
  }
  // Stores them, after a barrier.
  HIPOPS_METHOD void store(T* to, int count) const {
    if (misalignment(to) == shift_) {
      const Span span(shift_, count);
#pragma unroll
      for (int n = 0; n < kEach; ++n)
        if (span.has(vector(n)))
          store_vector<kLength>(to - shift_ + vector(n) * kLength, Vector<T, kLength>(vectors_[vector(n)]));
      const int edge = span.edge();
      if (edge >= 0) to[edge - shift_] = elements_[edge];
    } else {
#pragma unroll 1
      for (int i = thread_index(); i < count; i += Shape::kBlock) to[i] = elements_[shift_ + i];
    }
  }

 private:
  using Span = AlignedSpan<T>;
  static constexpr int kLength = Span::kLength;
  static constexpr int kElements = staged_elements(int(sizeof(T)));
  static constexpr int kEach = kElements / kLength / Shape::kBlock;  // vectors of a work-item
  static_assert(kEach * kLength * Shape::kBlock == kElements, "whole rounds");

  static HIPOPS_METHOD int vector(int n) { return int(thread_index()) + n * Shape::kBlock; }

  static HIPOPS_METHOD Shared<Vector<T, kLength>> storage() {
    using Wide = Vector<T, kLength>;
    HIPOPS_SHARED(Wide, vectors, kElements / kLength);
    return vectors;
  }

  Shared<Vector<T, kLength>> vectors_;
  Shared<T> elements_;
  int shift_ = 0;
};

template <class Shape, int n>
struct Stages : Stages<Shape, n - 1> {
  Stage<Shape, n - 1> stage;
};
template <class Shape>
struct Stages<Shape, 0> {};

// The rows of all streams in shared memory. Outputs overwrite inputs.
template <class Op, class Shape>
class StagedRows {
 public:
  using T = typename Shape::Element;
  using C = typename Shape::Compute;
  static constexpr int kVectors = Shape::kVectors;  // elements of a row that are computed together
  static constexpr int kStages = Op::kInputs > Op::kOutputs ? Op::kInputs : Op::kOutputs;
  static_assert(Op::kTyped + Op::kGiven == 0, "other kernels compute rows of ops with typed inputs or given scalars");

  template <class Streams>
  HIPOPS_METHOD void load(const Streams& s, int64_t first, int count) {
    for_each_stage<Op::kInputs>([&](auto& stage, int i) { stage.load(static_cast<const T*>(s.data[i]) + first, count); });
    barrier();
  }
  template <class Streams>
  HIPOPS_METHOD void store(const Streams& s, int64_t first, int count) {
    barrier();
    for_each_stage<Op::kOutputs>([&](auto& stage, int i) {
      T* const to = static_cast<T*>(reload_arguments(s).data[Op::kInputs + i]);
      if (to != nullptr) stage.store(to + first, count);
    });
    barrier();
  }

  // The op's values for kVectors elements from `place` on. Past the end it repeats the last element.
  template <class Args>
  HIPOPS_METHOD void read(const Args& args, int place, int left, C (&value)[kVectors]) {
    C in[Op::kInputs][kVectors];
    for_each_stage<Op::kInputs>([&](auto& stage, int i) {
#pragma unroll
      for (int e = 0; e < kVectors; ++e) in[i][e] = C(widen(stage.read(place + (e < left ? e : left - 1))));
    });
    combine_inputs<Op>(args, in, value);
  }
  HIPOPS_METHOD void write(int place, int left, const C (&out)[Op::kOutputs][kVectors]) {
    for_each_stage<Op::kOutputs>([&](auto& stage, int i) {
#pragma unroll
      for (int e = 0; e < kVectors; ++e)
        if (e < left) stage.write(place + e, narrow<T>(out[i][e]));
    });
  }

 private:
  template <int n, class F>
  HIPOPS_METHOD void for_each_stage(F f) {
    if constexpr (n > 0) {
      for_each_stage<n - 1>(f);
      f(static_cast<Stages<Shape, n>&>(stages_).stage, n - 1);
    }
  }
  Stages<Shape, kStages> stages_;
};

template <class Op, class Shape>
struct StagedRow {
  using C = typename Shape::Compute;
  static constexpr int n = Shape::kVectors;
  static constexpr bool kIsRow = true, kKeepsMapped = false, kSharedByWaves = false, kReducesTogether = false;
  const typename Op::Args& args;
  StagedRows<Op, Shape>& rows;
  int place, cols;

  HIPOPS_METHOD const StagedRow& second_pass() const { return *this; }
  HIPOPS_METHOD const StagedRow& extreme_pass() const { return *this; }
  template <class O, class F, class G = Identity>
  HIPOPS_METHOD auto reduce(O op, F f, G g = {}) const {
    using V = decltype(f(C()));
    using W = decltype(g(V()));
    // Plain sums of four vectors are added: each term is rounded fewer times. Wide sums hardly round.
    constexpr bool kSumOfSums = sizeof(W) == sizeof(C);
    W all = O::template identity<W>(), sum = all;
#pragma unroll 1
    for (int first = 0; first < cols; first += n) {
      C x[n];
      rows.read(args, place + first, cols - first, x);
      V tree[n];
#pragma unroll
      for (int i = 0; i < n; ++i) {
        tree[i] = f(x[i]);
        if (i >= cols - first) tree[i] = O::template identity<V>();
      }
      fold(tree, op);
      sum = op(sum, g(tree[0]));
      if (kSumOfSums && (first & 3 * n) == 3 * n) all = op(all, sum), sum = O::template identity<W>();
    }
    return kSumOfSums ? op(all, sum) : sum;
  }
};

}  // namespace
}  // namespace hipops
