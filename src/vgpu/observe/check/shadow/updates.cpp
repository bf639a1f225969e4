#include "vgpu/observe/check/shadow/updates.h"

#include <bit>
#include <map>

namespace tessera::vgpu::check {
namespace {

// Returns a number that is unique over all memories, as an address is not.
std::uint64_t place_of(const WarpAccess& access, int lane) {
  const std::uint64_t memory =
      access.window == Window::kShared ? std::uint64_t{access.owner + 1} << 48 : 0;
  return access.address[lane] ^ memory;
}

using Instructions = std::multimap<int, std::uint32_t>;  // by line of the PTX

Instructions of_opcode(const Kernel& kernel, const char* opcode) {
  Instructions all;
  for (std::uint32_t i = 0; i < kernel.instructions.size(); ++i) {
    const InstructionInfo& info = kernel.instructions[i];
    if (info.form.starts_with(opcode)) all.emplace(info.ptx_line, i);
  }
  return all;
}

}  // namespace

Updates::Updates(const Kernel& kernel, const std::vector<Update>* updates)
    : watched_(kernel.instructions.size()) {
  if (!updates || updates->empty()) return;
  const Instructions loads = of_opcode(kernel, "ld."), stores = of_opcode(kernel, "st.");
  const auto index_of = [&](std::uint32_t instruction) {
    if (watched_[instruction] == 0) {
      pairs_.emplace_back();
      last_.emplace_back();
      watched_[instruction] = static_cast<std::uint32_t>(pairs_.size());
    }
    return watched_[instruction] - 1;
  };
  for (const Update& update : *updates) {
    const auto [load, last_load] = loads.equal_range(update.load);
    const auto [store, last_store] = stores.equal_range(update.store);
    for (auto l = load; l != last_load; ++l) {
      for (auto s = store; s != last_store; ++s) {
        index_of(l->second);
        pairs_[index_of(s->second)].push_back({&update, l->second});
      }
    }
  }
}

void Updates::begin(std::size_t warps) {
  for (std::vector<Last>& of_load : last_) of_load.assign(warps, {});
}

void Updates::note(std::uint32_t warp, const WarpAccess& access, std::uint32_t lanes) {
  Last& last = last_[watched_[access.by.instruction] - 1][warp];
  last.lanes |= lanes;
  last.bytes = access.bytes;
  for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    last.place[lane] = place_of(access, lane);
  }
}

std::vector<Updates::Seen> Updates::of_store(std::uint32_t warp, const WarpAccess& access) const {
  std::vector<Seen> all;
  for (const Pair& pair : pairs_[watched_[access.by.instruction] - 1]) {
    const Last& last = last_[watched_[pair.load] - 1][warp];
    std::uint32_t lanes = 0;
    for (std::uint32_t left = access.by.mask & last.lanes; left != 0; left &= left - 1) {
      const int lane = std::countr_zero(left);
      const std::uint64_t into = place_of(access, lane) - last.place[lane];
      if (into < last.bytes && into + access.bytes <= last.bytes) lanes |= 1u << lane;
    }
    if (lanes != 0) all.push_back({pair.update, pair.load, lanes});
  }
  return all;
}

}  // namespace tessera::vgpu::check
