// Programmatic dependent launch: a grid may start before earlier grids have ended. Until it has
// waited for them, it must not access memory that they write, and must not write at all.
#include <fmt/format.h>

#include "vgpu/observe/check/cluster_checker.h"
#include "vgpu/observe/earlier_launch.h"

namespace tessera::vgpu::check {
namespace {

// Returns "kernel repack (line 30) writes it"; "" if none of the launches writes it.
std::string writer_of(const EarlierLaunch* launch, std::uint64_t address, std::uint64_t bytes) {
  for (; launch; launch = launch->before.get()) {
    const BlockShadow* const block = launch->memory->find(address);
    if (!block) continue;
    const std::uint64_t cell_bytes = block->cell_bytes();
    const std::uint64_t first = address - (address - block->base()) % cell_bytes;
    for (std::uint64_t at = first; at < address + bytes && block->holds(at); at += cell_bytes) {
      const GlobalCell::Trace writer = block->cell(at).writer();
      if (writer.who == 0) continue;
      const std::uint32_t instruction = instruction_of(writer.site);
      return fmt::format("kernel {} (line {}) writes it", launch->kernel,
                         instruction < launch->lines.size() ? launch->lines[instruction] : 0);
    }
  }
  return "";
}

}  // namespace

void ClusterChecker::check_overtaking(const Guest& guest) {
  const std::string writer = writer_of(launch_.context.earlier.get(), guest.address, guest.bytes);
  if (!writer.empty()) return report_overtaking(guest, writer);
  // WHY any store is too early: not all reads of the earlier launches are remembered.
  if (guest.kind == AccessKind::kLoad) return;
  report_overtaking(guest, "kernel " + launch_.context.earlier->kernel + " may still read it");
}

void ClusterChecker::report_overtaking(const Guest& guest, const std::string& what) {
  Finding* finding = log_.note("launch-overtakes", Severity::kError, guest.by.instruction,
                               guest.by.instruction, guest.address);
  if (!finding) return;
  const Place place = place_of(guest);
  finding->places = {log_.place(place)};
  finding->message = capital(fmt::format(
      "{} {} global memory before it knows that the launches ahead of it have ended, and {}",
      who(place, false), place.does, what));
  finding->hint = fmt::format(
      "put griddepcontrol.wait (cudaGridDependencySynchronize) before {}, in this thread or in one "
      "that a barrier puts before it",
      log_.line(place.instruction));
}

}  // namespace tessera::vgpu::check
