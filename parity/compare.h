// Compares an output with a golden file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "parity/golden.h"

namespace hipops::parity {

struct Comparison {
  int64_t compared = 0;  // elements
  int64_t missed = 0;    // elements whose error exceeds the tolerance
  int64_t rows_missed = 0;
  bool checksum_missed = false;
  double worst_ulps = 0;
  int64_t worst_position = -1;        // -1 until an element was compared
  std::vector<std::string> examples;  // one line for each of the first elements that missed

  bool passed() const { return missed == 0 && rows_missed == 0 && !checksum_missed; }
};

// `element_zero` is the output's element 0 in host memory, with the layout expected.layout. Integers must be exact at
// any tolerance.
Comparison compare(const ExpectedTensor& expected, double tolerance_ulps, const unsigned char* element_zero);

// The sign of column `column` in a row's checksum: +1 or -1.
int checksum_sign(int64_t column);

// The factor of an element's bits in a checksum, by row-major position.
uint64_t checksum_weight(int64_t position);

// "3.21", "inf", "3".
std::string show_ulps(double ulps);

}  // namespace hipops::parity
