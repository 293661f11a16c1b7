// Rows of which a cluster holds most in registers, and the rest in shared memory: on NVIDIA, and on the CPU, which shows
// that they are the right ones.
#pragma once

#include "device/nvidia/async_copy.h"
#include "device/rows/row_tile.h"

namespace hipops {
namespace {

#if !defined(HIPOPS_AMD)
// A work-item's part of that rest, its tail: of two rows, as the next one's is on its way while one is worked on
// (for_each_row_ahead). Each work-item asks for its own vectors and takes them itself: none waits for another.
template <class Shape>
class RowTail {
 public:
  using T = typename Shape::Element;
  using C = typename Shape::Compute;
  static constexpr int kLength = Shape::kLength;
  static_assert(Shape::kWide && sizeof(T) == sizeof(C), "map() leaves its results where the elements were");

  HIPOPS_METHOD RowTail(const RowGeometry& g, const Rows<Shape>& rows)
      : begin_(int(rows.next_tile(0)) + rows.rank() * kLength),
        step_(rows.threads() * kLength),
        end_(int(g.cols)),
        vectors_((end_ - int(rows.next_tile(0)) + step_ - 1) / step_),
        threads_(g.threads),
        kept_(launch_shared<Wide>(2 * vectors_ * threads_)) {}

  // Begins to copy a row's tail to where the last but one was.
  HIPOPS_METHOD void ask(const Rows<Shape>& rows, RowTile<Shape>*) {
    last_ = 1 - last_;
    int at = place(last_);
    for (int col = begin_; col < end_; col += step_, at += threads_)
      copy_to_shared(kept_, at, reinterpret_cast<const Wide*>(rows.x_at(0, col)));
    end_group_of_copies();
  }
  // Waits for the older copy that is not taken yet; `more`: a newer one is under way.
  HIPOPS_METHOD void take(const Rows<Shape>&, RowTile<Shape>*, bool more) {
    wait_for_copies(more);
    now_ = more ? 1 - last_ : last_;
  }

  // As RowTile's.
  template <class Op, class F, class G>
  HIPOPS_METHOD auto reduce(Op op, F f, G of_vector) const {
    using Result = decltype(of_vector(f(C())));
    Result all = Op::template identity<Result>();
    for_each([&](int, int at) {
      const Wide v = kept_[at];
      auto folded = f(C(widen(v.element[0])));
#pragma unroll
      for (int i = 1; i < kLength; ++i) folded = op(folded, f(C(widen(v.element[i]))));
      all = op(all, of_vector(folded));
    });
    return all;
  }
  template <class F>
  HIPOPS_METHOD void map(F f) {
    for_each([&](int, int at) {
      Wide v = kept_[at];
#pragma unroll
      for (int i = 0; i < kLength; ++i) v.element[i] = narrow<T>(f(C(widen(v.element[i]))));
      kept_[at] = v;
    });
  }
  template <class F>
  HIPOPS_METHOD void store(const Rows<Shape>& rows, F f) const {
    for_each([&](int col, int at) {
      Wide v = kept_[at];
#pragma unroll
      for (int i = 0; i < kLength; ++i) v.element[i] = narrow<T>(f(C(widen(v.element[i]))));
      rows.store(0, col, v);
    });
  }

 private:
  using Wide = Vector<T, kLength>;

  HIPOPS_METHOD int place(int row) const { return row * vectors_ * threads_ + int(thread_index()); }
  template <class F>
  HIPOPS_METHOD void for_each(F f) const {
    int at = place(now_);
    for (int col = begin_; col < end_; col += step_, at += threads_) f(col, at);
  }

  int begin_, step_, end_;
  int vectors_, threads_;
  Shared<Wide> kept_;
  int last_ = 0, now_ = 0;
};
#else
template <class Shape> class RowTail;  // never used
#endif

}  // namespace
}  // namespace hipops
