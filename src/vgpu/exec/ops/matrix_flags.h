// How a fragment lies in memory: Op::flags of wmma.address. A lane's outer index is lane / 4, its
// inner one lane % 4; of an accumulator twice that, plus the register.
#pragma once

#include <cstdint>

namespace tessera::vgpu {

constexpr std::uint32_t kInnerStrided = 1;  // the stride multiplies the inner index
constexpr std::uint32_t kAccumulator = 2;
constexpr std::uint32_t kSecondRegister = 4;

}  // namespace tessera::vgpu
