#include "cli/options/gpu_option.h"

#include <fmt/format.h>

#include "arch/gpus.h"
#include "base/status.h"
#include "cli/options/parser.h"

namespace tessera::cli {

std::string names_of_gpus() {
  std::string names;
  for (const arch::Gpu& gpu : arch::kGpus)
    names += (names.empty() ? "" : ", ") + std::string(gpu.name);
  return names;
}

void add_gpu_option(Parser& parser, std::string& gpu) {
  parser.add_option("--gpu", gpu, fmt::format("whose rates: {} (default h200)", names_of_gpus()))
      .type_name("NAME");
}

const arch::Gpu& gpu_of(const std::string& name) {
  if (name.empty()) return arch::kH200;
  for (const arch::Gpu& gpu : arch::kGpus) {
    if (name == gpu.name) return gpu;
  }
  throw StatusError(Status::bad_argument(
      fmt::format("--gpu is '{}', but must be one of: {}", name, names_of_gpus())));
}

}  // namespace tessera::cli
