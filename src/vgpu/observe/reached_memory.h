// How far a launch reaches into each allocation of global memory. If the extents of a kernel's
// arrays are unknown, this is the least memory that a caller must provide.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "vgpu/memory/global.h"

namespace tessera::vgpu {

// After begin(), several threads may use it.
class ReachedMemory {
 public:
  // `read` and `written` are the bytes up to the end of the last byte that was read or written.
  struct Reach {
    std::uint64_t base = 0, bytes = 0;
    std::atomic<std::uint64_t> read = 0, written = 0;
  };

  // Makes an entry for each current allocation.
  void begin(const GlobalMemory& memory);
  void mark(std::uint64_t address, std::uint64_t bytes, bool writes);
  // Returns the reach of the allocation with this address; null if there is none.
  Reach* find(std::uint64_t address) const;

 private:
  std::vector<std::unique_ptr<Reach>> all_;  // by address
};

}  // namespace tessera::vgpu
