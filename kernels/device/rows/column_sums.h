// The kernels of ops with columns before the reduction and sums of columns, such as backward passes of norms.
//
// The inputs of a row stay apart, in their own type, until its results are computed. A block computes the rows of a
// chunk, one round after another, and stores the chunk's sums in the workspace. A later launch adds the chunks' sums.
// Shapes and alignment alone decide the chunks, so every grid gives the same bits.
//
// A row is in registers of lanes of a wave, or of a block. Lanes keep their columns' sums there, too. A longer row is divided
// into spans, one block each. If a cluster has blocks for all spans, its blocks exchange their parts. Otherwise one launch
// stores the part of each span. In the next, each block adds a row's parts, and computes the results of its span. So x is
// read twice, and once more for a center.
#pragma once

#include "device/rows/row_kernel.h"

namespace hipops {
namespace {

// While a block reduces a row, it prefetches the next row to the L2 cache, or copies it to shared memory. 16-bit rows of
// unusual launches are prefetched: they may load columns in f32, and such loads would wait for copies.
template <class Op, class Shape>
constexpr bool prefetches_to_cache = has_copies_ahead && !Op::kUsual && Shape::kLayout == RowLayout::aligned &&
                                     Shape::kRowsPerBlock == 1 && sizeof(typename Shape::Element) < sizeof(f32);
template <class Op, class Shape>
constexpr bool copies_ahead = has_copies_ahead && Shape::kLayout != RowLayout::strided &&
                              !prefetches_to_cache<Op, Shape> &&
                              sizeof(Vector<typename Shape::Element, Shape::kLength>) >= 4;
// Whether a block loads the next row of its chunk before it reduces a row. Loads that are not copies need registers.
// NVIDIA has too few for f16 with a center, and for unusual launches of bf16.
template <class Op, class Shape>
constexpr bool loads_ahead =
    copies_ahead<Op, Shape> || (bounds_set_registers ? Shape::kLayout == RowLayout::packed && Shape::kRowsPerBlock == 1 &&
                                                       (!Op::kCenters || (Op::kUsual && is_bf16<typename Shape::Element>))
                                                 : !few_registers && Shape::kLayout == RowLayout::aligned);
// Whether lanes keep their columns for all rows of a chunk. In f64 they are not kept: a column in f32
// would be loaded as f64, past its end.
template <class Shape>
constexpr bool keeps_columns_of_chunk = !few_registers && sizeof(typename Shape::Element) <= sizeof(f32);

// Whether a kernel has a second loop, for usual launches (row_op.h), with fewer instructions. On AMD it would need more
// registers. So would f16 with several rows in a block on sm_80.
template <class Shape>
constexpr bool has_usual = bounds_set_registers && Shape::kLayout != RowLayout::strided &&
                           !(is_f16<typename Shape::Element> && Shape::kRowsPerBlock > 1);

// Blocks that have one row at a time may be a cluster, which has the row.
template <class Shape, class Largest>
using ReductionOfChunk = typename Choose<has_clusters && Shape::kRowsPerBlock == 1 && Shape::kLayout != RowLayout::strided,
                                         ClusterReduce<Largest, Shape::kBlock>, typename Shape::template Reduction<Largest>>::type;

// Whether the lane has an element of the row's edge. The first span has the edge.
template <class Rows>
HIPOPS_FN bool has_edge(const Rows& rows, int64_t base) { return Rows::kHasEdges && base == 0 && rows.edge() >= 0; }

// A work-item's elements of a tile.
template <class Op, class Shape>
class InputTile {
 public:
  using T = typename Shape::Element;
  using C = typename Shape::Compute;
  static constexpr int kVectors = Shape::kVectors, kLength = Shape::kLength, kInputs = Op::kInputs;

  // Elements from one column to the next.
  template <class Rows>
  static HIPOPS_METHOD auto step_of(const Rows& rows, int i) {
    if constexpr (Shape::kLayout == RowLayout::strided) return rows.step(i);
    else return 1;
  }
  template <class Rows>
  HIPOPS_METHOD void issue_loads(const Rows& rows, int64_t base) {
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      const auto col = rows.clamp_to_row(rows.column(base, v));
#pragma unroll
      for (int i = 0; i < kInputs; ++i) {
        if constexpr (copies_ahead<Op, Shape>) copy_ahead<sizeof(Vector<T, kLength>)>(copies(), place(v, i), rows.stream(i) + col);
        else in_[i].issue_load(v, rows.stream(i), col * step_of(rows, i));
      }
    }
    if constexpr (Rows::kHasEdges) {
#pragma unroll
      for (int i = 0; i < kInputs; ++i)
        if (has_edge(rows, base)) edge_in_[i] = rows.stream(i)[rows.edge()];
    }
  }
  template <class Rows>
  static HIPOPS_METHOD void prefetch(const Rows& rows, int64_t base) {
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      const auto col = rows.clamp_to_row(rows.column(base, v));
#pragma unroll
      for (int i = 0; i < kInputs; ++i) prefetch_evict_last(rows.stream(i) + col);
    }
  }
  HIPOPS_METHOD void wait() {
    if constexpr (copies_ahead<Op, Shape>) {
      wait_for_copies();
#pragma unroll
      for (int v = 0; v < kVectors; ++v)
#pragma unroll
        for (int i = 0; i < kInputs; ++i) held_[v][i] = Vector<T, kLength>(copies()[place(v, i)]);
    } else {
#pragma unroll
      for (int v = 0; v < kVectors; ++v)
#pragma unroll
        for (int i = 0; i < kInputs; ++i) in_[i].issue_before_use(v);
#pragma unroll
      for (int v = 0; v < kVectors; ++v)
#pragma unroll
        for (int i = 0; i < kInputs; ++i) {
          if constexpr (kPair == 1) held_[v][i] = in_[i].value(v);
          else if (v % 2 == 0) held_[v / 2][i] = Vector<T, 2>{{in_[i].value(v)[0], in_[i].value(v + 1)[0]}};
          // Waits. Lanes past the end load a row's last element, over which another wave stores after the next barrier.
          if constexpr (Shape::kByElement) held_[v / kPair][i].issue_before_use();
        }
    }
#pragma unroll
    for (int i = 0; i < kInputs; ++i) edge_[i] = edge_in_[i];
  }
  // Calls f(v, column of the first element, elements of each input, columns) for each vector. A second pass widens the
  // elements again: wide elements would need twice the registers. bf16 has another instruction for that (widen_again).
  template <bool kSecondPass, class Rows, class Columns, class F>
  HIPOPS_METHOD void for_each_vector(const typename Op::Args& a, const Rows& rows, int64_t base, const Columns& columns, F f) {
    [[maybe_unused]] const uint32_t zero = uint32_t(a.rows.rows >> 63);  // rows >= 0, but no compiler knows that
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      if (ends_before(rows, base, v)) break;
      const auto col = rows.column(base, v);
      C in[kInputs][kLength], column[Op::kColumns + 1][kLength];
#pragma unroll
      for (int i = 0; i < kInputs; ++i) {
        if (kSecondPass && sizeof(T) < sizeof(C) && !(bounds_set_registers && is_bf16<T>) && v % kPair == 0)
          held_[v / kPair][i].recompute_derived_by(zero);
#pragma unroll
        for (int e = 0; e < kLength; ++e) in[i][e] = kSecondPass ? again(v, i, e) : C(widen(held_[v / kPair][i][v % kPair + e]));
      }
      columns.read(rows, v, col, column);
      Op::prepare_columns(a, column);
      f(v, col, in, column);
    }
  }
  // The same for the lane's element of the row's edge, if it has one: f(column, elements, columns).
  template <class Rows, class Columns, class F>
  HIPOPS_METHOD void with_edge(const typename Op::Args& a, const Rows& rows, int64_t base, const Columns& columns, F f) const {
    if constexpr (Rows::kHasEdges) {
      if (!has_edge(rows, base)) return;
      C in[kInputs][1], column[Op::kColumns + 1][1];
#pragma unroll
      for (int i = 0; i < kInputs; ++i) in[i][0] = C(widen(edge_[i]));
      columns.read_edge(rows.edge(), column);
      Op::prepare_columns(a, column);
      f(rows.edge(), in, column);
    }
  }
  // `center`: see kCenters in row_op.h.
  template <class Rows, class Columns>
  HIPOPS_METHOD typename Op::Part part(const typename Op::Args& a, const Rows& rows, int64_t base, const Columns& columns, C center) {
    using Part = typename Op::Part;
    // Whether widened elements of sum() would stay in registers. With ptxas they do not.
    constexpr bool kAfterSum = Op::kCenters && !Op::kUsual && !bounds_set_registers;
    const auto part_of = [center](const auto& in, const auto& column) {
      if constexpr (Op::kCenters) return Op::part(in, column, center);
      else return Op::part(in, column);
    };
    Part of_vector[kVectors]{};
    for_each_vector<kAfterSum>(a, rows, base, columns, [&](int v, typename Rows::Column col, const C (&in)[kInputs][kLength],
                                                           const C (&column)[Op::kColumns + 1][kLength]) {
      of_vector[v] = rows.contains(col) ? part_of(in, column) : Part{};
    });
    fold(of_vector, Sum());
    with_edge(a, rows, base, columns, [&](typename Rows::Column, const C (&in)[kInputs][1], const C (&column)[Op::kColumns + 1][1]) {
      of_vector[0] = of_vector[0] + part_of(in, column);
    });
    return of_vector[0];
  }
  // The sum of the last input's elements. f32 has digits to spare for a vector's 16-bit elements.
  template <class Rows>
  HIPOPS_METHOD WideSum<C> sum(const Rows& rows, int64_t base) const {
    constexpr bool kPlain = sizeof(T) < sizeof(C);
    WideSum<C> of_vector[kVectors];
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      typename Choose<kPlain, C, WideSum<C>>::type tree[kLength];
#pragma unroll
      for (int e = 0; e < kLength; ++e) {
        const C x = again(v, kInputs - 1, e);
        if constexpr (kPlain) tree[e] = x;
        else tree[e] = WideSum<C>::of(x);
      }
      fold(tree, Sum());
      if (!rows.contains(rows.column(base, v))) tree[0] = {};
      if constexpr (kPlain) of_vector[v] = WideSum<C>::of(tree[0]);
      else of_vector[v] = tree[0];
    }
    fold(of_vector, Sum());
    if constexpr (Rows::kHasEdges)
      if (has_edge(rows, base)) of_vector[0] = of_vector[0] + WideSum<C>::of(C(widen(edge_[kInputs - 1])));
    return of_vector[0];
  }

 private:
  using Incoming = typename Choose<Shape::kLayout == RowLayout::unaligned, IncomingVectors<T, kVectors, true>,
                                   AlignedVectors<Shape, kVectors>>::type;
  Incoming in_[kInputs];
  static constexpr int kPair = elements_of_pair<Shape>;
  HIPOPS_METHOD C again(int v, int i, int e) const { return C(held_[v / kPair][i].widen_again(v % kPair + e)); }
  // Whether the lane has no element from v on. A wave past the row's end skips a group of kGroup elements.
  static constexpr int kGroup = 4;
  template <class Rows>
  static HIPOPS_METHOD bool ends_before(const Rows& rows, int64_t base, int v) {
    constexpr bool kMayEnd = Shape::kLayout == RowLayout::packed && Shape::kRowsPerBlock > 1;
    return kMayEnd && v > 0 && v % kGroup == 0 && !rows.contains(rows.column(base, v));
  }
  // Lanes of a wave have neighbouring places.
  static constexpr uint32_t kPlaces = kVectors * kInputs * wave_size;
  static HIPOPS_METHOD uint32_t place(int v, int i) { return wave_index() * kPlaces + (v * kInputs + i) * wave_size + lane_index(); }
  static HIPOPS_METHOD auto copies() { return static_or_launch_shared<Vector<T, kLength>, 1>(kPlaces); }
  Packed<T, kLength * kPair> held_[kVectors / kPair][kInputs];
  T edge_in_[kInputs]{}, edge_[kInputs]{};
};

// Computes and stores the results of a tile. `sums` gets the terms of the column sums.
template <class Op, class Shape, class Rows, class Row, class Columns, class Sums>
HIPOPS_FN void store_and_add(const typename Op::Args& a, InputTile<Op, Shape>& tile, const Rows& rows, int64_t base,
                             const Row& row, const Columns& columns, Sums& sums) {
  using T = typename Shape::Element;
  using C = typename Shape::Compute;
  constexpr int n = Shape::kLength;
  T* const to = rows.stream(Op::kInputs);
  tile.template for_each_vector<true>(a, rows, base, columns, [&](int v, typename Rows::Column col, const C (&in)[Op::kInputs][n],
                                                                const C (&column)[Op::kColumns + 1][n]) {
    if (!rows.has_row() || !rows.contains(col)) return;
    C out[n], terms[Op::kSums][n];
    Op::apply(a, row, in, column, out, terms);
    sums.add(v, terms);
    Vector<T, n> narrowed;
#pragma unroll
    for (int e = 0; e < n; ++e) narrowed.element[e] = narrow<T>(out[e]);
    if constexpr (Shape::kByElement) to[col * tile.step_of(rows, Op::kInputs)] = narrowed.element[0];
    else if constexpr (Shape::kLayout == RowLayout::aligned) store_vector<n>(to + col, narrowed);
    else store_vector_anywhere<n>(to + col, narrowed);
  });
  tile.with_edge(a, rows, base, columns, [&](typename Rows::Column col, const C (&in)[Op::kInputs][1],
                                             const C (&column)[Op::kColumns + 1][1]) {
    C out[1], terms[Op::kSums][1];
    Op::apply(a, row, in, column, out, terms);
    sums.add_edge(terms);
    to[col] = narrow<T>(out[0]);
  });
}

template <class Op, class Rows>
HIPOPS_FN void load_given(const Rows& rows, typename Op::C (&given)[Op::kGiven + Op::kCenters], uint32_t offset = 0) {
#pragma unroll
  for (int i = 0; i < Op::kGiven; ++i) given[i] = rows.given(i, Op::absent_given(i), offset);
  if constexpr (Op::kCenters) given[Op::kGiven] = 0;
}

// A lane adds spans as WideSums. Equal terms would round a plain sum the same way each time.
template <class C>
HIPOPS_FN WideSum<C> widened(const WideSum<C>& v) { return v; }
template <class C>
HIPOPS_FN WideSum<C> rounded(const WideSum<C>& v) { return v; }
template <class C, int n>
HIPOPS_FN Sums<WideSum<C>, n> widened(const Sums<C, n>& v) {
  Sums<WideSum<C>, n> wide;
#pragma unroll
  for (int i = 0; i < n; ++i) wide.of[i] = WideSum<C>::of(v.of[i]);
  return wide;
}
template <class C, int n>
HIPOPS_FN Sums<C, n> rounded(const Sums<WideSum<C>, n>& wide) {
  Sums<C, n> v;
#pragma unroll
  for (int i = 0; i < n; ++i) v.of[i] = wide.of[i].value();
  return v;
}

// Numbers of a row's spans, which one launch stores and the next loads: the parts, or the sums for the center.
class SpansOfRow {
 public:
  HIPOPS_METHOD SpansOfRow(const ColumnSums& sums, int64_t row, uint32_t span)
      : first_(static_cast<char*>(sums.of_spans) + row * sums.spans * kSpanBytes), own_(first_ + span * kSpanBytes), spans_(sums.spans) {}

  template <class Number>
  HIPOPS_METHOD void publish(SpanSlot slot, const Number& number) const {
    if (thread_index() == 0) PartInTensor<uint32_t, Number, kSpanSlotBytes>::store(number, at<uint32_t>(own_, slot));
  }
  // A lane's portion of the sum of all spans' numbers. A reduction over the block adds the portions. AMD: lane 0 of a wave has
  // the wave's portion, by scalar loads. Vector loads would wait for the next row's loads.
  template <class Number>
  HIPOPS_METHOD Number portion(SpanSlot slot, uint32_t block) const {
    constexpr uint32_t kLanes = has_scalar_loads ? wave_size : 1, kTogether = 4;
    const uint32_t own = thread_index() / kLanes, step = block / kLanes;
    decltype(widened(Number())) sum{};
#pragma unroll 1
    for (uint32_t i = has_scalar_loads ? uniform(own) : own; i < spans_; i += kTogether * step) {
      uint32_t word[kTogether][sizeof(Number) / 4];
#pragma unroll
      for (uint32_t n = 0; n < kTogether; ++n) {
        const uint32_t span = i + n * step < spans_ ? i + n * step : i;
        const uint32_t* const from = at<const uint32_t>(first_ + span * kSpanBytes, slot);
#pragma unroll
        for (unsigned w = 0; w < sizeof(Number) / 4; ++w) word[n][w] = load_uniform(from + w);
      }
#pragma unroll
      for (uint32_t n = 0; n < kTogether; ++n) {
        Number number;
        __builtin_memcpy(&number, word[n], sizeof number);
        if (i + n * step < spans_) sum = sum + widened(number);
      }
    }
    return thread_index() % kLanes == 0 ? rounded(sum) : Number{};
  }

 private:
  template <class Number>
  static HIPOPS_METHOD Number* at(char* span, SpanSlot slot) { return reinterpret_cast<Number*>(span + slot * kSpanSlotBytes); }

  char *first_, *own_;
  uint32_t spans_;
};

// The part of a row, for all lanes. If the center is not given, it is computed: given[0] is the center, and the last number its
// rounding error. The launches `parts` and `centers` do not use the result.
template <class Op, class Shape, class Rows, class Spans, class Columns, class Reduction>
HIPOPS_FN typename Op::Part part_of_row(const typename Op::Args& args, InputTile<Op, Shape>& tile, const Rows& rows, int64_t base,
                                        Spans spans, const Columns& columns, Reduction& reduction,
                                        typename Op::C (&given)[Op::kGiven + Op::kCenters]) {
  using Part = typename Op::Part;
  using Center = WideSum<typename Op::C>;
  const SumStep step = Shape::kRowsPerBlock == 1 ? reload_arguments(args).sums.step : SumStep::rows;
  if constexpr (Op::kCenters && !Op::kUsual) {
    if (!Op::has_center(reload_arguments(args))) {
      const bool is_known = step == SumStep::results || step == SumStep::parts;
      const Center own = is_known ? spans().template portion<Center>(kSlotOfCenter, rows.lanes()) : tile.sum(rows, base);
      const Center sum = reduction(own, Sum());
      if (step == SumStep::centers) spans().publish(kSlotOfCenter, sum);
      Op::find_center(reload_arguments(args), sum, given);
    }
  }
  const Part own = step == SumStep::results ? spans().template portion<Part>(kSlotOfPart, rows.lanes())
                                            : tile.part(args, rows, base, columns, given[0]);
  const Part part = reduction(own, Sum());
  if (step == SumStep::parts) spans().publish(kSlotOfPart, part);
  return part;
}

// The sums of a work-item's columns.
template <int kSums, class Shape>
class LaneSums {
 public:
  using C = typename Shape::Compute;
  static constexpr int n = Shape::kLength, kVectors = Shape::kVectors;

  HIPOPS_METHOD void add(int v, const C (&terms)[kSums][n]) {
#pragma unroll
    for (int s = 0; s < kSums; ++s)
#pragma unroll
      for (int e = 0; e < n; ++e) sum_[s][v].element[e] += terms[s][e];
  }
  HIPOPS_METHOD void add_edge(const C (&terms)[kSums][1]) {
#pragma unroll
    for (int s = 0; s < kSums; ++s) of_edge_[s] += terms[s][0];
  }
  // Stores the sums of a chunk. Lanes of several rows have the same columns: the block adds their sums in order, as a WideSum,
  // because equal terms would round a plain sum the same way each time.
  template <class Rows>
  HIPOPS_METHOD void store(const ColumnSums& to, const Rows& rows, int64_t base, int64_t chunk) {
#pragma unroll
    for (int s = 0; s < kSums; ++s) {
      C* const partial = static_cast<C*>(to.partial) + (chunk * kSums + s) * to.pitch;
      if constexpr (Shape::kRowsPerBlock == 1) {
#pragma unroll
        for (int v = 0; v < kVectors; ++v) {
          const auto col = rows.column(base, v);
          if (rows.contains(col)) store_vector<n>(partial + col, sum_[s][v]);
        }
        if constexpr (Rows::kHasEdges)
          if (has_edge(rows, base)) partial[rows.edge()] = of_edge_[s];
      } else {
        const Shared<C> of_rows = shared_member<LaneSums, C, Shape::kBlock * kVectors * n>();
        const int in_row = rows.lanes() * kVectors * n, group = int(thread_index()) / rows.lanes();
#pragma unroll
        for (int v = 0; v < kVectors; ++v)
#pragma unroll
          for (int e = 0; e < n; ++e) of_rows[group * in_row + rows.column(0, v) + e] = sum_[s][v].element[e];
        barrier();
        for (int col = thread_index(); col < rows.cols(); col += Shape::kBlock) {
          WideSum<C> sum = WideSum<C>::of(of_rows[col]);
          for (int other = col + in_row; other < Shape::kBlock * kVectors * n; other += in_row) sum = sum + WideSum<C>::of(of_rows[other]);
          partial[col] = sum.value();
        }
        barrier();
      }
    }
  }

 private:
  Vector<C, n> sum_[kSums][kVectors]{};
  C of_edge_[kSums]{};
};

template <class Op, class Shape>
HIPOPS_FN void sum_chunks(const typename Op::Args& args) {
  using C = typename Shape::Compute;
  // Whether the next row's place and numbers are kept.
  constexpr bool kKeepsNext = copies_ahead<Op, Shape> && Shape::kRowsPerBlock == 1;
  load_row_arguments<Op, Shape>(args);
  ReductionOfChunk<Shape, typename Op::Largest> reduction(args.rows.lanes);
  ColumnsOf<Op, Shape, keeps_columns_of_chunk<Shape>> columns(args);
  const uint32_t span = Shape::kRowsPerBlock == 1 ? block_index() % args.sums.spans : 0;
  const int base = int(span) * int(RowsOf<Op, Shape>(args.rows).next_base(0));
  for (int64_t chunk = block_index() / args.sums.spans; chunk < reload_arguments(args).sums.chunks;
       chunk += reload_arguments(args).rows.row_step) {
    RowsOf<Op, Shape> rows(reload_arguments(args).rows);
    int64_t first = chunk * reload_arguments(args).sums.rows_together;
    rows.select(first);
    InputTile<Op, Shape> tile;
    tile.issue_loads(rows, base);
    columns.issue_loads(rows, base);
    LaneSums<Op::kSums, Shape> sums;
    C given[Op::kGiven + Op::kCenters];
    load_given<Op>(rows, given);
    while (true) {
      const typename Op::Args& a = reload_arguments(args);
      if constexpr (!kKeepsNext) load_given<Op>(rows, given);
      tile.wait();
      const int64_t step = a.sums.chunks * a.sums.rows_together;
      first += step;
      RowsOf<Op, Shape> ahead(a.rows);
      C given_ahead[Op::kGiven + Op::kCenters];
      if constexpr (loads_ahead<Op, Shape>) {
        if (first < a.rows.rows) {
          if constexpr (kKeepsNext) ahead = rows.following(first, step);
          else ahead.select(first);
          tile.issue_loads(ahead, base);
          if constexpr (kKeepsNext) load_given<Op>(ahead, given_ahead, zero_of_lane());
        }
      }
      if constexpr (prefetches_to_cache<Op, Shape>) {
        if (first < a.rows.rows) {
          ahead.select(first);
          tile.prefetch(ahead, base);
        }
      }
      const auto spans = [&] { return SpansOfRow(a.sums, first - step, span); };
      const auto part = part_of_row(a, tile, rows, base, spans, columns, reduction, given);
      const typename Op::Args& b = reload_arguments(args);
      if (b.sums.step <= SumStep::results) {
        columns.recompute_widened();
        store_and_add(b, tile, rows, base, Op::finalize(b, part, given), columns, sums);
      }
      if (first >= reload_arguments(args).rows.rows) break;
      if constexpr (loads_ahead<Op, Shape>) {
        rows = ahead;
        if constexpr (kKeepsNext) __builtin_memcpy(given, given_ahead, sizeof given);
      } else {
        rows = RowsOf<Op, Shape>(reload_arguments(args).rows);
        rows.select(first);
        tile.issue_loads(rows, base);
      }
    }
    const ColumnSums& to = reload_arguments(args).sums;
    if (to.partial != nullptr && to.step <= SumStep::results) sums.store(to, rows, base, chunk);
  }
}

// Several lanes of unaligned rows, and all lanes on NVIDIA, load elements one by one. Neighbouring lanes have neighbouring
// elements, so no vector needs a shift.
template <class T, int lanes, int vectors, int block, RowLayout layout, RowBody body>
using SummedShape = typename Choose<layout == RowLayout::unaligned && (lanes < block || !has_unaligned_vectors),
                                    RowShape<T, lanes, vectors * kWideBytes / int(sizeof(T)), block, RowLayout::packed, body>,
                                    RowShape<T, lanes, vectors, block, layout, body>>::type;

template <class Op, class Shape>
HIPOPS_FN void sum_rows(const typename Op::Args& a) {
  static_assert(Op::kColumnsInPart && Op::kOutputs == 1, "see row_op.h");
  if (!has_usual<Shape> || !Op::is_usual(a)) sum_chunks<Op, Shape>(a);
  else if constexpr (has_usual<Shape>) sum_chunks<typename Op::Usual, Shape>(a);
}

}  // namespace
}  // namespace hipops

// Like HIPOPS_ROW_KERNEL, for the list HIPOPS_SUMMED_ROW_KERNELS_OF.
#define HIPOPS_SUMMED_ROW_KERNEL(Op, Args, name, T, lanes, vectors, block, layout, body, resident) \
  HIPOPS_KERNEL_UP_TO(work_items(block, RowBody::body, resident)) name(HIPOPS_ARGS(Args) a) {       \
    follow_launch_before();                                                                        \
    sum_rows<Op<T>, SummedShape<T, lanes, vectors, block, RowLayout::layout, RowBody::body>>(a);    \
  }
