// The rotation of pairs of elements by tables of cosines and sines: the kernels of rope, rope_i and rope_thd.
#pragma once

#include "device/core/math.h"
#include "device/move/rope_contract.h"
#include "device/core/cache.h"
#include "device/core/strided.h"
#include "device/core/vector.h"

namespace hipops {
namespace {

// The places of pairs in a chunk of vectors of n elements. vectors(n, heads) is the number of vectors. Member m of pair
// i, m = 0 or 1, is element(i, m, n) of vector(i, m, n).
struct HalfSplit {  // a row's two halves: two vectors, one of each half
  static constexpr bool kHalves = true;
  static constexpr int vectors(int, int) { return 2; }
  static constexpr HIPOPS_METHOD int vector(int, int m, int) { return m; }
  static constexpr HIPOPS_METHOD int element(int i, int, int) { return i; }
};
struct Interleaved {  // neighbours: one vector of each head, or two single elements
  static constexpr bool kHalves = false;
  static constexpr int vectors(int n, int heads) { return n == 1 ? 2 : heads; }
  static constexpr HIPOPS_METHOD int vector(int i, int m, int n) { return (2 * i + m) / n; }
  static constexpr HIPOPS_METHOD int element(int i, int m, int n) { return (2 * i + m) % n; }
};

template <class T, int kHeads_, int kBytes, class Pairs_>
struct RopeShape {
  using Element = T;
  using Compute = compute_t<T>;
  using Pairs = Pairs_;
  static constexpr int kHeads = kHeads_;
  static constexpr bool kWide = kBytes != 0;                           // vectors of several elements, without gaps
  static constexpr int kLength = kWide ? kBytes / int(sizeof(T)) : 1;  // elements of a vector
  static constexpr int kVectors = Pairs::vectors(kLength, kHeads);
  static constexpr int kPairs = kVectors * kLength / 2 / kHeads;  // of a head
};

// The chunk that a work-item rotates: in a token, for kHeads heads from `head` on. I is int32_t if all offsets fit,
// because 64-bit products are several instructions.
template <class I>
struct RopePlace {
  I chunk, head, token, batch;
};

template <class I>
HIPOPS_FN I offset_of(const RopeStrides& stride, const RopePlace<I>& at) {
  return at.batch * I(stride.batch) + at.token * I(stride.token) + at.head * I(stride.head);
}

// With 64 bits the loop is not unrolled: its products are many instructions and registers.
template <class I>
HIPOPS_FN RopePlace<I> rope_place(const RopeArgs& a, I i) {
  constexpr int kUnrolled = sizeof(I) == sizeof(int32_t) ? 3 : 1;
  I place[4] = {0, 0, 0, i};
#pragma unroll kUnrolled
  for (int d = 0; d < 3; ++d) {
    I quotient;
    if constexpr (kUnrolled == 3) quotient = I(divide(uint32_t(place[3]), a.divisor[d]));
    else quotient = divide(place[3], a.size[d], a.wide_divisor[d]);
    const I rest = place[3] - quotient * I(a.size[d]);
    place[0] = place[1], place[1] = place[2], place[2] = rest, place[3] = quotient;
  }
  return {place[0], a.heads_inside ? place[1] : place[2], a.heads_inside ? place[2] : place[1], place[3]};
}

template <class I>
HIPOPS_FN int64_t rope_position(const RopeArgs& a, const RopePlace<I>& at) {
  if (a.positions == nullptr) return at.token;
  int64_t offset = at.batch * a.position_stride.batch + at.token * a.position_stride.row;
  if (a.positions_are_64_bit) return static_cast<const int64_t*>(a.positions)[offset];
  return static_cast<const int32_t*>(a.positions)[offset];
}

// n words, loaded as vectors: see the rules for loads in branches (compiler.h).
template <int n> struct Words {
  using Part = b128;
  Part part[n / 4];
  HIPOPS_METHOD b32 operator[](int i) const { return bit_cast<Vector<b32, 4>>(part[i / 4]).element[i % 4]; }
};
template <> struct Words<2> {
  using Part = b64;
  Part part[1];
  HIPOPS_METHOD b32 operator[](int i) const { return b32(part[0] >> (32 * i)); }
};
template <> struct Words<1> {
  using Part = b32;
  Part part[1];
  HIPOPS_METHOD b32 operator[](int) const { return part[0]; }
};

// The cosines or sines of a chunk, of type W. load() is in a branch, so it loads raw words. element() converts them.
template <class Shape, class W>
struct RopeTable {
  static constexpr int kPairs = Shape::kPairs, kWords = (kPairs * int(sizeof(W)) + 3) / 4;
  Words<kWords> word;

  HIPOPS_METHOD void fill_with_nan() { __builtin_memset(&word, 0xff, sizeof word); }

  template <class I>
  HIPOPS_METHOD void load(const void* table, const RopeTableStrides& stride, I batch, I row, I pair) {
    const W* at = static_cast<const W*>(table) +
                  (batch * I(stride.batch) + row * I(stride.row) + (Shape::kWide ? pair : pair * I(stride.element)));
    if constexpr (kPairs * sizeof(W) < sizeof(b32)) {
      word.part[0] = *reinterpret_cast<const b16*>(at);
    } else {
      using Part = typename Words<kWords>::Part;
#pragma unroll
      for (int i = 0; i < int(sizeof word / sizeof(Part)); ++i) word.part[i] = reinterpret_cast<const Part*>(at)[i];
    }
  }

  HIPOPS_METHOD W element(int i) const {
    if constexpr (sizeof(W) == 2) return bit_cast<W>(uint16_t(word[i / 2] >> (i % 2 * 16)));
    else if constexpr (sizeof(W) == 4) return bit_cast<W>(word[i]);
    else return bit_cast<W>(uint64_t(word[2 * i + 1]) << 32 | word[2 * i]);
  }
};

// The vectors of a chunk. No other work-item writes them, even if y is x.
template <class Shape>
struct RopeVectors {
  using T = typename Shape::Element;
  static constexpr int n = Shape::kLength, kHeads = Shape::kHeads, kOfHead = Shape::kVectors / kHeads;
  Vector<T, n> v[Shape::kVectors];

  // first, second: where a head's vectors begin in a row. If a head has one vector, `second` is ignored.
  template <class I>
  HIPOPS_METHOD void load(const RopeArgs& a, const RopePlace<I>& at, I first, I second) {
    const T* x = static_cast<const T*>(a.x) + offset_of(a.x_stride, at);
    const I step = Shape::kWide ? 1 : I(a.x_stride.element);
#pragma unroll
    for (int h = 0; h < kHeads; ++h) {
      v[h * kOfHead] = load_vector_evict_last<n>(x + first * step);
      if constexpr (kOfHead == 2) v[h * kOfHead + 1] = load_vector_evict_last<n>(x + second * step);
      x += a.x_stride.head;
    }
  }

  // One product is rounded by itself. The other product and the sum are rounded together.
  template <class W>
  HIPOPS_METHOD void rotate(const RopeTable<Shape, W>& cos_table, const RopeTable<Shape, W>& sin_table) {
    using P = typename Shape::Pairs;
    using C = typename Shape::Compute;
#pragma unroll
    for (int i = 0; i < Shape::kPairs; ++i) {
      C cos = C(widen(cos_table.element(i))), sin = C(widen(sin_table.element(i)));
      if constexpr (sizeof(W) != sizeof(T)) cos = with_plain_nan<T>(cos), sin = with_plain_nan<T>(sin);
#pragma unroll
      for (int h = 0; h < kHeads; ++h) {
        T& first = v[h * kOfHead + P::vector(i, 0, n)].element[P::element(i, 0, n)];
        T& second = v[h * kOfHead + P::vector(i, 1, n)].element[P::element(i, 1, n)];
        const C p = C(widen(first)), q = C(widen(second));
        first = narrow<T>(fused_multiply_add(p, cos, -(q * sin)));
        second = narrow<T>(fused_multiply_add(p, sin, q * cos));
      }
    }
  }

  template <class I>
  HIPOPS_METHOD void store(const RopeArgs& a, const RopePlace<I>& at, I first, I second) const {
    T* y = static_cast<T*>(a.y) + offset_of(a.y_stride, at);
    const I step = Shape::kWide ? 1 : I(a.y_stride.element);
#pragma unroll
    for (int h = 0; h < kHeads; ++h) {
      store_vector_as_one<n>(y + first * step, v[h * kOfHead]);
      if constexpr (kOfHead == 2) store_vector_as_one<n>(y + second * step, v[h * kOfHead + 1]);
      y += a.y_stride.head;
    }
  }
};

template <class Shape, class I>
HIPOPS_FN void rope_chunk(const RopeArgs& a, const RopePlace<I>& at) {
  using T = typename Shape::Element;
  constexpr int n = Shape::kLength;
  constexpr bool halves = Shape::Pairs::kHalves;
  const I pair = at.chunk * Shape::kPairs, half = I(a.half);
  // A chunk also copies up to two vectors of a head, so lanes that rotate and lanes that copy are the same. Neighbours
  // copy neighbours. If only one vector is left, it is copied twice, to the same place.
  if (const I first = 2 * half + at.chunk * n; first < I(a.cols)) {
    const I next = first + I(a.size[0]) * n, second = next < I(a.cols) ? next : first;
    RopeVectors<Shape> copied;
    copied.load(a, at, first, second);
    copied.store(a, at, first, second);
  }
  if (pair >= half) return;

  // The tables' loads come first: after x's loads there is only the wait. f32 tables have variables of their own
  // (compiler.h). A position outside of the table gives NaN, which is all 1 bits in every type.
  const bool are_f32 = sizeof(T) != sizeof(f32) && a.table_is_f32;
  const int64_t position = rope_position(a, at);
  RopeTable<Shape, T> cos, sin;
  RopeTable<Shape, f32> f32_cos, f32_sin;
  cos.fill_with_nan(), sin.fill_with_nan(), f32_cos.fill_with_nan(), f32_sin.fill_with_nan();
  if (uint64_t(position) < uint64_t(a.table_rows)) {
    if (are_f32) {
      f32_cos.load(a.cos, a.cos_stride, at.batch, I(position), pair);
      f32_sin.load(a.sin, a.sin_stride, at.batch, I(position), pair);
    } else {
      cos.load(a.cos, a.cos_stride, at.batch, I(position), pair);
      sin.load(a.sin, a.sin_stride, at.batch, I(position), pair);
    }
  }
  const I first = halves ? pair : 2 * pair, second = first + (halves ? half : I(1));
  RopeVectors<Shape> x;
  x.load(a, at, first, second);
  // A branch, not a select: of a select between sines of two types, clang 22 makes wrong code for gfx942.
  if (are_f32) x.rotate(f32_cos, f32_sin);
  else x.rotate(cos, sin);
  x.store(a, at, first, second);
}

template <class Shape, class I>
HIPOPS_FN void rope_chunks(const RopeArgs& a) {
  for (int64_t i = int64_t(block_index()) * kRopeBlock + thread_index(); i < a.count; i += a.step) {
    RopePlace<I> at = rope_place(a, I(i));
    at.head *= Shape::kHeads;
    rope_chunk<Shape>(a, at);
  }
}

template <class Shape>
HIPOPS_FN void rope_kernel(const RopeArgs& a) {
  load_arguments_together(a.fits_int32, a.count, a.size[0], a.size[1], a.size[2], a.divisor[0].multiplier, a.divisor[0].shift,
                    a.divisor[1].multiplier, a.divisor[1].shift, a.divisor[2].multiplier, a.divisor[2].shift,
                    a.heads_inside, a.positions, a.position_stride.batch, a.position_stride.row, a.positions_are_64_bit,
                    a.half, a.cols, a.table_rows, a.table_is_f32, a.cos, a.sin, a.cos_stride.row, a.sin_stride.row, a.x,
                    a.x_stride.head, a.x_stride.token, a.x_stride.batch, a.cos_stride.batch, a.sin_stride.batch);
  if (a.fits_int32) rope_chunks<Shape, int32_t>(a);
  else rope_chunks<Shape, int64_t>(a);
}

}  // namespace
}  // namespace hipops
