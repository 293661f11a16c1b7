// Why the HIP runtime sees no GPU, by the files of Linux.
#pragma once

#include <string>

namespace hipops {

// Which of /dev/kfd and /dev/dri/renderD* is missing or closed to this user, and what to do. Tests pass another folder.
std::string why_no_amd_device(const std::string& folder = "/dev");

}  // namespace hipops
