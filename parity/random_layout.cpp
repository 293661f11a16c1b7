#include "parity/random_layout.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace hipops::parity {
namespace {

constexpr uint64_t kManyOffsets = 16;

Layout measured(Layout layout) {
  const std::string problem = measure(&layout);
  if (!problem.empty()) throw std::logic_error("a random layout's " + problem);
  return layout;
}

std::vector<size_t> random_order(Choices& choices, size_t rank) {
  std::vector<size_t> order(rank);  // from the outermost in memory to the innermost
  std::iota(order.begin(), order.end(), size_t{0});
  for (size_t i = 0; i + 1 < rank; ++i) std::swap(order[i], order[i + choices.below(rank - i)]);
  return order;
}

// Channels last: dimension 1 is innermost.
std::vector<size_t> channels_last(size_t rank) {
  std::vector<size_t> order(rank);
  std::iota(order.begin(), order.end(), size_t{0});
  if (rank > 2) std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  return order;
}

struct Manner {
  bool permuted = false, last = false, padded = false, spread = false, negative = false, repeated = false;
};

// Strides that nest, from the innermost dimension out.
std::vector<int64_t> nested_strides(Choices& choices, const Shape& shape, const Manner& manner) {
  const size_t rank = shape.size();
  std::vector<size_t> order = channels_last(manner.last ? rank : 0);
  if (!manner.last) {
    order.resize(rank);
    std::iota(order.begin(), order.end(), size_t{0});
  }
  if (manner.permuted) order = random_order(choices, rank);
  std::vector<int64_t> stride(rank);
  int64_t step = manner.spread ? choices.between(1, 3) : 1;
  for (size_t i = rank; i-- > 0;) {
    const size_t d = order[i];
    if (manner.repeated && choices.one_in(2)) continue;  // a stride of 0
    stride[d] = manner.negative && choices.one_in(2) ? -step : step;
    step *= std::max<int64_t>(shape[d], 1);
    if (manner.padded) step += choices.pick({0, 1, 3, 8, 16, 5});
  }
  return stride;
}

// Strides of sliding windows, whose elements share memory.
std::vector<int64_t> sliding_strides(Choices& choices, size_t rank) {
  std::vector<int64_t> stride(rank);
  for (int64_t& step : stride) step = choices.between(-2, 3);
  return stride;
}

}  // namespace

int64_t Budget::spend(int64_t size) {
  size = std::min(size, std::max<int64_t>(elements, 1));
  if (size > 1) elements /= size;
  return size;
}

int64_t random_size(Choices& choices) {
  switch (choices.below(8)) {
    case 0:
    case 1: return choices.between(1, 4);
    case 2: return choices.pick({1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17});
    case 3: return choices.pick({31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257});
    case 4: return choices.between(1, 40);
    case 5: return choices.pick({1, 0, 1, 2});
    case 6: return choices.between(1, 300);
    default: return choices.pick({511, 512, 513, 1000, 1023, 1024, 1025, 2047, 4096, 4097, 8200});
  }
}

Shape random_shape(Choices& choices, size_t rank, Budget budget) {
  Shape shape(rank);
  // Starts from either end, so that any dimension can be the long one.
  const bool from_the_first = choices.one_in(2);
  for (size_t i = 0; i < rank; ++i) shape[from_the_first ? i : rank - 1 - i] = budget.spend(random_size(choices));
  return shape;
}

size_t random_rank(Choices& choices, size_t least) {
  return std::max(least, choices.pick<size_t>({1, 2, 3, 2, 4, 3, 5, 6, 7, 8, 0, 4}));
}

Layout plain_layout(hipops_dtype dtype, const Shape& shape) {
  Layout layout;
  layout.dtype = dtype;
  layout.shape = shape;
  return measured(layout);
}

Layout random_layout(Choices& choices, hipops_dtype dtype, const Shape& shape, Use use) {
  Layout layout;
  layout.dtype = dtype;
  layout.shape = shape;
  const uint64_t kind = choices.below(use == Use::kOutput ? 10 : 13);
  Manner manner;
  manner.permuted = kind == 4 || kind == 9;
  manner.last = kind == 5;
  manner.padded = kind == 6 || kind == 9 || kind == 11;
  manner.spread = kind == 7;
  manner.negative = kind == 8 || kind == 9;
  manner.repeated = kind == 10 || kind == 11;
  if (kind == 12) {
    layout.stride = sliding_strides(choices, shape.size());
  } else if (kind >= 4) {
    layout.stride = nested_strides(choices, shape, manner);
  }
  layout = measured(layout);
  // Sets strides that have no effect.
  if (choices.one_in(4)) {
    for (size_t d = 0; d < shape.size(); ++d) {
      if (shape[d] <= 1) layout.stride[d] = choices.pick<int64_t>({0, -1, 7, 1000003, -999});
    }
  }
  if (choices.one_in(3)) layout.offset = static_cast<int64_t>(choices.below(kManyOffsets));
  return measured(layout);
}

}  // namespace hipops::parity
