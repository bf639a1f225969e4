// bench --chain R: R products D = A B + C in a row, where each D is the A of the next product. With
// --add-before, each step first computes X += B and then D = A X.
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
  std::string length, rounds, seed;  // the options as text
  bool add_before = false;
};

// Runs chains and returns the exit code. Each chain is written to the files when it is measured.
int bench_chain(const ChainRequest& request, const Parser& parser);

}  // namespace tessera::cli
