// Which of the library's code objects a device gets. The GPU runtime chooses; this foretells it, for people.
#pragma once

#include <string>

namespace hipops::info {

// Of `carried` ("gfx942 gfx11-generic"), for an AMD target as "gfx1150"; "" where there is none.
std::string amd_choice(const std::string& target, const std::string& carried);

// Of `carried` ("sm_80 sm_90 compute_80"), for an NVIDIA target as "sm_86"; "" where there is none.
std::string cuda_choice(const std::string& target, const std::string& carried);

}  // namespace hipops::info
