// The step before a product of terms: it splits FP32 operands into two FP16 terms each. The terms
// are temps, and so is what is known of the rows of A and of the columns of B.
#pragma once

#include <string>
#include <vector>

#include "gemm/steps/step.h"

namespace tessera::gemm {

// Its temps, numbered from a product's first one on. kScales: bits of what each CTA of the step
// would lose, and exponents of powers of two, one for each row of A and for each column of B.
enum TermsTemp { kTermsOfA, kTermsOfB, kScales };

// What becomes of a product's operands. `k`: what is split of their k, filled up with zeros: a
// multiple of passes::kTermGroup.
class Terms {
 public:
  Terms(const GemmParams& p, std::int64_t k);

  std::int64_t row() const;  // terms from row to row
  std::int64_t bytes() const { return bytes_of_a() + bytes_of_b(); }
  std::int64_t ctas() const;  // of the step; each says what it would lose
  std::vector<std::int64_t> temps() const;

  // Where they are in the last temp; what would be lost comes first.
  std::int64_t exponents_a() const;
  std::int64_t exponents_b() const;

  // `temps`: the address of the first one.
  Step step(const std::string& entry, const Product& product, PlannedAddress temps) const;

 private:
  std::int64_t bytes_of_a() const;
  std::int64_t bytes_of_b() const;

  GemmParams p_;
  std::int64_t k_;
};

}  // namespace tessera::gemm
