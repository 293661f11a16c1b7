// Catch2, whichever of its two major versions is there. The one file that defines HIPOPS_TEST_MAIN before it includes
// this gives the program its main(); link Catch2::Catch2 in either case.
#pragma once

// Catch2's macros count with __COUNTER__, which newer releases of Clang call an extension wherever a macro is used.
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
