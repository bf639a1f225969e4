// What happens to a product before it is stored:
//   D = activation(scale * (alpha A B + beta C) + bias)
// in exactly this order, in the type of the sums, with one rounding to D's type at the end. A
// residual is C with a beta of 1: it is added before the activation.
#pragma once

#include <string>
#include <string_view>

#include "base/activations.h"
#include "base/status.h"

namespace tessera {

// A vector in addition to D: one value for each row, or for each column, of D in the caller's
// order. All products of a batch share it.
enum class VectorKind { kNone, kPerRow, kPerColumn };

struct Epilogue {
  VectorKind scale = VectorKind::kNone;  // values have the type of the sums
  VectorKind bias = VectorKind::kNone;   // values have D's type
  Activation activation = Activation::kIdentity;

  bool operator==(const Epilogue&) const = default;

  bool is_identity() const { return *this == Epilogue{}; }
};

// Not ok for a value outside of its enum.
Status check(const Epilogue& epilogue);
// "bias per row, relu", for messages.
std::string describe(const Epilogue& epilogue);
// One word for the command line and records: "none", "scale_col+bias_row+gelu_erf".
std::string name_of(const Epilogue& epilogue);
// "relu, gelu or gelu_erf", for help.
std::string activation_names();
// Parses the same words, in any order; throws StatusError that lists what is accepted.
Epilogue parse_epilogue(std::string_view name);

}  // namespace tessera
