// Resizing through shared memory, where x and y have no gaps. A block copies the rows of x that are sources of some
// neighbouring rows of y, in whole vectors, and reads elements there. Each work-item has one place in those rows, and
// computes its source columns once.
#pragma once

#include "device/move/staged_chunk.h"
#include "device/move/upsample.h"

namespace hipops {
namespace {

// The source row in x of row `r` of y. Rows are numbered through all planes.
HIPOPS_FN int32_t row_of_x(const UpsampleArgs& a, int32_t r) {
  const UpsampleDimension& d = a.dimension[1];
  const int32_t plane = quotient(r, d), i = r - plane * int32_t(d.size);
  int32_t source = 0;
  with_rule(d.rule, [&](auto rule) { source = rule(d, i); });
  return plane * (int32_t(d.last) + 1) + source;
}

template <class T>
class UpsampleTile {
 public:
  HIPOPS_METHOD UpsampleTile(const UpsampleArgs& args, Shared<b128> vectors, Shared<int32_t> row_at)
      : a_(args), staged_(vectors), row_at_(row_at) {}

  // Loads the tile whose first row is `first`. All work-items call it.
  HIPOPS_METHOD void load(int32_t first) {
    const UpsampleTiles& t = a_.tiles;
    rows_ = t.total - first < t.rows ? t.total - first : t.rows;
    const int32_t begin = row_of_x(a_, first), end = row_of_x(a_, first + rows_ - 1) + 1;
    const int32_t width = int32_t(a_.dimension[0].last) + 1;
    const int32_t shift = staged_.load_rows(static_cast<const T*>(a_.x) + int64_t(begin) * width, (end - begin) * width);
    const int32_t r = int32_t(thread_index());
    if (r < rows_) row_at_[r] = shift + (row_of_x(a_, first + r) - begin) * width;
    y_ = static_cast<T*>(a_.y) + int64_t(first) * a_.dimension[0].size;
  }

  // Stores the tile's whole periods. `crosses`: whether a vector may hold the end of one row and the start of the next.
  template <bool crosses>
  HIPOPS_METHOD void store_periods() const {
    const UpsampleTiles& t = a_.tiles;
    const UpsampleDimension& line = a_.dimension[0];
    const int32_t periods = rows_ >> t.period_bits, width = int32_t(line.size);
    const int32_t which = int32_t(divide(thread_index(), t.vectors_divisor));
    if (which >= t.together) return;
    for (int32_t vector = int32_t(thread_index()) - which * t.vectors; vector < t.vectors; vector += kUpsampleBlock) {
      const int32_t at = vector * kLength, row = quotient(at, line), col = at - row * width;
      int32_t place[kLength];
      with_rule(line.rule, [&](auto rule) {
#pragma unroll
        for (int e = 0; e < kLength; ++e)
          place[e] = rule(line, crosses && col + e >= width ? col + e - width : col + e);
      });
#pragma unroll 1
      for (int32_t p = which; p < periods; p += t.together) {
        const int32_t r = (p << t.period_bits) + row, here = row_at_[r];
        const int32_t next = crosses && col + kLength > width ? row_at_[r + 1] : here;
        Vector<T, kLength> v;
#pragma unroll
        for (int e = 0; e < kLength; ++e) v.element[e] = staged_[(crosses && col + e >= width ? next : here) + place[e]];
        store_vector_as_one<kLength>(y_ + (p << t.period_bits) * width + at, v);
      }
    }
  }

  // Stores the rows after the last whole period, by elements.
  HIPOPS_METHOD void store_rest() const {
    const UpsampleDimension& line = a_.dimension[0];
    const int32_t width = int32_t(line.size), done = rows_ >> a_.tiles.period_bits << a_.tiles.period_bits;
    for (int32_t i = done * width + int32_t(thread_index()); i < rows_ * width; i += kUpsampleBlock) {
      const int32_t row = quotient(i, line);
      int32_t place = 0;
      with_rule(line.rule, [&](auto rule) { place = rule(line, i - row * width); });
      y_[i] = staged_[row_at_[row] + place];
    }
  }

 private:
  static constexpr int kLength = kWideBytes / int(sizeof(T));

  const UpsampleArgs& a_;
  const StagedChunk<T, kUpsampleBlock, kTileBytes / kWideBytes / kUpsampleBlock> staged_;
  const Shared<int32_t> row_at_;  // the place of each row's source row
  int32_t rows_ = 0;              // of y
  T* y_ = nullptr;
};

template <class T>
HIPOPS_FN void upsample_tile(const UpsampleArgs& args) {
  HIPOPS_SHARED(b128, vectors, kTileBytes / kWideBytes);
  HIPOPS_SHARED(int32_t, row_at, kTileRows);
  for (int64_t first = int64_t(block_index()) * args.tiles.rows; first < args.tiles.total; first += args.step) {
    const UpsampleArgs& a = reload_arguments(args);
    UpsampleTile<T> tile(a, vectors, row_at);
    tile.load(int32_t(first));
    barrier();
    if (a.tiles.period_bits == 0) {
      tile.template store_periods<false>();
    } else {
      tile.template store_periods<true>();
      tile.store_rest();
    }
    barrier();  // before the next tile overwrites this one
  }
}

}  // namespace
}  // namespace hipops
