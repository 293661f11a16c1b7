// Which row a work-item works on, and which of its vectors.
#pragma once

#include "device/core/cache.h"
#include "device/core/divide.h"
#include "device/core/unaligned.h"
#include "device/nvidia/cluster.h"
#include "device/rows/contract.h"

namespace hipops {
namespace {

template <class T, int kLanes_, int kVectors_, int kBlock_, RowLayout kLayout_, RowBody kBody_>
struct RowShape {
  using Element = T;
  using Compute = compute_t<T>;
  static constexpr int kLanes = kLanes_, kVectors = kVectors_, kBlock = kBlock_;
  static constexpr RowLayout kLayout = kLayout_;
  static constexpr RowBody kBody = kBody_;
  static constexpr bool kByElement = kLayout == RowLayout::strided || kLayout == RowLayout::packed;
  static constexpr int kLength = kByElement ? 1 : kWideBytes / int(sizeof(T));  // of a vector
  static constexpr int kRowsPerBlock = kBlock / kLanes;  // or more: kLanesAsNeeded
  // Whether the launch chooses how many lanes share a row: a power of two, up to kLanes.
  static constexpr bool kLanesAsNeeded =
      kRowsPerBlock > 1 && (kLayout == RowLayout::aligned || (kLayout == RowLayout::packed && kLanes > 1));
  static constexpr bool kInCluster = kBody == RowBody::cluster;
  static constexpr bool kOnChip = kBody == RowBody::on_chip || kInCluster;
  // kRun: lanes with neighbouring vectors, so an access touches few cache lines.
  static constexpr int kRun = kRowsPerBlock > 1 ? kLanes : wave_size;
  using Streamed = RowShape<T, kLanes_, (kVectors_ + 3) / 4, kBlock_, kLayout_, RowBody::streamed>;  // few_registers
  template <int n> using WithVectors = RowShape<T, kLanes_, n, kBlock_, kLayout_, kBody_>;

  // All-reduces values up to the size of Largest over the lanes of a row.
  template <class Largest>
  using ReduceInBlock = typename Choose<kLanesAsNeeded, ReduceOverLanes, Reduce<Largest, kLanes>>::type;
  template <class Largest>
  using Reduction = typename Choose<kInCluster, ClusterReduce<Largest, kLanes>, ReduceInBlock<Largest>>::type;
};

// The place of a work-item in the rows of `Streams`, a RowStreams. NVIDIA divides an unaligned row into vectors at the
// multiples of 16 bytes of stream kDivided.
template <class Streams, class Shape, int kDivided>
class Rows {
 public:
  using T = typename Shape::Element;
  static constexpr int kLength = Shape::kLength;
  static constexpr bool kByElement = Shape::kByElement;
  // A place in a row. Rows of more than kMostIntColumns are streamed by element.
  using Column = typename Choose<Shape::kBody == RowBody::streamed && kByElement, int64_t, int>::type;

  explicit HIPOPS_METHOD Rows(const Streams& s) : s_(&s) {}

  // The first row of the block. A lane without a row reads another row, joins the reductions, and stores nothing.
  HIPOPS_METHOD int64_t begin() const {
    const int64_t group = Shape::kInCluster ? cluster_index() : block_index();
    if constexpr (Shape::kLanesAsNeeded) return group * Shape::kBlock >> lane_bits();
    return group * Shape::kRowsPerBlock;
  }
  HIPOPS_METHOD void select(int64_t first) {
    if constexpr (Shape::kRowsPerBlock == 1) {
      locate(first);
    } else {
      const int place = int(thread_index() >> lane_bits());
      const int64_t left = s_->rows - first;
      has_row_ = place < left;
      locate(first + (has_row_ ? place : left - 1));
    }
  }
  // The row `step` rows after this one, whose number is `next`.
  HIPOPS_METHOD Rows following(int64_t next, int64_t step) const {
    static_assert(Shape::kRowsPerBlock == 1, "every lane has the row");
    Rows after = *this;
    if (__builtin_expect(s_->dimensions > 1, 0)) after.locate(next);
    else after.step_along(0, step);
    return after;
  }
  HIPOPS_METHOD bool has_row() const { return Shape::kRowsPerBlock == 1 || has_row_ != 0; }
  // The number of the work-item's row after select(first).
  HIPOPS_METHOD int64_t number(int64_t first) const {
    return Shape::kRowsPerBlock == 1 ? first : first + int64_t(thread_index() >> lane_bits());
  }

  // The same row, located again. So no register keeps its pointers until this call.
  HIPOPS_METHOD Rows located_again() const {
    static_assert(Shape::kRowsPerBlock == 1, "every lane has the row");
    uint32_t low = uint32_t(number_);
    recompute_derived(low);
    Rows again(*s_);
    again.locate(number_ >> 32 << 32 | low);
    return again;
  }

  HIPOPS_METHOD Column cols() const { return Column(s_->cols); }
  HIPOPS_METHOD T* stream(int i) const { return row_[i]; }
  // stream(i), of elements of another type.
  template <class Out>
  HIPOPS_METHOD Out* stream_of(int i) const {
    if constexpr (sizeof(Out) == sizeof(T)) return row_[i];
    else return static_cast<Out*>(s_->data[i]) + (row_[i] - static_cast<T*>(s_->data[i]));
  }
  HIPOPS_METHOD int64_t step(int i) const { return s_->step[i]; }
  HIPOPS_METHOD bool has_stream(int i) const { return s_->data[i] != nullptr; }
  // The row of typed input i, and the bytes between two elements.
  HIPOPS_METHOD const char* typed(int i) const { return more_[i]; }
  HIPOPS_METHOD int64_t typed_step(int i) const { return s_->typed_step[i]; }
  // Given scalar i of the row.
  template <class C>
  HIPOPS_METHOD C given(int i, C absent, uint32_t offset = 0) const {
    if (s_->data[Streams::kFirstGiven + i] == nullptr) return absent;
    return with_plain_nan<T>(*reinterpret_cast<const C*>(more_[Streams::kTyped + i] + offset));
  }

  // Given scalar i, of a type that the row's elements do not decide, or its part `part`.
  template <class Given>
  HIPOPS_METHOD Given given_as(int i, int part = 0) const {
    const Given* const at = reinterpret_cast<const Given*>(more_[Streams::kTyped + i]) + part;
    if constexpr (Shape::kRowsPerBlock == 1) return load_uniform(at);
    else return *at;
  }

  // The number of work-items that share a row, in all blocks of a cluster.
  HIPOPS_METHOD int lanes() const {
    if constexpr (Shape::kRowsPerBlock > 1 && !Shape::kLanesAsNeeded) return Shape::kLanes;
    return s_->lanes * (Shape::kInCluster ? int(cluster_size()) : 1);
  }
  // elements_in_vectors(): at least one vector. has_vectors_at(): any from `base` on. next_base(): of the next tile.
  HIPOPS_METHOD int64_t elements_in_vectors() const { return int64_t(end()) - head(); }
  HIPOPS_METHOD bool has_vectors_at(int64_t base) const { return base < elements_in_vectors(); }
  HIPOPS_METHOD int64_t next_base(int64_t base) const { return base + int64_t(lanes()) * (Shape::kVectors * kLength); }
  // column(): the place in the row of the work-item's vector v in the tile at `base`. contains(): the row reaches it.
  HIPOPS_METHOD Column column(int64_t base, int v) const {
    const int in_row = rank();
    int vector = (in_row / Shape::kRun * Shape::kVectors + v) * Shape::kRun + in_row % Shape::kRun;
    if constexpr (Shape::kLanesAsNeeded) vector = v * s_->lanes + in_row;
    return Column(base) + Column(vector * kLength + head());
  }
  HIPOPS_METHOD Column first_column(int64_t base) const { return Column(base) + head(); }
  HIPOPS_METHOD bool contains(Column col) const { return col < stop(); }
  // A vector past the end is replaced by the last one, and ignored later. So the load needs no branch.
  HIPOPS_METHOD Column clamp_to_row(Column col) const {
    const Column last = stop() - kLength;
    return col < last ? col : last;
  }
  HIPOPS_METHOD bool has_next(Column col) const { return col + kLength < stop(); }
  // Leaves out vectors from `base` on, which belong to other spans.
  HIPOPS_METHOD void stop_at(int64_t base) {
    if constexpr (kIsSplit) stop_ = base < elements_in_vectors() ? Column(base) + head() : end();
  }
  // Whether the element is in one of the work-item's vectors of the tile at `base`.
  HIPOPS_METHOD bool has_in_vectors(Column at, int64_t base) const {
    const Column vector = (at - first_column(base)) / kLength;
    Column in_row = vector / (Shape::kRun * Shape::kVectors) * Shape::kRun + vector % Shape::kRun;
    if constexpr (Shape::kLanesAsNeeded) in_row = vector & (s_->lanes - 1);
    return at >= first_column(base) && contains(at) && in_row == rank();
  }

  // The row's edge: elements before the first vector and after the last. edge(): the work-item's element, or -1.
  static constexpr bool kHasEdges = Shape::kLayout == RowLayout::unaligned;
  static constexpr int kMostEdge = kLeastEnd<T> + kLength;  // the largest edge of one end, plus one
  static_assert(!kHasEdges || kMostEdge - 1 + kLength + kLeastEnd<T> <= kLeastUnalignedVectors * kLength,
                "a vector between the ends");
  static_assert(!kHasEdges || 2 * kMostEdge <= Shape::kLanes, "a work-item has at most one edge element");
  HIPOPS_METHOD Column edge() const {
    const int i = rank();
    if constexpr (!kHasEdges) return -1;
    const Column at = i < kMostEdge ? (i < head() ? i : -1) : end() + (i - kMostEdge);
    return i < 2 * kMostEdge && at < cols() ? at : -1;
  }

  // The work-item's number among all that share its row.
  HIPOPS_METHOD int rank() const {
    int rank = int(thread_index());
    if constexpr (Shape::kRowsPerBlock > 1) rank &= lanes() - 1;
    if constexpr (Shape::kInCluster) rank += int(cluster_rank()) * s_->lanes;
    return rank;
  }

 private:
  HIPOPS_METHOD int lane_bits() const { return first_bit(LaneMask(Shape::kLanesAsNeeded ? s_->lanes : Shape::kLanes)); }
  static constexpr bool kIsSplit = Shape::kBody == RowBody::parts || Shape::kBody == RowBody::merged;
  HIPOPS_METHOD Column end() const { return kHasEdges ? end_ : cols(); }
  HIPOPS_METHOD Column stop() const { return kIsSplit ? stop_ : end(); }
  HIPOPS_METHOD int head() const { return kHasEdges ? head_ : 0; }

  HIPOPS_METHOD void step_along(int d, int64_t rows) {
#pragma unroll
    for (int i = 0; i < Streams::kStreams; ++i) row_[i] += rows * s_->outer[d].stride[i];
#pragma unroll
    for (int i = 0; i < kMore; ++i) more_[i] += rows * s_->outer[d].stride[Streams::kFirstTyped + i];
  }
  HIPOPS_METHOD void locate(int64_t row) {
    number_ = row;
#pragma unroll
    for (int i = 0; i < Streams::kStreams; ++i) row_[i] = static_cast<T*>(s_->data[i]);
#pragma unroll
    for (int i = 0; i < kMore; ++i) more_[i] = static_cast<const char*>(s_->data[Streams::kFirstTyped + i]);
    // Nearly every call has one dimension, so divisions are out of its way.
    if (__builtin_expect(s_->dimensions > 1, 0)) {
#pragma unroll 1
      for (int d = 0; d + 1 < s_->dimensions; ++d) {
        const int64_t quotient = divide(row, s_->outer[d].size, s_->outer[d].divisor);
        step_along(d, row - quotient * s_->outer[d].size);
        row = quotient;
      }
      step_along(s_->dimensions - 1, row);
    } else {
      step_along(0, row);
    }
    if constexpr (kHasEdges) {
      if constexpr (!has_unaligned_vectors) {
        head_ = kLength;
        const int before = misalignment(row_[kDivided]);
        if (before != 0) head_ = 2 * kLength - before;
      }
      end_ = head_ + (cols() - kLeastEnd<T> - head_) / kLength * kLength;
    }
  }

  static constexpr int kMore = Streams::kTyped + Streams::kGiven;

  const Streams* s_;
  T* row_[Streams::kStreams];
  const char* more_[kMore > 0 ? kMore : 1];  // of typed inputs and given scalars
  int head_ = 0;  // the first element in a vector
  Column end_, stop_;  // the end of the last vector; of the span's last vector
  int64_t number_;  // of the row
  int64_t has_row_ = false;  // not bool: clang keeps a copied struct with padding in memory, not in registers
};

// An output's element.
template <class Op, class T>
using OutputOf = typename Choose<Op::kQuantizes, uint8_t, T>::type;
template <class Op>
using StreamsOf = RowStreams<Op::kInputs + Op::kOutputs, Op::kScalars, Op::kTyped, Op::kGiven>;
// The first output divides rows, so its stores need no shift. If it has 8-bit elements, the input divides them: then loads
// need no shift. Rows with sums of columns have no shift: where vectors must be aligned, such rows are loaded by element.
template <class Op, class Shape>
using RowsOf = Rows<StreamsOf<Op>, Shape, Op::kQuantizes ? 0 : Op::kInputs>;

}  // namespace
}  // namespace hipops
