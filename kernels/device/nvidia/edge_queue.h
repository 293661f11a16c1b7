// The next row's edges in shared memory, where registers are short: on NVIDIA, and on the CPU, which shows that they
// are the right ones.
#pragma once

#include "device/nvidia/async_copy.h"
#include "device/rows/row_loops.h"

namespace hipops {
namespace {

#if defined(HIPOPS_AMD)
template <class Shape> using EdgeQueue = EdgesInTile<Shape>;  // never used
#else
// What EdgesInTile does. nvcc, short of registers, writes an edge to the stack as soon as it is asked for, and waits
// for memory: a wave of each row, and with it the cluster, a fifth of layer_norm's time. Each work-item asks for its own
// edge and takes it itself.
template <class Shape>
class EdgeQueue {
 public:
  EdgeQueue() = default;

  HIPOPS_METHOD void ask(const Rows<Shape>& rows, RowTile<Shape>*) {
    const int col = rows.edge(0);
    if (col >= 0) copy_word_to_shared(words(), place(last_), rows.x_edge(col));
    end_group_of_copies();
    last_ = 1 - last_;
  }

  HIPOPS_METHOD void take(const Rows<Shape>& rows, RowTile<Shape>* tile, bool more) {
    wait_for_copies(more);
    const int row = more ? last_ : 1 - last_;
    tile->fill_edge(rows, [&](int col) { return element_of_word(words()[place(row)], rows.x_edge(col)); });
  }

 private:
  static constexpr int kEdges = 2 * Shape::kLength;  // of a row, at most

  static HIPOPS_METHOD Shared<uint32_t> words() {
    HIPOPS_SHARED(uint32_t, edges, 2 * kEdges);
    return edges;
  }
  static HIPOPS_METHOD int place(int row) { return row * kEdges + int(thread_index()); }

  int last_ = 0;
};
#endif

}  // namespace
}  // namespace hipops
