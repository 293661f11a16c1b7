// The elements of a row that one work-item holds in registers.
#pragma once

#include "device/rows/row_op.h"
#include "device/rows/typed.h"

namespace hipops {
namespace {

// A vector of aligned rows, or an element of strided rows, in flight.
template <class Shape>
class AlignedIncoming {
 public:
  using T = typename Shape::Element;
  static constexpr int kLength = Shape::kLength;

  HIPOPS_METHOD void issue_load(const T* at) {
    if constexpr (Shape::kByElement) vector_ = Vector<T, 1>{{*at}};
    else vector_ = load_packed_evict_last<kLength>(at);
  }
  HIPOPS_METHOD void issue_before_use() {
    if constexpr (!Shape::kByElement) vector_.issue_before_use();
  }
  HIPOPS_METHOD Packed<T, kLength> value() const { return vector_; }

 private:
  Packed<T, kLength> vector_;
};

// The same for n vectors, with the functions of IncomingVectors.
template <class Shape, int n>
class AlignedVectors {
 public:
  using T = typename Shape::Element;
  static constexpr int kCount = n;
  template <class Place>
  HIPOPS_METHOD void issue_load(int v, const T* from, Place place) { one_[v].issue_load(from + place); }
  template <class F>
  HIPOPS_METHOD void issue_rest(F) const {}
  HIPOPS_METHOD void issue_before_use(int v) { one_[v].issue_before_use(); }
  HIPOPS_METHOD void shift() const {}
  HIPOPS_METHOD Packed<T, Shape::kLength> value(int v) const { return one_[v].value(); }

 private:
  AlignedIncoming<Shape> one_[n];
};

// A vector of each input, for an op that keeps its inputs apart.
template <class T, int n, int inputs>
class PackedInputs {
 public:
  HIPOPS_METHOD Elements<T, inputs> operator[](int i) const {
    Elements<T, inputs> all;
#pragma unroll
    for (int s = 0; s < inputs; ++s) all.of[s] = of_[s][i];
    return all;
  }
  HIPOPS_METHOD Elements<compute_t<T>, inputs> widen_again(int i) const {
    Elements<compute_t<T>, inputs> all;
#pragma unroll
    for (int s = 0; s < inputs; ++s) all.of[s] = of_[s].widen_again(i);
    return all;
  }
  HIPOPS_METHOD void set(int s, const Packed<T, n>& vector) { of_[s] = vector; }
  HIPOPS_METHOD void recompute_derived() {
#pragma unroll
    for (int s = 0; s < inputs; ++s) of_[s].recompute_derived();
  }

 private:
  Packed<T, n> of_[inputs];
};
template <class T, int inputs>
HIPOPS_FN Elements<compute_t<T>, inputs> widen(const Elements<T, inputs>& narrow) {
  Elements<compute_t<T>, inputs> all;
#pragma unroll
  for (int s = 0; s < inputs; ++s) all.of[s] = widen(narrow.of[s]);
  return all;
}

// The op's vector for one vector of each input.
template <class Op, class Args, class C, int n>
HIPOPS_FN void combine_inputs(const Args& args, const C (&in)[Op::kInputs][n], C (&value)[n]) {
  if constexpr (Op::kInputs == 1) {
#pragma unroll
    for (int i = 0; i < n; ++i) value[i] = in[0][i];
  } else {
    Op::combine(args, in, value);
  }
}

// Reduces the first n elements into tree[0], as a balanced tree.
template <int n, class V, int N, class O>
HIPOPS_FN void fold_first(V (&tree)[N], O op) {
  if constexpr (n > 1) {
#pragma unroll
    for (int i = 0; i < n / 2; ++i) tree[i] = op(tree[i], tree[i + (n + 1) / 2]);
    fold_first<(n + 1) / 2>(tree, op);
  }
}
template <class V, int N, class O>
HIPOPS_FN void fold(V (&tree)[N], O op) { fold_first<N>(tree, op); }

template <class O, class F> constexpr bool finds_largest = false;
template <> [[maybe_unused]] constexpr bool finds_largest<Maximum, Identity> = true;

template <class Op, class Shape>
class Tile {
 public:
  using T = typename Shape::Element;
  using C = typename Shape::Compute;
  using Element = typename Choose<Op::kInputsApart, Elements<C, Op::kInputs>, C>::type;
  static constexpr int kVectors = Shape::kVectors, kLength = Shape::kLength;
  // kBeginAnywhere: an input that divides the row (shape.h) has aligned vectors. kLoadsTwice: a vector needs two aligned
  // loads (unaligned.h). kInFlight: vectors of each input in flight; the limit saves registers.
  static constexpr bool kBeginAnywhere = Shape::kLayout == RowLayout::unaligned && (has_unaligned_vectors || !Op::kQuantizes);
  static constexpr bool kLoadsTwice = kBeginAnywhere && !has_unaligned_vectors;
  static constexpr int kMostInFlight = (kLoadsTwice ? 4 : 8) / Op::kInputs;
  static constexpr int kInFlight = kVectors <= kMostInFlight ? kVectors : kMostInFlight;
  static_assert(kVectors % kInFlight == 0, "whole rounds");

  // Issues the loads of a tile. wait() gets the values; then another row's loads may be issued.
  template <class Rows>
  HIPOPS_METHOD void issue_loads(const Rows& rows, int64_t base) {
    issue_from(rows, base, 0, in_);
    if constexpr (!kLoadsEdgeLate) issue_edge(rows, base);
  }
  template <class Args, class Rows>
  HIPOPS_METHOD void wait(const Args& args, const Rows& rows, int64_t base) {
    wait_from(args, rows, base, 0, in_);
    if constexpr (kLoadsEdgeLate) issue_edge(rows, base);
    if (Op::kTyped == 0 && Rows::kHasEdges && has_edge_) edge_ = combined_edge(args, edge_in_);
#pragma unroll
    for (int first = kInFlight; first < kVectors; first += kInFlight) {
      Vectors in[Op::kInputs];
      issue_from(rows, base, first, in);
      wait_from(args, rows, base, first, in);
    }
  }
  // How many elements of the tile this work-item has.
  template <class Rows>
  HIPOPS_METHOD int64_t elements(const Rows& rows, int64_t base) const {
    int count = Rows::kHasEdges && base == 0 && rows.edge() >= 0;
#pragma unroll
    for (int v = 0; v < kVectors; ++v) count += rows.contains(rows.column(base, v)) ? kLength : 0;
    return count;
  }

  // Reduces f(element) over each vector, and g(result of a vector) over the vectors. g may widen: then only sums of
  // vectors are WideSums. The order is a tree: a sum's error grows with the depth, not with the number of elements.
  template <bool kSecondPass, class Rows, class O, class F, class G>
  HIPOPS_METHOD auto reduce(const Rows& rows, int64_t base, O op, F f, G g) const {
    using W = decltype(g(f(Element())));
    if constexpr (kKeepsInput && kLength > 1 && has_packed_maximum && sizeof(T) == 2 && finds_largest<O, F>) {
      Held largest = held_[0];  // a vector past the end repeats the row's last one
#pragma unroll
      for (int v = 1; v < kVectors; ++v) largest = Held::larger(largest, held_[v]);
      const W all = g(largest.largest());
      return Rows::kHasEdges && base == 0 && rows.edge() >= 0 ? op(all, g(f(edge_))) : all;
    } else {
      W of_vector[kVectors];
#pragma unroll
      for (int v = 0; v < kVectors; ++v) {
        of_vector[v] = reduce_vector<kSecondPass>(held_[v], op, f, g);
        if (!rows.contains(rows.column(base, v))) of_vector[v] = O::template identity<W>();
      }
      fold(of_vector, op);
      if (Rows::kHasEdges && base == 0 && rows.edge() >= 0) of_vector[0] = op(of_vector[0], g(f(edge_)));
      return of_vector[0];
    }
  }
  // The same for an extreme row. It loads the row again, and adds one vector after another, so it needs few registers.
  template <class Args, class Rows, class O, class F, class G>
  HIPOPS_METHOD auto reduce_again(const Args& args, const Rows& rows, O op, F f, G g) const {
    using W = decltype(g(f(C())));
    const Rows again = rows.located_again();
    W all = O::template identity<W>();
#pragma unroll 1
    for (int v = 0; v < kVectors; ++v) {
      Incoming<1> in[Op::kInputs];
      issue_from(again, 0, v, in);
#pragma unroll
      for (int i = 0; i < Op::kInputs; ++i) in[i].shift();
      const W of_vector = reduce_vector<true>(combined(args, in, 0), op, f, g);
      if (again.contains(again.column(0, v))) all = op(all, of_vector);
    }
    return Rows::kHasEdges && rows.edge() >= 0 ? op(all, g(f(edge_))) : all;
  }

  // Elements are widened again after this call. Wide values would need twice the registers.
  HIPOPS_METHOD void recompute_widened() {
    if constexpr (kNarrow) {
#pragma unroll
      for (int v = 0; v < kVectors; ++v) held_[v].recompute_derived();
    }
  }
  // All values that were computed from elements are computed again after this call.
  template <class Args>
  HIPOPS_METHOD void recompute_derived(const Args& args) {
    const uint32_t zero = uint32_t(args.rows.rows >> 63);  // rows >= 0, but no compiler knows that
#pragma unroll
    for (int v = 0; v < kVectors; ++v) held_[v].recompute_derived_by(zero);
  }

  template <class F>
  HIPOPS_METHOD void map(F f) {
    static_assert(Op::kMaps, "map() needs kMaps");
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      Vector<C, kLength> mapped;
#pragma unroll
      for (int i = 0; i < kLength; ++i) mapped.element[i] = f(C(widen(held_[v][i])));
      held_[v] = mapped;
    }
    if constexpr (Shape::kLayout == RowLayout::unaligned) edge_ = f(edge_);
  }

  // Calls f(v, col, elements) for each of the work-item's vectors. All lanes of a wave call it together.
  template <class Rows, class F>
  HIPOPS_METHOD void for_each_vector(const Rows& rows, int64_t base, F f) const {
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      Element elements[kLength];
#pragma unroll
      for (int i = 0; i < kLength; ++i) elements[i] = Element(held_[v].widen_again(i));
      f(v, rows.column(base, v), elements);
    }
  }
  // The work-item's element of the row's edge, in the first tile.
  HIPOPS_METHOD Element edge() const { return edge_; }

 private:
  // Inputs that are not combined or mapped are kept in their own type, which needs the fewest registers. Other values are
  // kept in C.
  static constexpr bool kKeepsInput = Op::kInputs == 1 && Op::kTyped == 0 && !Op::kMaps;
  static constexpr bool kNarrow = (kKeepsInput || Op::kInputsApart) && sizeof(T) < sizeof(C);
  using One = Packed<typename Choose<kKeepsInput, T, C>::type, kLength>;
  using Held = typename Choose<Op::kInputsApart, PackedInputs<T, kLength, Op::kInputs>, One>::type;

  template <bool kSecondPass, class O, class F, class G>
  static HIPOPS_METHOD auto reduce_vector(const Held& held, O op, F f, G g) {
    decltype(f(Element())) tree[kLength];
#pragma unroll
    for (int i = 0; i < kLength; ++i) tree[i] = f(Element(kSecondPass ? held.widen_again(i) : widen(held[i])));
    fold(tree, op);
    return g(tree[0]);
  }
  // nvcc: the edge is loaded after the wait for the vectors. Otherwise nvcc would store it to the stack, and wait for it
  // before the last vector's load. Other ops have registers for it.
  static constexpr bool kLoadsEdgeLate = bounds_set_registers && Shape::kBody == RowBody::on_chip && Op::kTyped == 0 &&
                                         Op::kColumns > 0 && Op::kInputs * Op::kColumns <= 2;
  template <class Rows>
  HIPOPS_METHOD void issue_edge(const Rows& rows, int64_t base) {
    if constexpr (Rows::kHasEdges) {
      has_edge_ = base == 0 && rows.edge() >= 0;
#pragma unroll
      for (int i = 0; i < Op::kInputs; ++i)
        if (has_edge_) edge_in_[i] = rows.stream(i)[rows.edge()];
    }
  }
  template <int n>
  using Incoming = typename Choose<kBeginAnywhere, IncomingVectors<T, n, true>, AlignedVectors<Shape, n>>::type;
  using Vectors = Incoming<kInFlight>;

  template <class Rows, class InFlight>
  static HIPOPS_METHOD void issue_from(const Rows& rows, int64_t base, int first, InFlight (&in)[Op::kInputs]) {
    const auto column = [&](int v) { return rows.clamp_to_row(rows.column(base, first + v)); };
#pragma unroll
    for (int v = 0; v < InFlight::kCount; ++v) {
      const auto col = column(v);
#pragma unroll
      for (int i = 0; i < Op::kInputs; ++i) in[i].issue_load(v, rows.stream(i), Shape::kByElement ? col * rows.step(i) : col);
    }
#pragma unroll
    for (int i = 0; i < Op::kInputs; ++i) in[i].issue_rest(column);
  }
  template <class Args, class Rows>
  HIPOPS_METHOD void wait_from(const Args& args, const Rows& rows, int64_t base, int first, Vectors (&in)[Op::kInputs]) {
    if constexpr (Op::kTyped > 0) {
      with_type<T>(args.rows.type[0], [&](auto element) {
        wait_with_typed<decltype(element)>(args, rows, base, first, in);
      });
    } else {
#pragma unroll
      for (int v = 0; v < kInFlight; ++v)
#pragma unroll
        for (int i = 0; i < Op::kInputs; ++i) in[i].issue_before_use(v);
#pragma unroll
      for (int i = 0; i < Op::kInputs; ++i) in[i].shift();
#pragma unroll
      for (int v = 0; v < kInFlight; ++v) held_[first + v] = combined(args, in, v);
    }
  }
  // Loads the typed input while the others are in flight. All of it is in the branch for its type: after a branch, loads
  // would be waited for.
  template <class E, class Args, class Rows>
  HIPOPS_METHOD void wait_with_typed(const Args& args, const Rows& rows, int64_t base, int first, Vectors (&in)[Op::kInputs]) {
    TypedVector<Op, Shape, E> typed[kInFlight];
#pragma unroll
    for (int v = 0; v < kInFlight; ++v) typed[v].issue_load(rows, rows.clamp_to_row(rows.column(base, first + v)));
    const GivenScalars<Op> given(rows);
#pragma unroll
    for (int v = 0; v < kInFlight; ++v) {
#pragma unroll
      for (int i = 0; i < Op::kInputs; ++i) in[i].issue_before_use(v);
      typed[v].issue_before_use();
    }
#pragma unroll
    for (int i = 0; i < Op::kInputs; ++i) in[i].shift();
#pragma unroll
    for (int v = 0; v < kInFlight; ++v) {
      C wide[Op::kInputs + 1][kLength];
      widen_inputs(in, v, wide);
      typed[v].widen(wide[Op::kInputs]);
      Vector<C, kLength> value;
      Op::template combine<E>(args, given, wide, value.element);
      held_[first + v] = value;
      held_[first + v].issue_before_use();  // otherwise clang compares all masks first, and gfx9 has no registers for that
    }
    if (Rows::kHasEdges && first == 0 && has_edge_) {
      C wide[Op::kInputs + 1][1], value[1];
#pragma unroll
      for (int i = 0; i < Op::kInputs; ++i) wide[i][0] = C(widen(edge_in_[i]));
      wide[Op::kInputs][0] = typed_element<Op, T, E>(rows, rows.edge());
      Op::template combine<E>(args, given, wide, value);
      edge_ = value[0];
    }
  }

  template <class Args, class InFlight>
  static HIPOPS_METHOD Held combined(const Args& args, const InFlight (&in)[Op::kInputs], int v) {
    if constexpr (kKeepsInput) {
      return in[0].value(v);
    } else if constexpr (Op::kInputsApart) {
      Held held;
#pragma unroll
      for (int i = 0; i < Op::kInputs; ++i) held.set(i, in[i].value(v));
      return held;
    } else {
      C wide[Op::kInputs][kLength];
      widen_inputs(in, v, wide);
      Vector<C, kLength> value;
      combine_inputs<Op>(args, wide, value.element);
      return value;
    }
  }
  template <int n, class InFlight>
  static HIPOPS_METHOD void widen_inputs(const InFlight (&in)[Op::kInputs], int v, C (&wide)[n][kLength]) {
#pragma unroll
    for (int i = 0; i < Op::kInputs; ++i) {
      const Packed<T, kLength> elements = in[i].value(v);
#pragma unroll
      for (int e = 0; e < kLength; ++e) wide[i][e] = C(widen(elements[e]));
    }
  }

  template <class Args>
  static HIPOPS_METHOD Element combined_edge(const Args& args, const T (&edge)[Op::kInputs]) {
    if constexpr (Op::kInputsApart) {
      Element all;
#pragma unroll
      for (int i = 0; i < Op::kInputs; ++i) all.of[i] = C(widen(edge[i]));
      return all;
    } else {
      C wide[Op::kInputs][1], value[1];
#pragma unroll
      for (int i = 0; i < Op::kInputs; ++i) wide[i][0] = C(widen(edge[i]));
      combine_inputs<Op>(args, wide, value);
      return value[0];
    }
  }

  Vectors in_[Op::kInputs];
  Held held_[kVectors];
  T edge_in_[Op::kInputs]{};
  Element edge_{};
  bool has_edge_ = false;
};

}  // namespace
}  // namespace hipops
