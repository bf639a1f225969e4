// Reports for programs. Apart from report.h, so that only who writes JSON pays for its header.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "sass/report/report.h"

namespace tessera::sass {

// With `instructions`, the report includes the listing: text and control field of each instruction.
nlohmann::ordered_json to_json(const KernelReport& kernel, const std::vector<Note>& notes,
                               bool instructions);

}  // namespace tessera::sass
