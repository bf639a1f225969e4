// Global memory: allocations in an address space of their own, with red zones around each, so that
// an index outside its array does not hit another array.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "vgpu/memory/block.h"
#include "vgpu/memory/init_map.h"

namespace tessera::vgpu {

class GlobalMemory {
 public:
  // limit: bytes of all allocations together; 0: what the host can give.
  explicit GlobalMemory(std::size_t limit);
  ~GlobalMemory();
  GlobalMemory(const GlobalMemory&) = delete;
  GlobalMemory& operator=(const GlobalMemory&) = delete;

  // 256-byte aligned; holds 0xff bytes at first, which are NaNs. Throws Fault kOutOfMemory.
  std::uint64_t allocate(std::size_t bytes);
  void free(std::uint64_t address);

  std::size_t limit() const { return limit_; }

  // The allocation that contains the address; null if none does.
  const MemoryBlock* find(std::uint64_t address) const;
  // Host memory of [address, address + bytes). Throws Fault kOutOfBounds.
  std::byte* host(std::uint64_t address, std::size_t bytes) const;
  // All allocations, by address.
  const std::vector<MemoryBlock>& blocks() const { return blocks_; }

  // Which bytes were written by the host or by a checked launch, or may have been written by an
  // unchecked one.
  InitMap& written(const MemoryBlock& block) const;
  void host_wrote(std::uint64_t address, std::size_t bytes);
  void assume_written();

  // A description of the address: "4 bytes past the end of an allocation of 1024 bytes".
  std::string describe(std::uint64_t address, std::size_t bytes) const;

 private:
  std::vector<MemoryBlock> blocks_;                // by address
  std::vector<std::unique_ptr<InitMap>> written_;  // by block
  std::vector<MemoryBlock> freed_;                 // the last ones, for describe
  std::size_t limit_ = 0, used_ = 0;
  std::uint64_t next_ = 0;
};

}  // namespace tessera::vgpu
