// The catalog lines of the kernels that are launched before a product: one converts a BF16 operand
// to FP32, one makes the tensor maps of a batch of listed matrices. Each has one entry.
#include "catalog/catalog.h"
#include "kernels/passes/listed_maps_params.h"
#include "kernels/passes/widen_params.h"

namespace tessera {
namespace {

// A kernel with one entry. Source and image have the kernel's name.
Kernel kernel_of(const char* idea, const HelperEntry& entry, int first_sm,
                 int last_sm = Kernel().last_sm) {
  Kernel kernel{.name = entry.image,
                .idea = idea,
                .types = {},
                .family = {},
                .rows = {},
                .helpers = {entry},
                .first_sm = first_sm,
                .last_sm = last_sm};
  kernel.source = "kernels/passes/" + kernel.name + ".cu";
  kernel.name_space = "tessera::passes";
  kernel.params = entry.params;
  return kernel;
}

}  // namespace

const Kernel& widen_kernel() {
  static const Kernel kernel = kernel_of("BF16 to FP32, before a product",
                                         {"widen__bf16", "widen", "tessera::passes::WidenParams",
                                          passes::kWidenThreads, passes::kWidenCtasPerSm, "widen"},
                                         75);
  return kernel;
}

const Kernel& listed_maps_kernel() {
  static const Kernel kernel =
      kernel_of("tensor maps of matrices at listed addresses, before a product",
                {"listed_maps__of_batch", "make_maps", "tessera::passes::ListedMapsParams",
                 passes::kListedMapsThreads, 1, "listed_maps"},
                90, 90);
  return kernel;
}

std::span<const Kernel* const> pass_kernels() {
  static const Kernel* const all[] = {&finish_kernel(), &widen_kernel(), &listed_maps_kernel()};
  return all;
}

}  // namespace tessera
