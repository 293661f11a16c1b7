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

// Valgrind is no build mode, and its requests are a few instructions that do nothing elsewhere.
#if defined(__has_include)
#if __has_include(<valgrind/valgrind.h>)
#define HIPOPS_CPU_VALGRIND 1
#include <valgrind/valgrind.h>
#endif
#endif
