// Makes a failing sequence of choices shorter and its numbers smaller, while it still fails.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace hipops::fuzz {

// `fails` runs the case that the choices make. If the case fails, `fails` returns the choices that the case used; else
// nothing. It is called at most `most_runs` times.
using Attempt = std::function<std::vector<uint64_t>(const std::vector<uint64_t>& choices)>;

std::vector<uint64_t> shrink(std::vector<uint64_t> choices, int most_runs, const Attempt& fails);

}  // namespace hipops::fuzz
