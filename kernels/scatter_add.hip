// scatter_add: y[.., index[.., j, ..], ..] += x[.., j, ..] along dim, in place in y.
//
//   x, index  one shape, any strides; x in f32, f16, bf16, f64, or integers of 8, 32 or 64 bits, which wrap around
//   y         x's type, any strides; off dim no smaller than x
//   bytes     each source and its index are read, and its element of y is read and written: 3 * sizeof(element) +
//             sizeof(index) for each source
//
//   atomic all sources in parallel, each by an atomic addition, in any order; the order does not change sums of
//          integers. It is one instruction if the target has it (docs/ops/scatter_add.md). Not u8: no target has a u8
//          atomic. 16-bit floats only if y consists of whole aligned words, as the instructions add to words.
//   wide   the same in vectors of 4 elements that are neighbours in x, y and the index, for f32, f16 and bf16. If their
//          indices are equal, sm_90 and later add them by one instruction. AMD has none, so `wide` is not chosen there.
//          With f32 sums, a block may keep some vectors of y in shared memory, and add each of them to y once.
//   few    each block adds its sources to copies of all elements in shared memory, then each copy to the element by one
//          atomic: for f32 sums of few elements with many sources each, where atomics would wait for one another.
//   line   one work-item adds all sources along dim, in order: for deterministic floats, up to 128 of them, and where
//          `atomic` cannot add. For more, see `line` of index_add.hip.
//          Fast if dim is not innermost and there are many lines. A single long line has only one work-item.
//
// These round 16-bit floats at each addition. With a workspace the sums are f32: `widen` copies the elements of y that
// x's lines can reach, `f32_atomic`, `f32_wide` or `f32_line` add to the copies, and `round` stores the changed copies,
// rounded once. This moves up to 14 bytes more for each element.
//
//   sparse   instead, in any order, if y is row-major and much larger than x: touches only elements that sources name.
//            `claim` stores the indices, and finds elements that several sources name, by a bit for each element or for
//            several. Three launches of `sparse` follow. They add each single source to y. They add the other sources
//            to f32 sums, which begin as y's elements, and round these sums.
//
//   uniform  in order, with the workspace. Reads the whole index, to find out if each row has one index. If so,
//            index_add's kernels sort the rows' indices and add whole rows in that order (index_add.hip). The kernels
//            above follow, and return early. The kernels of index_add return early if a row's indices differ.
//
// Alone: hipcc --genco --offload-arch=gfx942 -O3 -std=c++17 -I kernels kernels/scatter_add.hip -o scatter_add.co
#include "scatter_add.h"

#include "device/core/scan.h"
#include "device/move/scatter.h"
#include "device/core/vector.h"

namespace hipops {
namespace {

template <class Sum, class T>
HIPOPS_FN Sum converted(T v) {
  if constexpr (sizeof(Sum) == sizeof(T)) return v;
  else return widen(v);
}

template <class Sum, class T, int N>
HIPOPS_FN Vector<Sum, N> converted_vector(const Vector<T, N>& v) {
  Vector<Sum, N> all;
#pragma unroll
  for (int e = 0; e < N; ++e) all.element[e] = converted<Sum>(v.element[e]);
  return all;
}

HIPOPS_FN u8 sum_of(u8 a, u8 b) { return u8(a + b); }
HIPOPS_FN f32 sum_of(f32 a, f32 b) { return a + b; }
HIPOPS_FN f64 sum_of(f64 a, f64 b) { return a + b; }
HIPOPS_FN f16 sum_of(f16 a, f16 b) { return narrow<f16>(widen(a) + widen(b)); }
HIPOPS_FN bf16 sum_of(bf16 a, bf16 b) { return narrow<bf16>(widen(a) + widen(b)); }

template <class T, class Sum>
HIPOPS_FN Sum* sums_of(const ScatterAddArgs& a) {
  return static_cast<Sum*>(sizeof(Sum) == sizeof(T) ? a.y : a.sums);
}

template <class T>
HIPOPS_FN T load_source(const T* x, const SourceOffsets& at) {
  return load_streamed<1>(x + at.of[kScatterX]).element[0];
}

template <class T, class Sum>
HIPOPS_FN void scatter_add_atomic(const ScatterAddArgs& a) {
  const T* x = static_cast<const T*>(a.x);
  Sum* sums = sums_of<T, Sum>(a);
  for_each_source(a.geometry, a.index, [&](const SourceOffsets& at) { return load_source(x, at); },
                  [&](int64_t to, T value) { atomic_add(sums + to, converted<Sum>(value)); });
}

// Sums of vectors of y that a block keeps in shared memory. A vector's slot is its place, modulo the number of slots.
// The first vector that needs the slot gets it: mostly a vector with many sources, whose atomics would wait.
struct KeptVectors {
  static constexpr uint32_t kFree = UINT32_MAX;
  Shared<uint32_t> memory;  // the place of each slot's vector, then its elements: a part for each of four
  uint32_t slots;

  HIPOPS_METHOD void begin() const {
    for (uint32_t i = thread_index(); i < (1 + kScatterVector) * slots; i += kScatterBlock)
      memory[i] = i < slots ? kFree : bit_cast<uint32_t>(-0.0f);
    barrier();
  }
  // Returns false if the slot belongs to another vector.
  HIPOPS_METHOD bool add(uint32_t vector, const Vector<float, kScatterVector>& v) const {
    const uint32_t slot = vector & (slots - 1);
    uint32_t owner = memory[slot];
    if (owner == kFree) owner = memory.compare_swap(slot, kFree, vector);
    if (owner != kFree && owner != vector) return false;
#pragma unroll
    for (int e = 0; e < kScatterVector; ++e) memory.as<float>().fetch_add((1 + e) * slots + slot, v.element[e]);
    return true;
  }
  HIPOPS_METHOD void end(float* sums) const {
    barrier();
    for (uint32_t slot = thread_index(); slot < slots; slot += kScatterBlock) {
      const uint32_t vector = memory[slot];
      if (vector == kFree) continue;
      Vector<float, kScatterVector> v;
#pragma unroll
      for (int e = 0; e < kScatterVector; ++e) v.element[e] = memory.as<float>()[(1 + e) * slots + slot];
      atomic_add_vector(sums + int64_t(vector) * kScatterVector, v);
    }
  }
};

template <class T, class Sum>
HIPOPS_FN void scatter_add_wide(const ScatterAddArgs& a) {
  Sum* sums = sums_of<T, Sum>(a);
  const auto each = [&](int64_t to, T value) { atomic_add(sums + to, converted<Sum>(value)); };
  if constexpr (has_launch_shared && sizeof(Sum) == sizeof(float)) {
    const auto slots = uint32_t(a.geometry.kept_vectors);
    const KeptVectors kept{static_or_launch_shared<uint32_t, 1>((1 + kScatterVector) * slots), slots};
    kept.begin();
    const auto all = [&](int64_t to, const Vector<T, kScatterVector>& value) {
      const Vector<Sum, kScatterVector> v = converted_vector<Sum>(value);
      if (slots == 0 || !kept.add(uint32_t(to / kScatterVector), v)) atomic_add_vector(sums + to, v);
    };
    for_each_vector<kScatterVector>(a.geometry, a.index, static_cast<const T*>(a.x), all, each);
    kept.end(sums);
  } else {
    const auto all = [&](int64_t to, const Vector<T, kScatterVector>& value) {
      atomic_add_vector(sums + to, converted_vector<Sum>(value));
    };
    for_each_vector<kScatterVector>(a.geometry, a.index, static_cast<const T*>(a.x), all, each);
  }
}

constexpr int kFewSumsBlock = few_sums_block(has_launch_shared);

// The sums of a block. Element e of a vector is in part e of the memory, so that lanes use different banks. Lanes have
// copies of their own if elements are few, so that they do not wait for one another.
template <int Length>
struct FewSums {
  Shared<float> memory;
  uint32_t elements, copy_bits;

  HIPOPS_METHOD uint32_t own() const { return hide_origin(lane_index()) & ((1u << copy_bits) - 1); }
  HIPOPS_METHOD uint32_t place(uint32_t e) const {
    return (e % Length * (elements / Length) + e / Length) << copy_bits;
  }
  HIPOPS_METHOD void add(int64_t to, float v) const { memory.fetch_add(place(uint32_t(to)) + own(), v); }
  HIPOPS_METHOD float sum(uint32_t e) const {
    float sum = -0.0f;
    for (uint32_t c = 0; c >> copy_bits == 0; ++c) sum += memory[place(e) + (own() ^ c)];
    return sum;
  }
};

// y, or the workspace, is row-major, and the offsets are the same in it and in shared memory. A sum of -0 changes no
// element.
template <class T, class Sum, int Length>
HIPOPS_FN void add_few(const ScatterAddArgs& a, Shared<float> memory) {
  const ScatterGeometry& g = a.geometry;
  const T* x = static_cast<const T*>(a.x);
  const uint32_t elements = uint32_t(g.few_elements), copy_bits = uint32_t(g.copy_bits);
  const FewSums<Length> sums{memory, elements, copy_bits};
  for (uint32_t w = thread_index(); w < elements << copy_bits; w += kFewSumsBlock) memory[w] = -0.0f;
  barrier();
  const auto add = [&](int64_t to, T value) { sums.add(to, converted<float>(value)); };
  if constexpr (Length == 1) {
    for_each_source<kFewSumsBlock>(g, a.index, [&](const SourceOffsets& at) { return load_source(x, at); }, add);
  } else {
    for_each_vector<Length, kFewSumsBlock>(
        g, a.index, x,
        [&](int64_t to, const Vector<T, Length>& value) {
#pragma unroll
          for (int e = 0; e < Length; ++e) add(to + e, value.element[e]);
        },
        add);
  }
  barrier();
  for (uint32_t e = thread_index(); e < elements; e += kFewSumsBlock) {
    const float sum = sums.sum(e);
    if (bit_cast<uint32_t>(sum) != bit_cast<uint32_t>(-0.0f)) atomic_add(sums_of<T, Sum>(a) + e, sum);
  }
}

template <class T, class Sum>
HIPOPS_FN void scatter_add_few(const ScatterAddArgs& a) {
  const ScatterGeometry& g = a.geometry;
  load_walk_arguments(g.walk, g.step, g.vector, g.y_step, g.few_elements, g.copy_bits, g.one_index, a.index.type,
                      a.index.data, a.index.size, a.x);
  const Shared<float> memory = static_or_launch_shared<float, kFewSumsWords>(int64_t{g.few_elements} << g.copy_bits);
  if (g.vector == kScatterVector) add_few<T, Sum, kScatterVector>(a, memory);
  else add_few<T, Sum, 1>(a, memory);
}

template <class T, class Sum>
HIPOPS_FN void scatter_add_line(const ScatterAddArgs& a) {
  const T* x = static_cast<const T*>(a.x);
  Sum* sums = sums_of<T, Sum>(a);
  for_each_line(a.geometry, a.index, [&](int64_t of_x) { return x[of_x]; },
                [&](int64_t to, T value) { sums[to] = sum_of(sums[to], converted<Sum>(value)); });
}

template <class T, int Length>
HIPOPS_FN void widen_sums(const ScatterAddArgs& a) {
  const T* y = static_cast<const T*>(a.y);
  const ScatterGeometry& g = a.geometry;
  for_each_located(g, [&](auto& i, auto&, auto& at) {
    Vector<T, Length> element[kScatterDepth];
#pragma unroll
    for (int n = 0; n < kScatterDepth; ++n) element[n] = load_vector<Length>(y + at[n].of[kScatterY] * Length);
#pragma unroll
    for (int n = 0; n < kScatterDepth; ++n) {
      if (i[n] >= g.walk.count) continue;
      Vector<float, Length> sum;
#pragma unroll
      for (int e = 0; e < Length; ++e) sum.element[e] = widen(element[n].element[e]);
      store_vector<Length>(a.sums + i[n] * Length, sum);
    }
  });
}

// An element whose sum did not change keeps its bits. Conversions would change a NaN.
template <class T, int Length>
HIPOPS_FN void round_sums(const ScatterAddArgs& a) {
  T* y = static_cast<T*>(a.y);
  const ScatterGeometry& g = a.geometry;
  for_each_located(g, [&](auto& i, auto& within, auto& at) {
    Vector<T, Length> element[kScatterDepth];
    Vector<float, Length> sum[kScatterDepth];
#pragma unroll
    for (int n = 0; n < kScatterDepth; ++n) {
      element[n] = load_vector<Length>(y + at[n].of[kScatterY] * Length);
      sum[n] = load_vector<Length>(a.sums + within[n] * Length);
    }
#pragma unroll
    for (int n = 0; n < kScatterDepth; ++n) {
      if (i[n] >= g.walk.count) continue;
      bool changed = false;
#pragma unroll
      for (int e = 0; e < Length; ++e) {
        bool same = bit_cast<uint32_t>(sum[n].element[e]) == bit_cast<uint32_t>(widen(element[n].element[e]));
        if (!same) element[n].element[e] = narrow<T>(with_plain_nan<T>(sum[n].element[e]));
        changed = changed || !same;
      }
      if (changed) store_vector<Length>(y + at[n].of[kScatterY] * Length, element[n]);
    }
  });
}

// The walk of both kernels is over the elements of y that x's lines can reach, or over vectors of four: 16 bytes of
// sums. Neighbouring lanes then store neighbouring bytes, of y and of the sums.
template <class T, class Sum>
HIPOPS_FN void scatter_add_widen(const ScatterAddArgs& a) {
  if (a.geometry.vector == kScatterVector) widen_sums<T, kScatterVector>(a);
  else widen_sums<T, 1>(a);
}

template <class T, class Sum>
HIPOPS_FN void scatter_add_round(const ScatterAddArgs& a) {
  if (a.geometry.vector == kScatterVector) round_sums<T, kScatterVector>(a);
  else round_sums<T, 1>(a);
}

// A bit for each of `length` neighbours in the word of their slots.
HIPOPS_FN uint32_t slot_bits(const ScatterSparse& s, int64_t place, int length, int64_t* word) {
  const int64_t slot = place & (s.slots - 1);
  *word = slot / 32;
  return ((1u << length) - 1) << (slot % 32);
}

HIPOPS_FN void claim(const ScatterSparse& s, int64_t place, int length) {
  int64_t word;
  const uint32_t bits = slot_bits(s, place, length, &word);
  const uint32_t before = atomic_fetch_or(s.claimed + word, bits) & bits;
  if (before != 0) atomic_fetch_or(s.repeated + word, before);
}

template <int Length>
HIPOPS_FN void claim_all(const ScatterAddArgs& a) {
  const ScatterGeometry& g = a.geometry;
  for_each_located(g, [&](auto& i, auto&, auto& at) {
    int64_t offset[kScatterDepth], target[kScatterDepth][Length];
#pragma unroll
    for (int n = 0; n < kScatterDepth; ++n) offset[n] = at[n].of[kScatterIndex];
    const int64_t mark = load_indices_of_vectors(g, a.index, offset, target);
#pragma unroll
    for (int n = 0; n < kScatterDepth; ++n) {
      if (i[n] >= g.walk.count) continue;
      const int64_t of_y = at[n].of[kScatterY];
      bool same = true;
#pragma unroll
      for (int e = 1; e < Length; ++e) same = same && target[n][e] == target[n][0];
      const int length = same ? Length : 1;
#pragma unroll
      for (int e = 0; e < Length; ++e) {
        if (e > 0 && same) break;
        const int64_t to = checked_index(a.index, target[n][e], mark, i[n] * Length + e, uint64_t(length));
        if (e == 0)
          a.sparse.target[i[n]] = !same             ? ScatterSparse::kMixed
                                  : to == kNothing ? ScatterSparse::kNone
                                                   : uint32_t(to);
        if (to != kNothing) claim(a.sparse, (of_y + to * g.y_step) * Length + e, length);
      }
    }
  });
}

template <class, class>
HIPOPS_FN void scatter_add_claim(const ScatterAddArgs& a) {
  const ScatterGeometry& g = a.geometry;
  load_walk_arguments(g.walk, g.step, g.vector, g.y_step, g.phase, g.one_index, a.index.type, a.index.data,
                      a.index.size);
  if (g.phase == kClearClaims) {  // `repeated` follows `claimed`
    for_each_batch(g, [&](auto& i) {
#pragma unroll
      for (int n = 0; n < kScatterDepth; ++n)
        if (i[n] < g.walk.count) store_vector<4>(a.sparse.claimed + 4 * i[n], Vector<uint32_t, 4>{});
    });
  } else if (g.vector == kScatterVector) {
    claim_all<kScatterVector>(a);
  } else {
    claim_all<1>(a);
  }
}

// A phase of `sparse` for N vectors. If not has[n], of_x and place are 0. Work-items with one element store the same.
template <class T, int Length, int N>
HIPOPS_FN void add_sparse(const ScatterAddArgs& a, const int64_t (&of_x)[N], const int64_t (&place)[N],
                          const bool (&has)[N]) {
  const T* x = static_cast<const T*>(a.x);
  T* y = static_cast<T*>(a.y);
  const ScatterPhase phase = a.geometry.phase;
  bool repeated[N];
#pragma unroll
  for (int n = 0; n < N; ++n) {
    int64_t word;
    const uint32_t bits = slot_bits(a.sparse, place[n], Length, &word);
    repeated[n] = has[n] && (a.sparse.repeated[word] & bits) != 0;
  }
  const auto rounded = [](const Vector<float, Length>& sum) {
    Vector<T, Length> all;
#pragma unroll
    for (int e = 0; e < Length; ++e) all.element[e] = narrow<T>(with_plain_nan<T>(sum.element[e]));
    return all;
  };
  if (phase == kAddSingle) {
    Vector<T, Length> source[N], element[N];
#pragma unroll
    for (int n = 0; n < N; ++n) {
      source[n] = load_streamed<Length>(x + of_x[n]);
      element[n] = load_vector<Length>(has[n] ? y + place[n] : x);  // another work-item may store y's first element
    }
#pragma unroll
    for (int n = 0; n < N; ++n) {
      if (!has[n]) continue;
      Vector<float, Length> sum;
#pragma unroll
      for (int e = 0; e < Length; ++e) {
        sum.element[e] = widen(element[n].element[e]);
        if (!repeated[n]) sum.element[e] += widen(source[n].element[e]);
      }
      if (repeated[n]) store_contended(reinterpret_cast<Vector<float, Length>*>(a.sums + place[n]), sum);
      else store_vector<Length>(y + place[n], rounded(sum));
    }
  } else if (phase == kAddRepeated) {
    Vector<T, Length> source[N];
#pragma unroll
    for (int n = 0; n < N; ++n) source[n] = load_streamed<Length>(x + (repeated[n] ? of_x[n] : 0));
#pragma unroll
    for (int n = 0; n < N; ++n) {
      if (!repeated[n]) continue;
      Vector<float, Length> value;
#pragma unroll
      for (int e = 0; e < Length; ++e) value.element[e] = widen(source[n].element[e]);
      if constexpr (Length == kScatterVector) atomic_add_vector(a.sums + place[n], value);
      else atomic_add(a.sums + place[n], value.element[0]);
    }
  } else {
    Vector<float, Length> sum[N];
#pragma unroll
    for (int n = 0; n < N; ++n) sum[n] = load_vector<Length>(a.sums + (repeated[n] ? place[n] : 0));
#pragma unroll
    for (int n = 0; n < N; ++n)
      if (repeated[n]) store_contended(reinterpret_cast<Vector<T, Length>*>(y + place[n]), rounded(sum[n]));
  }
}

// Vector v, whose indices differ.
template <class T, int Length>
HIPOPS_FN void add_mixed(const ScatterAddArgs& a, int64_t v) {
  const SourceOffsets at = locate_in_loop(a.geometry.walk, v);
  int64_t to[1][Length], of_x[Length], place[Length];
  bool has[Length];
  const int64_t mark = load_index_vectors(a.index, {at.of[kScatterIndex]}, to);
#pragma unroll
  for (int e = 0; e < Length; ++e) {
    const int64_t row = checked_index(a.index, to[0][e], mark, 0, 0);  // `claim` has reported it
    has[e] = row != kNothing;
    of_x[e] = has[e] ? at.of[kScatterX] * Length + e : 0;
    place[e] = has[e] ? (at.of[kScatterY] + row * a.geometry.y_step) * Length + e : 0;
  }
  add_sparse<T, 1>(a, of_x, place, has);
}

template <class T, int Length>
HIPOPS_FN void add_all_sparse(const ScatterAddArgs& a) {
  const ScatterGeometry& g = a.geometry;
  for_each_located(g, [&](auto& i, auto& within, auto& at) {
    int64_t of_x[kScatterDepth], place[kScatterDepth];
    bool has[kScatterDepth];
    uint32_t target[kScatterDepth];
#pragma unroll
    for (int n = 0; n < kScatterDepth; ++n) target[n] = a.sparse.target[within[n]];
#pragma unroll
    for (int n = 0; n < kScatterDepth; ++n) {
      has[n] = i[n] < g.walk.count && target[n] < ScatterSparse::kMixed;
      of_x[n] = has[n] ? at[n].of[kScatterX] * Length : 0;
      place[n] = has[n] ? (at[n].of[kScatterY] + int64_t(target[n]) * g.y_step) * Length : 0;
    }
    add_sparse<T, Length>(reload_arguments(a), of_x, place, has);
    if constexpr (Length > 1) {
      bool mixed = false;
#pragma unroll
      for (int n = 0; n < kScatterDepth; ++n) mixed = mixed || target[n] == ScatterSparse::kMixed;
      if (!mixed) return;
#pragma unroll 1
      for (int64_t v = i[0]; v <= i[kScatterDepth - 1]; v += kScatterBlock) {
        const ScatterAddArgs& again = reload_arguments(a);
        if (v < again.geometry.walk.count && again.sparse.target[v] == ScatterSparse::kMixed)
          add_mixed<T, Length>(again, v);
      }
    }
  });
}

template <class T, class Sum>
HIPOPS_FN void scatter_add_sparse(const ScatterAddArgs& a) {
  if (a.geometry.vector == kScatterVector) add_all_sparse<T, kScatterVector>(a);
  else add_all_sparse<T, 1>(a);
}

// True if a work-item finds an index that differs from the first index of its row. Stores the first indices densely.
template <class Index>
HIPOPS_FN bool finds_difference(const ScatterAddArgs& a) {
  constexpr int wide = kWideBytes / sizeof(Index);
  const Index* index = static_cast<const Index*>(a.index.data);
  Index* firsts = static_cast<Index*>(a.firsts);
  const ScatterGeometry& g = a.geometry;
  const uint32_t count = uint32_t(g.walk.count), row = uint32_t(g.walk.dim[0].size);
  bool differs = false;
  for (uint32_t tile = block_index() * kUniformTile; tile < count; tile += uint32_t(g.step)) {
    uint32_t i[kUniformDepth], j[kUniformDepth];
    Vector<Index, wide> v[kUniformDepth];
    Index first[kUniformDepth];
#pragma unroll
    for (int n = 0; n < kUniformDepth; ++n) {
      i[n] = tile + n * kScatterBlock + thread_index();
      i[n] = i[n] < count ? i[n] : count - 1;
      v[n] = load_vector<wide>(index + int64_t(i[n]) * wide);
    }
#pragma unroll
    for (int n = 0; n < kUniformDepth; ++n) {
      j[n] = divide(i[n], g.walk.dim[0].divisor);
      first[n] = index[int64_t(j[n] * row) * wide];
    }
#pragma unroll
    for (int n = 0; n < kUniformDepth; ++n) {
#pragma unroll
      for (int e = 0; e < wide; ++e) differs = differs || v[n].element[e] != first[n];
      if (i[n] == j[n] * row) firsts[j[n]] = first[n];
    }
    if (ballot(differs) != 0) break;
  }
  return differs;
}

// The walk is over vectors of 16 bytes of the contiguous index, row after row. There are fewer than 2^31.
template <class, class>
HIPOPS_FN void scatter_add_uniform(const ScatterAddArgs& a) {
  bool differs;
  switch (a.index.type) {
    case kIndexU8: differs = finds_difference<uint8_t>(a); break;
    case kIndexI16: differs = finds_difference<uint16_t>(a); break;
    case kIndexI64: differs = finds_difference<uint64_t>(a); break;
    default: differs = finds_difference<uint32_t>(a);
  }
  const uint32_t all = block_scan<kScatterBlock>(uint32_t(differs)).total;
  if (thread_index() == 0) a.differ[block_index()] = all;
}

// The blocks that a multiprocessor holds together: the compiler limits registers accordingly.
[[maybe_unused]] constexpr int kResident_atomic = 4, kResident_wide = 3, kResident_few = 1, kResident_line = 4,
                               kResident_widen = 4, kResident_round = 3, kResident_uniform = 4, kResident_claim = 3,
                               kResident_sparse = 3;

constexpr int kBlock_atomic = kScatterBlock, kBlock_wide = kScatterBlock, kBlock_few = kFewSumsBlock,
              kBlock_line = kScatterBlock, kBlock_widen = kScatterBlock, kBlock_round = kScatterBlock,
              kBlock_uniform = kScatterBlock, kBlock_claim = kScatterBlock, kBlock_sparse = kScatterBlock;

}  // namespace

#define KERNEL(name, T, Sum, mode)                                                      \
  HIPOPS_KERNEL(kBlock_##mode, kResident_##mode) name(HIPOPS_ARGS(ScatterAddArgs) a) { \
    follow_launch_before();                                                             \
    if (!rows_are_added(a.rows_differ)) scatter_add_##mode<T, Sum>(a);                  \
  }
HIPOPS_SCATTER_ADD_KERNELS(KERNEL)

HIPOPS_KERNEL_TABLE(scatter_add, ScatterAddArgs, HIPOPS_SCATTER_ADD_KERNELS)

}  // namespace hipops
