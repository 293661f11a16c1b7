// Predicts the code object of the library that the GPU runtime chooses for a device.
#pragma once

#include <string>

namespace hipops::info {

// The entry of `carried` ("gfx942 gfx11-generic") for an AMD target such as "gfx1150", or "".
std::string amd_choice(const std::string& target, const std::string& carried);

// The entry of `carried` ("sm_80 sm_90 compute_80") for an NVIDIA target such as "sm_86", or "".
std::string cuda_choice(const std::string& target, const std::string& carried);

}  // namespace hipops::info
