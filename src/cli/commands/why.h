// The answer of `bench --why`: the time that the cost model predicts for every offer (a kernel with
// a way to run it), and so which kernel `--kernel best` takes. Nothing runs.
#pragma once

#include <vector>

#include "gemm/plan/plan.h"
#include "lab/record/report.h"

namespace tessera::cli {

// A row for each offer: its cost part by part, in microseconds. A plan runs its first offer.
Table why_table(const std::vector<gemm::Plan>& plans);
// A line for each plan that the user's overlay affects: "300 x 200 x 100 NN: the overlay of
// tessera tune chose it: ...".
std::vector<std::string> tuned_lines(const std::vector<gemm::Plan>& plans);
lab::Json why_json(const std::vector<gemm::Plan>& plans);

}  // namespace tessera::cli
