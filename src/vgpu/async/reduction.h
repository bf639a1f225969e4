// The reductions of bulk copies: how arriving elements are combined with memory. Each element is
// combined atomically.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tessera::vgpu {

enum class CopyElement : std::uint8_t {
  kU8,
  kU16,
  kU32,
  kS32,
  kU64,
  kS64,
  kF16,
  kBf16,
  kF32,
  kF64,
};
constexpr std::uint32_t bytes_of(CopyElement element) {
  switch (element) {
    case CopyElement::kU8:
      return 1;
    case CopyElement::kU16:
    case CopyElement::kF16:
    case CopyElement::kBf16:
      return 2;
    case CopyElement::kU32:
    case CopyElement::kS32:
    case CopyElement::kF32:
      return 4;
    default:
      return 8;
  }
}

enum class Reduction : std::uint8_t { kNone, kAdd, kMin, kMax, kInc, kDec, kAnd, kOr, kXor };

// Combines `bytes` bytes of elements into `to`; null if the element type has no such reduction.
using Reduce = void (*)(std::byte* to, const std::byte* from, std::uint64_t bytes);
Reduce find_reduce(Reduction reduction, CopyElement element);

}  // namespace tessera::vgpu
