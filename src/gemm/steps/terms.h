// The step before a product of terms: it splits FP32 operands into two FP16 terms each.
#pragma once

#include <string>
#include <vector>

#include "gemm/steps/step.h"

namespace tessera::gemm {

// How operands are split.
struct TermsSplit {
  std::int64_t k;    // k filled up with zeros to a multiple of passes::kTermGroup
  int low_exponent;  // low terms are multiplied by 2 to this power
};

// The memory of an operand that is split: the terms, the exponents of the rows, and for each CTA of
// the step a word that tells what the terms lose. All of these follow from the operand alone.
struct TermsForm {
  std::int64_t outer, k;  // rows of A or columns of B
  std::int64_t split_k;   // k filled up with zeros to a multiple of passes::kTermGroup

  std::int64_t row() const;       // terms from one row to the next
  std::int64_t clusters() const;  // clusters of the step, each for passes::kSplitOuter rows
  std::int64_t ctas() const;
  std::int64_t bytes_of_terms() const;
  // The byte offsets of the exponents and of the words, and the bytes of all.
  std::int64_t exponents() const;
  std::int64_t lost() const;
  std::int64_t bytes() const;
};

// An operand of a product, and its terms.
struct TermsSide {
  TermsForm form;
  std::int64_t from_outer, from_k;  // strides in elements
  PlannedAddress from, to;
  bool is_packed;  // the caller has packed the operand; else the step splits it

  std::int64_t temp_bytes() const { return is_packed ? 0 : form.bytes(); }
  std::int64_t bytes_to_split() const { return is_packed ? 0 : form.bytes_of_terms(); }
};

struct TermsSides {
  TermsSide a, b;
  int low_exponent;

  // Uses two temps: `first_temp` and the one after it.
  TermsSides(const Product& product, TermsSplit split, PlannedAddress first_temp);
  // Marks A or B as packed by the caller.
  void pack(TermsSide& side);

  bool are_packed() const { return a.is_packed && b.is_packed; }
  std::vector<std::int64_t> temps() const { return {a.temp_bytes(), b.temp_bytes()}; }
  std::int64_t bytes_to_split() const { return a.bytes_to_split() + b.bytes_to_split(); }
  // The step that splits the operands that are not packed.
  Step step(const std::string& entry) const;
};

// Patches the addresses of a passes::TermsOf at byte `offset` of the step's parameters.
void patch_terms(Step& step, std::size_t offset, const TermsSide& side);

}  // namespace tessera::gemm
