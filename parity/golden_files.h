// Finds and loads golden files: DIR/<op>/<topic>.json.
#pragma once

#include <string>
#include <vector>

#include "parity/golden.h"

namespace hipops::parity {

// Where golden files are, unless told by --golden (`asked`, "" if not given): the environment's HIPOPS_GOLDEN, the
// folder share/hipops/golden beside the executable's, which in a build is the source tree's. "" where there is none.
std::string golden_directory(const std::string& asked);

// Every file, or those of one op and topic ("" for all), in the order of `ops` and then of topics. Throws GoldenError.
std::vector<GoldenFile> load_golden(const std::string& directory, const std::string& op, const std::string& topic,
                                    const std::vector<OpEntry>& ops);

}  // namespace hipops::parity
