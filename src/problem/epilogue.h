// What happens to a product before it is stored:
//   X = scale * (alpha A B + beta C) + bias
//   D = activation(X)
// in exactly this order, in the type that products are summed in, and rounded once to D's. A
// residual is C with a beta of 1: it is added ahead of the activation.
#pragma once

#include <string>
#include <string_view>

#include "base/activations.h"
#include "base/status.h"

namespace tessera {

// A vector in addition to D: one value for each row, or for each column, of D in the caller's
// order. All products of a batch share it.
enum class VectorKind { kNone, kPerRow, kPerColumn };

// X as a second output, as training needs it: of D's type and size, rounded once, too. D is of the
// X that is not rounded.
enum class Auxiliary { kNone, kBeforeActivation };

struct Epilogue {
  VectorKind scale = VectorKind::kNone;  // values have the type of the sums
  VectorKind bias = VectorKind::kNone;   // values have D's type
  Activation activation = Activation::kIdentity;
  Auxiliary auxiliary = Auxiliary::kNone;

  bool operator==(const Epilogue&) const = default;

  bool is_identity() const { return *this == Epilogue{}; }
  bool writes_x() const { return auxiliary != Auxiliary::kNone; }
};

// Not ok for a value outside of its enum.
Status check(const Epilogue& epilogue);
// "bias per row, relu", for messages.
std::string describe(const Epilogue& epilogue);
// One word for the command line and records: "none", "scale_col+bias_row+gelu_erf+aux".
std::string name_of(const Epilogue& epilogue);
// "relu, gelu or gelu_erf", for help.
std::string activation_names();
// Parses the same words, in any order; throws StatusError that lists what is accepted.
Epilogue parse_epilogue(std::string_view name);

}  // namespace tessera
