// The catalog lines of the kernels that are launched before a product: one converts a BF16 operand
// to FP32, one makes the tensor maps of a batch of listed matrices. Each has one entry.
#include "catalog/catalog.h"
#include "kernels/passes/listed_maps_params.h"
#include "kernels/passes/widen_params.h"

namespace tessera {

const Kernel& widen_kernel() {
  static const Kernel kernel = [] {
    const std::string name = "widen", params = "tessera::passes::WidenParams";
    Kernel made{.name = name,
                .idea = "BF16 to FP32, before a product",
                .types = {},
                .family = {},
                .rows = {},
                .helpers = {{name + "__bf16", "widen", params, passes::kWidenThreads,
                             passes::kWidenCtasPerSm, name}}};
    made.first_sm = 75;
    made.source = "kernels/passes/widen.cu";
    made.name_space = "tessera::passes";
    made.params = params;
    return made;
  }();
  return kernel;
}

const Kernel& listed_maps_kernel() {
  static const Kernel kernel = [] {
    const std::string name = "listed_maps", params = "tessera::passes::ListedMapsParams";
    Kernel made{.name = name,
                .idea = "tensor maps of matrices at listed addresses, before a product",
                .types = {},
                .family = {},
                .rows = {},
                .helpers = {{name + "__of_batch", "make_maps", params, passes::kListedMapsThreads,
                             1, name}}};
    made.first_sm = made.last_sm = 90;
    made.source = "kernels/passes/listed_maps.cu";
    made.name_space = "tessera::passes";
    made.params = params;
    return made;
  }();
  return kernel;
}

std::span<const Kernel* const> pass_kernels() {
  static const Kernel* const all[] = {&finish_kernel(), &widen_kernel(), &listed_maps_kernel()};
  return all;
}

}  // namespace tessera
