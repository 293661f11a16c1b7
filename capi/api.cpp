// The functions of hipops.h about the library itself.
#include <cstring>

#include "build_info.h"
#include "ops.h"

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
