// Writes the last lines of a report: the verdict, and a summary of the runs.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "check/report/report.h"

namespace tessera::checking {

// "1 finding", "2 findings"
std::string plural(std::uint64_t count, const std::string& one);
std::set<std::string> approximate_forms(const CheckResult& result);
std::string summary_text(const CheckReport& report);

}  // namespace tessera::checking
