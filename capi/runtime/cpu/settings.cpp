#include "runtime/cpu/settings.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "tensor/error.h"

namespace hipops {
namespace cpu {
namespace {

constexpr uint32_t kMostThreads = 1024;
constexpr uint32_t kMostUnits = 1024;

// Null: unset or empty.
const char* value_of(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

hipops_status refuse(const char* variable, const char* value, const char* valid) {
  return fail(HIPOPS_INVALID_ARGUMENT, "%s is \"%s\", expected %s", variable, value, valid);
}

// A decimal number, digits only.
bool parse(const char* value, uint64_t* number) {
  *number = 0;
  for (; *value != '\0'; ++value) {
    if (*value < '0' || *value > '9') return false;
    const uint64_t digit = static_cast<uint64_t>(*value - '0');
    if (*number > (UINT64_MAX - digit) / 10) return false;
    *number = *number * 10 + digit;
  }
  return true;
}

hipops_status read_wave(Settings* settings) {
  const char* value = value_of("HIPOPS_CPU_WAVE");
  uint64_t number = 0;
  if (value == nullptr) return HIPOPS_SUCCESS;
  if (!parse(value, &number) || (number != 32 && number != 64)) return refuse("HIPOPS_CPU_WAVE", value, "32 or 64");
  settings->wave = static_cast<uint32_t>(number);
  return HIPOPS_SUCCESS;
}

hipops_status read_threads(Settings* settings) {
  const char* value = value_of("HIPOPS_CPU_THREADS");
  uint64_t number = std::min(std::max(std::thread::hardware_concurrency(), 1u), kMostThreads);
  if (value != nullptr && (!parse(value, &number) || number < 1 || number > kMostThreads)) {
    return refuse("HIPOPS_CPU_THREADS", value, "1 to 1024");
  }
  settings->threads = static_cast<uint32_t>(number);
  return HIPOPS_SUCCESS;
}

hipops_status read_units(Settings* settings) {
  const char* value = value_of("HIPOPS_CPU_UNITS");
  uint64_t number = 0;
  if (value == nullptr) return HIPOPS_SUCCESS;
  if (!parse(value, &number) || number < 1 || number > kMostUnits) return refuse("HIPOPS_CPU_UNITS", value, "1 to 1024");
  settings->units = static_cast<uint32_t>(number);
  return HIPOPS_SUCCESS;
}

hipops_status read_seed(Settings* settings) {
  const char* value = value_of("HIPOPS_CPU_SEED");
  if (value == nullptr || parse(value, &settings->seed)) return HIPOPS_SUCCESS;
  return refuse("HIPOPS_CPU_SEED", value, "a number from 0 to 18446744073709551615");
}

hipops_status read_race(Settings* settings) {
  const char* value = value_of("HIPOPS_CPU_RACE");
  if (value == nullptr) return HIPOPS_SUCCESS;
  settings->race = std::strcmp(value, "1") == 0;
  return settings->race || std::strcmp(value, "0") == 0 ? HIPOPS_SUCCESS : refuse("HIPOPS_CPU_RACE", value, "0 or 1");
}

hipops_status read_guard(Guard* guard) {
  const char* value = value_of("HIPOPS_CPU_GUARD");
  if (value == nullptr || std::strcmp(value, "none") == 0) return HIPOPS_SUCCESS;
  *guard = std::strcmp(value, "begin") == 0 ? Guard::kBegin : Guard::kEnd;
  if (*guard == Guard::kBegin || std::strcmp(value, "end") == 0) return HIPOPS_SUCCESS;
  return refuse("HIPOPS_CPU_GUARD", value, "one of none, begin, end");
}

}  // namespace

hipops_status settings_from_environment(Settings* settings, Guard* guard) {
  *settings = Settings();
  *guard = Guard::kNone;
  if (hipops_status status = read_wave(settings)) return status;
  if (hipops_status status = read_threads(settings)) return status;
  if (hipops_status status = read_units(settings)) return status;
  if (hipops_status status = read_seed(settings)) return status;
  if (hipops_status status = read_race(settings)) return status;
  return read_guard(guard);
}

}  // namespace cpu
}  // namespace hipops
