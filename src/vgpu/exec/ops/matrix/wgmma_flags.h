// The meaning of Op::flags for wgmma.mma_async. Its operands are B's descriptor, then A's if A is
// not in registers, then the predicate for D's old value, if there is one.
#pragma once

#include <cstdint>

namespace tessera::vgpu {

constexpr std::uint32_t kAInRegisters = 1;
constexpr std::uint32_t kAMnMajor = 2, kBMnMajor = 4;
constexpr std::uint32_t kAlwaysAccumulates = 8, kNeverAccumulates = 16;
constexpr std::uint32_t kAccumulateNegated = 32;

}  // namespace tessera::vgpu
