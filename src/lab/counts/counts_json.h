// Counts as JSON, for records and files.
#pragma once

#include "lab/counts/counts.h"
#include "lab/json/json.h"

namespace tessera::lab {

// `memory` and the values computed from it are null if memory was not counted.
Json to_json(const CountSummary& counts);

}  // namespace tessera::lab
