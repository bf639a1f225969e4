// Runs that files in results/ hold, as problems that the library plans.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gemm/plan/plan.h"

namespace tessera {

struct StoredRun {
  std::string file;             // "results/variants/fp32.json"
  std::string kernel, variant;  // "simt_f32", "256x128"
  Problem problem;
  std::optional<std::int64_t> workspace_limit;
  gemm::Policy split = gemm::Policy::kModel;  // as its command says
  gemm::PackedOperands packed;
  gemm::DeviceLimits device;
  double microseconds = 0;  // median, burst
};

// The burst runs of single problems by kernels of the current library, in the files that match a
// name with * ("batches/f32_*.json"). Fails if there are none.
std::vector<StoredRun> stored_runs(const std::string& name);

// "64 of 512x512x512 f32 NN + C gelu within 64 MiB", of which only the first part is always there.
std::string problem_text_of(const StoredRun& run);
// The same, with " by simt_f32/128x64 (results/variants/fp32.json)".
std::string text_of(const StoredRun& run);

}  // namespace tessera
