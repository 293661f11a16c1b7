// The tools that watch this build. Each follows one stack a thread, so fibers must report when they switch stacks.
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

// A build for valgrind has -DHIPOPS_CPU_VALGRIND. The presence of valgrind's header is not enough: packages of the
// machine must not change the library.
#if defined(HIPOPS_CPU_VALGRIND)
#include <valgrind/valgrind.h>
#endif
