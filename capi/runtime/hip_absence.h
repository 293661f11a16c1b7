// Why the HIP runtime sees no GPU, as far as the files of Linux tell.
#pragma once

#include <string>

namespace hipops {

// What of /dev/kfd and /dev/dri/renderD* is not there or not this user's, and what to do about it; `folder` is "/dev"
// but for tests.
std::string why_no_amd_device(const std::string& folder = "/dev");

}  // namespace hipops
