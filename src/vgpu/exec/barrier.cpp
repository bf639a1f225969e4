// The rules of bar.sync, bar.arrive and bar.red (PTX ISA, bar and barrier).
#include "vgpu/exec/barrier.h"

#include <fmt/format.h>

namespace tessera::vgpu {

std::string Barrier::arrive(BarrierKind new_kind, std::uint32_t new_expected,
                            std::uint32_t cta_threads) {
  const std::uint32_t whole_warps = (cta_threads + kLanes - 1) / kLanes * kLanes;
  if (new_expected % kLanes != 0) {
    return fmt::format("the number of threads, {}, is no multiple of {}", new_expected, kLanes);
  }
  if (new_expected > whole_warps) {
    return fmt::format("it waits for {} threads, the CTA has {}", new_expected, cta_threads);
  }
  const bool new_reduces = new_kind > BarrierKind::kArrive;
  if (arrived == 0) {
    expected = new_expected;
    reduces = new_reduces;
    kind = new_kind;
    trues = threads = 0;
  } else if (new_expected != expected) {
    return fmt::format("it waits for {} threads, those before it for {}", new_expected, expected);
  } else if (reduces != new_reduces || (reduces && kind != new_kind)) {
    return "different kinds of barrier instructions meet";
  }
  arrived += kLanes;
  return {};
}

std::uint32_t Barrier::result() const {
  switch (kind) {
    case BarrierKind::kPopc:
      return trues;
    case BarrierKind::kAnd:
      return trues == threads;
    case BarrierKind::kOr:
      return trues != 0;
    default:
      return 0;
  }
}

}  // namespace tessera::vgpu
