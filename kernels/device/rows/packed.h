// Short rows without gaps in them or between them: a block loads and stores many of them as one piece, in vectors from
// aligned addresses, by way of shared memory.
#pragma once

#include "device/core/aligned_span.h"
#include "device/rows/shape.h"

namespace hipops {
namespace {

// One stream's piece. `which` keeps the memory of several apart.
template <class Shape, int which>
class Stage {
 public:
  using T = typename Shape::Element;

  HIPOPS_METHOD Stage() : vectors_(storage()), elements_(vectors_.template as<T>()) {}

  HIPOPS_METHOD T get(int i) const { return elements_[shift_ + i]; }
  HIPOPS_METHOD void set(int i, T value) const { elements_[shift_ + i] = value; }

  // Asks for `count` elements; they are there after await() and a barrier.
  HIPOPS_METHOD void ask(const T* from, int count) {
    shift_ = misplaced_by(from);
    const Span span(shift_, count);
#pragma unroll
    for (int n = 0; n < kEach; ++n)
      if (span.has(vector(n))) whole_[n] = load_packed<kLength>(from - shift_ + vector(n) * kLength);
    const int edge = span.edge();
    if (edge >= 0) edge_ = from[edge - shift_];
  }
  HIPOPS_METHOD void await(int count) {
    const Span span(shift_, count);
#pragma unroll
    for (int n = 0; n < kEach; ++n)
      if (span.has(vector(n))) vectors_[vector(n)] = bit_cast<Vector<T, kLength>>(whole_[n]);
    const int edge = span.edge();
    if (edge >= 0) elements_[edge] = edge_;
  }
  // Writes them, after a barrier.
  HIPOPS_METHOD void write(T* to, int count) const {
    if (misplaced_by(to) == shift_) {
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
  Packed<T, kLength> whole_[kEach];
  T edge_;
  int shift_ = 0;
};

template <class Shape, int n> struct Stages : Stages<Shape, n - 1> {
  Stage<Shape, n - 1> stage;
};
template <class Shape> struct Stages<Shape, 0> {};

// As Rows, of those that a block has staged. Outputs take the places of inputs.
template <class Streams, class Shape, int kInputs>
class PackedRows {
 public:
  using T = typename Shape::Element;
  using Column = int;
  static constexpr bool kHasEdges = false;

  explicit HIPOPS_METHOD PackedRows(const Streams& s) : s_(&s) {}

  HIPOPS_METHOD int64_t begin() const { return int64_t(block_index()) * s_->per_block; }

  // Rows from `first` on, as many as it says.
  HIPOPS_METHOD int load(int64_t first) {
    const int64_t left = s_->rows - first;
    const int rows = int(left < s_->per_block ? left : s_->per_block);
    first_ = first * cols(), count_ = rows * cols();
    for_each<kInputs>([&](auto& stage, int i) { stage.ask(stream(i), count_); });
    for_each<kInputs>([&](auto& stage, int) { stage.await(count_); });
    barrier();
    return rows;
  }
  HIPOPS_METHOD void store() {
    barrier();
    for_each<kOutputs>([&](auto& stage, int i) {
      if (has(kInputs + i)) stage.write(stream(kInputs + i), count_);
    });
    barrier();
  }

  // The lanes' row of those that are staged. Lanes without one take zeros for it, and store nothing.
  HIPOPS_METHOD void select(int first, int rows) {
    const int row = first + int(thread_index()) / Shape::kLanes;
    live_ = row < rows;
    place_ = row * cols();
  }
  HIPOPS_METHOD bool live() const { return live_ != 0; }

  HIPOPS_METHOD int cols() const { return int(s_->cols); }
  HIPOPS_METHOD bool has(int i) const { return s_->data[i] != nullptr; }
  HIPOPS_METHOD T staged(int stream, int col) const {
    T value{};
    if (live()) {
      for_each<kInputs>([&](auto& stage, int i) {
        if (i == stream) value = stage.get(place_ + col);
      });
    }
    return value;
  }
  HIPOPS_METHOD void stage(int output, int col, T value) const {
    for_each<kOutputs>([&](auto& stage, int i) {
      if (i == output) stage.set(place_ + col, value);
    });
  }

  HIPOPS_METHOD int column(int64_t, int v) const { return v * Shape::kLanes + int(thread_index()) % Shape::kLanes; }
  HIPOPS_METHOD bool there(int col) const { return col < cols(); }
  HIPOPS_METHOD int there_or_last(int col) const { return there(col) ? col : cols() - 1; }
  HIPOPS_METHOD int edge() const { return -1; }
  HIPOPS_METHOD int64_t elements(int64_t) const { return cols(); }

 private:
  static constexpr int kOutputs = Streams::kStreams - kInputs, kStages = kInputs > kOutputs ? kInputs : kOutputs;

  template <int n, class F>
  HIPOPS_METHOD void for_each(F f) const {
    if constexpr (n > 0) {
      for_each<n - 1>(f);
      f(static_cast<Stages<Shape, n>&>(stages_).stage, n - 1);
    }
  }
  HIPOPS_METHOD T* stream(int i) const { return static_cast<T*>(s_->data[i]) + first_; }

  const Streams* s_;
  mutable Stages<Shape, kStages> stages_;
  int64_t first_ = 0;
  int count_ = 0, place_ = 0, live_ = 0;
};

}  // namespace
}  // namespace hipops
