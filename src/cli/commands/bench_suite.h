// bench --suite drawn: the distribution that goals are stated for, drawn by seed.
#pragma once

#include <string>

#include "cli/options/options.h"
#include "cli/options/parser.h"
#include "cli/terminal/output.h"

namespace tessera::cli {

inline constexpr const char* kDrawnSuite = "drawn";
inline constexpr const char* kGoalSuite = "goals";  // the list of docs/performance.md

// The arguments as typed; empty where not given.
struct SuiteArguments {
  std::string cells, minutes, both_ways, within, against_costs, fp32;
  bool sweep = false;
};
void add_suite_options(Parser& parser, SuiteArguments& arguments);
bool is_timed_suite(const std::string& name);
// Throws kBadArgument where one of them is given without such a suite.
void require_drawn_suite(const SuiteArguments& arguments);

struct SuiteRequest {
  const std::string& name;  // name of the suite
  const SuiteArguments& suite;
  const DeviceOptions& device;
  const Output& output;
  std::string seed;
};
// Throws kBadArgument for an option of bench that the suite would ignore.
int bench_suite(const SuiteRequest& request, const Parser& parser);

}  // namespace tessera::cli
