// What happens to alpha A B + beta C before it is stored as D: first a bias is added, then an
// activation is applied.
#pragma once

#include <string>

#include "base/status.h"

namespace tessera {

enum class Bias { kNone, kPerRow, kPerColumn };  // of D in the caller's order: one value each
enum class Activation { kIdentity, kRelu, kGelu };

struct Epilogue {
  Bias bias = Bias::kNone;
  Activation activation = Activation::kIdentity;

  bool operator==(const Epilogue&) const = default;

  bool is_identity() const { return bias == Bias::kNone && activation == Activation::kIdentity; }
};

// Not ok for a value outside of its enum.
Status check(const Epilogue& epilogue);
// "bias per row, relu", for messages.
std::string describe(const Epilogue& epilogue);

}  // namespace tessera
