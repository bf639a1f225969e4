#include "vgpu/async/account/mbarrier_account.h"

#include <fmt/format.h>

#include <algorithm>

#include "vgpu/async/mbarrier.h"
#include "vgpu/async/parts.h"

namespace tessera::vgpu {
namespace {

constexpr std::size_t kMostEntries = 12;  // entries kept per phase

std::string plural(std::uint64_t count, const char* one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

std::string what(const MbarrierEntry& entry) {
  switch (entry.event) {
    case MbarrierEvent::kInit:
      return fmt::format("initialised the barrier object for {}", plural(entry.amount, "arrival"));
    case MbarrierEvent::kArrives:
      return plural(entry.amount, "arrival") + " came here";
    case MbarrierEvent::kPromises:
      return fmt::format("promised {} here", plural(entry.amount, "byte"));
    case MbarrierEvent::kBrings:
      return fmt::format("brought {}", plural(entry.amount, "byte"));
  }
  return "";
}

}  // namespace

void MbarrierAccount::note(const Site& site, MbarrierEvent event, std::uint64_t amount) {
  const std::uint32_t instruction = site.op->instruction;
  for (MbarrierEntry& entry : entries_) {
    if (entry.event != event || entry.instruction != instruction) continue;
    entry.amount += amount;
    return;
  }
  if (entries_.size() == kMostEntries) return;
  entries_.push_back({event, instruction, amount, site.warp->cta().index(),
                      static_cast<int>(site.warp->index()), site.lane});
}

void MbarrierAccount::begin_phase() {
  const auto is_init = [](const auto& entry) { return entry.event == MbarrierEvent::kInit; };
  const auto rest = std::find_if_not(entries_.begin(), entries_.end(), is_init);
  before_.assign(rest, entries_.end());
  entries_.erase(rest, entries_.end());
}

std::uint64_t MbarrierAccount::sum(MbarrierEvent event) const {
  std::uint64_t sum = 0;
  for (const MbarrierEntry& entry : entries_) sum += entry.event == event ? entry.amount : 0;
  return sum;
}

bool some_came(const Mbarrier& object) {
  return object.pending < object.expected || object.tx != 0;
}

std::string missing_at(const Mbarrier& object) {
  std::string text;
  if (object.pending != 0) {
    text = fmt::format("it waits for {}, and {} came", plural(object.expected, "arrival"),
                       object.expected - std::min(object.expected, object.pending));
  }
  if (object.tx == 0) return text;
  if (!text.empty()) text += "; ";
  const std::uint64_t promised = object.account.sum(MbarrierEvent::kPromises);
  const std::uint64_t brought = object.account.sum(MbarrierEvent::kBrings);
  return text + fmt::format("{} were promised, and {} came", plural(promised, "byte"), brought);
}

std::string remedy_for(const Mbarrier& object) {
  if (object.pending == 0) {
    return "Promise (expect_tx) exactly the bytes that the copies bring: a box of a tensor counts "
           "in full, also where it lies outside of the tensor.";
  }
  if (object.tx != 0) {
    return "Let everybody arrive that the object was initialised for, and promise the bytes that "
           "the copies bring.";
  }
  return "Initialise the object for as many arrivals as come in each phase, or let the others "
         "arrive, too.";
}

std::vector<FindingPlace> places_of(const Mbarrier& object, const Kernel& kernel) {
  std::vector<FindingPlace> places;
  const auto add = [&](const MbarrierEntry& entry, const char* when) {
    const InstructionInfo& info = kernel.instructions[entry.instruction];
    FindingPlace place;
    place.what = what(entry) + when;
    place.form = info.form;
    place.ptx_line = info.ptx_line;
    place.source_file = info.source_file;
    place.source_line = info.source_line;
    place.callers = info.callers;
    place.cta = entry.cta;
    place.warp = entry.warp;
    place.lane = entry.lane;
    places.push_back(std::move(place));
  };
  bool nothing_came = true;
  for (const MbarrierEntry& entry : object.account.entries()) {
    add(entry, "");
    nothing_came &= entry.event == MbarrierEvent::kInit;
  }
  if (!nothing_came) return places;
  for (const MbarrierEntry& entry : object.account.before()) add(entry, " in the phase before");
  return places;
}

}  // namespace tessera::vgpu
