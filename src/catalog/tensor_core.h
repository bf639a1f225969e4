// Catalog lines of the kernels on Hopper's tensor cores: a persistent grid, all operands by tensor
// copies. What a plan must know of a row beyond the words of all rows is its own config.
#pragma once

#include <utility>

#include "catalog/rung.h"
#include "kernels/families/wgmma/config.h"

namespace tessera::catalog {

KernelRow wgmma_row(std::string_view kernel, const char* variant, const wgmma::Config& config);
std::vector<HelperEntry> wgmma_helpers(const std::string& kernel, const KernelRow& row,
                                       const Types& types);

// "wgmma_bf16", in namespace tessera::wgmma::bf16. The table outlives the program's data.
template <class Rows>
Kernel wgmma_kernel(const std::string& name, std::string idea, const Types& types,
                    const Rows& table) {
  Kernel kernel = plain_kernel(name, std::move(idea), {});
  for (const auto& [variant, config] : table) {
    kernel.rows.push_back(wgmma_row(name, variant, config));
  }
  kernel.types = types;
  kernel.family = "wgmma";
  kernel.first_sm = kernel.last_sm = 90;  // wgmma, tensor copies and setmaxnreg: sm_90a only
  kernel.source = "kernels/families/wgmma/kernel.cu";
  kernel.name_space = "tessera::wgmma::" + name.substr(name.find('_') + 1);
  kernel.params = "tessera::wgmma::WgmmaParams";
  kernel.helpers = wgmma_helpers(name, kernel.rows.front(), types);
  return kernel;
}

}  // namespace tessera::catalog
