// The step before a product that copies operands into the form which tensor copies take: whole,
// aligned rows. The copies are temps.
#pragma once

#include <optional>
#include <string>

#include "gemm/steps/step.h"

namespace tessera::gemm {

// An operand that is copied: element (outer, k) is at outer * from_outer + k * from_k, one of which
// is 1. Its copy has `k` rows of `outer` elements. Rows along k exchange the names.
struct RepackedOperand {
  long long outer, k;
  long long from_outer, from_k;
  PlannedAddress from, to;
};

// Elements from row to row of a copy, and its bytes. `element_bytes`: 2 or 4.
long long repacked_ld(long long outer, int element_bytes);
std::int64_t repacked_bytes(long long outer, long long k, int element_bytes);

// Copies one operand or both. Elements of 2 bytes are copied row by row: from_outer is 1.
Step repack_step(const std::string& entry, int element_bytes,
                 const std::optional<RepackedOperand>& a, const std::optional<RepackedOperand>& b);

}  // namespace tessera::gemm
