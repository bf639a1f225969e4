// The account of a barrier object in its phase: arrivals, promised bytes and delivered bytes. When
// a phase never ends, the account shows what is missing, and at which lines.
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

// Everything that one instruction did to an object in one phase.
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
  // Entries of the phase before, without the initialisation.
  const std::vector<MbarrierEntry>& before() const { return before_; }
  std::uint64_t sum(MbarrierEvent event) const;

 private:
  std::vector<MbarrierEntry> entries_;  // the initialisation first
  std::vector<MbarrierEntry> before_;
};

// Whether its phase got some of what it waits for, but not all.
bool some_came(const Mbarrier& object);
// The reason why the phase does not end, in one sentence: "it waits for 65 arrivals, and 64 came".
std::string missing_at(const Mbarrier& object);
// The remedy for that.
std::string remedy_for(const Mbarrier& object);
// The lines of the account; if nothing came in this phase, those of the phase before.
std::vector<FindingPlace> places_of(const Mbarrier& object, const Kernel& kernel);

}  // namespace tessera::vgpu
