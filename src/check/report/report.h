// The report of a check: errors, their places in the source, and what to do about them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "base/table.h"
#include "check/runs/run.h"

namespace tessera::checking {

using Json = nlohmann::ordered_json;

struct CheckReport {
  const CheckPlan& plan;
  const CheckResult& result;
  std::string command;  // the command that repeats the check
  bool all = false;     // shows all findings and all printed text in full
  bool quiet = false;   // leaves out what the kernel printed
};

std::string text_of(const CheckReport& report);
Json json_of(const CheckReport& report);
Table table_of(const CheckReport& report);  // one row per finding

}  // namespace tessera::checking
