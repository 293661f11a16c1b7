#include "runtime/hip_absence.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>

namespace hipops {
namespace {

constexpr const char* kGroups =
    "this user may not read and write it: that usually takes the groups render and video (in a container: --group-add)";

bool is_there(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

// Does not open the file: the driver would register this process.
bool is_ours(const std::string& path) { return faccessat(AT_FDCWD, path.c_str(), R_OK | W_OK, AT_EACCESS) == 0; }

struct CloseFolder {
  void operator()(DIR* folder) const { closedir(folder); }
};

// The first render node that this user may use, or the first one. "": no node.
std::string render_node(const std::string& folder) {
  const std::unique_ptr<DIR, CloseFolder> open(opendir(folder.c_str()));
  std::string first;
  while (const dirent* entry = open ? readdir(open.get()) : nullptr) {
    const std::string name = entry->d_name, path = folder + "/" + name;
    if (name.compare(0, 7, "renderD") != 0) continue;
    if (is_ours(path)) return path;
    if (first.empty() || path < first) first = path;
  }
  return first;
}

// The variables that hide a GPU.
std::string hiding() {
  std::string text;
  for (const char* name : {"HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", "CUDA_VISIBLE_DEVICES"})
    if (const char* value = std::getenv(name)) text += std::string(", and ") + name + " is \"" + value + "\"";
  return text;
}

}  // namespace

std::string why_no_amd_device(const std::string& folder) {
  const std::string kfd = folder + "/kfd", nodes = folder + "/dri";
  if (!is_there(kfd) && is_there(folder + "/dxg"))
    return kfd + " is not there: this is WSL, where HIP takes ROCm's packages for WSL";
  if (!is_there(kfd))
    return kfd + " is not there: the amdgpu driver is not loaded, or this is a container that lacks --device=/dev/kfd "
                 "--device=/dev/dri";
  if (!is_ours(kfd)) return kfd + " is there, but " + kGroups;
  const std::string node = render_node(nodes);
  if (node.empty()) return kfd + " is there, but no " + nodes + "/renderD*: a container needs --device=/dev/dri, too";
  if (!is_ours(node)) return node + " is there, but " + kGroups;
  return "this user may use " + kfd + " and " + node + hiding() + ": rocminfo says whether ROCm knows the GPU";
}

}  // namespace hipops
