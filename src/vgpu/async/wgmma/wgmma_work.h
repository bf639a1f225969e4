// One wgmma.mma_async as a warp has issued it, with all that computing the product needs. It is
// plain data, because operations that are compiled twice fill and run it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "vgpu/program/matrix_form.h"
#include "vgpu/program/op.h"

namespace tessera::vgpu {

// The swizzle mode in bits 62-63 of a matrix descriptor. HW: the numbers differ from those in
// tensor maps.
enum class WgmmaSwizzle : std::uint8_t { kNone, k128, k64, k32 };

// HW: PTX ISA, "Matrix Descriptor Format" of wgmma. The start address and distances are in bytes.
struct WgmmaDescriptor {
  std::uint32_t start = 0, leading = 0, stride = 0;
  std::uint32_t base_offset = 0;
  WgmmaSwizzle swizzle = WgmmaSwizzle::kNone;
};
static inline WgmmaDescriptor wgmma_descriptor(std::uint64_t bits) {
  const auto field = [bits](int at) {
    return static_cast<std::uint32_t>(bits >> at & 0x3fff) << 4;
  };
  return {field(0), field(16), field(32), static_cast<std::uint32_t>(bits >> 49 & 7),
          static_cast<WgmmaSwizzle>(bits >> 62)};
}
// The bytes per row of the swizzle pattern; 16 without a swizzle.
static inline std::uint32_t row_bytes(WgmmaSwizzle swizzle) {
  return swizzle == WgmmaSwizzle::kNone ? 16 : 256u >> static_cast<int>(swizzle);
}

constexpr int kMaxChunks = 512;  // 16-byte chunks of B: 256 columns, 32 bytes each

struct WgmmaWork {
  MatrixForm form;
  bool a_in_registers, a_mn_major, b_mn_major;
  bool accumulate;  // D's old value counts
  std::uint64_t a_descriptor, b_descriptor;
  std::byte* registers;                    // registers of the frame
  const std::uint32_t* d;                  // offsets of D's registers, then A's if it has any
  std::byte* shared;                       // shared memory of the CTA
  std::uint32_t a_chunks[32];              // offsets in shared memory
  std::uint32_t b_chunks[kMaxChunks];      // K-major: row, half; else group of eight rows, k
  alignas(64) std::uint32_t a[4][kLanes];  // A's registers at the issue
};

using WgmmaRun = void (*)(const WgmmaWork&);

}  // namespace tessera::vgpu
