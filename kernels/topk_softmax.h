// The contract between topk_softmax.hip and its launcher.
#pragma once

#include <stdint.h>

namespace hipops {

constexpr int kRouteBlock = 128;
constexpr int kMostRoutedExperts = 1024, kMostRoutedGroups = 32;
constexpr int kFewOfLane = 8;  // experts. `many`: the most experts by all lanes of a wave

struct TopkSoftmaxArgs {
  const void* x;
  const float* bias;        // may be null
  float* weights;
  void *ids, *token_expert;  // token_expert may be null
  int64_t tokens, step;      // of the blocks' loops
  int64_t x_token, x_expert, bias_step;
  int64_t weights_token, weights_step, ids_token, ids_step, slots_token, slots_step;
  int32_t experts, k, lane_bits;  // a token has 1 << lane_bits lanes
  int32_t groups, kept_groups, of_group;  // groups is 1 if experts have no groups
  int32_t has_vectors;  // rows are whole vectors of 16 bytes
  int32_t is_sigmoid, renormalizes;
  int32_t id_bytes, slot_bytes;
  float scale;
};

}  // namespace hipops

// X(kernel, T, is_many)
#define HIPOPS_TOPK_SOFTMAX_KERNELS(X)  \
  X(topk_softmax_f32_few, f32, false)   \
  X(topk_softmax_f16_few, f16, false)   \
  X(topk_softmax_bf16_few, bf16, false) \
  X(topk_softmax_f32_many, f32, true)   \
  X(topk_softmax_f16_many, f16, true)   \
  X(topk_softmax_bf16_many, bf16, true)
