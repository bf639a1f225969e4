// What a check found, in one screen: what is wrong, where it stands in the source, what to do.
#pragma once

#include <string>

#include "cli/check_run.h"
#include "lab/record.h"
#include "lab/report.h"

namespace tessera::cli {

struct CheckReport {
  const CheckPlan& plan;
  const CheckResult& result;
  std::string command;    // that repeats it
  std::size_t shown = 4;  // findings in full; the others as one line each
};

std::string text_of(const CheckReport& report);
lab::Json json_of(const CheckReport& report);
lab::Table table_of(const CheckReport& report);  // a row a finding

}  // namespace tessera::cli
