// The rules of tensor maps, each with its own message. WHY the driver does not check these rules:
// it reports only that some value is invalid.
#include "launch/tensor_map.h"

#include <fmt/format.h>

#include <string>
#include <utility>

namespace tessera {
namespace {

Status refuse(std::string text) { return Status::bad_argument("tensor map: " + std::move(text)); }

std::string named(const char* name, int d) { return fmt::format("{}[{}]", name, d); }

Status check_place(const TensorMapDesc& desc) {
  if (desc.rank < 1 || desc.rank > kMaxTensorRank) {
    return refuse(fmt::format("rank is {}; it must be 1 to {}", desc.rank, kMaxTensorRank));
  }
  const bool interleaved = desc.interleave != TensorInterleave::kNone;
  if (interleaved && desc.rank < 3) {
    return refuse(fmt::format("rank is {}; interleaved layouts need 3 at least", desc.rank));
  }
  const std::uint64_t alignment = desc.interleave == TensorInterleave::k32B ? 32 : 16;
  if (desc.address == 0 || desc.address % alignment != 0) {
    return refuse(
        fmt::format("address is {:#x}; it must be a multiple of {}", desc.address, alignment));
  }
  for (int d = 0; d < desc.rank; ++d) {
    const std::uint64_t size = desc.sizes[static_cast<std::size_t>(d)];
    if (size == 0 || size > std::uint64_t{1} << 32) {
      return refuse(fmt::format("{} is {}; it must be 1 to 2^32", named("sizes", d), size));
    }
  }
  for (int d = 0; d + 1 < desc.rank; ++d) {
    const std::uint64_t stride = desc.strides[static_cast<std::size_t>(d)];
    if (stride % alignment != 0 || stride >= std::uint64_t{1} << 40) {
      return refuse(fmt::format("{} is {} bytes; it must be a multiple of {} below 2^40",
                                named("strides", d), stride, alignment));
    }
  }
  return {};
}

Status check_box(const TensorMapDesc& desc) {
  for (int d = 0; d < desc.rank; ++d) {
    const std::uint32_t length = desc.box[static_cast<std::size_t>(d)];
    if (length == 0 || length > 256) {
      return refuse(fmt::format("{} is {}; it must be 1 to 256", named("box", d), length));
    }
    const std::uint32_t step = desc.element_strides[static_cast<std::size_t>(d)];
    if (step == 0 || step > 8) {
      return refuse(fmt::format("{} is {}; it must be 1 to 8", named("element_strides", d), step));
    }
  }
  if (desc.interleave != TensorInterleave::kNone) return {};
  const std::uint32_t bytes = desc.box[0] * element_bytes(desc.type);
  if (bytes % 16 != 0) {
    return refuse(fmt::format("box[0] is {} elements, {} bytes; the bytes must be a multiple of 16",
                              desc.box[0], bytes));
  }
  const std::uint32_t span = 16u << static_cast<int>(desc.swizzle);
  if (desc.swizzle != TensorSwizzle::kNone && bytes > span) {
    return refuse(fmt::format("box[0] is {} elements, {} bytes; a swizzle of {} bytes allows {}",
                              desc.box[0], bytes, span, span));
  }
  return {};
}

}  // namespace

TensorType tensor_type_of(ElementType type) {
  switch (type) {
    case ElementType::kF64:
      return TensorType::kF64;
    case ElementType::kF32:
      return TensorType::kF32;
    case ElementType::kF16:
      return TensorType::kF16;
    case ElementType::kBf16:
      return TensorType::kBf16;
    case ElementType::kE4m3:
    case ElementType::kE5m2:
    case ElementType::kS8:
    case ElementType::kU8:
      return TensorType::kU8;
    case ElementType::kS16:
    case ElementType::kU16:
      return TensorType::kU16;
    case ElementType::kS32:
      return TensorType::kS32;
    case ElementType::kU32:
      return TensorType::kU32;
    case ElementType::kS64:
      return TensorType::kS64;
    case ElementType::kU64:
      return TensorType::kU64;
    case ElementType::kMadeUp:
      break;
  }
  refuse_type("a tensor map", type);
}

std::uint32_t element_bytes(TensorType type) {
  switch (type) {
    case TensorType::kU8:
      return 1;
    case TensorType::kU16:
    case TensorType::kF16:
    case TensorType::kBf16:
      return 2;
    case TensorType::kU64:
    case TensorType::kS64:
    case TensorType::kF64:
      return 8;
    default:
      return 4;
  }
}

bool is_floating(TensorType type) { return type >= TensorType::kF16; }

Status check(const TensorMapDesc& desc) {
  if (Status status = check_place(desc); !status.ok()) return status;
  if (Status status = check_box(desc); !status.ok()) return status;
  if (desc.interleave == TensorInterleave::k32B && desc.swizzle != TensorSwizzle::k32B) {
    return refuse("swizzle must be 32 bytes where interleave is 32 bytes");
  }
  if (desc.fill == TensorFill::kNans && !is_floating(desc.type)) {
    return refuse("fill with NaNs needs a floating-point type");
  }
  return {};
}

}  // namespace tessera
