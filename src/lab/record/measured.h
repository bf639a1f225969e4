// Reads measured times from files in results/, which also name the machine. A report that shows a
// measured time names its file.
#pragma once

#include <string>
#include <vector>

#include "lab/record/record.h"

namespace tessera::lab {

// One row of a results file that was measured on a real GPU.
struct Measured {
  std::string file;    // "results/ladder/h200_ladder_4096.json"
  std::string device;  // "NVIDIA H200"
  std::string kernel, config, type, layout, order, mode;
  std::int64_t m = 0, n = 0, k = 0;
  double alpha = 1, beta = 0;
  double ms = 0, tflops = 0;
  double ratio_to_vendor = 0;  // 0: no vendor
};

// Returns every timed run of the JSON files in results/ and its folders under `root`, in the order
// of the files' names. Files of other kinds are left out. Throws kBadArgument for a file that is
// not JSON.
std::vector<Measured> measured_runs(const std::string& root);

// Returns every timed run of one file that bench --json wrote. Throws a kBadArgument that names
// `option` for any other file.
std::vector<Measured> measured_in(const std::string& path, const std::string& option);

}  // namespace tessera::lab
