// Which tools watch this build. They follow one stack per thread, so each has to be told when a fiber leaves its stack
// for another one.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define HIPOPS_CPU_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HIPOPS_CPU_ASAN 1
#endif
#endif

#if defined(__SANITIZE_THREAD__)
#define HIPOPS_CPU_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HIPOPS_CPU_TSAN 1
#endif
#endif

#if defined(HIPOPS_CPU_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(HIPOPS_CPU_TSAN)
#include <sanitizer/tsan_interface.h>
#endif

// Who runs valgrind builds with -DHIPOPS_CPU_VALGRIND. (Not where its header is found: what a machine has beside what the
// build asks for is to make no difference to the library.)
#if defined(HIPOPS_CPU_VALGRIND)
#include <valgrind/valgrind.h>
#endif
