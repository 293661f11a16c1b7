// An engine in C++ that links hipops statically: one Llama-style attention block, checked against plain loops.
//
//   c++ -std=c++17 -I include docs/examples/llama_block.cpp build/release/lib/packed/libhipops.a -o example
//
// Embedding, norm, rotary embedding and softmax are hipops'; what an engine has of its own, the matrix products, are
// loops. Memory is the host's, for the CPU backend; with a GPU backend it would be the device's, and the calls the
// same.
#include <hipops/hipops.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

constexpr int kVocabulary = 50, kTokens = 7, kHeads = 4, kHead = 16, kWidth = kHeads * kHead;

using Floats = std::vector<float>;
using hipops::tensor;

Floats numbers(size_t count, unsigned seed) {
  Floats values(count);
  for (float& value : values) {
    seed = seed * 1664525u + 1013904223u;
    value = static_cast<float>(seed >> 8) / 8388608.0f - 1.0f;
  }
  return values;
}

// y[m, n] = x[m, k] * w[n, k]^T
Floats product(const Floats& x, const Floats& w, int m, int n, int k) {
  Floats y(static_cast<size_t>(m) * n);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j)
      for (int l = 0; l < k; ++l) y[i * n + j] += x[i * k + l] * w[j * k + l];
  return y;
}

struct Model {
  Floats embedding = numbers(kVocabulary * kWidth, 1), weight = numbers(kWidth, 2);
  Floats qkv = numbers(3 * kWidth * kWidth, 3);
  Floats cos, sin;  // [kTokens, kHead / 2]

  Model() {
    for (int t = 0; t < kTokens; ++t)
      for (int k = 0; k < kHead / 2; ++k) {
        const double angle = t * std::pow(10000.0, -2.0 * k / kHead);
        cos.push_back(static_cast<float>(std::cos(angle)));
        sin.push_back(static_cast<float>(std::sin(angle)));
      }
  }
};

// Scores of each query with the keys up to it: `packed` is [token][q, k, v][head][element].
Floats scores_of(const Floats& packed) {
  Floats scores(kHeads * kTokens * kTokens, -INFINITY);
  for (int h = 0; h < kHeads; ++h)
    for (int t = 0; t < kTokens; ++t)
      for (int s = 0; s <= t; ++s) {
        float sum = 0;
        for (int d = 0; d < kHead; ++d)
          sum += packed[3 * kWidth * t + kHead * h + d] * packed[3 * kWidth * s + kWidth + kHead * h + d];
        scores[(h * kTokens + t) * kTokens + s] = sum / std::sqrt(float{kHead});
      }
  return scores;
}

// The attention's probabilities, [head, token, token], by hipops.
Floats block(Model& model, std::vector<int64_t>& tokens, void* stream) {
  Floats x(kTokens * kWidth);
  const tensor table(model.embedding.data(), {kVocabulary, kWidth}), index(tokens.data(), {kTokens});
  const tensor rows(x.data(), {kTokens, kWidth}), weight(model.weight.data(), {kWidth});
  hipops::index_select(rows, table, index, 0, nullptr, stream);
  hipops::rms_norm(rows, nullptr, rows, weight, 1e-5, 0, stream);  // in place

  // Queries and keys are rotated where the product put them: views of the packed result, no copy.
  Floats packed = product(x, model.qkv, kTokens, 3 * kWidth, kWidth);
  const tensor cos(model.cos.data(), {kTokens, kHead / 2}), sin(model.sin.data(), {kTokens, kHead / 2});
  for (int part = 0; part < 2; ++part) {
    const tensor heads(packed.data() + part * kWidth, {1, kHeads, kTokens, kHead}, {kTokens * 3 * kWidth, kHead, 3 * kWidth, 1});
    hipops::rope(heads, heads, cos, sin, nullptr, stream);
  }
  Floats scores = scores_of(packed);
  const tensor all(scores.data(), {kHeads, kTokens, kTokens});
  hipops::softmax(all, all, 0, stream);
  return scores;
}

// The same, by loops.
Floats plain_block(const Model& model, const std::vector<int64_t>& tokens) {
  Floats x;
  for (int64_t token : tokens) {
    const float* row = &model.embedding[token * kWidth];
    double squares = 0;
    for (int i = 0; i < kWidth; ++i) squares += double{row[i]} * row[i];
    for (int i = 0; i < kWidth; ++i)
      x.push_back(static_cast<float>(row[i] / std::sqrt(squares / kWidth + 1e-5) * model.weight[i]));
  }
  Floats packed = product(x, model.qkv, kTokens, 3 * kWidth, kWidth);
  for (int t = 0; t < kTokens; ++t)
    for (int head = 0; head < 2 * kHeads; ++head)
      for (int k = 0; k < kHead / 2; ++k) {
        float* a = &packed[3 * kWidth * t + kHead * head + k];
        float* b = a + kHead / 2;
        const float c = model.cos[t * kHead / 2 + k], s = model.sin[t * kHead / 2 + k], first = *a;
        *a = first * c - *b * s;
        *b = first * s + *b * c;
      }
  Floats scores = scores_of(packed);
  for (size_t row = 0; row < scores.size(); row += kTokens) {
    const float most = *std::max_element(&scores[row], &scores[row] + kTokens);
    double sum = 0;
    for (int i = 0; i < kTokens; ++i) sum += std::exp(double{scores[row + i]} - most);
    for (int i = 0; i < kTokens; ++i)
      scores[row + i] = static_cast<float>(std::exp(double{scores[row + i]} - most) / sum);
  }
  return scores;
}

int main() {
  hipops::init(HIPOPS_BACKEND_CPU);
  Model model;
  std::vector<int64_t> tokens = {3, 14, 15, 9, 26, 5, 35};
  const Floats got = block(model, tokens, nullptr), expected = plain_block(model, tokens);
  double worst = 0;
  for (size_t i = 0; i < got.size(); ++i) worst = std::max(worst, std::fabs(double{got[i]} - expected[i]));
  std::printf("%zu probabilities, at most %.1e from the loops'\n", got.size(), worst);
  return worst < 1e-4 ? 0 : 1;  // a difference in a score's last bits, of some 50, is one of e^(5e-6) here
}
