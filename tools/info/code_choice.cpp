#include "info/code_choice.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <vector>

namespace hipops::info {
namespace {

// LLVM's generic targets and their members: https://llvm.org/docs/AMDGPUUsage.html, "Generic processors".
struct Generic {
  const char* name;
  std::vector<std::string> members;
};

const std::vector<Generic>& generics() {
  static const std::vector<Generic> all = {
      {"gfx9-generic", {"gfx900", "gfx902", "gfx904", "gfx906", "gfx909", "gfx90c"}},
      {"gfx9-4-generic", {"gfx940", "gfx941", "gfx942", "gfx950"}},
      {"gfx10-1-generic", {"gfx1010", "gfx1011", "gfx1012", "gfx1013"}},
      {"gfx10-3-generic", {"gfx1030", "gfx1031", "gfx1032", "gfx1033", "gfx1034", "gfx1035", "gfx1036"}},
      {"gfx11-generic", {"gfx1100", "gfx1101", "gfx1102", "gfx1103", "gfx1150", "gfx1151", "gfx1152", "gfx1153"}},
      {"gfx12-generic", {"gfx1200", "gfx1201"}}};
  return all;
}

std::vector<std::string> words(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> all;
  for (std::string word; stream >> word;) all.push_back(word);
  return all;
}

bool is_among(const std::string& name, const std::vector<std::string>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

int number_of(const std::string& architecture) { return std::atoi(architecture.c_str() + architecture.find('_') + 1); }

}  // namespace

std::string amd_choice(const std::string& target, const std::string& carried) {
  const std::vector<std::string> names = words(carried);
  if (is_among(target, names)) return target;
  for (const Generic& generic : generics())
    if (is_among(target, generic.members) && is_among(generic.name, names)) return generic.name;
  return "";
}

// Machine code runs on the same major version, from its own minor version on. PTX is compiled for any device of its
// version or later.
std::string cuda_choice(const std::string& target, const std::string& carried) {
  const int device = number_of(target);
  std::string machine_code, ptx;
  for (const std::string& name : words(carried)) {
    const bool is_machine_code = name.rfind("sm_", 0) == 0;
    if (number_of(name) > device || (is_machine_code && number_of(name) / 10 != device / 10)) continue;
    std::string& best = is_machine_code ? machine_code : ptx;
    if (best.empty() || number_of(name) > number_of(best)) best = name;
  }
  return machine_code.empty() ? ptx : machine_code;
}

}  // namespace hipops::info
