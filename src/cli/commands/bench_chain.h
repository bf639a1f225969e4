// bench --chain R: D = A B + C, D in the place of the next A, R times; with --add-before X += B,
// then D = A X.
#pragma once

#include <string>

#include "cli/options/options.h"
#include "cli/terminal/output.h"

namespace tessera::cli {

class Parser;

struct ChainRequest {
  const ProblemOptions& problem;
  const DeviceOptions& device;
  const Output& output;
  std::string length, rounds, seed;  // the options' texts
  bool add_before = false;
};

// The exit code. Each chain is written to the files as soon as it is measured.
int bench_chain(const ChainRequest& request, const Parser& parser);

}  // namespace tessera::cli
