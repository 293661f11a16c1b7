// Catch2 of version 2 or 3. One file defines HIPOPS_TEST_MAIN before it includes this header, and so gets main(). Link
// Catch2::Catch2 in either case.
#pragma once

// Catch2's macros use __COUNTER__. Newer releases of Clang warn about it as an extension.
#if defined(__clang__) && defined(__has_warning)
#if __has_warning("-Wc2y-extensions")
#pragma clang diagnostic ignored "-Wc2y-extensions"
#endif
#endif

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#if defined(HIPOPS_TEST_MAIN)
int main(int argc, char** argv) { return Catch::Session().run(argc, argv); }
#endif
#else
#if defined(HIPOPS_TEST_MAIN)
#define CATCH_CONFIG_MAIN
#endif
#include <catch2/catch.hpp>
#endif
