// Catalog kernels as machine code for the card that --gpu names, for reports about that card. The
// build has cubins for few cards; the code for other cards is assembled on demand.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <vector>

#include "arch/gpu.h"
#include "catalog/catalog.h"

namespace tessera::cli {

// The reason why the kernel does not run on the GPU; empty if the kernel runs there.
std::string why_not_on(const Kernel& kernel, const arch::Gpu& gpu);

// The kernels for one card. The kernels that on_card() returns live as long as this object.
class CardKernels {
 public:
  explicit CardKernels(const arch::Gpu& gpu) : gpu_(gpu) {}

  // The kernel with cubins for this card; if nvcc 13 cannot compile for the card (SM 7.0), for the
  // next newer card. The PTX stays the same. Throws kUnsupported if the kernel does not run on the
  // card, kUnavailable without nvcc.
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
