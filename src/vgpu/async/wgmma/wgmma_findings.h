// Findings and reports about a wgmma: the bytes that it fetches, and its errors.
#pragma once

#include <initializer_list>
#include <span>

#include "vgpu/async/wgmma/wgmma_work.h"
#include "vgpu/report/observer.h"

namespace tessera::vgpu {

// Offsets of registers in the frame.
std::span<const std::uint32_t> accumulators_of(const WgmmaWork& work);
std::span<const std::uint32_t> factors_of(const WgmmaWork& work);    // A's; empty if in memory
std::span<const std::uint32_t> registers_of(const WgmmaWork& work);  // both

// The chunks of A and B as accesses of the agent, neighbours together.
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
// Reports to the observer, which must exist; the later place comes first.
void notice_wgmma(const Lanes& lanes, const WgmmaRule& rule,
                  std::initializer_list<WgmmaPlace> places);

// Descriptors that differ between lanes, or have bits that no field owns.
void check_wgmma_descriptors(const Lanes& lanes, const Op& op, const WgmmaWork& work);

}  // namespace tessera::vgpu
