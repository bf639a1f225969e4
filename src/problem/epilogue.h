// What happens to a product before it is stored:
//   X = scale * (alpha A B + beta C) + bias
//   D = activation(X)
// in exactly this order, in the type that products are summed in, and rounded once to the type of
// D. A residual is C with a beta of 1: it is added before the activation.
#pragma once

#include <string>
#include <string_view>

#include "base/activations.h"
#include "base/status.h"

namespace tessera {

// A vector in addition to D: one value for each row, or for each column, of D in the caller's
// order. All products of a batch share it.
enum class VectorKind { kNone, kPerRow, kPerColumn };

// A second output, which training needs: X, rounded once to D's type, and of D's size. D is
// computed from the X that is not rounded.
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

// Returns an error if a field is not a value of its enum.
Status check(const Epilogue& epilogue);
// Describes an epilogue for messages: "bias per row, relu".
std::string describe(const Epilogue& epilogue);
// The name of an epilogue, as one word for the command line and records: "none",
// "scale_col+bias_row+gelu_erf+aux".
std::string name_of(const Epilogue& epilogue);
// Lists the activations for help texts: "relu, gelu or gelu_erf".
std::string activation_names();
// Parses a name that name_of(Epilogue) writes; its parts may have any order. Throws StatusError
// with a list of the accepted words.
Epilogue parse_epilogue(std::string_view name);

}  // namespace tessera
