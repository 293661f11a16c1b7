// The rows that the norms and softmax work on, spread over the work-items that share them.
#pragma once

#include "device/nvidia/cluster.h"
#include "device/core/divide.h"
#include "device/core/math.h"
#include "device/rows/row_contract.h"
#include "device/rows/row_stage.h"
#include "device/core/stream.h"

namespace hipops {
namespace {

// A variant of the list in row_contract.h, for one element type.
template <class T, int kThreads_, int kVectors_, int kBlock_, RowAccess kAccess, RowMode kMode>
struct RowShape {
  using Element = T;
  using Compute = compute_t<T>;
  static constexpr int kThreads = kThreads_;  // of a group; of the largest block, where a block has one row
  static constexpr int kVectors = kVectors_;
  static constexpr int kBlock = kBlock_;
  static constexpr bool kWide = kAccess == wide;
  static constexpr bool kStaged = kAccess == staged;
  static constexpr bool kAny = kAccess == any;
  static constexpr bool kEdged = kAccess == edged;
  static constexpr bool kResident =
      kMode == resident || in_clusters(kMode) || kMode == queued || kMode == passing || kMode == weights_early ||
      kMode == weights_aside;
  static constexpr bool kClustered = in_clusters(kMode);
  static constexpr bool kQueued = kMode == queued;
  static constexpr bool kPassing = kMode == passing;
  static constexpr bool kWeightsEarly = kMode == weights_early;
  static constexpr bool kWeightsAside = kMode == weights_aside;
  static constexpr int kLength = kStaged || kAny ? 1 : kWideBytes / int(sizeof(T));  // elements of a vector
  static constexpr int kRowsPerBlock = kBlock / kThreads;
  static constexpr bool kByWaves = false;
  static constexpr bool kRowIsThere = kRowsPerBlock == 1;
  static constexpr bool kOnce = false;
  static constexpr bool kSplit = kMode == partial || kMode == merge || kMode == apply;
  // Single elements that a work-item takes beside its vectors, of those before the first and after the last vector.
  static constexpr int kEdges = kAccess == edged ? (2 * kLength + kThreads - 1) / kThreads : 0;
  // What takes the same launches with a quarter of the registers.
  using Streaming = RowShape<T, kThreads_, kVectors_ / 4, kBlock_, kAccess, streaming>;
};

// The same, where what a wave takes of a row lies together, rather than a step of all work-items apart: up to 4 %
// faster (14 % in clusters, at odd addresses), but not for each op.
template <class Shape, bool kWanted = true>
struct ByWaves : Shape {
  static constexpr bool kByWaves = kWanted && Shape::kResident && Shape::kRowsPerBlock == 1;
};

// The same, where the compiler is not told that the row of a block to itself is there. Told, it mostly takes less time,
// but some kernels that use all registers then spill.
template <class Shape, bool kWanted>
struct AskingForRow : Shape {
  static constexpr bool kRowIsThere = Shape::kRowIsThere && !kWanted;
};

// The same, where no block has a second row, to be asked for ahead.
template <class Shape>
struct Once : Shape {
  static constexpr bool kOnce = true;
};

// Of a group, or the part of it that is in this block.
template <class Shape>
HIPOPS_FN int threads_of(const RowGeometry& g) { return Shape::kRowsPerBlock == 1 ? g.threads : Shape::kThreads; }

template <bool, class A, class> struct Choose { using type = A; };
template <class A, class B> struct Choose<false, A, B> { using type = B; };

// The reduction over a group.
template <class Shape, class Largest>
using RowReduce = typename Choose<Shape::kClustered, ClusterReduce<Largest, Shape::kThreads>,
                                  Reduce<Largest, Shape::kThreads>>::type;

HIPOPS_FN bool has(const RowGeometry& g, RowTrait trait) { return (g.traits & trait) != 0; }

struct NoStage {};

// One work-item's view of the rows that its group takes.
//
// Vectors are read from aligned addresses. Where a row of an edged variant begins between two of them, its first
// elements, `head` of them, are taken one by one, and so are those that are left after its last whole vector. A tile is
// what the group holds at once; the vectors of a row are in tiles, from `base` vector columns on.
template <class Shape>
class Rows : Choose<Shape::kStaged, Stage<Shape>, NoStage>::type {
 public:
  using T = typename Shape::Element;
  static constexpr int kLength = Shape::kLength;
  // A column of a row, or how many: an int where the row stays in registers. At odd addresses 64 bits took up to an
  // eighth of a launch, and a wave's registers on gfx942.
  using Column = typename Choose<Shape::kResident, int, int64_t>::type;

  HIPOPS_METHOD Rows(const RowGeometry& g, const void* x, void* y)
      : g_(&g), x_(static_cast<const T*>(x)), y_(static_cast<T*>(y)) {}

  // The block's first row, which there is; the group's row is that plus its place in the block. All work-items of a
  // block go through the same number of rounds, also where a group has no row left: it takes part in the reductions, and
  // stores nothing. A late block has one round, of rows behind those that the others take.
  HIPOPS_METHOD int64_t begin() const {
    const int64_t rows = Shape::kStaged ? g_->rows_in_shared : Shape::kRowsPerBlock;
    const int64_t first = int64_t(Shape::kClustered ? cluster_index() : block_index()) * rows;
    if constexpr (kMayBeLate) {
      if (first >= g_->row_step) return g_->in_rounds + (first - g_->row_step);
    }
    return first;
  }
  HIPOPS_METHOD bool more(int64_t first) const { return first < (kMayBeLate ? g_->in_rounds : g_->rows); }
  HIPOPS_METHOD int64_t next(int64_t first) const { return first + g_->row_step; }

  // Begins a round.
  HIPOPS_METHOD void select(int64_t first) { find(first + place_of(g_->rows - first)); }

  // staged: how many rows are in shared memory together from `first` on. They are asked for, awaited, selected one by one,
  // and written.
  HIPOPS_METHOD int staged(int64_t first) const {
    const int64_t left = g_->rows - first;
    return left < g_->rows_in_shared ? int(left) : g_->rows_in_shared;
  }
  HIPOPS_METHOD void ask_for(int64_t first) {
    if (more(first)) this->ask(x_ + first * g_->cols, staged(first) * int(g_->cols));
  }
  HIPOPS_METHOD void stage(int64_t first) { this->await(x_ + first * g_->cols, staged(first) * int(g_->cols)); }
  HIPOPS_METHOD void select_staged(int first, int rows) {
    in_stage_ = (first + place_of(rows - first)) * int(g_->cols);
  }
  HIPOPS_METHOD void unstage(int64_t first, int rows) const {
    this->write(y_ + first * g_->cols, rows * int(g_->cols));
  }

  HIPOPS_METHOD bool live() const { return live_ != 0; }
  HIPOPS_METHOD int64_t cols() const { return g_->cols; }
  HIPOPS_METHOD int threads() const {
    return Shape::kClustered ? threads_of<Shape>(*g_) * int(cluster_size()) : threads_of<Shape>(*g_);
  }
  HIPOPS_METHOD int rank() const {
    if constexpr (Shape::kClustered) return int(cluster_rank()) * threads_of<Shape>(*g_) + int(thread_index());
    return Shape::kRowsPerBlock == 1 ? int(thread_index()) : int(thread_index() % Shape::kThreads);
  }

  // ---- Vectors
  HIPOPS_METHOD bool has_tile(int64_t base) const { return base == 0 || base < in_vectors(); }
  HIPOPS_METHOD int64_t next_tile(int64_t base) const { return base + int64_t(threads()) * Shape::kVectors * kLength; }
  // Columns from `base` on that are in vectors; many, if they are more than a tile.
  HIPOPS_METHOD int left(int64_t base) const {
    int64_t columns = in_vectors() - base;
    constexpr int64_t kMany = 1 << 30;
    return Shape::kResident || columns < kMany ? int(columns) : int(kMany);
  }
  // Whether there is anything to load. A staged group without a row leaves the last one's alone: results go to where
  // that was read.
  HIPOPS_METHOD bool has_vectors(int left) const {
    return Shape::kEdges > 0 ? left > 0 : !Shape::kStaged || live_ != 0;
  }
  // The column of the work-item's vector v, less base.
  HIPOPS_METHOD int column(int v) const {
    if constexpr (!Shape::kByWaves) return (v * threads() + rank()) * kLength;
    return ((rank() / wave_size * Shape::kVectors + v) * wave_size + rank() % wave_size) * kLength;
  }
  HIPOPS_METHOD int64_t first_column(int64_t base) const { return head() + base; }

  HIPOPS_METHOD Packed<T, kLength> load(int64_t base, int column) const {
    if constexpr (Shape::kStaged) {
      return Vector<T, 1>{{(*this)[in_stage_ + column]}};
    } else if constexpr (Shape::kAny) {
      return Vector<T, 1>{{x_row_[(base + column) * g_->x_stride]}};
    } else {
      return load_packed_evict_last<kLength>(x_at(base, column));
    }
  }
  HIPOPS_METHOD const T* x_at(int64_t base, int column) const { return x_row_ + (head() + base) + column; }
  HIPOPS_METHOD void store(int64_t base, int column, const Vector<T, kLength>& v) const {
    if constexpr (Shape::kStaged) {
      this->set(in_stage_ + column, v.element[0]);
    } else if constexpr (Shape::kAny) {
      y_row_[(base + column) * g_->y_stride] = v.element[0];
    } else {
      T* at = y_row_ + (head() + base) + column;
      // (Elsewhere stores at once cost up to 19 %: a cluster's next row is asked for later.)
      Shape::kWide ? store_vector<kLength>(at, v) : store_vector_anywhere<kLength, Shape::kSplit>(at, v);
    }
  }

  // Where a tile's results go.
  HIPOPS_METHOD T* y_from(int64_t base) const { return y_row_ + (head() + base); }

  // ---- Edges
  HIPOPS_METHOD int edges() const { return int(g_->cols - in_vectors()); }
  // The column of the work-item's edge `e`, or -1.
  HIPOPS_METHOD Column edge(int e) const {
    const int i = e * threads() + rank();
    if (i < kLength) return i < head_ ? i : -1;
    const Column col = tail_ + (i - kLength);
    return col < Column(g_->cols) ? col : -1;
  }
  HIPOPS_METHOD const T* x_edge(int64_t col) const { return x_row_ + col; }
  HIPOPS_METHOD T load_edge(int64_t col) const { return x_row_[col]; }
  HIPOPS_METHOD void store_edge(int64_t col, T v) const { y_row_[col] = v; }

 private:
  static constexpr bool kMayBeLate = Shape::kRowsPerBlock == 1 ? !Shape::kSplit
                                                               : Shape::kWide && Shape::kVectors <= kMostVectorsAround;

  // Which of the `left` rows that are left is the group's.
  HIPOPS_METHOD int place_of(int64_t left) {
    if constexpr (Shape::kRowsPerBlock == 1) {
      live_ = Shape::kRowIsThere || left > 0;
      return 0;
    }
    const int place = int(thread_index() / Shape::kThreads);
    live_ = place < left;
    return live_ ? place : int(left) - 1;  // reads what is there
  }

  HIPOPS_METHOD int head() const { return Shape::kEdges > 0 ? head_ : 0; }
  HIPOPS_METHOD int64_t in_vectors() const { return Shape::kEdges > 0 ? tail_ - head_ : g_->cols; }

  HIPOPS_METHOD void step_along(int d, int64_t rows) {
    x_row_ += rows * g_->outer[d].x_stride;
    y_row_ += rows * g_->outer[d].y_stride;
  }
  // Along the innermost `dimensions` of the outer ones. Returns what is left for those beyond.
  HIPOPS_METHOD int64_t step_along_first(int dimensions, int64_t row) {
#pragma unroll 1
    for (int d = 0; d < dimensions; ++d) {
      const int64_t quotient = divide(row, g_->outer[d].size, g_->outer[d].divisor);
      step_along(d, row - quotient * g_->outer[d].size);
      row = quotient;
    }
    return row;
  }

  HIPOPS_METHOD void find(int64_t row) {
    x_row_ = x_, y_row_ = y_;
    // One dimension in nearly every call. Divisions are kept out of its way, and of its registers.
    if constexpr (arguments_are_operands) {
      if (__builtin_expect(g_->outer_rank == 1, 1)) {
        step_along(0, row);
      } else {
        step_along_first(g_->outer_rank, row);
      }
    } else {
      step_along(g_->outer_rank - 1, step_along_first(g_->outer_rank - 1, row));
    }
    if constexpr (Shape::kEdges > 0) {
      int beyond = int(uintptr_t(x_row_) % kWideBytes / sizeof(T));  // the boundary before the row
      head_ = beyond == 0 ? 0 : kLength - beyond;
      const Column cols = Column(g_->cols);
      if (head_ > cols) head_ = int(cols);
      tail_ = head_ + (cols - head_) / kLength * kLength;
      // A last tile of one vector has no room for what the steps leave there: it goes with the first tile's edges.
      if constexpr (Shape::kSplit && sizeof(T) == 8) {
        constexpr uint32_t kTile = Shape::kThreads * Shape::kVectors * kLength;
        if (uint32_t(tail_ - head_) % kTile == kLength) tail_ -= kLength;
      }
    }
  }

  const RowGeometry* g_;
  const T* x_;
  T* y_;
  const T* x_row_ = nullptr;
  T* y_row_ = nullptr;
  int head_ = 0;
  Column tail_ = 0;
  int64_t live_ = false;  // no bool, as clang keeps the padding of structs that are copied, in memory
  int in_stage_ = 0;
};

}  // namespace
}  // namespace hipops
