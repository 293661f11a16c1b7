// A sampler in C++: 32 decode steps of four sequences, each with its own numbers, checked against plain loops.
//
//   c++ -std=c++17 -I include docs/examples/sampler.cpp build/release/lib/packed/libhipops.a -o example
//
// A step lowers the logits of tokens that occur, draws a token for each sequence, and counts it. sampler.py is the same
// program, and prints the same tokens. Memory is the host's, for the CPU backend; with a GPU backend it would be the
// device's, and the calls the same. Only the model, which here is a hash, and the uniform numbers are the engine's own.
#include <hipops/hipops.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <vector>

constexpr uint32_t kSequences = 4, kVocabulary = 1000, kSteps = 32, kPrompt = 20, kSeed = 7;

using hipops::tensor;

// Each request's numbers. Temperature 0 is greedy. The penalties of the last request change no logit.
struct Requests {
  std::vector<float> repetition = {1.3f, 1.1f, 1, 1}, frequency = {0, 0.2f, 0.5f, 0}, presence = {0, 0.1f, -0.2f, 0};
  std::vector<float> temperature = {0, 0.8f, 1, 1.5f}, top_p = {1, 0.9f, 1, 0.95f}, min_p = {0, 0, 0.05f, 0};
  std::vector<int32_t> top_k = {0, 50, 0, 200};
};

uint32_t mixed(uint32_t n) {
  n = (n ^ n >> 16) * 0x45d9f3b;
  n = (n ^ n >> 16) * 0x45d9f3b;
  return n ^ n >> 16;
}

// The model: the logits of each sequence after its last token.
void model(std::vector<float>& logits, const std::vector<int32_t>& last) {
  for (uint32_t s = 0; s < kSequences; ++s)
    for (uint32_t v = 0; v < kVocabulary; ++v) {
      const uint32_t word = mixed((s * kVocabulary + static_cast<uint32_t>(last[s])) * kVocabulary + v);
      logits[s * kVocabulary + v] = static_cast<float>(word % 4096) / 256 - 8;
    }
}

float uniform_number(uint32_t step, uint32_t sequence) {
  return static_cast<float>(mixed(kSeed + step * kSequences + sequence) >> 8) / 16777216;
}

// ---- The same by loops

float lowered(float x, bool in_prompt, int32_t count, const Requests& r, uint32_t s) {
  if (in_prompt || count > 0) x = x > 0 ? x / r.repetition[s] : x * r.repetition[s];
  if (count == 0) return x;
  const float product = r.frequency[s] * static_cast<float>(count), difference = x - product;
  return difference - r.presence[s];
}

int32_t drawn(const std::vector<float>& x, float number, const Requests& r, uint32_t s) {
  std::vector<int32_t> left(x.size());
  std::iota(left.begin(), left.end(), 0);
  std::stable_sort(left.begin(), left.end(), [&](int32_t a, int32_t b) { return x[a] > x[b]; });
  if (r.temperature[s] == 0) return left[0];
  std::vector<double> weight;
  for (const float logit : x) weight.push_back(std::exp((double{logit} - x[left[0]]) / r.temperature[s]));
  const auto total = [&] { return std::accumulate(left.begin(), left.end(), 0.0, [&](double sum, int32_t v) { return sum + weight[v]; }); };

  if (r.top_k[s] > 0) left.resize(r.top_k[s]);
  size_t kept = 0;
  for (double sum = 0, most = r.top_p[s] * total(); kept < left.size() && sum < most; ++kept) sum += weight[left[kept]];
  left.resize(kept);
  left.erase(std::remove_if(left.begin(), left.end(), [&](int32_t v) { return weight[v] < r.min_p[s]; }), left.end());
  std::sort(left.begin(), left.end());
  double sum = 0, bound = number * total();
  for (const int32_t v : left)
    if ((sum += weight[v]) > bound) return v;
  return left.back();
}

int main() {
  hipops::init(HIPOPS_BACKEND_CPU);
  void* const stream = nullptr;
  Requests r;
  std::vector<float> logits(kSequences * kVocabulary), uniform(kSequences);
  std::vector<uint8_t> prompt(logits.size());
  std::vector<int32_t> counts(logits.size()), tokens(kSequences), ones(kSequences, 1);
  for (uint32_t s = 0; s < kSequences; ++s)
    for (uint32_t i = 0; i < kPrompt; ++i) {
      tokens[s] = static_cast<int32_t>(mixed(1000 * s + i) % kVocabulary);
      prompt[s * kVocabulary + static_cast<uint32_t>(tokens[s])] = 1;
    }

  const auto of_vocabulary = [](auto& memory) { return tensor(memory.data(), {kSequences, kVocabulary}); };
  const auto of_sequences = [](auto& memory) { return tensor(memory.data(), {kSequences}); };
  const tensor x = of_vocabulary(logits), in_prompt = of_vocabulary(prompt), how_often = of_vocabulary(counts);
  const tensor repetition = of_sequences(r.repetition), frequency = of_sequences(r.frequency), presence = of_sequences(r.presence);
  const tensor temperature = of_sequences(r.temperature), top_k = of_sequences(r.top_k), top_p = of_sequences(r.top_p), min_p = of_sequences(r.min_p);
  const tensor numbers = of_sequences(uniform), drawn_tokens = of_sequences(tokens);
  const tensor index(tokens.data(), {kSequences, 1}), one(ones.data(), {kSequences, 1});

  int wrong = 0;
  for (uint32_t step = 0; step < kSteps; ++step) {
    model(logits, tokens);
    for (uint32_t s = 0; s < kSequences; ++s) uniform[s] = uniform_number(step, s);

    std::vector<int32_t> expected;
    for (uint32_t s = 0; s < kSequences; ++s) {
      std::vector<float> row(logits.begin() + s * kVocabulary, logits.begin() + (s + 1) * kVocabulary);
      for (uint32_t v = 0; v < kVocabulary; ++v)
        row[v] = lowered(row[v], prompt[s * kVocabulary + v] != 0, counts[s * kVocabulary + v], r, s);
      expected.push_back(drawn(row, uniform[s], r, s));
    }

    // The step: three launches, which a graph can capture.
    hipops::apply_penalties(x, x, in_prompt, how_often, repetition, frequency, presence, stream);
    hipops::sample(drawn_tokens, x, numbers, temperature, top_k, top_p, min_p, stream);
    hipops::scatter_add(how_often, one, index, 1, 0, {}, nullptr, stream);

    for (uint32_t s = 0; s < kSequences; ++s) {
      wrong += tokens[s] != expected[s];
      std::printf("%d%c", static_cast<int>(tokens[s]), s + 1 == kSequences ? '\n' : ' ');
    }
  }
  for (uint32_t s = 0; s < kSequences; ++s)
    wrong += std::accumulate(counts.begin() + s * kVocabulary, counts.begin() + (s + 1) * kVocabulary, 0) != kSteps;
  if (wrong != 0) std::fprintf(stderr, "%d tokens or counts differ from the loops'\n", wrong);
  return wrong != 0;
}
