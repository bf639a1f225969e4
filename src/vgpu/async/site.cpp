#include "vgpu/async/site.h"

#include <fmt/format.h>

#include "vgpu/async/faults.h"
#include "vgpu/async/parts.h"
#include "vgpu/program/flags.h"

namespace tessera::vgpu {
namespace {

void check_alignment(const Site& site, std::uint64_t address, std::uint64_t alignment,
                     const char* memory) {
  if (address % alignment == 0) return;
  site.fault_at(FaultKind::kMisaligned,
                fmt::format("misaligned in {} memory: the address must be a multiple of {}, this "
                            "one is {} too far",
                            memory, alignment, address % alignment),
                address);
}

}  // namespace

Actor Site::actor() const { return warp->actor(*op, std::uint32_t{1} << lane); }

AsyncCluster& Site::cluster() const { return warp->cta().cluster(); }

void Site::fault(FaultKind kind, const std::string& message) const {
  warp->fault(kind, message, *op, lane);
}

void Site::fault_at(FaultKind kind, const std::string& message, std::uint64_t address) const {
  warp->fault(kind, message, *op, lane, &address);
}

void Site::fault_with(FaultKind kind, const std::string& message, const std::string& hint,
                      const std::uint64_t* address) const {
  try {
    warp->fault(kind, message, *op, lane, address);
  } catch (Fault& fault) {
    fault.explain({}, hint);
    throw;
  }
}

void Site::notice(const char* check, const std::string& message, const std::string& hint) const {
  Observer* observer = warp->cta().observer();
  if (!observer) return;
  const InstructionInfo& info = warp->cta().kernel().instructions[op->instruction];
  Finding finding;
  finding.check = check;
  finding.message = message;
  finding.hint = hint;
  FindingPlace place;
  place.what = "here";
  place.form = info.form;
  place.ptx_line = info.ptx_line;
  place.source_file = info.source_file;
  place.source_line = info.source_line;
  place.callers = info.callers;
  place.cta = warp->cta().index();
  place.warp = static_cast<int>(warp->index());
  place.lane = lane;
  finding.places.push_back(place);
  observer->notice(std::move(finding));
}

SharedPlace shared_place(const Site& site, std::uint64_t address, std::uint64_t bytes,
                         std::uint64_t alignment, bool cluster) {
  AsyncCta& cta = site.warp->cta();
  Lanes& lanes = cta.lanes();
  const bool generic = address >= kSharedWindow;
  const std::uint64_t local = generic ? address - kSharedWindow : address;
  check_alignment(site, local, alignment, "shared");
  const std::uint64_t distance = local - lanes.shared_first;
  if (distance < lanes.shared_bytes && bytes <= lanes.shared_bytes - distance) {
    return {cta.rank(), static_cast<std::uint32_t>(distance), lanes.shared + distance};
  }
  // Faults in the shared memory of other CTAs have the same text as for loads and stores.
  Op op = *site.op;
  op.flags = static_cast<std::uint32_t>(Window::kShared) | (cluster ? kSharedCluster : 0);
  const BadAccess access{Window::kShared, local, static_cast<int>(bytes), site.lane};
  lanes.warp = site.warp;
  std::byte* host = find_in_cluster(lanes, op, access);
  if (!host) fault_out_of_bounds(lanes, op, access);
  const auto rank = static_cast<std::uint32_t>(local >> kRankShift);
  return {rank, static_cast<std::uint32_t>(host - lanes.cluster->shared[rank]), host};
}

std::byte* global_place(const Site& site, std::uint64_t address, std::uint64_t bytes,
                        std::uint64_t alignment) {
  check_alignment(site, address, alignment, "global");
  Lanes& lanes = site.warp->cta().lanes();
  const MemoryBlock* block = lanes.blocks[site.op->instruction];
  const auto holds = [&] {
    return address - block->base < block->bytes && bytes <= block->bytes - (address - block->base);
  };
  if (bytes == 0) return nullptr;
  if (!holds()) {
    lanes.warp = site.warp;
    block = find_block(lanes, *site.op, address, static_cast<int>(bytes));
    if (!block) {
      fault_out_of_bounds(lanes, *site.op,
                          {Window::kGlobal, address, static_cast<int>(bytes), site.lane});
    }
  }
  return block->host + (address - block->base);
}

}  // namespace tessera::vgpu
