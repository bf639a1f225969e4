// The bits of Op::flags for a memory operation: its Window in the low bits, and these.
#pragma once

#include <cstdint>

namespace tessera::vgpu {

constexpr std::uint32_t kWindowMask = 7;
constexpr std::uint32_t kAddress64 = 8;  // the address register has 64 bits, not 32
// How the access is ordered, a MemoryOrder and a MemoryScope.
constexpr std::uint32_t kOrderShift = 4, kOrderMask = 7;
constexpr std::uint32_t kScopeShift = 7, kScopeMask = 3;
constexpr std::uint32_t kSharedCluster = 1 << 9;  // may reach into the other CTAs of the cluster

}  // namespace tessera::vgpu
