// The rotation of pairs of elements by tables of cosines and sines. rope, rope_i and rope_thd are written with this.
#pragma once

#include "device/math.h"
#include "device/rope_contract.h"
#include "device/strided.h"
#include "device/vector.h"

namespace hipops {
namespace {

// A variant of the list in rope_contract.h, for one element type.
template <class T, int kHeads_, int kBlock_, int kBytes>
struct RopeShape {
  using Element = T;
  using Compute = compute_t<T>;
  static constexpr int kHeads = kHeads_;
  static constexpr int kBlock = kBlock_;
  static constexpr bool kWide = kBytes != 0;                           // vectors of several elements, without gaps
  static constexpr int kLength = kWide ? kBytes / int(sizeof(T)) : 1;  // elements of a vector, and pairs of a chunk
};

// Which elements are a pair. A chunk has two vectors of n elements, the second one `apart` elements after the first;
// member m of its pair i is an element of one of them.
struct HalfSplit {
  static HIPOPS_METHOD int64_t first(int64_t pair) { return pair; }
  static HIPOPS_METHOD int64_t apart(const RopeArgs& a, int) { return a.half; }
  static constexpr HIPOPS_METHOD int vector(int, int m, int) { return m; }
  static constexpr HIPOPS_METHOD int element(int i, int, int) { return i; }
};
struct Interleaved {
  static HIPOPS_METHOD int64_t first(int64_t pair) { return 2 * pair; }
  static HIPOPS_METHOD int64_t apart(const RopeArgs&, int n) { return n; }
  static constexpr HIPOPS_METHOD int vector(int i, int m, int n) { return (2 * i + m) / n; }
  static constexpr HIPOPS_METHOD int element(int i, int m, int n) { return (2 * i + m) % n; }
};

// What a work-item takes: a chunk of a token, for the heads from `head` on.
struct RopePlace {
  int64_t chunk, head, token, batch;
};

HIPOPS_FN int64_t offset_of(const RopeStrides& stride, const RopePlace& at) {
  return at.batch * stride.batch + at.token * stride.token + at.head * stride.head;
}

// n modulo the size that `by` divides by, and n divided by it.
HIPOPS_FN uint32_t take(uint32_t* n, int64_t size, Divisor by) {
  uint32_t quotient = divide(*n, by), rest = *n - quotient * uint32_t(size);
  *n = quotient;
  return rest;
}

template <int kHeads>
HIPOPS_FN RopePlace rope_place(const RopeArgs& a, int64_t i) {
  int64_t chunk = 0, inner = 0, outer = 0, batch;
  if (a.small) {
    uint32_t rest = uint32_t(i);
    chunk = take(&rest, a.size[0], a.divisor[0]);
    inner = take(&rest, a.size[1], a.divisor[1]);
    outer = take(&rest, a.size[2], a.divisor[2]);
    batch = rest;
  } else {
    // 64-bit division is some hundred instructions and many registers, so there is one piece of code for all three.
    uint64_t rest = uint64_t(i);
#pragma unroll 1
    for (int d = 0; d < 3; ++d) {
      uint64_t quotient = rest / uint64_t(a.size[d]);
      chunk = inner, inner = outer, outer = int64_t(rest - quotient * uint64_t(a.size[d]));
      rest = quotient;
    }
    batch = int64_t(rest);
  }
  return {chunk, (a.heads_inside ? inner : outer) * kHeads, a.heads_inside ? outer : inner, batch};
}

HIPOPS_FN int64_t rope_position(const RopeArgs& a, const RopePlace& at) {
  if (a.positions == nullptr) return at.token;
  int64_t offset = at.batch * a.position_stride.batch + at.token * a.position_stride.row;
  if (a.positions_are_64_bit) return static_cast<const int64_t*>(a.positions)[offset];
  return static_cast<const int32_t*>(a.positions)[offset];
}

// Where a row of cosines or sines has those of the chunk, `pair` being its first.
template <class Shape, class W>
HIPOPS_FN const W* table_at(const void* table, const RopeTableStrides& stride, int64_t batch, int64_t row,
                            int64_t pair) {
  const W* at = static_cast<const W*>(table) + batch * stride.batch + row * stride.row;
  return at + (Shape::kWide ? pair : pair * stride.element);
}

template <class Shape, class W>
HIPOPS_FN void load_tables(const RopeArgs& a, int64_t batch, int64_t row, int64_t pair,
                           typename Shape::Compute (&cos)[Shape::kLength],
                           typename Shape::Compute (&sin)[Shape::kLength]) {
  using C = typename Shape::Compute;
  constexpr int n = Shape::kLength;
  auto raw_cos = load_vector<n>(table_at<Shape, W>(a.cos, a.cos_stride, batch, row, pair));
  auto raw_sin = load_vector<n>(table_at<Shape, W>(a.sin, a.sin_stride, batch, row, pair));
#pragma unroll
  for (int i = 0; i < n; ++i) {
    cos[i] = C(widen(raw_cos.element[i]));
    sin[i] = C(widen(raw_sin.element[i]));
  }
}

// One product is rounded by itself, the other one and the sum together.
template <class Pairs, class T, int N, class C>
HIPOPS_FN void rotate(Vector<T, N> (&v)[2], const C (&cos)[N], const C (&sin)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i) {
    T& first = v[Pairs::vector(i, 0, N)].element[Pairs::element(i, 0, N)];
    T& second = v[Pairs::vector(i, 1, N)].element[Pairs::element(i, 1, N)];
    C a = C(widen(first)), b = C(widen(second));
    first = narrow<T>(fused_multiply_add(a, cos[i], -(b * sin[i])));
    second = narrow<T>(fused_multiply_add(a, sin[i], b * cos[i]));
  }
}

template <class Shape, class Pairs>
HIPOPS_FN void rope_chunk(const RopeArgs& a, const RopePlace& at) {
  using T = typename Shape::Element;
  using C = typename Shape::Compute;
  constexpr int n = Shape::kLength, heads = Shape::kHeads;

  // Where the chunk's two vectors are in a row. Where only one is left to copy, it is the second as well: it is moved
  // twice, to the same place.
  int64_t pair = at.chunk * n;
  bool rotates = pair < a.half;
  int64_t first = rotates ? Pairs::first(pair) : 2 * pair;
  int64_t second = rotates ? first + Pairs::apart(a, n) : first + n < a.cols ? first + n : first;
  int64_t position = rope_position(a, at);

  // A group of heads that is not full takes its last one again, and forgets it: without a branch all loads are under
  // way before the first is waited for. Nobody else writes what is read here, also where y is x.
  const T* x = static_cast<const T*>(a.x) + offset_of(a.x_stride, at);
  int64_t x_first = Shape::kWide ? first : first * a.x_stride.element;
  int64_t x_second = Shape::kWide ? second : second * a.x_stride.element;
  Vector<T, n> v[heads][2];
#pragma unroll
  for (int h = 0; h < heads; ++h) {
    if (h > 0 && at.head + h < a.heads) x += a.x_stride.head;
    v[h][0] = load_vector<n>(x + x_first);
    v[h][1] = load_vector<n>(x + x_second);
  }

  // What a position outside the table gives; the table may have no rows at all.
  C cos[n], sin[n];
#pragma unroll
  for (int i = 0; i < n; ++i) cos[i] = sin[i] = C(__builtin_nanf(""));
  if (rotates && uint64_t(position) < uint64_t(a.table_rows)) {
    if (a.table_is_f32) load_tables<Shape, f32>(a, at.batch, position, pair, cos, sin);
    else load_tables<Shape, T>(a, at.batch, position, pair, cos, sin);
  }

  T* y = static_cast<T*>(a.y) + offset_of(a.y_stride, at);
  int64_t y_first = Shape::kWide ? first : first * a.y_stride.element;
  int64_t y_second = Shape::kWide ? second : second * a.y_stride.element;
#pragma unroll
  for (int h = 0; h < heads; ++h) {
    if (rotates) rotate<Pairs>(v[h], cos, sin);
    if (h == 0 || at.head + h < a.heads) {
      store_vector<n>(y + y_first, v[h][0]);
      store_vector<n>(y + y_second, v[h][1]);
    }
    y += a.y_stride.head;
  }
}

template <class Shape, class Pairs>
HIPOPS_FN void rope_kernel(const RopeArgs& a) {
  for (int64_t i = int64_t(block_index()) * Shape::kBlock + thread_index(); i < a.count; i += a.step)
    rope_chunk<Shape, Pairs>(a, rope_place<Shape::kHeads>(a, i));
}

}  // namespace
}  // namespace hipops
