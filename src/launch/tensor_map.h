// The contents of a tensor map: where a tensor is, and which box of it a tensor copy moves to or
// from shared memory. Each device has its own 128-byte encoding, which kernels take as a parameter.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/status.h"
#include "base/types.h"

namespace tessera {

// HW: values and rules of cuTensorMapEncodeTiled (cuda.h, release 13.0).
enum class TensorType : std::uint8_t {
  kU8,
  kU16,
  kU32,
  kS32,
  kU64,
  kS64,
  kF16,
  kF32,
  kF64,
  kBf16,
  kF32Ftz,
  kTf32,
  kTf32Ftz,
};
enum class TensorInterleave : std::uint8_t { kNone, k16B, k32B };
enum class TensorSwizzle : std::uint8_t { kNone, k32B, k64B, k128B };
enum class TensorPromotion : std::uint8_t { kNone, k64B, k128B, k256B };  // size of L2 fetches
enum class TensorFill : std::uint8_t { kZeros, kNans };  // for elements outside of the tensor

constexpr int kMaxTensorRank = 5;

// Arrays list the innermost dimension first.
struct TensorMapDesc {
  TensorType type = TensorType::kF32;
  int rank = 2;
  std::uint64_t address = 0;                                   // in device memory
  std::array<std::uint64_t, kMaxTensorRank> sizes = {};        // elements
  std::array<std::uint64_t, kMaxTensorRank - 1> strides = {};  // bytes, from dimension 1 on
  std::array<std::uint32_t, kMaxTensorRank> box = {};          // elements
  std::array<std::uint32_t, kMaxTensorRank> element_strides = {1, 1, 1, 1, 1};
  TensorInterleave interleave = TensorInterleave::kNone;
  TensorSwizzle swizzle = TensorSwizzle::kNone;
  TensorPromotion promotion = TensorPromotion::kNone;
  TensorFill fill = TensorFill::kZeros;

  bool operator==(const TensorMapDesc&) const = default;
};

struct alignas(64) TensorMapBytes {
  std::array<std::byte, 128> bytes = {};
};

// Returns the tensor-map type that copies use for elements of `type`; an integer type of that size
// if the hardware has no matching type. Throws kUnsupported if there is no integer type either.
TensorType tensor_type_of(ElementType type);
std::uint32_t element_bytes(TensorType type);
bool is_floating(TensorType type);

// Returns an error if the map is illegal. The message names the argument, its value and the rule.
Status check(const TensorMapDesc& desc);

}  // namespace tessera
