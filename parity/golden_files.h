// Finds and loads golden files: DIR/<op>/<topic>.json.
#pragma once

#include <string>
#include <vector>

#include "parity/golden.h"

namespace hipops::parity {

// The folder of the golden files: `option` (--golden), HIPOPS_GOLDEN of the environment, or share/hipops/golden next to
// the executable's folder (in a build: of the source tree). "" if there is none.
std::string golden_directory(const std::string& option);

// Loads all files, or those with this op and topic ("": any), in the order of `ops` and topics. Throws GoldenError.
std::vector<GoldenFile> load_golden(const std::string& directory, const std::string& op, const std::string& topic,
                                    const std::vector<OpEntry>& ops);

}  // namespace hipops::parity
