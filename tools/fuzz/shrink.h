// Makes a failing sequence of choices shorter and its numbers smaller, while it still fails.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace hipops::fuzz {

// Runs the case that the choices make. Returns the choices that a failing case used, or nothing if it passed. It is
// called at most `most_runs` times.
using Attempt = std::function<std::vector<uint64_t>(const std::vector<uint64_t>& choices)>;

std::vector<uint64_t> shrink(std::vector<uint64_t> choices, int most_runs, const Attempt& fails);

}  // namespace hipops::fuzz
