// The lines of global memory that a launch stores to. Most memory that kernels read is never stored
// to, and reads of it cannot race, so checks need not remember them. One run records the lines.
// Later runs use them, and report a store to a line that was not recorded.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "vgpu/memory/global.h"

namespace tessera::vgpu {

// The lines of one allocation: one bit per line of 128 bytes.
class WrittenLinesOfBlock {
 public:
  static constexpr int kShift = 7;  // 128 bytes

  explicit WrittenLinesOfBlock(const MemoryBlock& block);
  std::uint64_t base() const { return base_; }
  bool holds(std::uint64_t address) const { return address - base_ < bytes_; }
  void mark(std::uint64_t address, std::uint64_t bytes);
  // Whether any line of [address, address + bytes) in this allocation is stored to.
  bool any(std::uint64_t address, std::uint64_t bytes) const;

 private:
  std::uint64_t base_, bytes_, lines_;
  std::unique_ptr<std::atomic<std::uint64_t>[]> words_;
};

// After begin(), several threads may use it.
class WrittenLines {
 public:
  // Makes an entry for each current allocation.
  void begin(const GlobalMemory& memory);
  bool is_recorded() const { return !blocks_.empty(); }
  void forget() { blocks_.clear(); }

  void mark(std::uint64_t address, std::uint64_t bytes);
  // Returns null for an address that was in no allocation when the lines were recorded.
  WrittenLinesOfBlock* find(std::uint64_t address) const;

  // A store has met a line that is not recorded, so reads that were not remembered may matter.
  void miss() const { missed_.store(true, std::memory_order_relaxed); }
  bool has_missed() const { return missed_.exchange(false); }

 private:
  std::vector<std::unique_ptr<WrittenLinesOfBlock>> blocks_;  // by address
  mutable std::atomic<bool> missed_ = false;
};

}  // namespace tessera::vgpu
