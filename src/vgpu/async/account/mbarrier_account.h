// The events of a barrier object in its current phase: arrivals, promised bytes (expect_tx) and
// delivered bytes. If the phase never ends, they show what is missing, and at which lines.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "vgpu/report/finding.h"

namespace tessera::vgpu {

struct Kernel;
struct Mbarrier;
struct Site;

enum class MbarrierEvent : std::uint8_t { kInit, kArrives, kPromises, kBrings };

// What one instruction did to an object in one phase.
struct MbarrierEntry {
  MbarrierEvent event = MbarrierEvent::kArrives;
  std::uint32_t instruction = 0;
  std::uint64_t amount = 0;  // arrivals, or bytes
  std::uint64_t cta = 0;     // the first CTA that did it
  int warp = -1, lane = -1;
};

class MbarrierAccount {
 public:
  void note(const Site& site, MbarrierEvent event, std::uint64_t amount);
  void begin_phase();
  const std::vector<MbarrierEntry>& entries() const { return entries_; }
  // The entries of the previous phase, without the initialisation.
  const std::vector<MbarrierEntry>& before() const { return before_; }
  std::uint64_t sum(MbarrierEvent event) const;

 private:
  std::vector<MbarrierEntry> entries_;  // the initialisation first
  std::vector<MbarrierEntry> before_;
};

// Whether some of the arrivals or bytes of the current phase have come, but not all.
bool some_came(const Mbarrier& object);
// Returns why the phase does not end, in one sentence: "it waits for 65 arrivals, and 64 came".
std::string missing_at(const Mbarrier& object);
// Returns what to change so that the phase can end.
std::string remedy_for(const Mbarrier& object);
// Returns the lines of the current phase's events and, if there are none, of the previous phase's.
std::vector<FindingPlace> places_of(const Mbarrier& object, const Kernel& kernel);

}  // namespace tessera::vgpu
