#include "gemm/steps/terms.h"

#include <cstddef>

#include "base/divide.h"
#include "gemm/options.h"
#include "kernels/passes/terms_params.h"

namespace tessera::gemm {
namespace {

using passes::SplitOperand;
using passes::SplitParams;
using passes::TermsOf;

constexpr int kTerms = 2, kTermBytes = 2;

// The bytes of `count` numbers: one for each row, or one for each CTA.
std::int64_t bytes_of_words(std::int64_t count) {
  return round_up(count * static_cast<std::int64_t>(sizeof(int)), kWorkspaceAlignment);
}

SplitOperand operand_of(const TermsSide& side) {
  return {.from = nullptr,
          .to = nullptr,
          .exponents = nullptr,
          .lost = nullptr,
          .outer = side.form.outer,
          .k = side.form.k,
          .from_outer = side.from_outer,
          .from_k = side.from_k,
          .row = side.form.row(),
          .strips = side.is_packed ? 0 : side.form.clusters()};
}

void patch_split(Step& step, std::size_t at, const TermsSide& side) {
  if (side.is_packed) return;
  const auto written = [&](std::size_t field, std::int64_t to) {
    step.addresses.push_back({at + field, side.to.moved(to), Use::kWritten});
  };
  step.addresses.push_back({at + offsetof(SplitOperand, from), side.from});
  written(offsetof(SplitOperand, to), 0);
  written(offsetof(SplitOperand, exponents), side.form.exponents());
  written(offsetof(SplitOperand, lost), side.form.lost());
}

}  // namespace

std::int64_t TermsForm::row() const { return kTerms * split_k; }
std::int64_t TermsForm::clusters() const { return ceil_div(outer, passes::kSplitOuter); }
std::int64_t TermsForm::ctas() const { return clusters() * passes::split_ctas(k); }
std::int64_t TermsForm::bytes_of_terms() const { return outer * row() * kTermBytes; }
std::int64_t TermsForm::exponents() const {
  return round_up(bytes_of_terms(), kWorkspaceAlignment);
}
std::int64_t TermsForm::lost() const { return exponents() + bytes_of_words(outer); }
std::int64_t TermsForm::bytes() const { return k == 0 ? 0 : lost() + bytes_of_words(ctas()); }

TermsSides::TermsSides(const Product& product, TermsSplit split, PlannedAddress first_temp)
    : low_exponent(split.low_exponent) {
  const GemmParams& p = product.params;
  PlannedAddress second_temp = first_temp;
  ++second_temp.temp;
  a = {{p.m, p.k, split.k}, p.a_row, p.a_col, product.a, first_temp, false};
  b = {{p.n, p.k, split.k}, p.b_col, p.b_row, product.b, second_temp, false};
}

void TermsSides::pack(TermsSide& side) {
  side.is_packed = true;
  side.to = {packed_slot_of(side.from.slot)};
}

Step TermsSides::step(const std::string& entry) const {
  const int resident = passes::resident_slabs(a.form.k), ctas = passes::split_ctas(a.form.k);
  const SplitParams params{
      .a = operand_of(a), .b = operand_of(b), .low_exponent = low_exponent, .resident = resident};
  LaunchShape shape{.grid = (params.a.strips + params.b.strips) * ctas,
                    .block = passes::kSplitThreads,
                    .shared_bytes = resident * passes::kSlabBytes};
  if (ctas > 1) {
    shape.cluster[0] = ctas;
    shape.cluster[1] = shape.cluster[2] = 1;
  }
  Step step = step_of(Pass::kTerms, entry, shape, params);
  step.launch.param_offsets = {0};
  patch_split(step, offsetof(SplitParams, a), a);
  patch_split(step, offsetof(SplitParams, b), b);
  return step;
}

void patch_terms(Step& step, std::size_t offset, const TermsSide& side) {
  step.addresses.push_back(
      {offset + offsetof(TermsOf, exponents), side.to.moved(side.form.exponents())});
  step.addresses.push_back({offset + offsetof(TermsOf, lost), side.to.moved(side.form.lost())});
}

}  // namespace tessera::gemm
