// apply_penalties: lowers the logits of tokens that occur: repetition, then frequency, then presence.
//
//   x, y        logits, [rows, vocabulary]; f32, f16, bf16, computed in f32 and rounded once; y may be x
//   prompt      u8 of the same shape: not 0 for the tokens of the prompt. counts: i32, of the output. Either may be null
//   numbers     repetition, frequency, presence: [rows], f32; each may be null
//   bytes       in place: prompt and counts once, and x only where a token occurs. Otherwise x and y, too
//
// A block has a chunk of a row, and a work-item 8 columns of it, in spans of 16 bytes of logits. A span in which no token
// occurs is not computed, and in place it is neither loaded nor stored. Neighbours that begin anywhere are vectors on AMD; on
// NVIDIA they are vectors where the tensors' alignments agree. The ends of a row, and columns that are not neighbours, go one
// by one.
//
// Each operation rounds to f32, as PyTorch's do one by one. So all devices give the same bits.
//
// Alone: hipcc --genco --offload-arch=gfx942 -O3 -std=c++17 -I kernels kernels/apply_penalties.hip -o apply_penalties.co
#include "apply_penalties.h"

#include "device/core/cache.h"
#include "device/core/divide.h"

namespace hipops {
namespace {

template <class T> constexpr int kSpan = kWideBytes / int(sizeof(T));
template <class T> constexpr int kDepth = kPenaltyColumns / kSpan<T>;  // spans of a work-item

struct Penalties {
  float repetition, frequency, presence;

  HIPOPS_METHOD bool change_nothing() const { return repetition == 1 && frequency == 0 && presence == 0; }
  // The new logit of a token that occurs, `count` times in the output.
  template <class T>
  HIPOPS_METHOD T applied(T logit, int32_t count) const {
    float x = widen(logit);
    x = x > 0 ? x / repetition : rounded_product(x, repetition);
    if (count > 0) x = x - rounded_product(frequency, float(count)) - presence;
    return narrow<T>(x);
  }
};

template <class T>
HIPOPS_FN float given(const float* numbers, int64_t at, float absent) {
  return numbers == nullptr ? absent : with_plain_nan<T>(load_uniform(numbers + at));
}

// The columns of a span that are in the row, one by one.
template <class T>
HIPOPS_FN void apply_to_columns(const PenaltyArgs& a, const Penalties& penalties, int64_t row, int64_t first) {
  const T* const x = static_cast<const T*>(a.x) + row * a.x_row;
  T* const y = static_cast<T*>(a.y) + row * a.y_row;
  const int64_t end = first + kSpan<T> < a.columns ? first + kSpan<T> : a.columns;
#pragma unroll 1
  for (int64_t column = first < 0 ? 0 : first; column < end; ++column) {
    const int32_t count = a.counts == nullptr ? 0 : a.counts[row * a.counts_row + column * a.counts_step];
    const bool occurs = count > 0 || (a.prompt != nullptr && a.prompt[row * a.prompt_row + column * a.prompt_step] != 0);
    if (!occurs && a.x == a.y) continue;
    const T logit = x[column * a.x_step];
    y[column * a.y_step] = occurs ? penalties.applied(logit, count) : logit;
  }
}

// Spans that are in the row. A work-item's next span is behind its block's first spans.
template <class T, int Depth>
HIPOPS_FN void apply_to_spans(const PenaltyArgs& a, const Penalties& penalties, int64_t row, int64_t first) {
  load_arguments_together(a.counts, a.counts_row, a.prompt, a.prompt_row, a.x, a.x_row, a.y, a.y_row);
  constexpr int kLength = kSpan<T>, kApart = kPenaltyBlock * kLength;
  const bool in_place = a.x == a.y;
  const T* const x = static_cast<const T*>(a.x) + row * a.x_row + first;
  T* const y = static_cast<T*>(a.y) + row * a.y_row + first;
  Vector<int32_t, kLength> counts[Depth]{};
  Vector<uint8_t, kLength> prompt[Depth]{};
  Vector<T, kLength> logits[Depth]{};
  const auto load = [&](auto& to, const auto* from) {
#pragma unroll
    for (int d = 0; d < Depth; ++d) to[d] = load_vector_anywhere<kLength>(from + d * kApart);
  };
  if (a.counts != nullptr) load(counts, a.counts + row * a.counts_row + first);
  if (a.prompt != nullptr) load(prompt, a.prompt + row * a.prompt_row + first);
  if (!in_place) load(logits, x);
  uint32_t occurs[Depth];  // a bit for each column
#pragma unroll
  for (int d = 0; d < Depth; ++d) {
    occurs[d] = 0;
#pragma unroll
    for (int i = 0; i < kLength; ++i) occurs[d] |= uint32_t(counts[d].element[i] > 0 || prompt[d].element[i] != 0) << i;
    if (in_place && occurs[d] != 0) logits[d] = load_vector_anywhere<kLength>(x + d * kApart);
  }
#pragma unroll
  for (int d = 0; d < Depth; ++d) {
    if (in_place && occurs[d] == 0) continue;
#pragma unroll
    for (int i = 0; i < kLength; ++i)
      if (occurs[d] >> i & 1) logits[d].element[i] = penalties.applied(logits[d].element[i], counts[d].element[i]);
    store_vector_anywhere<kLength>(y + d * kApart, logits[d]);
  }
}

template <class T>
HIPOPS_FN void apply_penalties(const PenaltyArgs& args) {
  for (int64_t task = block_index(); task < reload_arguments(args).tasks; task += reload_arguments(args).step) {
    const PenaltyArgs& a = reload_arguments(args);
    load_arguments_together(a.chunks, a.chunks_divisor.multiplier, a.chunks_divisor.shift, a.repetition, a.frequency, a.presence,
                            a.repetition_step, a.frequency_step, a.presence_step, a.spans_from, a.spans_row, a.spans_bits, a.columns,
                            a.has_steps, a.x, a.y);
    const int64_t row = divide(task, a.chunks, a.chunks_divisor);
    const Penalties penalties{given<T>(a.repetition, row * a.repetition_step, 1), given<T>(a.frequency, row * a.frequency_step, 0),
                              given<T>(a.presence, row * a.presence_step, 0)};
    if (penalties.change_nothing() && a.x == a.y) continue;
    const int64_t past = int64_t((a.spans_from + uint64_t(row * a.spans_row)) >> a.spans_bits & (kSpan<T> - 1));
    int64_t first = (task - row * a.chunks) * kPenaltyBlock * kPenaltyColumns + thread_index() * kSpan<T> - past;
    const auto is_whole = [&](int spans) {
      return !a.has_steps && first >= 0 && first + ((spans - 1) * kPenaltyBlock + 1) * kSpan<T> <= a.columns;
    };
    if (is_whole(kDepth<T>)) {
      apply_to_spans<T, kDepth<T>>(reload_arguments(args), penalties, row, first);
      continue;
    }
#pragma unroll 1
    for (int d = 0; d < kDepth<T>; ++d, first += kPenaltyBlock * kSpan<T>) {
      if (kDepth<T> > 1 && is_whole(1)) apply_to_spans<T, 1>(reload_arguments(args), penalties, row, first);
      else apply_to_columns<T>(reload_arguments(args), penalties, row, first);
    }
  }
}

}  // namespace

#define KERNEL(name, T)                                           \
  HIPOPS_KERNEL(kPenaltyBlock) name(HIPOPS_ARGS(PenaltyArgs) a) { \
    follow_launch_before();                                       \
    apply_penalties<T>(arguments_in_place(a));                    \
  }
HIPOPS_APPLY_PENALTIES_KERNELS(KERNEL)
#undef KERNEL

HIPOPS_KERNEL_TABLE(apply_penalties, PenaltyArgs, HIPOPS_APPLY_PENALTIES_KERNELS)

}  // namespace hipops
