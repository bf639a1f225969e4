// The launch before an FP32 product that copies operands into the form which tensor copies take:
// rows along m (or n), aligned. The copies are in the workspace.
#pragma once

#include <string>

#include "gemm/families/shared/family.h"

namespace tessera::gemm {

// Which operands are repacked.
struct Needs {
  bool a = false, b = false;

  bool any() const { return a || b; }
};

// The same, and where the copies are in the workspace.
struct Repacked {
  Needs needs;
  std::int64_t a = 0, b = 0;
  std::int64_t end = 0;  // of the workspace, with them

  // Copies of a product's operands from `begin` on, a multiple of 256.
  static Repacked at(std::int64_t begin, Needs needs, const GemmParams& canonical);
  std::int64_t bytes() const { return end - a; }
};

// The launch that repacks; the product then names what it leaves.
PlannedLaunch repack_launch(const std::string& entry, const Repacked& repacked, Product& product);

// A request as it is after that launch, but for where its operands are.
Request request_after(Request request, Needs needs);

}  // namespace tessera::gemm
