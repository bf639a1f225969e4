// The heap behind malloc() and free() of kernels: pieces of one allocation of global memory, with a
// red zone around each. A freed piece is not handed out again while others live, so that a stale
// pointer stays wrong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace tessera::vgpu {

class DeviceHeap {
 public:
  // HW: what malloc() can give by default (CUDA C++ Programming Guide, heap memory allocation).
  static constexpr std::size_t kLimit = 8 << 20;
  static constexpr std::size_t kSpan = 64 << 20;  // addresses; more than can live at once

  // All addresses are in [base, base + kSpan).
  explicit DeviceHeap(std::uint64_t base) : base_(base), next_(base) {}

  // All of this is safe to call from several threads. Aligned to 16 bytes at least; 0 when the heap
  // is full, or the alignment is not a power of two.
  std::uint64_t allocate(std::uint64_t bytes, std::uint64_t alignment = 16);
  // Frees this address. Returns an error message; empty: none.
  std::string free(std::uint64_t address);
  bool holds(std::uint64_t address) const { return address - base_ < kSpan; }
  // The error message for an access; empty: none.
  std::string misuse(std::uint64_t address, std::uint64_t bytes) const;

 private:
  struct Piece {
    std::uint64_t bytes = 0;
    bool freed = false;
  };

  std::uint64_t base_, next_;
  mutable std::mutex mutex_;
  std::map<std::uint64_t, Piece> pieces_;
  std::size_t used_ = 0;  // bytes of the pieces that live
};

}  // namespace tessera::vgpu
