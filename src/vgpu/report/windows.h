// The address windows of the memories. The window of a generic address determines its memory;
// global memory has no window: all other addresses are global.
#pragma once

#include <cstdint>

namespace tessera::vgpu {

enum class Window : std::uint32_t { kGeneric, kGlobal, kShared, kLocal, kParam };

constexpr std::uint64_t kSharedWindow = 0x0000'1000'0000'0000;
constexpr std::uint64_t kLocalWindow = 0x0000'2000'0000'0000;
constexpr std::uint64_t kParamWindow = 0x0000'3000'0000'0000;
// A pointer to function i of a module is kFunctionBase + 16 * i.
constexpr std::uint64_t kFunctionBase = 0x0000'4000'0000'0000;
constexpr std::uint64_t kWindowBytes = 0x0000'0000'1000'0000;
constexpr std::uint64_t kGlobalBase = 0x0000'7000'0000'0000;

// First addresses inside the windows. The first kilobyte of shared memory belongs to the system, as
// on silicon, so that a null pointer is out of bounds; the same holds for local memory.
constexpr std::uint32_t kSharedBase = 1024;
// HW: an address of shared memory holds the rank of its CTA in the cluster from bit 24 on.
constexpr int kRankShift = 24;
constexpr std::uint32_t kSharedOffsetMask = (1u << kRankShift) - 1;
constexpr std::uint32_t kLocalBase = 16;
constexpr std::uint32_t kLocalLimit = 512 << 10;  // HW: local memory of a thread, bytes
// Parameters of the kernel begin at 0, those that functions pass to each other begin here.
constexpr std::uint32_t kCallParamBase = 1 << 20;

constexpr std::uint64_t window_base(Window window) {
  switch (window) {
    case Window::kShared:
      return kSharedWindow;
    case Window::kLocal:
      return kLocalWindow;
    case Window::kParam:
      return kParamWindow;
    default:
      return 0;
  }
}

}  // namespace tessera::vgpu
