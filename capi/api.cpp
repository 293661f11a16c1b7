// The functions of hipops.h about the library and all of its ops.
#include <cstring>
#include <string>

#include "build_info.h"
#include "ops.h"
#include "policy/policy.h"
#include "runtime/guarded.h"
#include "tensor/error.h"

#define HIPOPS_TEXT_(x) #x
#define HIPOPS_TEXT(x) HIPOPS_TEXT_(x)
#define HIPOPS_VERSION_TEXT \
  HIPOPS_TEXT(HIPOPS_VERSION_MAJOR) "." HIPOPS_TEXT(HIPOPS_VERSION_MINOR) "." HIPOPS_TEXT(HIPOPS_VERSION_PATCH)

const char* hipops_version(void) { return HIPOPS_VERSION_TEXT; }

int32_t hipops_version_number(void) {
  return 10000 * HIPOPS_VERSION_MAJOR + 100 * HIPOPS_VERSION_MINOR + HIPOPS_VERSION_PATCH;
}

const char* hipops_build_info(void) { return "hipops " HIPOPS_VERSION_TEXT "\n" HIPOPS_BUILD_INFO; }

int32_t hipops_supports(const char* op, hipops_dtype dtype, hipops_dtype second) {
  for (int i = 0; op && i < hipops::op_count; ++i)
    if (!std::strcmp(op, hipops::all_ops[i]->name))
      return hipops::find_image(op) && hipops::all_ops[i]->supports(dtype, second);
  return 0;
}

hipops_status hipops_prepare(const char* name) {
  using namespace hipops;
  return guarded([&]() -> hipops_status {
    bool found = !name;
    std::string names;
    for (int i = 0; i < op_count; ++i) {
      names += std::string(all_ops[i]->name) + ", ";
      if (name ? std::strcmp(name, all_ops[i]->name) != 0 : !find_image(all_ops[i]->name)) continue;
      found = true;
      if (hipops_status status = load(*all_ops[i])) return status;
    }
    if (!found)
      return fail(HIPOPS_INVALID_ARGUMENT, "hipops_prepare: op is \"%s\", expected one of %sor NULL", name,
                  names.c_str());
    const DeviceFacts* device = nullptr;
    if (device_facts(&device) == HIPOPS_SUCCESS) policy_of(*device);
    return HIPOPS_SUCCESS;
  });
}
