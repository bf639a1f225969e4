// Findings and reports about a wgmma: the bytes that it fetches, and its errors.
#pragma once

#include <initializer_list>
#include <span>

#include "vgpu/async/wgmma/wgmma_work.h"
#include "vgpu/report/observer.h"

namespace tessera::vgpu {

// These functions return offsets of registers in the frame.
std::span<const std::uint32_t> accumulators_of(const WgmmaWork& work);
std::span<const std::uint32_t> factors_of(const WgmmaWork& work);    // A's; none if A is in memory
std::span<const std::uint32_t> registers_of(const WgmmaWork& work);  // D's, then A's

// Reports the 16-byte chunks of A and B that the agent reads; adjacent chunks are one access.
void tell_fetches(const Lanes& lanes, const Op& op, const WgmmaWork& work, AgentId agent);

struct WgmmaRule {
  const char* check;
  const char* message;
  const char* hint;
  Severity severity = Severity::kError;
};
extern const WgmmaRule kRegisterInFlight, kNoFirstFence, kNoFence, kMoveBehindFence,
    kNoFenceBetweenShapes, kNoWarpgroup, kWarpgroupDiffers;

struct WgmmaPlace {
  std::uint32_t instruction;
  const char* what;
};
// Reports a finding to the observer, which must not be null. The later place comes first.
void notice_wgmma(const Lanes& lanes, const WgmmaRule& rule,
                  std::initializer_list<WgmmaPlace> places);

// Reports descriptors that differ between lanes, or that have bits outside all fields.
void check_wgmma_descriptors(const Lanes& lanes, const Op& op, const WgmmaWork& work);

}  // namespace tessera::vgpu
