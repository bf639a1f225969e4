// Op::flags of a memory operation. The low bits hold a Window; the other bits are below.
#pragma once

#include <cstdint>

namespace tessera::vgpu {

constexpr std::uint32_t kWindowMask = 7;
constexpr std::uint32_t kAddress64 = 8;  // the address register has 64 bits, not 32
// The MemoryOrder and the MemoryScope of the access.
constexpr std::uint32_t kOrderShift = 4, kOrderMask = 7;
constexpr std::uint32_t kScopeShift = 7, kScopeMask = 3;
constexpr std::uint32_t kSharedCluster = 1 << 9;  // may be in another CTA of the cluster

}  // namespace tessera::vgpu
