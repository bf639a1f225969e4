// Special registers. Those that are constant while a CTA runs are filled when its frame is made.
// Clocks are read when the instruction runs.
#include <array>
#include <utility>

#include "vgpu/exec/cluster.h"
#include "vgpu/exec/decode/decoder.h"

namespace tessera::vgpu {
namespace {

constexpr std::array<std::pair<std::string_view, Special>, 49> kSpecials = {{
    {"%tid.x", Special::kTidX},
    {"%tid.y", Special::kTidY},
    {"%tid.z", Special::kTidZ},
    {"%ntid.x", Special::kNtidX},
    {"%ntid.y", Special::kNtidY},
    {"%ntid.z", Special::kNtidZ},
    {"%ctaid.x", Special::kCtaidX},
    {"%ctaid.y", Special::kCtaidY},
    {"%ctaid.z", Special::kCtaidZ},
    {"%nctaid.x", Special::kNctaidX},
    {"%nctaid.y", Special::kNctaidY},
    {"%nctaid.z", Special::kNctaidZ},
    {"%laneid", Special::kLaneid},
    {"%warpid", Special::kWarpid},
    {"%nwarpid", Special::kNwarpid},
    {"%smid", Special::kSmid},
    {"%nsmid", Special::kNsmid},
    {"%gridid", Special::kGridid},
    {"%lanemask_eq", Special::kLanemaskEq},
    {"%lanemask_le", Special::kLanemaskLe},
    {"%lanemask_lt", Special::kLanemaskLt},
    {"%lanemask_ge", Special::kLanemaskGe},
    {"%lanemask_gt", Special::kLanemaskGt},
    {"%total_smem_size", Special::kTotalShared},
    {"%dynamic_smem_size", Special::kDynamicShared},
    {"%is_explicit_cluster", Special::kIsExplicitCluster},
    {"%cluster_ctaid.x", Special::kClusterCtaidX},
    {"%cluster_ctaid.y", Special::kClusterCtaidY},
    {"%cluster_ctaid.z", Special::kClusterCtaidZ},
    {"%cluster_nctaid.x", Special::kClusterNctaidX},
    {"%cluster_nctaid.y", Special::kClusterNctaidY},
    {"%cluster_nctaid.z", Special::kClusterNctaidZ},
    {"%clusterid.x", Special::kClusteridX},
    {"%clusterid.y", Special::kClusteridY},
    {"%clusterid.z", Special::kClusteridZ},
    {"%nclusterid.x", Special::kNclusteridX},
    {"%nclusterid.y", Special::kNclusteridY},
    {"%nclusterid.z", Special::kNclusteridZ},
    {"%cluster_ctarank", Special::kClusterCtarank},
    {"%cluster_nctarank", Special::kClusterNctarank},
    {"%tid.w", Special::kZero},
    {"%ctaid.w", Special::kZero},
    {"%reserved_smem_offset_begin", Special::kZero},
    {"%reserved_smem_offset_end", Special::kReservedShared},
    {"%reserved_smem_offset_cap", Special::kReservedShared},
    {"%reserved_smem_offset_0", Special::kZero},
    {"%reserved_smem_offset_1", Special::kZero},
    // HW: %envreg1 and %envreg2 hold the address of a cooperative launch's workspace, as
    // cooperative_groups.h reads it.
    {"%envreg1", Special::kGridWorkspaceHigh},
    {"%envreg2", Special::kGridWorkspaceLow},
}};

// A clock that counts the cluster's warp instructions. It is monotone and the same in every run,
// but does not measure time.
template <class T, int shift>
void read_clock(const Op* first, const Op* last, Lanes& lanes) {
  for (; first != last; ++first) {
    const std::uint64_t now = warp_of(lanes).cta().cluster().clock();
    T* to = reinterpret_cast<T*>(lanes.registers + first->operand[0]);
    for (int l = 0; l < kLanes; ++l) {
      if (lanes.mask >> l & 1) to[l] = static_cast<T>(now >> shift);
    }
  }
}

Run clock_named(std::string_view name, int bits) {
  const bool high = name == "%clock_hi" || name == "%globaltimer_hi";
  if (high) return read_clock<std::uint32_t, 32>;
  const bool known =
      name == "%clock" || name == "%clock64" || name == "%globaltimer" || name == "%globaltimer_lo";
  if (!known) return nullptr;
  return bits == 64 ? read_clock<std::uint64_t, 0> : read_clock<std::uint32_t, 0>;
}

}  // namespace

Value Decoder::special(const std::string& name, Scalar scalar) {
  if (const Run clock = clock_named(name, bits_of(scalar))) {
    const Value value = temporary(scalar);
    emit_run(clock, std::array{value}, 1);
    mark_approximate();
    return value;
  }
  const auto [at, is_new] = specials_.try_emplace({name, bits_of(scalar)}, kNoValue);
  if (!is_new) return at->second;
  for (const auto& [known, which] : kSpecials) {
    if (known != name) continue;
    Prefill prefill{Prefill::Kind::kSpecial, scalar};
    prefill.special = which;
    kernel_->uses_grid_workspace |= which == Special::kGridWorkspaceLow;
    return at->second = prefilled(prefill, scalar);
  }
  unsupported("special register " + name + " is not implemented");
}

}  // namespace tessera::vgpu
