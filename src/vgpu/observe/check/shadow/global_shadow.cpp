#include "vgpu/observe/check/shadow/global_shadow.h"

#include <algorithm>

namespace tessera::vgpu::check {

GlobalShadow::GlobalShadow(const GlobalMemory& memory, const WrittenLines* lines,
                           std::uint32_t cell_shift) {
  for (const MemoryBlock& block : memory.blocks()) {
    InitMap& written = memory.written(block);
    written.prepare();
    blocks_.emplace_back(block, written, lines ? lines->find(block.base) : nullptr, cell_shift);
  }
}

const BlockShadow* GlobalShadow::find(std::uint64_t address) const {
  const auto after =
      std::upper_bound(blocks_.begin(), blocks_.end(), address,
                       [](std::uint64_t a, const BlockShadow& block) { return a < block.base(); });
  if (after == blocks_.begin() || !(after - 1)->holds(address)) return nullptr;
  return &*(after - 1);
}

}  // namespace tessera::vgpu::check
