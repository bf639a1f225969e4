// Reports as JSON, for programs. This is separate from report.h, so that only code that writes JSON
// includes the JSON header.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "sass/report/report.h"

namespace tessera::sass {

// With `instructions`, the report includes the listing: text and control field of each instruction.
nlohmann::ordered_json to_json(const KernelReport& kernel, const std::vector<Note>& notes,
                               bool instructions);

}  // namespace tessera::sass
