// Global memory: allocations in an address space of their own, with red zones (unallocated
// addresses) around each, so that an index outside its array does not hit another array.
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
  // `limit` is the maximum sum of all allocations in bytes; 0: what the host can give.
  explicit GlobalMemory(std::size_t limit);
  ~GlobalMemory();
  GlobalMemory(const GlobalMemory&) = delete;
  GlobalMemory& operator=(const GlobalMemory&) = delete;

  // The address is a multiple of 256; all bytes are 0xff at first. Throws Fault kOutOfMemory.
  std::uint64_t allocate(std::size_t bytes);
  void free(std::uint64_t address);

  std::size_t limit() const { return limit_; }

  // Returns the allocation that contains the address; null if there is none.
  const MemoryBlock* find(std::uint64_t address) const;
  // Returns the host memory of [address, address + bytes). Throws Fault kOutOfBounds.
  std::byte* host(std::uint64_t address, std::size_t bytes) const;
  // All allocations, sorted by address.
  const std::vector<MemoryBlock>& blocks() const { return blocks_; }

  // The bytes that the host or a checked launch has written. Bytes that an unchecked launch may
  // have written count as written.
  InitMap& written(const MemoryBlock& block) const;
  void host_wrote(std::uint64_t address, std::size_t bytes);
  void assume_written();

  // Describes the address: "4 bytes past the end of an allocation of 1024 bytes".
  std::string describe(std::uint64_t address, std::size_t bytes) const;

 private:
  std::vector<MemoryBlock> blocks_;                // by address
  std::vector<std::unique_ptr<InitMap>> written_;  // by block
  std::vector<MemoryBlock> freed_;                 // the last ones, for describe
  std::size_t limit_ = 0, used_ = 0;
  std::uint64_t next_ = 0;
};

}  // namespace tessera::vgpu
