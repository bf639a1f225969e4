// How device code reads and writes element types: for each, the type in memory, the type of sums,
// and conversions of one or two elements.
//
//   load(memory, at)   element `at` of a matrix, converted to the type of sums
//   rounded(sum)       a sum converted to the element type, on any GPU
//   converted(sum)     the same; HW: for BF16, by an instruction that needs SM 8.0
//   packed(low, high)  16-bit types: two sums to two elements of a row, `low` first in memory
//   packed_relu        the same, with negative values as 0
//   unpacked(memory)   16-bit types: one element, converted to the type of sums
#pragma once

#include <cstdint>

#include "base/element_type.h"
#include "kernels/ptx/convert.h"
#include "kernels/ptx/round_bf16.h"

namespace tessera::types {

template <class Number>
struct StoredAsSummed {
  using Memory = Number;
  using Sum = Number;
  __device__ static Sum load(const void* memory, long long at) {
    return static_cast<const Number*>(memory)[at];
  }
  __device__ static Memory rounded(Sum value) { return value; }
  __device__ static Memory converted(Sum value) { return value; }
};

template <ElementType type>
struct Storage;

template <>
struct Storage<ElementType::kF64> : StoredAsSummed<double> {};

template <>
struct Storage<ElementType::kF32> : StoredAsSummed<float> {};

template <>
struct Storage<ElementType::kS32> : StoredAsSummed<std::int32_t> {};

template <>
struct Storage<ElementType::kBf16> {
  using Memory = std::uint16_t;
  using Sum = float;
  __device__ static Sum load(const void* memory, long long at) {
    return ptx::from_bf16(static_cast<const Memory*>(memory)[at]);
  }
  __device__ static Memory rounded(Sum value) { return ptx::rounded_to_bf16(value); }
  __device__ static Memory converted(Sum value) { return ptx::to_bf16(value); }
  __device__ static std::uint32_t packed(Sum low, Sum high) { return ptx::to_bf16x2(low, high); }
  __device__ static std::uint32_t packed_relu(Sum low, Sum high) {
    return ptx::relu_to_bf16x2(low, high);
  }
  __device__ static Sum unpacked(Memory bits) { return ptx::from_bf16(bits); }
};

template <>
struct Storage<ElementType::kF16> {
  using Memory = std::uint16_t;
  using Sum = float;
  __device__ static Sum load(const void* memory, long long at) {
    return ptx::from_f16(static_cast<const Memory*>(memory)[at]);
  }
  __device__ static Memory rounded(Sum value) { return ptx::to_f16(value); }
  __device__ static Memory converted(Sum value) { return ptx::to_f16(value); }
  __device__ static std::uint32_t packed(Sum low, Sum high) { return ptx::to_f16x2(low, high); }
  __device__ static std::uint32_t packed_relu(Sum low, Sum high) {
    return ptx::relu_to_f16x2(low, high);
  }
  __device__ static Sum unpacked(Memory bits) { return ptx::from_f16(bits); }
};

}  // namespace tessera::types
