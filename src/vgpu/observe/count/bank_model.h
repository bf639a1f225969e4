// How many wavefronts an access to shared memory takes. 32 banks of 4 bytes serve one word each per
// wavefront; a word that several lanes request is served to all of them at once.
#pragma once

#include <cstdint>

#include "vgpu/observe/count/lanes_of_access.h"
#include "vgpu/report/memory_counts.h"

namespace tessera::vgpu {

inline constexpr std::uint32_t kWordBytes = 4;  // width of a bank

enum class BankModel { kPlain, kPair };

// `merges`: whether the instruction is one that the pair model may merge: an ordinary load.
// How many lanes are served together: 32 of 4 bytes, 16 of 8, 8 of 16; twice as many where the pair
// model merges.
int lanes_together(BankModel model, const LaneAccess& access, bool merges);
BankCounts count_banks(BankModel model, const LaneAccess& access, bool merges);

}  // namespace tessera::vgpu
