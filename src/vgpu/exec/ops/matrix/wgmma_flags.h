// The meaning of Op::flags for wgmma.mma_async. Its operands are the descriptor of B; that of A,
// unless A is in registers; and the predicate of scale-d, if there is one.
#pragma once

#include <cstdint>

namespace tessera::vgpu {

constexpr std::uint32_t kAInRegisters = 1;
constexpr std::uint32_t kAMnMajor = 2, kBMnMajor = 4;
constexpr std::uint32_t kAlwaysAccumulates = 8, kNeverAccumulates = 16;
constexpr std::uint32_t kAccumulateNegated = 32;

}  // namespace tessera::vgpu
