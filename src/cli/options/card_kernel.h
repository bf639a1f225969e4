// A catalog kernel in the machine code of the card that --gpu names: the code that a report about
// another card must examine. The build has cubins for few cards; others are assembled on demand.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <vector>

#include "arch/gpu.h"
#include "catalog/catalog.h"

namespace tessera::cli {

// Why the kernel does not run on the GPU; empty where it does.
std::string why_not_on(const Kernel& kernel, const arch::Gpu& gpu);

// Kernels of one card. The kernels that it returns live as long as this object.
class CardKernels {
 public:
  explicit CardKernels(const arch::Gpu& gpu) : gpu_(gpu) {}

  // The kernel with cubins for this card, or for the next newer card if nvcc 13 cannot compile for
  // it (SM 7.0). Its PTX is unchanged. Throws kUnsupported if the kernel does not run there,
  // kUnavailable without nvcc.
  KernelChoice on_card(const KernelChoice& choice);

 private:
  struct OnCard {
    Kernel kernel;
    std::string arch;
    std::deque<std::vector<std::byte>> cubins;
  };
  void add_code(const CodeImage& image, OnCard& card) const;

  const arch::Gpu& gpu_;
  std::deque<OnCard> kernels_;
};

}  // namespace tessera::cli
