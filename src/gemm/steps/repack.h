// A step before a product: it copies operands into temps, as tensor copies need
// them: in whole, aligned rows.
#pragma once

#include <optional>
#include <string>

#include "gemm/steps/step.h"

namespace tessera::gemm {

// An operand that is copied: (outer, k) is element outer * from_outer + k * from_k; one stride is
// 1. The copy has `k` rows of `outer` elements; for rows along k, the names change places.
struct RepackedOperand {
  long long outer, k;
  long long from_outer, from_k;
  PlannedAddress from, to;
};

// The row stride of a copy in elements, and the copy's bytes. `element_bytes`: 1, 2 or 4.
long long repacked_ld(long long outer, int element_bytes);
std::int64_t repacked_bytes(long long outer, long long k, int element_bytes);

// Copies A, B or both. Elements of 2 bytes are copied row by row: from_outer is 1.
Step repack_step(const std::string& entry, int element_bytes,
                 const std::optional<RepackedOperand>& a, const std::optional<RepackedOperand>& b);

}  // namespace tessera::gemm
