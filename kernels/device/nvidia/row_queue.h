// Rows that wait in shared memory for their turn: on NVIDIA, and on the CPU, which shows that they are the right ones.
#pragma once

#include "device/nvidia/async_copy.h"
#include "device/rows/row_loops.h"

namespace hipops {
namespace {

#if defined(HIPOPS_AMD)
// AMD's units hold as much of the next rows in registers, and no launch brings shared memory.
template <class Shape, class Load, class F>
HIPOPS_FN void for_each_queued_row(const RowGeometry& geometry, const void* x, void* y, Load load, F f);
#else
// One or two rows of a block. There they take no registers, so that more blocks run at a time, and further rows are on
// their way while one is worked on. Each work-item asks for its own vectors and takes them itself: none waits for
// another.
template <class Shape>
class RowQueue {
 public:
  using T = typename Shape::Element;

  explicit HIPOPS_METHOD RowQueue(const RowGeometry& g)
      : rows_(g.rows_in_shared), threads_(g.threads), queue_(launch_shared<Wide>(rows_ * Shape::kVectors * threads_)) {}

  HIPOPS_METHOD int rows() const { return rows_; }

  // Asks for the block's row from `first` on, if there is one. It comes behind those asked for before.
  HIPOPS_METHOD void ask(Rows<Shape> rows, int64_t first) {
    if (rows.more(first)) {
      rows.select(first);
      RowTile<Shape>::for_each_vector(rows, [&](int v, const Wide* at) { copy_to_shared(queue_, place(last_, v), at); });
    }
    end_group_of_copies();
    last_ = behind(last_);
  }

  // Takes the one that was asked for first.
  HIPOPS_METHOD void take(RowTile<Shape>* tile) {
    wait_for_copies(rows_ - 1);
    tile->fill([&](int v) -> Wide { return queue_[place(first_, v)]; });
    first_ = behind(first_);
  }

 private:
  using Wide = Vector<T, Shape::kLength>;

  HIPOPS_METHOD int behind(int row) const { return row + 1 < rows_ ? row + 1 : 0; }
  HIPOPS_METHOD int place(int row, int v) const {
    return (row * Shape::kVectors + v) * threads_ + int(thread_index());
  }

  int rows_, threads_;
  Shared<Wide> queue_;
  int first_ = 0, last_ = 0;
};

// for_each_row_ahead, with rows that wait in shared memory.
template <class Shape, class Load, class F>
HIPOPS_FN void for_each_queued_row(const RowGeometry& geometry, const void* x, void* y, Load load, F f) {
  Rows<Shape> rows(geometry, x, y);
  int64_t first = rows.begin();
  rows.select(first);
  RowTile<Shape> tile;
  tile.load(rows, 0);
  ask_in_order();
  load(rows);
  RowQueue<Shape> queue(geometry);
  int64_t asked = first;
  if (queue.rows() > 1) queue.ask(rows, asked = rows.next(asked));
  while (true) {
    queue.ask(rows, asked = rows.next(asked));
    f(rows, tile);
    first = forgotten(rows.next(first));
    if (!rows.more(first)) return;
    rows.select(first);
    queue.take(&tile);
  }
}
#endif

}  // namespace
}  // namespace hipops
