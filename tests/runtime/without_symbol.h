// A copy of a shared library that lacks a function.
#pragma once

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

#include "runtime/fake_code_object.h"

namespace hipops_test {

// The copy's path. The copy has another name in its table of names, so that a search for the function fails.
inline std::string without_symbol(const TemporaryFolder& folder, const char* library, const std::string& symbol) {
  std::ifstream stream(library, std::ios::binary);
  Bytes bytes(std::istreambuf_iterator<char>(stream), {});
  const std::string name = '\0' + symbol + '\0';
  int found = 0;
  for (auto at = bytes.begin(); (at = std::search(at, bytes.end(), name.begin(), name.end())) != bytes.end(); ++at) {
    at[static_cast<long>(symbol.size())] = '#';
    ++found;
  }
  if (found == 0) throw std::runtime_error(std::string(library) + " has no " + symbol);
  folder.write(symbol + ".so", bytes);
  return folder.path() + "/" + symbol + ".so";
}

}  // namespace hipops_test
