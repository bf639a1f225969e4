// Constants and special registers are ordinary registers, which are filled when a frame is made. So
// operations need not distinguish them.
#include "vgpu/exec/frame.h"

#include <cstring>

#include "vgpu/report/windows.h"

namespace tessera::vgpu {
namespace {

template <class T>
void broadcast(std::byte* to, T value) {
  for (int l = 0; l < kLanes; ++l) std::memcpy(to + l * sizeof(T), &value, sizeof(T));
}

// Sets a predicate, which has one bit per lane.
void broadcast_flag(std::byte* to, bool value) {
  const std::uint32_t lanes = value ? kAllLanes : 0;
  std::memcpy(to, &lanes, sizeof lanes);
}

void fill(std::byte* to, Scalar scalar, std::uint64_t bits) {
  switch (scalar) {
    case Scalar::kPredicate:
      return broadcast_flag(to, bits != 0);
    case Scalar::k16:
    case Scalar::kF16:
      return broadcast(to, static_cast<std::uint16_t>(bits));
    case Scalar::k32:
    case Scalar::kF32:
      return broadcast(to, static_cast<std::uint32_t>(bits));
    default:
      return broadcast(to, bits);
  }
}

std::uint64_t special_value(Special special, const WarpPlace& place, std::uint32_t lane) {
  const std::uint32_t thread = place.warp * kLanes + lane;
  const std::uint32_t below = (std::uint32_t{1} << lane) - 1;
  switch (special) {
    case Special::kTidX:
      return thread % place.block[0];
    case Special::kTidY:
      return thread / place.block[0] % place.block[1];
    case Special::kTidZ:
      return thread / place.block[0] / place.block[1];
    case Special::kNtidX:
      return place.block[0];
    case Special::kNtidY:
      return place.block[1];
    case Special::kNtidZ:
      return place.block[2];
    case Special::kCtaidX:
      return place.cta[0];
    case Special::kCtaidY:
      return place.cta[1];
    case Special::kCtaidZ:
      return place.cta[2];
    case Special::kNctaidX:
      return place.grid[0];
    case Special::kNctaidY:
      return place.grid[1];
    case Special::kNctaidZ:
      return place.grid[2];
    case Special::kLaneid:
      return lane;
    case Special::kWarpid:
      return place.warp;
    case Special::kNwarpid:
      return place.warps;
    case Special::kLanemaskEq:
      return below + 1;
    case Special::kLanemaskLe:
      return below | (below + 1);
    case Special::kLanemaskLt:
      return below;
    case Special::kLanemaskGe:
      return ~below;
    case Special::kLanemaskGt:
      return ~below & ~(below + 1);
    case Special::kClusterCtaidX:
      return place.cta[0] % place.cluster[0];
    case Special::kClusterCtaidY:
      return place.cta[1] % place.cluster[1];
    case Special::kClusterCtaidZ:
      return place.cta[2] % place.cluster[2];
    case Special::kClusterNctaidX:
      return place.cluster[0];
    case Special::kClusterNctaidY:
      return place.cluster[1];
    case Special::kClusterNctaidZ:
      return place.cluster[2];
    case Special::kClusterCtarank:
      return place.rank;
    case Special::kClusterNctarank:
      return place.cluster[0] * place.cluster[1] * place.cluster[2];
    case Special::kClusteridX:
      return place.cta[0] / place.cluster[0];
    case Special::kClusteridY:
      return place.cta[1] / place.cluster[1];
    case Special::kClusteridZ:
      return place.cta[2] / place.cluster[2];
    case Special::kNclusteridX:
      return place.grid[0] / place.cluster[0];
    case Special::kNclusteridY:
      return place.grid[1] / place.cluster[1];
    case Special::kNclusteridZ:
      return place.grid[2] / place.cluster[2];
    case Special::kIsExplicitCluster:
      return place.explicit_cluster;
    case Special::kNsmid:
      return 1;
    case Special::kTotalShared:
      return place.shared_bytes;
    case Special::kDynamicShared:
      return place.dynamic_shared_bytes;
    case Special::kReservedShared:
      return kSharedBase;
    case Special::kGridWorkspaceLow:
      return place.grid_workspace & 0xffffffffu;
    case Special::kGridWorkspaceHigh:
      return place.grid_workspace >> 32;
    case Special::kSmid:
    case Special::kGridid:
    case Special::kZero:
      return 0;
  }
  return 0;
}

template <class T>
void fill_special(std::byte* to, Special special, const WarpPlace& place) {
  for (std::uint32_t l = 0; l < kLanes; ++l) {
    const T value = static_cast<T>(special_value(special, place, l));
    std::memcpy(to + l * sizeof(T), &value, sizeof(T));
  }
}

}  // namespace

void fill_constants(const Frame& frame, std::uint32_t rank) {
  for (const Prefill& prefill : frame.function->prefills) {
    std::byte* to = frame.registers.get() + prefill.offset;
    if (prefill.kind == Prefill::Kind::kConstant) fill(to, prefill.scalar, prefill.bits);
    if (prefill.kind == Prefill::Kind::kLocalAddress) {
      fill(to, prefill.scalar, kLocalBase + frame.local_begin + prefill.bits);
    }
    if (prefill.kind == Prefill::Kind::kSharedAddress) {
      fill(to, prefill.scalar, prefill.bits + (rank << kRankShift));
    }
  }
}

void fill_place(const Frame& frame, const WarpPlace& place) {
  for (const Prefill& prefill : frame.function->prefills) {
    std::byte* to = frame.registers.get() + prefill.offset;
    if (prefill.kind == Prefill::Kind::kPoison) {
      const bool predicate = prefill.scalar == Scalar::kPredicate;
      // WHY the highest bit: undefined bits that are all ones, the default, must give a false
      // predicate.
      fill(to, prefill.scalar, predicate ? ~place.undefined >> 63 : place.undefined);
    } else if (prefill.kind == Prefill::Kind::kSpecial) {
      if (prefill.scalar == Scalar::kPredicate) {
        broadcast_flag(to, special_value(prefill.special, place, 0) != 0);
      }
      if (prefill.scalar == Scalar::k16) fill_special<std::uint16_t>(to, prefill.special, place);
      if (prefill.scalar == Scalar::k32) fill_special<std::uint32_t>(to, prefill.special, place);
      if (prefill.scalar == Scalar::k64) fill_special<std::uint64_t>(to, prefill.special, place);
    }
  }
}

}  // namespace tessera::vgpu
