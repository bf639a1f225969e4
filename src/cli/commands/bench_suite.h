// bench --suite drawn: problems that a seed draws from the distribution of the performance goals.
#pragma once

#include <string>

#include "cli/options/options.h"
#include "cli/options/parser.h"
#include "cli/terminal/output.h"

namespace tessera::cli {

inline constexpr const char* kDrawnSuite = "drawn";
inline constexpr const char* kGoalSuite = "goals";   // the goals in docs/performance.md
inline constexpr const char* kLossSuite = "losses";  // what lost most before suites were drawn

// The arguments as text; empty if not given.
struct SuiteArguments {
  std::string cells, minutes, both_ways, within, against_costs, fp32;
  bool sweep = false;
};
void add_suite_options(Parser& parser, SuiteArguments& arguments);
bool is_timed_suite(const std::string& name);
// For a call without a drawn suite: throws kBadArgument if one of these options is given.
void require_drawn_suite(const SuiteArguments& arguments);

struct SuiteRequest {
  const std::string& name;  // of the suite
  const SuiteArguments& suite;
  const DeviceOptions& device;
  const Output& output;
  std::string seed;
};
// Runs the suite and returns the exit code. Throws kBadArgument for options that have no effect.
int bench_suite(const SuiteRequest& request, const Parser& parser);

}  // namespace tessera::cli
