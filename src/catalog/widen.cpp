// The catalog line of the kernel that converts a BF16 operand to FP32.
#include "catalog/catalog.h"
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

}  // namespace tessera
