// --gpu NAME: the GPU whose rates a report without a GPU is about.
#pragma once

#include <string>

#include "arch/gpu.h"

namespace tessera::cli {

class Parser;

void add_gpu_option(Parser& parser, std::string& gpu);

// The GPU of that name, an H200 when it is empty. Throws kBadArgument that lists the names.
const arch::Gpu& gpu_of(const std::string& name);

std::string names_of_gpus();  // "h200, a100, ..."

}  // namespace tessera::cli
