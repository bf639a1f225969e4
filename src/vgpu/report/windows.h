// Each memory but the global one has a window of generic addresses. A generic address refers to the
// memory in whose window it lies; an address outside all windows is global.
#pragma once

#include <cstdint>

namespace tessera::vgpu {

enum class Window : std::uint32_t { kGeneric, kGlobal, kShared, kLocal, kParam };

constexpr std::uint64_t kSharedWindow = 0x0000'1000'0000'0000;
constexpr std::uint64_t kLocalWindow = 0x0000'2000'0000'0000;
constexpr std::uint64_t kParamWindow = 0x0000'3000'0000'0000;
// The address of function i of a module is kFunctionBase + 16 * i.
constexpr std::uint64_t kFunctionBase = 0x0000'4000'0000'0000;
constexpr std::uint64_t kWindowBytes = 0x0000'0000'1000'0000;
constexpr std::uint64_t kGlobalBase = 0x0000'7000'0000'0000;

// The first addresses inside the windows. The first kilobyte of shared memory belongs to the
// system, as on hardware, so that a null pointer is out of bounds; local memory begins at 16.
constexpr std::uint32_t kSharedBase = 1024;
// HW: in an address of shared memory, bits 24 and up hold the rank of its CTA in the cluster.
constexpr int kRankShift = 24;
constexpr std::uint32_t kSharedOffsetMask = (1u << kRankShift) - 1;
constexpr std::uint32_t kLocalBase = 16;
constexpr std::uint32_t kLocalLimit = 512 << 10;  // HW: local memory of a thread, bytes
// Kernel parameters begin at offset 0; parameters that functions pass to each other begin here.
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
