// Why the HIP runtime sees no GPU, by the files of Linux.
#pragma once

#include <string>

namespace hipops {

// Names the missing or closed file of /dev/kfd and /dev/dri/renderD*, and the remedy. Tests pass another folder.
std::string why_no_amd_device(const std::string& folder = "/dev");

}  // namespace hipops
