// Why `--kernel best` takes the kernel that it takes: the cost model's expectation for every offer.
// Nothing runs.
#pragma once

#include <vector>

#include "gemm/plan/plan.h"
#include "lab/record/report.h"

namespace tessera::cli {

// A row for each offer of each plan, microseconds part by part; the first of a plan is taken.
Table why_table(const std::vector<gemm::Plan>& plans);
// "300 x 200 x 100 NN: the overlay of tessera tune chose it: ...", for each plan that the user's
// overlay mentions.
std::vector<std::string> tuned_lines(const std::vector<gemm::Plan>& plans);
lab::Json why_json(const std::vector<gemm::Plan>& plans);

}  // namespace tessera::cli
