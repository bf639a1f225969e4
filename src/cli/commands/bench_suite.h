// bench --suite drawn: the distribution that goals are stated for, drawn by seed.
#pragma once

#include <string>

#include "cli/options/options.h"
#include "cli/options/parser.h"
#include "cli/terminal/output.h"

namespace tessera::cli {

inline constexpr const char* kDrawnSuite = "drawn";

// As typed; empty where not given.
struct SuiteArguments {
  std::string cells, minutes, both_ways, within;
  bool sweep = false;
};
void add_suite_options(Parser& parser, SuiteArguments& arguments);
// Throws kBadArgument where one of them is given without the suite.
void require_drawn_suite(const SuiteArguments& arguments);

struct SuiteRequest {
  const SuiteArguments& suite;
  const DeviceOptions& device;
  const Output& output;
  std::string seed;
};
// Throws kBadArgument for an option of bench that the suite would ignore.
int bench_suite(const SuiteRequest& request, const Parser& parser);

}  // namespace tessera::cli
