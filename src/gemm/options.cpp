#include "gemm/options.h"

#include <algorithm>

namespace tessera::gemm {
namespace {

int alignment_of_address(std::uint64_t address) {
  if (address == 0) return kMostAlignment;
  const std::uint64_t lowest_bit = address & (~address + 1);
  return static_cast<int>(std::min<std::uint64_t>(lowest_bit, kMostAlignment));
}

}  // namespace

bool operator==(const PlanOptions& x, const PlanOptions& y) {
  const bool same_kernel = x.kernel.has_value() == y.kernel.has_value() &&
                           (!x.kernel || (x.kernel->kernel == y.kernel->kernel &&
                                          x.kernel->variant == y.kernel->variant &&
                                          x.kernel->decision == y.kernel->decision));
  return same_kernel && x.workspace_limit == y.workspace_limit && x.split == y.split &&
         x.repack == y.repack && x.remainder == y.remainder && x.fold == y.fold &&
         x.deterministic == y.deterministic && x.packed == y.packed;
}

DeviceLimits limits_of(const DeviceInfo& info) {
  return {info.sm, std::max(1, info.sms), info.l2_bytes, &costs_for(info.name)};
}

Alignment alignment_of(const Operands& operands) {
  return {alignment_of_address(operands.a), alignment_of_address(operands.b),
          alignment_of_address(operands.c), alignment_of_address(operands.d)};
}

}  // namespace tessera::gemm
