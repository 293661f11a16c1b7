// Finds and loads golden files: DIR/<op>/<topic>.json.
#pragma once

#include <string>
#include <vector>

#include "parity/golden.h"

namespace hipops::parity {

// The folder of the golden files: `asked` (--golden) if it is not "", else HIPOPS_GOLDEN of the environment, else
// share/hipops/golden beside the executable's folder, which in a build is the source tree's. "" if there is none.
std::string golden_directory(const std::string& asked);

// Every file, or those of one op and topic ("" for all), in the order of `ops` and then of topics. Throws GoldenError.
std::vector<GoldenFile> load_golden(const std::string& directory, const std::string& op, const std::string& topic,
                                    const std::vector<OpEntry>& ops);

}  // namespace hipops::parity
