// Scale factors for narrow types, in FP32. op(A) and op(B) are multiplied by theirs when they are
// read, D before it is rounded.
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

// Not ok for a value outside of its enum.
Status check(const Scales& scales);
// "A per row, D per tensor", for messages.
std::string describe(const Scales& scales);

}  // namespace tessera
