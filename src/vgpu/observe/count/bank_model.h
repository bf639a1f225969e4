// Counts the wavefronts of an access to shared memory. In a wavefront each of the 32 banks, 4 bytes
// wide, serves one word. A word goes to all lanes that request it at once.
#pragma once

#include <cstdint>

#include "vgpu/observe/count/lanes_of_access.h"
#include "vgpu/report/memory_counts.h"

namespace tessera::vgpu {

inline constexpr std::uint32_t kWordBytes = 4;  // width of a bank

enum class BankModel { kPlain, kPair };

// `merges`: whether the instruction is an ordinary load, which the pair model may merge.
// lanes_together() returns how many lanes a pass serves: 32 of 4 bytes, 16 of 8 or 8 of 16; twice
// as many if the pair model merges.
int lanes_together(BankModel model, const LaneAccess& access, bool merges);
BankCounts count_banks(BankModel model, const LaneAccess& access, bool merges);

}  // namespace tessera::vgpu
