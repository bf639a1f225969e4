// Scale factors in FP32, for operands of narrow types. op(A) and op(B) are multiplied by their
// factors when they are read, and D is multiplied by its factors before it is rounded.
#pragma once

#include <string>

#include "base/status.h"

namespace tessera {

enum class ScaleKind {
  kNone,
  kPerTensor,  // one factor
  kPerRow,     // one factor for each row of op(A) or D, for each column of op(B)
};

struct Scales {
  ScaleKind a = ScaleKind::kNone, b = ScaleKind::kNone, d = ScaleKind::kNone;

  bool operator==(const Scales&) const = default;
  bool none() const {
    return a == ScaleKind::kNone && b == ScaleKind::kNone && d == ScaleKind::kNone;
  }
};

// Returns an error if a scale is not a value of its enum.
Status check(const Scales& scales);
// Describes the scales for messages: "A per row, D per tensor".
std::string describe(const Scales& scales);

}  // namespace tessera
