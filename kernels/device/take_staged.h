// Taking elements of x from a copy of a part of it in shared memory, where scattered reads cost a bank's pass, and not a
// cache line's: `staged` and `large` of gather and index_select. What a block copies is
//
//   rows     one or several, one behind the other, where dim is innermost
//   columns  neighbours, all along dim, where it is not: 16 to 64 bytes of each row of x, as many as find room
#pragma once

#include "device/aligned_span.h"
#include "device/indices.h"
#include "device/stream.h"
#include "device/strided.h"
#include "device/take_contract.h"

namespace hipops {
namespace {

// N neighbouring indices as they are in memory, whatever their type: nothing waits for them until their places are
// asked for.
template <int N>
class IndexVector {
 public:
  HIPOPS_METHOD void load(const IndexArgs& index, int64_t offset) {
    switch (index.type) {
      case kIndexU8: return load_as<uint8_t>(index, offset);
      case kIndexI16: return load_as<int16_t>(index, offset);
      case kIndexI32:
      case kIndexU32: return load_as<uint32_t>(index, offset);
      default: return load_as<uint64_t>(index, offset);
    }
  }

  // The places along dim, or -1 where nothing is meant. (Where all of dim is in shared memory, no index of 32 or 64 bits
  // is the mark and in range.)
  HIPOPS_METHOD void find_places(const IndexArgs& index, int32_t (&place)[N]) const {
    switch (index.type) {
      case kIndexU8: return find_as<uint8_t>(index, UINT8_MAX, place);
      case kIndexI16: return find_as<int16_t>(index, INT16_MAX, place);
      case kIndexI32:
      case kIndexU32: return find_as<uint32_t>(index, UINT32_MAX, place);
      default: return find_as<uint64_t>(index, UINT64_MAX, place);
    }
  }

 private:
  template <class I>
  HIPOPS_METHOD void load_as(const IndexArgs& index, int64_t offset) {
    const Vector<I, N> v = load_vector<N>(static_cast<const I*>(index.data) + offset);
    if constexpr (sizeof v % sizeof word_[0] == 0) __builtin_memcpy(word_, &v, sizeof v);
    else word_[0] = uint16_t(v.element[0]);
  }

  template <class I>
  HIPOPS_METHOD void find_as(const IndexArgs& index, I mark, int32_t (&place)[N]) const {
    Vector<I, N> v;
    __builtin_memcpy(&v, word_, sizeof v);
#pragma unroll
    for (int e = 0; e < N; ++e) {
      const I value = v.element[e];
      bool inside = false;
      if constexpr (sizeof value > sizeof(int32_t)) inside = value < uint64_t(index.size);
      else inside = uint32_t(int32_t(value)) < uint32_t(index.size);
      place[e] = inside && value != mark ? int32_t(value) : -1;
    }
  }

  uint32_t word_[2 * N];
};

template <class T, int Block>
class StagedPart {
 public:
  explicit HIPOPS_METHOD StagedPart(Shared<b128> vectors) : vectors_(vectors), elements_(vectors.as<T>()) {}

  HIPOPS_METHOD T operator[](int32_t i) const { return elements_[i]; }

  // `count` neighbours, which are a vector at least and begin anywhere: in vectors from aligned addresses, but for what
  // is before the first of those and after the last, and placed as in memory. Returns where the first one is.
  HIPOPS_METHOD int32_t load_rows(const T* x, int32_t count) const {
    const int32_t shift = misplaced_by(x);
    const AlignedSpan<T> span(shift, count);
    const T* from = x - shift;
    const int32_t edge = span.edge();
    const T at_edge = from[edge < 0 ? shift : edge];
    load(span.first, span.last, [&](int32_t v) { return from + v * kLength; });
    if (edge >= 0) elements_[edge] = at_edge;
    return shift;
  }

  // Of `lines` rows, `step` elements apart, 1 << line_bits vectors each.
  HIPOPS_METHOD void load_columns(const T* x, int32_t lines, int32_t step, int32_t line_bits) const {
    load(0, lines << line_bits, [&](int32_t v) {
      const int32_t line = v >> line_bits;
      return x + line * step + (v - (line << line_bits)) * kLength;
    });
  }

 private:
  static constexpr int kLength = kWideBytes / int(sizeof(T));
  static constexpr int kInFlight = 4;

  // Vectors `first` to `last` - 1, each from where `at` says. There is no branch around loads: what is not wanted is the
  // last one once more.
  template <class At>
  HIPOPS_METHOD void load(int32_t first, int32_t last, At at) const {
#pragma unroll 1
    for (int32_t v = first + int32_t(thread_index()); v < last; v += kInFlight * Block) {
      b128 value[kInFlight];
#pragma unroll
      for (int n = 0; n < kInFlight; ++n) {
        const int32_t i = v + n * Block;
        value[n] = *reinterpret_cast<const b128*>(at(i < last ? i : last - 1));
      }
#pragma unroll
      for (int n = 0; n < kInFlight; ++n)
        if (v + n * Block < last) vectors_[v + n * Block] = value[n];
    }
  }

  Shared<b128> vectors_;
  Shared<T> elements_;
};

// What a block takes of its copy: `count` elements, `a.cols` in a line of y and of the index.
struct TakenPart {
  int64_t number;  // of its first row, or of its panel of columns
  int64_t index;   // offset
  int32_t rows;    // of y
  int32_t lines;   // those that are taken at once; one line of the index is for every so many-th row from there on
  int32_t count;   // of elements in the lines
  int32_t others;  // columns at the begin that another panel has, too
};

HIPOPS_FN bool is_last_panel(const TakeArgs& a, int64_t number) {
  return number - divide(number, a.parts, a.wide_parts_divisor) * a.parts == a.parts - 1;
}

// The row-major position of element i of the part in the index tensor.
HIPOPS_FN int64_t index_position(const TakeArgs& a, const TakenPart& part, int32_t i) {
  if (a.lines == 0) return part.number * a.cols + i;
  const int64_t outer = divide(part.number, a.parts, a.wide_parts_divisor), panel = part.number - outer * a.parts;
  const int32_t line = int32_t(divide(uint32_t(i), a.cols_divisor)), col = i - line * int32_t(a.cols);
  return (outer * a.lines + line) * (a.parts * a.cols - a.overlap) + panel * a.cols - part.others + col;
}

// Counts those of the work-item's indices that are out of range. What serves all of x (`run`) is the first part's to
// count.
template <int N, int Block>
HIPOPS_FN void report_indices(const TakeArgs& a, const TakenPart& part) {
  if (a.run != 0 && part.number != 0) return;
#pragma unroll 1
  for (int32_t vector = int32_t(thread_index()) * N; vector < part.count; vector += Block * N) {
#pragma unroll 1
    for (int32_t i = vector; i < vector + N; ++i) {
      const int32_t line = int32_t(divide(uint32_t(i), a.cols_divisor)), col = i - line * int32_t(a.cols);
      int64_t mark;
      const int64_t value = load_index(a.index, part.index + line * a.index_line + col, &mark);
      const int32_t served = (part.rows - line + part.lines - 1) / part.lines;
      const bool counts = col >= part.others && (a.run == 0 || line == 0);
      checked_index(a.index, value, mark, index_position(a, part, i), !counts ? 0 : a.run != 0 ? 1 : uint64_t(served));
    }
  }
}

// By N elements at a time. Returns whether an index meant nothing.
template <int N, class T, int Block>
HIPOPS_FN bool take_part(const TakeArgs& a, const StagedPart<T, Block>& staged, const TakenPart& part, const T* x,
                         T* y) {
  // Vectors of the index that are on their way.
  constexpr int kAhead = Block > kStagedBlock ? (N > 1 ? 1 : 2) : (N > 1 ? 2 : 4);
  constexpr int32_t kStep = Block * N * kAhead;
  const int32_t begin = int32_t(thread_index()) * N, cols = int32_t(a.cols), size = int32_t(a.index.size);
  // What lies past the end takes the last vector once more.
  auto element = [&](int32_t tile, int n) {
    const int32_t i = tile + begin + n * Block * N;
    return i < part.count ? i : part.count - N;
  };
  IndexVector<N> next[kAhead];
  auto ask = [&](int32_t tile) {
#pragma unroll
    for (int n = 0; n < kAhead; ++n) {
      if (tile + n * Block * N >= part.count) return;
      const int32_t i = element(tile, n), line = int32_t(divide(uint32_t(i), a.cols_divisor));
      next[n].load(a.index, part.index + line * a.index_line + (i - line * cols));
    }
  };

  ask(0);
  int32_t shift = 0, least = 0;
  if (a.lines != 0) staged.load_columns(x, size, a.x_line, a.line_bits);
  else shift = staged.load_rows(x, part.rows * size);
  barrier();
#pragma unroll 1
  for (int32_t tile = 0; tile < part.count; tile += kStep) {
    IndexVector<N> now[kAhead];
#pragma unroll
    for (int n = 0; n < kAhead; ++n) now[n] = next[n];
    if (tile + kStep < part.count) ask(tile + kStep);
#pragma unroll
    for (int n = 0; n < kAhead; ++n) {
      if (tile + n * Block * N >= part.count) break;
      const int32_t i = element(tile, n), line = int32_t(divide(uint32_t(i), a.cols_divisor)), col = i - line * cols;
      int32_t place[N];
      now[n].find_places(a.index, place);
#pragma unroll
      for (int e = 0; e < N; ++e) least = place[e] < least ? place[e] : least;
      int32_t base = a.lines != 0 ? col : shift + line * size;
      T* to = y + line * a.y_line + col;
#pragma unroll 1
      for (int32_t row = line; row < part.rows; row += part.lines) {
        Vector<T, N> taken;
#pragma unroll
        for (int e = 0; e < N; ++e) {
          const T found = staged[place[e] < 0 ? 0 : base + place[e] * a.place_step + e * a.neighbour_step];
          taken.element[e] = place[e] < 0 ? T(0) : found;
        }
        if (tile + begin + n * Block * N < part.count) store_vector_at_once<N>(to, taken);
        base += part.lines * size;
        to += part.lines * a.y_line;
      }
    }
  }
  return least < 0;
}

template <int N, class T, int Block>
HIPOPS_FN void take_parts(const TakeArgs& args, const StagedPart<T, Block>& staged) {
  for (int64_t r = int64_t(block_index()) * args.group; r < args.walk.count; r += args.step) {
    const TakeArgs& a = read_anew(args);
    const Offsets<kTakeOperands> at = locate(a.walk, r);
    // The last panel ends where the columns do.
    const int32_t others = a.overlap != 0 && is_last_panel(a, r) ? a.overlap : 0;
    const T* x = static_cast<const T*>(a.x) + at.of[kTakeX] - others;
    T* y = static_cast<T*>(a.y) + at.of[kTakeY] - others;
    const int32_t rows = a.walk.count - r < a.group ? int32_t(a.walk.count - r) : a.group;
    const int32_t lines = a.lines != 0 ? a.lines : a.together < rows ? a.together : rows;
    const TakenPart part{
        r, at.of[kTakeIndex] - others, a.lines != 0 ? lines : rows, lines, lines * int32_t(a.cols), others};
    const bool any = take_part<N>(a, staged, part, x, y);
    // Out of the way of indices that are right.
    if (any && a.index.report != nullptr) report_indices<N, Block>(read_anew(args), part);
    barrier();  // before the next part takes the place of this one
  }
}

template <class T, int Block>
HIPOPS_FN void take_from_copies(const TakeArgs& a, Shared<b128> storage) {
  const StagedPart<T, Block> staged(storage);
  if (a.vectors) take_parts<kStagedVector>(a, staged);
  else take_parts<1>(a, staged);
}

// Blocks that share a unit.
template <class T>
HIPOPS_FN void take_staged(const TakeArgs& a) {
  take_from_copies<T, kStagedBlock>(a, own_or_launch_shared<b128, kStagedBytes / kWideBytes>(a.copy_bytes / kWideBytes));
}

// Blocks that are alone on one.
template <class T>
HIPOPS_FN void take_large(const TakeArgs& a) {
  take_from_copies<T, kLargeBlock>(a, own_or_launch_shared<b128, kOwnSharedBytes / kWideBytes>(a.copy_bytes / kWideBytes));
}

}  // namespace
}  // namespace hipops
