// Counts as JSON, for records and files.
#pragma once

#include <nlohmann/json.hpp>

#include "lab/counts/counts.h"

namespace tessera::lab {

using Json = nlohmann::ordered_json;

// `memory` and what follows from it are null where memory was not counted.
Json to_json(const CountSummary& counts);

}  // namespace tessera::lab
