// Neighbouring elements of a matrix in registers, in the format that they have in memory. Two
// 16-bit elements share a register, so that loads in flight need few registers.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/types/storage.h"

namespace tessera::copy {

template <ElementType type, int width>
class Neighbours {
  using Storage = types::Storage<type>;

 public:
  using Memory = typename Storage::Memory;
  using Sum = typename Storage::Sum;
  static constexpr bool kPairs = sizeof(Memory) == 2 && width > 1;
  static constexpr int kWords = kPairs ? width / 2 : width;
  using Word = std::conditional_t<kPairs, std::uint32_t, Memory>;

  // Loads all elements by one access of 16, 8 or 4 bytes, or of one element.
  // WHY __ldg: with an address that comes from an array in memory, a plain load would be generic.
  __device__ void load(const Memory* from) {
    if constexpr (sizeof word_ == 16 && kPairs) {
      const uint4 v = __ldg(reinterpret_cast<const uint4*>(from));
      word_[0] = v.x, word_[1] = v.y, word_[2] = v.z, word_[3] = v.w;
    } else if constexpr (sizeof word_ == 16 && sizeof(Memory) == 4) {
      const float4 v = __ldg(reinterpret_cast<const float4*>(from));
      word_[0] = v.x, word_[1] = v.y, word_[2] = v.z, word_[3] = v.w;
    } else if constexpr (sizeof word_ == 16) {
      const double2 v = __ldg(reinterpret_cast<const double2*>(from));
      word_[0] = v.x, word_[1] = v.y;
    } else if constexpr (sizeof word_ == 8 && kPairs) {
      const uint2 v = __ldg(reinterpret_cast<const uint2*>(from));
      word_[0] = v.x, word_[1] = v.y;
    } else if constexpr (sizeof word_ == 8 && sizeof(Memory) == 4) {
      const float2 v = __ldg(reinterpret_cast<const float2*>(from));
      word_[0] = v.x, word_[1] = v.y;
    } else {
      static_assert(kWords == 1);
      word_[0] = __ldg(reinterpret_cast<const Word*>(from));
    }
  }

  // Loads all elements by accesses of `part` elements each.
  template <int part>
  __device__ void load_by(const Memory* from) {
    using Part = Neighbours<type, part>;
#pragma unroll
    for (int i = 0; i < width / part; ++i) {
      Part of;
      of.load(from + i * part);
#pragma unroll
      for (int j = 0; j < Part::kWords; ++j) word_[i * Part::kWords + j] = of.word(j);
    }
  }

  // Loads the first `count` elements, `step` apart, one by one. The others become zero.
  __device__ void load_some(const Memory* from, long long step, int count) {
#pragma unroll
    for (int i = 0; i < kWords; ++i) word_[i] = 0;
#pragma unroll
    for (int i = 0; i < width; ++i) {
      if (i >= count) continue;
      if constexpr (kPairs) {
        word_[i / 2] |= static_cast<std::uint32_t>(__ldg(from + i * step)) << i % 2 * 16;
      } else {
        word_[i] = __ldg(from + i * step);
      }
    }
  }

  // Loads all elements, `step` apart, one by one.
  __device__ void load_each(const Memory* from, long long step) {
    if constexpr (kPairs) {
#pragma unroll
      for (int i = 0; i < kWords; ++i) {
        const std::uint32_t low = __ldg(from + 2 * i * step);
        const std::uint32_t high = __ldg(from + (2 * i + 1) * step);
        word_[i] = low | high << 16;
      }
    } else {
#pragma unroll
      for (int i = 0; i < kWords; ++i) word_[i] = __ldg(from + i * step);
    }
  }

  __device__ Sum operator[](int i) const {
    if constexpr (kPairs) {
      return Storage::unpacked(static_cast<Memory>(i % 2 == 0 ? word_[i / 2] : word_[i / 2] >> 16));
    } else {
      return Storage::load(&word_[i], 0);
    }
  }

  __device__ auto word(int i) const { return word_[i]; }

 private:
  Word word_[kWords];
};

}  // namespace tessera::copy
