// --gpu: the GPU whose rates a report uses without running on it: a known GPU by name, or an
// assumed GPU by its rates.
#pragma once

#include <string>

#include "arch/gpu.h"
#include "gemm/options.h"

namespace tessera::cli {

class Parser;

void add_gpu_option(Parser& parser, std::string& gpu);

// The GPU that the text names; default: H200. "name=paper,bandwidth=1000,peak=10" is an assumed
// card with these rates (GB/s, TFLOP/s of FP32), a clock that gives the peak, and the rest from a
// known card ("like=a100"; default h200). Throws kBadArgument with the possible names or words.
const arch::Gpu& gpu_of(const std::string& text);

// The GPU's limits for plans. The SM is at least 7.5, because there is no code for older SMs.
gemm::DeviceLimits limits_of(const arch::Gpu& gpu);

std::string names_of_gpus();  // "h200, a100, ..."

}  // namespace tessera::cli
