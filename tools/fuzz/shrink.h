// Makes a sequence of choices that fails shorter and smaller, as long as it fails.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace hipops::fuzz {

// `fails` runs what the choices make, at most `most_runs` times, and returns the choices that were taken if it failed,
// or nothing.
using Attempt = std::function<std::vector<uint64_t>(const std::vector<uint64_t>& choices)>;

std::vector<uint64_t> shrink(std::vector<uint64_t> choices, int most_runs, const Attempt& fails);

}  // namespace hipops::fuzz
