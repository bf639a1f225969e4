// The lines of global memory that a launch stores to. Most memory that kernels read is never
// written by them; reads of it need not be remembered, since they cannot race. One run records the
// lines, later ones use them, and say so where they meet a store that was not recorded.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "vgpu/memory/global.h"

namespace tessera::vgpu {

// The lines of one allocation, one bit per line.
class WrittenLinesOfBlock {
 public:
  static constexpr int kShift = 7;  // 128 bytes

  explicit WrittenLinesOfBlock(const MemoryBlock& block);
  std::uint64_t base() const { return base_; }
  bool holds(std::uint64_t address) const { return address - base_ < bytes_; }
  void mark(std::uint64_t address, std::uint64_t bytes);
  // Whether any line of [address, address + bytes) is written; parts outside count as not written.
  bool any(std::uint64_t address, std::uint64_t bytes) const;

 private:
  std::uint64_t base_, bytes_, lines_;
  std::unique_ptr<std::atomic<std::uint64_t>[]> words_;
};

// Safe to use from several threads, once begun.
class WrittenLines {
 public:
  // Makes room for all allocations there are.
  void begin(const GlobalMemory& memory);
  bool is_recorded() const { return !blocks_.empty(); }
  void forget() { blocks_.clear(); }

  void mark(std::uint64_t address, std::uint64_t bytes);
  // Null outside of what was recorded.
  WrittenLinesOfBlock* find(std::uint64_t address) const;

  // A store to a line that is not recorded: reads that were left out before may matter now.
  void miss() const { missed_.store(true, std::memory_order_relaxed); }
  bool has_missed() const { return missed_.exchange(false); }

 private:
  std::vector<std::unique_ptr<WrittenLinesOfBlock>> blocks_;  // by address
  mutable std::atomic<bool> missed_ = false;
};

}  // namespace tessera::vgpu
