// main() of the test executables.
#define HIPOPS_TEST_MAIN
#include "catch.h"
