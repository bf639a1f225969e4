// The map of allocations. No address is used twice, so that accesses through stale pointers are
// noticed.
#include "vgpu/memory/global.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>

#include "vgpu/memory/host_memory.h"
#include "vgpu/memory/pages.h"
#include "vgpu/report/fault.h"
#include "vgpu/report/windows.h"

namespace tessera::vgpu {
namespace {

constexpr std::uint64_t kAlignment = 256;
constexpr std::uint64_t kRedZone = 4096;
constexpr std::size_t kRememberedFrees = 64;

std::string named(const MemoryBlock& block) {
  return fmt::format("an allocation of {} bytes", block.bytes);
}

}  // namespace

GlobalMemory::GlobalMemory(std::size_t limit)
    : limit_(limit != 0 ? limit : available_host_memory()), next_(kGlobalBase) {}

GlobalMemory::~GlobalMemory() {
  for (const MemoryBlock& block : blocks_) munmap(block.host, block.bytes);
}

std::uint64_t GlobalMemory::allocate(std::size_t bytes) {
  if (bytes == 0) return 0;
  const auto refuse = [&] {
    throw Fault(FaultKind::kOutOfMemory,
                fmt::format("{} bytes asked, {} of {} bytes in use", bytes, used_, limit_), {});
  };
  if (bytes > limit_ || used_ > limit_ - bytes) refuse();
  std::byte* host = map_filled(bytes);
  if (!host) refuse();
  const MemoryBlock block{next_, bytes, host};
  next_ += (bytes + kAlignment - 1) / kAlignment * kAlignment + kRedZone;
  used_ += bytes;
  blocks_.push_back(block);
  written_.push_back(std::make_unique<InitMap>(bytes));
  return block.base;
}

void GlobalMemory::free(std::uint64_t address) {
  if (address == 0) return;
  const MemoryBlock* block = find(address);
  if (!block || block->base != address) {
    throw Fault(FaultKind::kOutOfBounds, fmt::format("{:#x} is no allocation to free", address),
                {});
  }
  munmap(block->host, block->bytes);
  used_ -= block->bytes;
  if (freed_.size() == kRememberedFrees) freed_.erase(freed_.begin());
  freed_.push_back(*block);
  written_.erase(written_.begin() + (block - blocks_.data()));
  blocks_.erase(blocks_.begin() + (block - blocks_.data()));
}

const MemoryBlock* GlobalMemory::find(std::uint64_t address) const {
  const auto after =
      std::upper_bound(blocks_.begin(), blocks_.end(), address,
                       [](std::uint64_t a, const MemoryBlock& block) { return a < block.base; });
  if (after == blocks_.begin()) return nullptr;
  const MemoryBlock& block = *(after - 1);
  return address - block.base < block.bytes ? &block : nullptr;
}

std::byte* GlobalMemory::host(std::uint64_t address, std::size_t bytes) const {
  const MemoryBlock* block = find(address);
  if (!block || block->bytes - (address - block->base) < bytes) {
    FaultPlace place;
    place.address = address;
    place.has_address = true;
    throw Fault(
        FaultKind::kOutOfBounds,
        fmt::format("a copy of {} bytes is out of bounds: {}", bytes, describe(address, bytes)),
        place);
  }
  return block->host + (address - block->base);
}

InitMap& GlobalMemory::written(const MemoryBlock& block) const {
  return *written_[static_cast<std::size_t>(&block - blocks_.data())];
}

void GlobalMemory::host_wrote(std::uint64_t address, std::size_t bytes) {
  const MemoryBlock* block = find(address);
  if (block) written(*block).mark(address - block->base, bytes);
}

void GlobalMemory::assume_written() {
  for (const auto& map : written_) map->mark_all();
}

std::string GlobalMemory::describe(std::uint64_t address, std::size_t bytes) const {
  for (auto block = freed_.rbegin(); block != freed_.rend(); ++block) {
    if (address - block->base < block->bytes) return "inside " + named(*block) + ", freed since";
  }
  if (const MemoryBlock* block = find(address)) {
    const std::uint64_t beyond = address + bytes - (block->base + block->bytes);
    return fmt::format("the last {} of {} bytes lie past the end of {}", beyond, bytes,
                       named(*block));
  }
  const auto after =
      std::upper_bound(blocks_.begin(), blocks_.end(), address,
                       [](std::uint64_t a, const MemoryBlock& block) { return a < block.base; });
  const std::uint64_t to_next = after == blocks_.end() ? ~std::uint64_t{0} : after->base - address;
  if (after != blocks_.begin()) {
    const MemoryBlock& before = *(after - 1);
    const std::uint64_t past = address - (before.base + before.bytes);
    if (past <= to_next) return fmt::format("{} bytes past the end of {}", past, named(before));
  }
  if (after != blocks_.end() && to_next < (std::uint64_t{1} << 40)) {
    return fmt::format("{} bytes before the begin of {}", to_next, named(*after));
  }
  return address < 4096 ? "a null pointer" : "far from every allocation";
}

}  // namespace tessera::vgpu
