// How far into each allocation of global memory a launch reaches: the least memory that a caller
// must provide if the extents of a kernel's arrays are unknown.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "vgpu/memory/global.h"

namespace tessera::vgpu {

// Safe to use from several threads, once begun.
class ReachedMemory {
 public:
  // Bytes from the start of the allocation to the end of the last one read or written.
  struct Reach {
    std::uint64_t base = 0, bytes = 0;
    std::atomic<std::uint64_t> read = 0, written = 0;
  };

  // Makes room for all allocations there are.
  void begin(const GlobalMemory& memory);
  void mark(std::uint64_t address, std::uint64_t bytes, bool writes);
  // The reach of the allocation that holds the address; null if there is none.
  Reach* find(std::uint64_t address) const;

 private:
  std::vector<std::unique_ptr<Reach>> all_;  // by address
};

}  // namespace tessera::vgpu
