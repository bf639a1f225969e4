#include "gemm/steps/terms.h"

#include <cstddef>

#include "base/divide.h"
#include "gemm/options.h"
#include "kernels/passes/terms_params.h"

namespace tessera::gemm {
namespace {

using passes::SplitOperand;
using passes::SplitParams;

constexpr int kTerms = 2, kTermBytes = 2;

std::int64_t strips_of(std::int64_t outer) { return ceil_div(outer, passes::kSplitOuter); }

// Bytes of one number for each row.
std::int64_t bytes_of_words(std::int64_t count) {
  return round_up(count * static_cast<std::int64_t>(sizeof(int)), kWorkspaceAlignment);
}

}  // namespace

Terms::Terms(const GemmParams& p, std::int64_t k) : p_(p), k_(k) {}

std::int64_t Terms::row() const { return kTerms * k_; }
std::int64_t Terms::bytes_of_a() const { return p_.m * row() * kTermBytes; }
std::int64_t Terms::bytes_of_b() const { return p_.n * row() * kTermBytes; }
std::int64_t Terms::ctas() const {
  return (strips_of(p_.m) + strips_of(p_.n)) * passes::split_ctas(p_.k);
}
std::int64_t Terms::exponents_a() const { return bytes_of_words(ctas()); }
std::int64_t Terms::exponents_b() const { return exponents_a() + bytes_of_words(p_.m); }

std::vector<std::int64_t> Terms::temps() const {
  if (p_.k == 0) return {0, 0, 0};
  return {bytes_of_a(), bytes_of_b(), exponents_b() + bytes_of_words(p_.n)};
}

Step Terms::step(const std::string& entry, const Product& product, PlannedAddress temps) const {
  const auto operand = [&](std::int64_t outer, std::int64_t from_outer, std::int64_t from_k) {
    return SplitOperand{.from = nullptr,
                        .to = nullptr,
                        .exponents = nullptr,
                        .outer = outer,
                        .k = p_.k,
                        .from_outer = from_outer,
                        .from_k = from_k,
                        .row = row(),
                        .strips = strips_of(outer)};
  };
  const int resident = passes::resident_slabs(p_.k), cluster = passes::split_ctas(p_.k);
  LaunchShape shape{.grid = ctas(),
                    .block = passes::kSplitThreads,
                    .shared_bytes = resident * passes::kSlabBytes};
  if (cluster > 1) shape.cluster[0] = cluster, shape.cluster[1] = shape.cluster[2] = 1;
  Step step = step_of(Pass::kTerms, entry, shape,
                      SplitParams{.a = operand(p_.m, p_.a_row, p_.a_col),
                                  .b = operand(p_.n, p_.b_col, p_.b_row),
                                  .lost = nullptr,
                                  .resident = resident});
  const auto temp = [&](TermsTemp number) { return address_of_temp(temps.temp + number); };
  const auto patch = [&](std::size_t at, const PlannedAddress& from, TermsTemp to,
                         std::int64_t exponents) {
    step.addresses.push_back({at + offsetof(SplitOperand, from), from});
    step.addresses.push_back({at + offsetof(SplitOperand, to), temp(to), Use::kWritten});
    step.addresses.push_back(
        {at + offsetof(SplitOperand, exponents), temp(kScales).moved(exponents), Use::kWritten});
  };
  patch(offsetof(SplitParams, a), product.a, kTermsOfA, exponents_a());
  patch(offsetof(SplitParams, b), product.b, kTermsOfB, exponents_b());
  step.addresses.push_back({offsetof(SplitParams, lost), temp(kScales), Use::kWritten});
  return step;
}

}  // namespace tessera::gemm
