// --gpu: the GPU whose rates a report without a GPU is about, a known one by its name or an assumed
// one by its numbers.
#pragma once

#include <string>

#include "arch/gpu.h"
#include "gemm/options.h"

namespace tessera::cli {

class Parser;

void add_gpu_option(Parser& parser, std::string& gpu);

// The GPU of that name, an H200 when it is empty. "name=paper,bandwidth=1000,peak=10" is an assumed
// card: GB/s and TFLOP/s of FP32, the rest as a known card has it ("like=a100"; default h200), with
// the clock that gives the peak. Throws kBadArgument that lists the names or the words.
const arch::Gpu& gpu_of(const std::string& text);

// For plans: at least SM 7.5, the lowest that there is code for.
gemm::DeviceLimits limits_of(const arch::Gpu& gpu);

std::string names_of_gpus();  // "h200, a100, ..."

}  // namespace tessera::cli
