// Several threads store to one address at the same time. If they store the same value, this is a
// race by the memory model, but every GPU gives the same result.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "vgpu/observe/check/cluster_checker.h"

namespace tessera::vgpu::check {
namespace {

constexpr std::size_t kMostBytes = 32;  // the most bytes that a lane stores in one access

}  // namespace

// Whether all lanes that store to this lane's bytes store this lane's value.
bool ClusterChecker::store_the_same(const WarpAccess& access, int lane, std::uint32_t lanes) {
  if (!access.values) return false;
  std::byte mine[kMostBytes], other[kMostBytes];
  const std::size_t bytes = access.values->bytes_of(lane, mine);
  for (; lanes != 0; lanes &= lanes - 1) {
    const int l = std::countr_zero(lanes);
    const std::uint64_t a = access.address[lane], b = access.address[l];
    if (a + bytes <= b || b + bytes <= a) continue;
    access.values->bytes_of(l, other);
    if (a != b || std::memcmp(mine, other, bytes) != 0) return false;
  }
  return true;
}

// Returns the value that the lane stores to the cell at this address, which is among its bytes.
std::uint32_t ClusterChecker::value_for(const WarpAccess& access, int lane,
                                        std::uint64_t cell) const {
  std::byte all[kMostBytes];
  const std::size_t bytes = access.values->bytes_of(lane, all);
  const std::size_t offset = cell - access.address[lane];
  if (offset >= bytes) return 0;
  std::uint32_t value = 0;
  std::memcpy(&value, all + offset,
              std::min<std::size_t>(bytes - offset, std::size_t{1} << launch_.cell_shift));
  return value;
}

// Whether the past access wrote the value that the current access stores to the cell.
bool ClusterChecker::stores_what_lies_there(const Guest& guest, const Past& past) const {
  if (!launch_.context.observation.allows_same_values) return false;
  if (guest.kind != AccessKind::kStore || !guest.access || !guest.access->values) return false;
  if (!past.wrote || is_strong(past.site) || guest.reach != Reach::kNobody) return false;
  if (agents_.is_agent(past.entity)) return false;
  const auto* change = log_.change_of(guest.by.instruction, instruction_of(past.site));
  if (change && change->accumulates) return false;
  const WarpAccess& access = *guest.access;
  const std::uint32_t mine = value_for(access, guest.lane, guest.address);
  if (!access.shared) return guest.there == mine;
  std::uint32_t there = 0;
  std::memcpy(&there, access.shared + guest.address, std::size_t{1} << launch_.cell_shift);
  return there == mine;
}

void ClusterChecker::report_same_value(const Guest& guest, Site before) {
  Finding* finding = log_.note("same-value-stores", Severity::kNote, guest.by.instruction,
                               instruction_of(before), guest.address);
  if (!finding) return;
  const Place place = place_of(guest);
  Place earlier = place;
  earlier.instruction = instruction_of(before);
  earlier.warp = earlier.lane = -1;
  fill(*finding, place, earlier);
  finding->message = fmt::format(
      "Several threads store the same value to one place of {} ({}): that value stays on every "
      "GPU, though PTX calls it a race",
      name_of(guest.window), log_.line(place.instruction));
  finding->hint = "nothing, as long as the values are always the same";
}

// Whether the past access was made by another lane in the same execution of the store.
bool ClusterChecker::is_same_issue(const Guest& guest, const Past& past) {
  if (guest.kind != AccessKind::kStore || !guest.access || !past.wrote) return false;
  const int lane = lane_of(past.site);
  const std::uint64_t there = guest.access->address[lane];
  return instruction_of(past.site) == guest.by.instruction && (guest.by.mask >> lane & 1) != 0 &&
         guest.address - there < guest.bytes;
}

void ClusterChecker::report_same_store(const Guest& guest) {
  const Place place = place_of(guest);
  Finding* finding =
      log_.note("race", Severity::kError, place.instruction, place.instruction, guest.address);
  if (!finding) return;
  fill(*finding, place, place);
  finding->message =
      capital(fmt::format("several lanes of {} store to one place of {} at once; "
                          "which value stays is undefined",
                          who(place, false), name_of(guest.window)));
  finding->hint = fmt::format("let one lane store, or give each lane of {} a place of its own",
                              log_.line(place.instruction));
}

}  // namespace tessera::vgpu::check
