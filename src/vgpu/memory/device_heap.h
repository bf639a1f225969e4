// The heap of malloc() and free() in kernels: pieces of one allocation of global memory, with red
// zones between them. A freed piece is not used again while any piece is still allocated, so that
// accesses through stale pointers are noticed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace tessera::vgpu {

class DeviceHeap {
 public:
  // HW: the default size of the heap (CUDA C++ Programming Guide, heap memory allocation).
  static constexpr std::size_t kLimit = 8 << 20;
  static constexpr std::size_t kSpan = 64 << 20;  // addresses; more than can live at once

  // All pieces are in [base, base + kSpan).
  explicit DeviceHeap(std::uint64_t base) : base_(base), next_(base) {}

  // All functions may be called from several threads. A piece is aligned to at least 16 bytes.
  // allocate() returns 0 if the heap is full or the alignment is not a power of two.
  std::uint64_t allocate(std::uint64_t bytes, std::uint64_t alignment = 16);
  // Frees the piece at this address. Returns an error message, or "" on success.
  std::string free(std::uint64_t address);
  bool holds(std::uint64_t address) const { return address - base_ < kSpan; }
  // Returns the error message for an access to [address, address + bytes), or "" if it is legal.
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
